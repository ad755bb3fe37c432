"""Trees over parents and functions of them, functions with something added, and plain lookups."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma

from leverrier.arrays import Floats
from leverrier.learning.families.family_counts import FamilyCounts, Price, dirichlet
from leverrier.learning.families.offered import Offered, by_parts, dirichlet_slopes
from leverrier.learning.slices.tree_growing import Splits, grown
from leverrier.models.families.column_function import ColumnFunction, FunctionName
from leverrier.models.families.state_offset import OffsetKind
from leverrier.models.families.state_table import LookupKind, TableKind
from leverrier.models.families.state_tree import TreeKind

MOST_LEVELS = 256
MOST_NODES = 400
FEW_STATES = 4
"""A child with at least so many states may have leaves that know only some of them: then a lean prior serves better."""


def lean(states: int) -> float:
    """The prior count of a state where most are expected never to be seen."""
    return 1.0 / states


def offer_tables(family: FamilyCounts, price: Price, floor: float) -> Iterator[Offered]:
    """The table with a lean prior: one row's worth spread over its states."""
    if price.cell <= 0:
        return
    offered = tabled(family, lean(family.states))
    if offered.score > floor:
        yield offered


def tabled(family: FamilyCounts, alpha: float, kind: str = "table") -> Offered:
    """The table with this prior count a cell."""
    return Offered(
        dirichlet(family.counts, alpha),
        kind,
        partial(_table, family, alpha),
        partial(dirichlet_slopes, family.counts, alpha),
        partial(tabled, alpha=alpha, kind=kind),
    )


def _table(family: FamilyCounts, alpha: float) -> TableKind:
    table = np.full((*family.sizes, family.states), 1.0 / family.states)
    padded = family.counts + alpha
    table[tuple(family.codes)] = padded / padded.sum(axis=1, keepdims=True)
    return TableKind(table)


def offer_lookups(family: FamilyCounts, price: Price, floor: float) -> Iterator[Offered]:
    """One value for each configuration, errors apart: the choice of values is paid for, and the share of errors."""
    if not family.parents or price.cell <= 0:
        return
    offered = _looked_up(family)
    if offered.score > floor:
        yield offered


def _looked_up(family: FamilyCounts) -> Offered:
    values = family.counts.argmax(axis=1)
    place = np.arange(len(values))
    right = float(family.counts[place, values].sum())
    wrong = family.counts.copy()
    wrong[place, values] = 0.0
    errors = wrong.sum(axis=0)
    chosen = np.bincount(values, minlength=family.states).astype(np.float64)
    score = dirichlet(chosen, 0.5) + float(betaln(0.5 + errors.sum(), 0.5 + right) - betaln(0.5, 0.5))
    score += dirichlet(errors, 0.5)

    def slopes() -> Floats:
        both = digamma(1.0 + errors.sum() + right)
        found = np.tile(digamma(0.5 + errors.sum()) - both + dirichlet_slopes(errors, 0.5), (len(values), 1))
        found[place, values] = digamma(0.5 + right) - both
        return found

    confirmed = max(right - len(values), 0.0)  # (a configuration's first row chose its value: it confirms nothing)
    return Offered(score, "lookup", partial(_lookup, family, values, errors, confirmed), slopes, _looked_up)


def _lookup(family: FamilyCounts, values: NDArray[np.int64], errors: Floats, right: float) -> LookupKind:
    keys = np.zeros(family.codes.shape[1], dtype=np.int64)
    for size, column in zip(family.sizes, family.codes, strict=True):
        keys = keys * size + column
    order = np.argsort(keys)
    error = (0.5 + errors.sum()) / (1.0 + errors.sum() + right)
    spread = errors + 0.5
    return LookupKind(family.sizes, keys[order], values[order], float(error), spread / spread.sum())


def functions_of(family: FamilyCounts) -> list[ColumnFunction]:
    """Sums, differences and extremes of the parents, where they have few enough levels to be split."""
    return list(_functions(tuple(parent.values for parent in family.parents)))


@lru_cache(maxsize=4096)
def _value(place: int, values: tuple[float, ...]) -> ColumnFunction:
    """A parent as it is."""
    return ColumnFunction(FunctionName.VALUE, (place,), (values,))


@lru_cache(maxsize=4096)
def _functions(values: tuple[tuple[float, ...], ...]) -> tuple[ColumnFunction, ...]:
    """The same for every child of these parents: their levels are worked out once."""
    places = tuple(range(len(values)))
    every = (FunctionName.SUM, FunctionName.LARGEST, FunctionName.SMALLEST)
    of_two = (FunctionName.DIFFERENCE, FunctionName.PRODUCT)
    names = (*(every if len(places) >= 2 else ()), *(of_two if len(places) == 2 else ()))
    found = (ColumnFunction(name, places, values) for name in names)
    return tuple(each for each in found if _few_levels(each))


