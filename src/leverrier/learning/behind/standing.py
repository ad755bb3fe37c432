"""A hidden variable in its network: its children with their links, everything else as the rival has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.behind.ascent import Behind
from leverrier.learning.behind.factor_ascent import Factor
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Fit, Link, LogitFit, NumberFit, TableFit
from leverrier.models.behind.logit_chances import probabilities

Parents = Mapping[str, tuple[str, ...]]
LEAST_ROWS, LEAST_SHARE = 12, 0.02
"""A class smaller than this is no class."""
FAR, PART = 0.5, 0.1


class Outside(Protocol):
    """Who scores a column that does not hang on anything hidden."""

    def score(self, column: str, parents: tuple[str, ...]) -> float:
        """Nats of z, parameters paid for."""
        ...


@dataclass(frozen=True, eq=False)
class Standing:
    """`parents` are the observed ones of every column; `score` is of the whole table, in nats of z."""

    behind: Behind | Factor
    parents: Parents
    score: float

    @property
    def children(self) -> tuple[str, ...]:
        return self.behind.children

    @property
    def continuum(self) -> bool:
        return isinstance(self.behind, Factor) or self.behind.latent.fixed

    @property
    def states(self) -> int:
        """Of a class; 0 for a continuum."""
        return 0 if isinstance(self.behind, Factor) or self.behind.latent.fixed else self.behind.latent.places

    def views(self) -> int:
        """The most children pairwise without an arc: three identify a class."""
        children = self.children
        free = {(a, b) for a, b in combinations(children, 2) if a not in self.parents[b] and b not in self.parents[a]}
        for size in range(min(len(children), 4), 1, -1):
            if any(all(pair in free for pair in combinations(some, 2)) for some in combinations(children, size)):
                return size
        return min(len(children), 1)

    def apart(self) -> bool:
        """Whether any two classes differ in at least two columns: in one alone they are that column's own shape."""
        if not isinstance(self.behind, Behind) or self.continuum or self.states < 3:
            return True
        differ = [_differ(self.behind, fit) for fit in self.behind.fits]
        count = np.sum(differ, axis=0)
        return bool((count + 2 * np.eye(self.states) >= 2).all())

    def large(self, rows: int) -> bool:
        """Whether every class has rows enough."""
        if not isinstance(self.behind, Behind) or self.continuum:
            return True
        return bool(self.behind.latent.shares.min() * rows >= max(LEAST_ROWS, LEAST_SHARE * rows))


def _differ(behind: Behind, fit: Fit) -> NDArray[np.bool_]:
    """(states, states): whether a child tells two classes apart: half a deviation, a tenth of the rows."""
    if isinstance(fit, NumberFit):
        level = fit.constants / np.sqrt(fit.variances.mean())
        if not fit.shared:
            spread = np.log(fit.variances)
            tilt = np.abs(fit.slopes[:, None, :] - fit.slopes[None, :, :]).sum(axis=2) > FAR
            return _far(level, FAR) | _far(spread, FAR) | tilt
        return _far(level, FAR)
    if isinstance(fit, TableFit):
        return np.abs(fit.table[:, None] - fit.table[None, :]).sum(axis=3).max(axis=2) > 2 * PART
    chances = probabilities(fit.theta, _padded(behind, fit), fit.states, fit.ordered)
    return np.abs(chances[:, None] - chances[None, :]).sum(axis=2) > 2 * PART


def _padded(behind: Behind, fit: LogitFit) -> Floats:
    """The basis of each place beside parents at their mean."""
    return np.concatenate([behind.latent.basis, np.zeros((behind.latent.places, len(fit.terms)))], axis=1)


def _far(values: Floats, least: float) -> NDArray[np.bool_]:
    return np.abs(values[:, None] - values[None, :]) > least


def stood(block: Block, outside: Outside, behind: Behind | Factor, parents: Parents) -> Standing:
    """With the score of the whole table."""
    rest = sum(outside.score(name, parents[name]) for name in block.columns if name not in behind.children)
    return Standing(behind, parents, behind.score(block) + rest)


def descendants(parents: Parents, column: str) -> set[str]:
    """The column and all that hangs on it by observed arcs."""
    found = {column}
    grown = True
    while grown:
        more = {name for name, own in parents.items() if name not in found and found.intersection(own)}
        found |= more
        grown = bool(more)
    return found


def allowed_parents(parents: Parents, column: str) -> tuple[str, ...]:
    """Those that make no circle."""
    below = descendants(parents, column)
    return tuple(name for name in parents if name not in below)


def with_links(parents: Parents, links: Iterable[Link]) -> dict[str, tuple[str, ...]]:
    return {**parents, **{link.column: link.parents for link in links}}
