"""EM for several correlated continua behind graded items.

The sum over all places of all traits is taken over points round the mode of each row's posterior, in its shape, weighed
by what the posterior is there: importance sampling, with the same points in every iteration, so that EM rises. The
logarithm of such a sum is too small on average, so that its error speaks against what is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.traits.item_steps import climb_item
from leverrier.kernels.traits.row_points import row_modes, row_points, thresholds
from leverrier.learning.traits.item_block import ItemBlock
from leverrier.models.behind.traits import Item, Traits

POINTS, FINE = 8, 64
"""Points a row in EM, and where scores are compared."""
CLOSE, MOST = 0.3, 40
NEWTON, RIDGE, ENOUGH = 2, 1e-3, 1e-7
SETS, BEGUN = 256, 0.5
SHRUNK = 0.01
"""Correlations are drawn so much towards none: traits that are one would have no density."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Where rows stand."""

    points: Floats
    """(traits, rows, points)."""
    weights: Floats
    """(rows, points)."""
    logs: Floats
    """log P(items of the row | observed columns)."""
    modes: Floats

    @cached_property
    def means(self) -> Floats:
        """(rows, traits)."""
        return np.einsum("rq,drq->rd", self.weights, self.points)

    @cached_property
    def variances(self) -> Floats:
        squares = np.einsum("rq,drq->rd", self.weights, self.points**2)
        return np.maximum(squares - self.means**2, 0.0)


@dataclass(frozen=True, eq=False)
class Ascended:
    """Traits as fitted, and what they are worth."""

    traits: Traits
    placed: Placed
    log_likelihood: float
    trace: tuple[float, ...] = field(default=())

    def score(self, block: ItemBlock) -> float:
        return self.log_likelihood - self.traits.dimension * block.price


@lru_cache(maxsize=32)
def drawn_points(many: int, dimensions: int) -> Floats:
    """Sets of standard normal points, each with its mirror image: rows take them in turn, so that their errors do not
    add up. The same in every run."""
    half = np.random.default_rng([dimensions, many]).standard_normal((SETS, many // 2, dimensions))
    return np.concatenate([half, -half], axis=1)


def placed(block: ItemBlock, traits: Traits, many: int = FINE, begun: Floats | None = None) -> Placed:
    """Each row's posterior on points."""
    items, d, rows = traits.items, traits.count, block.rows
    most = max(len(each.tau) for each in items)
    tau = np.array([np.pad(each.tau, (0, most - len(each.tau))) for each in items])
    codes = np.ascontiguousarray(np.column_stack([block.codes(each.column) for each in items]))
    states = np.array([len(each.tau) + 1 for each in items])
    offset = np.column_stack([each.slopes[len(each.on) :] @ block.terms(each.parents) for each in items])
    offset = np.ascontiguousarray(offset)
    mean, precision = expected(block, traits), np.linalg.inv(traits.correlation)
    modes = mean.copy() if begun is None else begun.copy()
    bend, points, weights = np.empty((rows, d, d)), np.empty((d, rows, many)), np.empty((rows, many))
    around, loads, drawn = thresholds(tau, states), traits.loads, drawn_points(many, d)
    row_modes(codes, around, loads, offset, mean, precision, modes, bend)
    logs = row_points(codes, around, loads, offset, mean, precision, modes, bend, drawn, points, weights)
    return Placed(points, weights, logs, modes)


def expected(block: ItemBlock, traits: Traits) -> Floats:
    """(rows, traits): what observed columns say of each trait."""
    found = np.zeros((block.rows, traits.count))
    for own, drivers, effects in zip(found.T, traits.drivers, traits.effects, strict=True):
        if drivers:
            own[:] = effects @ block.terms(drivers)
    return found


def ascend_traits(
    block: ItemBlock,
    traits: Traits,
    begun: Floats | None = None,
    *,
    many: int = POINTS,
    close: float = CLOSE,
    most: int = MOST,
) -> Ascended:
    """EM until an iteration gains less than `close` nats; the best iterate on fine points."""
    now = placed(block, traits, many, begun)
    best, best_modes, trace = traits, now.modes, [float(now.logs.sum())]
    for _ in range(most):
        traits = _stepped(block, traits, now)
        now = placed(block, traits, many, now.modes)
        trace.append(float(now.logs.sum()))
        if trace[-1] >= max(trace[:-1]):
            best, best_modes = traits, now.modes
        if trace[-1] - trace[-2] < close:
            break
    fine = placed(block, best, FINE, best_modes)
    return Ascended(best, fine, float(fine.logs.sum()), tuple(trace))


def _stepped(block: ItemBlock, traits: Traits, now: Placed) -> Traits:
    """All items, then what moves the traits and how they go together, told again in deviations."""
    items = tuple(climbed(block, each, now)[0] for each in traits.items)
    means = now.means
    effects, left = [], now.points.copy()
    for v, drivers in enumerate(traits.drivers):
        x = block.terms(drivers)
        own = np.linalg.solve(x @ x.T + 1e-6 * np.eye(len(x)), x @ means[:, v]) if drivers else np.empty(0)
        effects.append(own)
        if drivers:
            left[v] -= (own @ x)[:, None]
    flat = left.reshape(len(left), -1)
    spread = (flat * now.weights.ravel()) @ flat.T / block.rows
    sizes = np.sqrt(np.diag(spread))
    correlation = (1 - SHRUNK) * spread / np.outer(sizes, sizes) + SHRUNK * np.eye(len(sizes))
    return Traits(items, correlation, traits.drivers, tuple(effects)).scaled(sizes)


def climbed(block: ItemBlock, item: Item, now: Placed, steps: int = NEWTON) -> tuple[Item, float]:
    """The item fitted to rows on points, and its expected log-likelihood."""
    tau, slopes = item.tau.copy(), item.slopes.copy()
    on: NDArray[np.int64] = np.array(item.on, dtype=np.int64)
    terms, codes = block.terms(item.parents), block.codes(item.column)
    value = climb_item(tau, slopes, on, now.points, now.weights, terms, codes, steps, RIDGE, ENOUGH)
    return replace(item, tau=tau, slopes=slopes), float(value)


def fresh_item(block: ItemBlock, column: str, on: Sequence[int], parents: tuple[str, ...] = ()) -> Item:
    """Small slopes on its traits, and the margin's own thresholds."""
    codes = block.codes(column)
    counts = np.bincount(codes[codes >= 0], minlength=block.states(column)) + 0.5
    below = np.cumsum(counts)[:-1] / counts.sum()
    slopes = np.zeros(len(on) + sum(block.sizes[p] for p in parents))
    slopes[: len(on)] = BEGUN
    return Item(column, tuple(on), parents, np.log(below / (1 - below)), slopes)
