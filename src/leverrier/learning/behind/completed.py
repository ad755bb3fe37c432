"""Structural EM over the whole table: where rows stand is one more column, and a search of all arcs goes round it.

Changing one column's parents at a time cannot turn the arcs that the rival drew for want of a hidden variable: marks
that depend on home and on the hidden track became parents of home there. A climb that begins without arcs can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.ascent import Behind, ascend
from leverrier.learning.behind.place_moments import moments_of, number_score
from leverrier.learning.behind.standing import Outside, Parents, Standing, stood, with_links
from leverrier.learning.behind.state_links import expected_score, state_links
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_search import Limits, climb
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Latent, Link, Mode, classes

MOST_PARENTS = 4
ROUNDS = 3
SHORT = 30
LEAST_LINKS = 3
TRIED = 3
WORTH = 0.05
UNSURE = 0.1


class CompletedScores:
    """What a search asks: families of the columns by the rival's scores, of those under the hidden variable (the last
    column, without parents) by their expected score."""

    def __init__(self, scores: MixedScores, block: Block, latent: Latent, posterior: Floats, modes: Sequence[Mode]):
        self._scores, self._block, self._latent = scores, block, latent
        self._share = np.ascontiguousarray(posterior.T)
        self._modes = modes
        self._names = scores.space.names
        self.hidden = len(self._names)
        self._moments = moments_of(block, posterior, latent.basis, by_place=True)
        self._linked: dict[tuple[int, frozenset[int]], tuple[float, Link]] = {}

    def family(self, child: int, parents: Iterable[int]) -> float:
        above = frozenset(parents)
        if child == self.hidden:
            return 0.0
        return self.linked(child, above)[0] if self.hidden in above else self._scores.family(child, above)

    def total(self, parents: Sequence[Iterable[int]]) -> float:
        return sum(self.family(child, above) for child, above in enumerate(parents))

    def promising(self, child: int, parents: Iterable[int]) -> list[int]:
        above = frozenset(parents)
        if child == self.hidden:
            return []
        others = self._scores.promising(child, above - {self.hidden})
        return others if self.hidden in above else [self.hidden, *others]

    def linked(self, child: int, parents: frozenset[int]) -> tuple[float, Link]:
        """The best link of this child to the hidden variable, beside these parents, and its expected score."""
        key = child, parents
        if key not in self._linked:
            own = tuple(self._names[p] for p in sorted(parents) if p != self.hidden)
            self._linked[key] = max(self._offered(self._names[child], own), key=lambda pair: pair[0])
        return self._linked[key]

    def _offered(self, name: str, own: tuple[str, ...]) -> list[tuple[float, Link]]:
        block = self._block
        if block.columns[name].codes is None:
            faces = range(len(block.columns[name].faces))
            links = [Link(name, own, face, mode) for face in faces for mode in self._modes]
            return [(number_score(block, self._moments, name, own, each.face, each.mode), each) for each in links]
        found = state_links(block, False, name, own)
        return [(expected_score(block, self._latent, self._share, each), each) for each in found]


@dataclass(frozen=True, eq=False)
class Round:
    """Who searches round where rows stand: the rival's scores and arcs. What is barred hangs on something else hidden:
    it may not hang on this, and keeps the observed parents that it has."""

    block: Block
    scores: MixedScores
    outside: Outside
    rival: Parents
    modes: Sequence[Mode]
    barred: frozenset[str] = frozenset()

    @cached_property
    def limits(self) -> Limits:
        names = self.scores.space.names
        hidden = len(names)
        into = ((p, hidden) for p in range(hidden))
        place = {name: number for number, name in enumerate(names)}
        kept = frozenset((place[p], place[child]) for child in self.barred for p in self.rival[child])
        new = {(p, place[child]) for child in self.barred for p in range(hidden + 1)} - kept
        return Limits(kept, frozenset([*into, *new]), max_parents=MOST_PARENTS + 1, tried=TRIED)

    def first(self, posterior: Floats) -> Standing | None:
        """From no arcs, and from the rival's."""
        bare = {name: own if name in self.barred else () for name, own in self.rival.items()}
        return self._searched(posterior, [bare, self.rival])

    def again(self, found: Standing) -> Standing:
        """From where a search and EM ended, as long as the score of the table rises."""
        for _ in range(ROUNDS):
            assert isinstance(found.behind, Behind)
            new = self._searched(found.behind.posterior, [found.parents])
            if new is None or new.score <= found.score + WORTH:
                break
            found = new
        return found

    def _searched(self, posterior: Floats, begins: Sequence[Parents]) -> Standing | None:
        """The best graph with the hidden variable in it as rows stand, then EM."""
        names = self.scores.space.names
        place = {name: number for number, name in enumerate(names)}
        hidden = len(names)
        latent = classes(posterior.mean(axis=0))
        completed = CompletedScores(self.scores, self.block, latent, posterior, self.modes)
        starts = [(*(frozenset(place[p] for p in begin[n]) for n in names), frozenset[int]()) for begin in begins]
        graph = max((climb(completed, start, self.limits) for start in starts), key=completed.total)
        links = tuple(completed.linked(c, above)[1] for c, above in enumerate(graph) if hidden in above)
        if len(links) < LEAST_LINKS:
            return None
        parents = {name: tuple(names[p] for p in sorted(graph[place[name]]) if p != hidden) for name in names}
        behind = ascend(self.block, latent, links, softened(posterior), most=SHORT)
        return stood(self.block, self.outside, behind, with_links(parents, links))


def softened(posterior: Floats) -> Floats:
    """A little less sure, so that EM may move every row."""
    return (1 - UNSURE) * posterior + UNSURE / posterior.shape[1]


def joined_places(posterior: Floats) -> list[Floats]:
    """Posteriors with one place fewer: any two in turn as one."""
    return [
        np.column_stack([np.delete(posterior, (a, b), axis=1), posterior[:, a] + posterior[:, b]])
        for a, b in combinations(range(posterior.shape[1]), 2)
    ]


def split_places(posterior: Floats, rest: Floats) -> list[Floats]:
    """Posteriors with one place more: each place in turn cut in two along what is largest in these columns there."""
    found = []
    for place in range(posterior.shape[1]):
        share = posterior[:, place]
        centred = rest - (share @ rest) / share.sum()
        _, turned = np.linalg.eigh((centred * share[:, None]).T @ centred)
        along = centred @ turned[:, -1]
        upper = along > np.average(along, weights=share)
        found.append(np.column_stack([posterior, share * upper]))
        found[-1][:, place] = share * ~upper
    return found
