"""What else graded items hang on, beside their own trait: other traits, and observed columns; what moves the traits.

All that an item has left out is screened together by score tests, which cost one pass over the rows; only what
promises most is fitted, and taken where it is worth its parameters. Arcs between items must close no circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.traits.item_steps import item_pass, item_pulls
from leverrier.learning.behind.standing import descendants
from leverrier.learning.traits.item_block import ItemBlock
from leverrier.learning.traits.trait_ascent import FINE, Ascended, Placed, ascend_traits, climbed, placed
from leverrier.models.behind.traits import Item, Traits

WORTH = 0.5
"""Nats of expected score from which something is taken."""
MOST_PARENTS, MOST_TRAITS = 8, 4
ROUNDS, SETTLED = 6, 2.0
"""Structural steps and EM in turn, until a turn gains less."""
GLANCED = 16
"""Points a row on which arcs are weighed first."""
STEPS = 8
UNCLEAR = 1.0
"""Nats beyond its price below which something is let go on trial."""


def never() -> bool:
    """No end but its own."""
    return False


Offer = tuple[str, str | int]
"""An item, and the column or the trait that it may hang on besides."""


@dataclass(eq=False)
class _Seen:
    """An item as it is now, what it is worth, and what everything left out promises."""

    item: Item
    score: float
    columns: Floats
    traits: Floats
    refused: set[str | int] = field(default_factory=set)


@dataclass(eq=False)
class ArcSearch:
    """One structural step: rows stand where they stand."""

    block: ItemBlock
    traits: Traits
    now: Placed
    may: tuple[str, ...]
    """Columns that may be parents."""
    taking: tuple[str, ...] = ()
    """Those of them that are offered in this step."""
    stop: Callable[[], bool] = never

    def __post_init__(self) -> None:
        self.parents = {**dict.fromkeys(self.may, ()), **self.traits.parents()}
        self.seen = {each.column: self._see(each) for each in self.traits.items}

    def search(self) -> Traits:
        for name in self.seen:
            self._drop(name)
        while not self.stop() and (offer := self._best_offer()) is not None:
            self._take(*offer)
        items = tuple(self.seen[each.column].item for each in self.traits.items)
        drivers, effects = self._driven()
        return replace(self.traits, items=items, drivers=drivers, effects=effects)

    def _take(self, child: str, other: str | int) -> None:
        """If it is worth it."""
        seen = self.seen[child]
        new = self._see(_with(seen.item, other, self.block))
        if new.score <= seen.score + WORTH:
            seen.refused.add(other)
            return
        self.seen[child] = new
        self.parents[child] = new.item.parents
        self._drop(child)

    def _best_offer(self) -> Offer | None:
        best, found = WORTH, None
        for child, seen in self.seen.items():
            if len(seen.item.on) < MOST_TRAITS:
                for v in np.flatnonzero(seen.traits > best).tolist():
                    if v not in seen.refused and seen.traits[v] > best:
                        best, found = float(seen.traits[v]), (child, v)
            if len(seen.item.parents) >= MOST_PARENTS or seen.columns.max(initial=0.0) <= best:
                continue
            below = descendants(self.parents, child)
            for at in np.argsort(-seen.columns).tolist():
                if seen.columns[at] <= best:
                    break
                if self.may[at] not in below and self.may[at] not in seen.refused:
                    best, found = float(seen.columns[at]), (child, self.may[at])
                    break
        return found

    def _drop(self, child: str) -> None:
        """What the item hangs on besides, without which it scores no worse: the weakest by its slopes' errors is
        tried."""
        while (weakest := self._weakest(self.seen[child].item)) is not None:
            score, least = self._score(_without(self.seen[child].item, weakest, self.block))
            if score < self.seen[child].score:
                return
            self.seen[child] = self._see(least)
            self.parents[child] = least.parents

    def _weakest(self, item: Item) -> str | int | None:
        """By Wald's test, the parameters it saves counted; None if all are clear."""
        block, now, n = self.block, self.now, len(item.tau)
        size = item.dimension
        gradient, information = np.empty(size), np.empty((size, size))
        on: NDArray[np.int64] = np.array(item.on, dtype=np.int64)
        terms, codes = block.terms(item.parents), block.codes(item.column)
        item_pass(item.tau, item.slopes, on, now.points, now.weights, terms, codes, gradient, information)
        errors = np.linalg.inv(information + 1e-6 * np.eye(size))[n:, n:]
        least, found, at = UNCLEAR, None, min(len(item.on), 1)
        for other in (*item.on[1:], *item.parents):
            many = 1 if isinstance(other, int) else block.sizes[other]
            own = slice(at, at + many)
            worth = 0.5 * float(item.slopes[own] @ np.linalg.solve(errors[own, own], item.slopes[own]))
            if worth - many * block.price < least:
                least, found = worth - many * block.price, other
            at += many
        return found

    def _score(self, item: Item) -> tuple[float, Item]:
        fitted, value = climbed(self.block, item, self.now, STEPS)
        return value - fitted.dimension * self.block.price, fitted

    def _see(self, item: Item) -> _Seen:
        score, fitted = self._score(item)
        return _Seen(fitted, score, *self._promised(fitted))

    def _promised(self, item: Item) -> tuple[Floats, Floats]:
        """What every column, and every trait, would gain by its score test, its parameters paid for."""
        block, now = self.block, self.now
        on: NDArray[np.int64] = np.array(item.on, dtype=np.int64)
        pull, hold, by_trait = np.empty(block.rows), np.empty(block.rows), np.empty((2, self.traits.count))
        terms = block.terms(item.parents)
        item_pulls(
            item.tau, item.slopes, on, now.points, now.weights, terms, block.codes(item.column), pull, hold, by_trait
        )
        means = self.means.T
        known = np.concatenate([np.ones((1, block.rows)), means[list(item.on)], terms])
        weighed = known * hold
        inner = np.linalg.inv(weighed @ known.T + 1e-6 * np.eye(len(known)))
        others = np.concatenate([block.across, means])
        across = weighed @ others.T
        left = others**2 @ hold - (across * (inner @ across)).sum(axis=0)
        left = np.maximum(left, 1e-3 * hold.sum())
        columns = 0.5 * (block.across @ pull) ** 2 / left[: len(block.across)]
        found = np.full(len(self.may), -np.inf)
        for at, name in enumerate(self.may):
            if name in self.taking and name != item.column and name not in item.parents:
                own = list(block.block.columns[name].terms)
                found[at] = columns[own].sum() - len(own) * block.price
        bend = left[len(block.across) :] + by_trait[1] - means**2 @ hold
        traits = 0.5 * by_trait[0] ** 2 / np.maximum(bend, 1e-3 * hold.sum()) - block.price
        traits[list(item.on)] = -np.inf
        return found, traits

    @property
    def means(self) -> Floats:
        return self.now.means

    def _driven(self) -> tuple[tuple[tuple[str, ...], ...], tuple[Floats, ...]]:
        """By trait, the observed columns that move it: no items, and nothing below one."""
        free = tuple(name for name in self.may if name not in self.seen)
        means, noise = self.means, self.now.variances.mean(axis=0)
        drivers, effects = [], []
        for v in range(self.traits.count):
            own, slopes = _regressed(self.block, means[:, v], float(noise[v]), free)
            drivers.append(own)
            effects.append(slopes)
        return tuple(drivers), tuple(effects)


