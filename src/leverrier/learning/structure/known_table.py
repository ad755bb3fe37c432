"""The scores of families of columns as compiled climbs look them up: asked for once, kept for all."""

from __future__ import annotations

import numpy as np

from leverrier.kernels.climbs.known_families import WORD, find_slot, rehash
from leverrier.learning.structure.known_scores import KnownScores, members

MOST_BYTES = 2**27
"""Beyond it what is known is forgotten, and asked for again."""


class KnownTable:
    """What `scores` said so far, as arrays (see kernels/climbs/known_families.py)."""

    def __init__(self, scores: KnownScores) -> None:
        self._ask = scores
        self._width = scores.n_nodes + 1
        self._words = 1 + -(-scores.n_nodes // WORD)
        self._most = max(MOST_BYTES // (8 * self._width), 256)
        self._clear(256)

    def _clear(self, room: int) -> None:
        self.count = 0
        self.keys = np.zeros((room, self._words), dtype=np.int64)
        self.scores = np.full((room, self._width), -np.inf)
        self.full = np.zeros(room, dtype=np.bool_)
        self.slots = np.full(4 * room, -1, dtype=np.int64)

    def ask(self, child: int, parents: int, whole: bool) -> None:
        """Learn a family's score; with `whole` also those with one more parent."""
        key = np.zeros(self._words, dtype=np.int64)
        key[0] = child
        for p in members(parents):
            key[1 + p // WORD] |= np.int64(1) << (p % WORD)
        at = find_slot(self.slots, self.keys, key)
        entry = int(self.slots[at])
        if entry < 0:
            if self.count == len(self.keys):
                self._grow()
                at = find_slot(self.slots, self.keys, key)
            entry = self.count
            self.count += 1
            self.keys[entry] = key
            self.slots[at] = entry
        if whole:
            self.scores[entry] = self._ask.expand(child, parents)
            self.full[entry] = True
        elif not self.full[entry]:
            self.scores[entry, -1] = self._ask.family(child, parents)

    def _grow(self) -> None:
        if self.count >= self._most:
            self._clear(self._most)
            return
        room = min(2 * self.count, self._most)
        old_keys, old_scores, old_full, count = self.keys, self.scores, self.full, self.count
        self._clear(room)
        self.count = count
        self.keys[:count], self.scores[:count], self.full[:count] = old_keys, old_scores, old_full
        rehash(self.slots, self.keys, count)