def _few_levels(function: ColumnFunction) -> bool:
    try:
        return len(function.levels) <= MOST_LEVELS
    except ValueError:
        return False


def offer_trees(family: FamilyCounts, price: Price, floor: float, functions: list[ColumnFunction]) -> Iterator[Offered]:
    """Equal rows said once: over the parents, and over functions of them too."""
    if not family.parents or price.cell <= 0:
        return
    single = [_value(i, own.values) for i, own in enumerate(family.parents)]
    alphas = [price.cell] if family.states < FEW_STATES else [price.cell, lean(family.states)]
    counted = max(family.states, *family.sizes) > 2
    grown_by = {alpha: list(_offer_tree(family, tuple(single), alpha, floor)) for alpha in alphas}
    for offers in grown_by.values():
        yield from offers
    if functions and counted:
        reached = {alpha: offers[0].score if offers else -np.inf for alpha, offers in grown_by.items()}
        alpha = max(alphas, key=lambda own: (reached[own], own))  # (the prior that served better without them)
        yield from _offer_tree(family, (*single, *functions), alpha, floor)
    if not counted:
        yield from _offer_tallies(
            family, [each for each in functions if each.name is FunctionName.SUM], price.cell, floor
        )


def _offer_tallies(family: FamilyCounts, sums: list[ColumnFunction], alpha: float, floor: float) -> Iterator[Offered]:
    """How many of several two-state columns hold, where chances rise and fall with that.

    Chances that only rise with the tally are what a class behind the columns makes, and would hide it: logits and
    noisy-or say such a rise where it is a rule. A rise and a fall no class makes.
    """
    for tally in sums:
        for offered in _offer_tree(family, (tally,), alpha, floor):
            made = offered.make()
            steps = np.diff(made.rows(_tallied(family.sizes))[:, 1])
            if steps.min() < 0 < steps.max():
                yield offered


def _tallied(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """(columns, tallies): none of the two-state columns, one of them, two…"""
    return (np.arange(len(sizes))[:, None] < np.arange(len(sizes) + 1)[None, :]).astype(np.int64)


def _offer_tree(
    family: FamilyCounts, features: tuple[ColumnFunction, ...], alpha: float, floor: float
) -> Iterator[Offered]:
    j, k, weights = family.cells
    ranks = np.stack([feature.ranks(family.codes) for feature in features])
    sizes = np.array([len(feature.levels) for feature in features], dtype=np.int64)
    splits = Splits(np.ascontiguousarray(ranks[:, j].astype(np.uint16)), sizes, sizes > 2)
    tree, score = grown(splits, k, family.states, weights, leaf_count=alpha, price=np.log(2.0), most_nodes=MOST_NODES)
    if score > floor:
        leaves = tree.leaves(ranks.astype(np.uint16))
        spent = score - dirichlet(tree.counts[tree.feature < 0], alpha)  # (what the splits cost)
        make = partial(TreeKind, features, tree)
        yield by_parts("tree", make, leaves, tree.n_nodes, alpha, spent, family)


def offer_offsets(
    family: FamilyCounts, price: Price, floor: float, functions: list[ColumnFunction]
) -> Iterator[Offered]:
    """The child is a function of its parents with something added: offsets share one distribution."""
    if not family.parents or price.cell <= 0:
        return
    tried = functions
    if len(family.parents) == 1:
        tried = [_value(0, family.parents[0].values)]
    signs = [
        ColumnFunction(FunctionName.DIFFERENCE, (1, 0), (f.values[1], f.values[0]))
        for f in tried
        if f.name is FunctionName.DIFFERENCE
    ]
    for function in [*tried, *signs]:
        offered = _beside(function, family)
        if offered.score > floor:
            yield offered


def _beside(function: ColumnFunction, family: FamilyCounts) -> Offered:
    j, k, weights = family.cells
    own = np.array(family.child.values)[None, :]
    off = np.round(own - function.of(family.codes)[:, None], 9)
    possible = np.round(own - function.levels[:, None], 9)  # (what no row shows may still come)
    offsets = np.unique(np.concatenate([off.ravel(), possible.ravel()]))
    index = np.searchsorted(offsets, off)
    counts = np.bincount(index[j, k], weights, len(offsets)).astype(np.float64)
    alpha = 1.0 / len(offsets)
    return Offered(
        dirichlet(counts, alpha),
        "offset",
        partial(_offset, family, function, offsets, counts + alpha),
        lambda: dirichlet_slopes(counts, alpha)[index],
        partial(_beside, function),
    )


def _offset(family: FamilyCounts, function: ColumnFunction, offsets: Floats, padded: Floats) -> OffsetKind:
    otherwise = (family.margin + 0.5) / (family.margin + 0.5).sum()
    return OffsetKind(function, np.array(family.child.values), offsets, padded / padded.sum(), otherwise)