def _regressed(block: ItemBlock, y: Floats, noise: float, free: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """Forward: the columns worth their slopes; `noise` is what rows do not tell of the place."""
    own: tuple[str, ...] = ()
    slopes: Floats = np.empty(0)
    left = y
    while True:
        now = 0.5 * block.rows * np.log(left.var() + noise) + len(slopes) * block.price
        best: tuple[float, str, Floats, Floats] | None = None
        for name in free:
            if name in own:
                continue
            x = block.terms((*own, name))
            solution = np.asarray(np.linalg.solve(x @ x.T + 1e-6 * np.eye(len(x)), x @ y), dtype=np.float64)
            rest = y - solution @ x
            cost = 0.5 * block.rows * np.log(float(rest.var()) + noise) + len(solution) * block.price
            if cost < now - WORTH and (best is None or cost < best[0]):
                best = (cost, name, solution, rest)
        if best is None:
            return own, slopes
        own, slopes, left = (*own, best[1]), best[2], best[3]


def _with(item: Item, other: str | int, block: ItemBlock) -> Item:
    """It hangs on this trait or column too."""
    if isinstance(other, int):
        slopes = np.insert(item.slopes, len(item.on), 0.0)
        return replace(item, on=(*item.on, other), slopes=slopes)
    slopes = np.append(item.slopes, np.zeros(block.sizes[other]))
    return replace(item, parents=(*item.parents, other), slopes=slopes)


def _without(item: Item, other: str | int, block: ItemBlock) -> Item:
    if isinstance(other, int):
        at = item.on.index(other)
        return replace(item, on=tuple(v for v in item.on if v != other), slopes=np.delete(item.slopes, at))
    at = len(item.on) + sum(block.sizes[p] for p in item.parents[: item.parents.index(other)])
    slopes = np.delete(item.slopes, np.arange(at, at + block.sizes[other]))
    return replace(item, parents=tuple(p for p in item.parents if p != other), slopes=slopes)


def structured(
    block: ItemBlock, begun: Ascended, may: tuple[str, ...], rounds: int = ROUNDS, stop: Callable[[], bool] = never
) -> Ascended:
    """Structural steps and EM in turn, as long as the score rises: first other traits alone, and columns that are no
    items; an arc between two items that is taken too early stands in for what the traits would have said. Steps are
    weighed on few points until they settle, and then on those by which scores are compared; a single round on few."""
    free = tuple(name for name in may if name not in begun.traits.columns)
    best = begun
    for taking in (free, may):
        many = GLANCED
        for _ in range(rounds):
            if stop():
                return best
            now = best.placed if many == FINE else placed(block, best.traits, many, best.placed.modes)
            traits = ArcSearch(block, best.traits, now, may, taking, stop).search()
            new = ascend_traits(block, _owned(traits), best.placed.modes)
            gained = new.score(block) - best.score(block)
            best = new if gained > 0 else best
            if gained < SETTLED:
                if many == FINE:
                    break
                many = FINE
    return best


def _owned(traits: Traits) -> Traits:
    """An item's own trait is the one that it goes with most, other traits it hangs on and what they share included:
    by slopes alone one that hangs on several is told as the one that two of them leave over."""
    items = []
    for each, together in zip(traits.items, traits.loads @ traits.correlation, strict=True):
        order = np.argsort(-np.abs(together[list(each.on)]), kind="stable")
        slopes = np.concatenate([each.slopes[order], each.slopes[len(each.on) :]])
        items.append(replace(each, on=tuple(each.on[k] for k in order), slopes=slopes))
    return replace(traits, items=tuple(items))
