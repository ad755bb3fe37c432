"""What the last steps of a climb tell of its curvature: limited-memory quasi-Newton directions [nocedal1980]."""

from __future__ import annotations

from collections import deque

import numpy as np

from leverrier.arrays import Floats

PAIRS = 10
LEAST = 1e-10
"""A pair of changes counts if the slope fell along it by more than this share of what it could have fallen."""


class Curvature:
    """Changes of the point and of the slope there, a few of each, on top of a diagonal that is known."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Floats, Floats]] = deque(maxlen=PAIRS)
        self._point: Floats | None = None
        self._slope: Floats | None = None

    def reached(self, point: Floats, slope: Floats) -> None:
        """The climb stands here, and so steep it is."""
        if self._point is not None and self._slope is not None:
            moved, fell = point - self._point, self._slope - slope
            if float(moved @ fell) > LEAST * float(np.linalg.norm(moved) * np.linalg.norm(fell)):
                self._pairs.append((moved, fell))
        self._point, self._slope = point, slope

    def forget(self) -> None:
        """What was told may mislead: only the point itself is kept."""
        self._pairs.clear()

    def direction(self, slope: Floats, known: Floats) -> Floats | None:
        """Where to go: `known` is the diagonal of the inverse curvature as EM sees it. None where nothing is told."""
        if not self._pairs:
            return None
        rest, shares = slope.copy(), []
        for moved, fell in reversed(self._pairs):
            share = float(moved @ rest) / float(moved @ fell)
            rest -= share * fell
            shares.append(share)
        moved, fell = self._pairs[-1]
        rest *= known * (float(moved @ fell) / float(fell @ (known * fell)))
        for (moved, fell), share in zip(self._pairs, reversed(shares), strict=True):
            rest += moved * (share - float(fell @ rest) / float(moved @ fell))
        return rest if np.all(np.isfinite(rest)) and float(rest @ slope) > 0 else None
