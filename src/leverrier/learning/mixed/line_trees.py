"""Small trees for a number: splits on quantile codes, lines at the leaves, grown best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.mixed.linear_splits import best_linear_split
from leverrier.learning.mixed.fitted import ADDED, FLOOR, Fitted, gaussian
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.residual_noise import fit_noise
from leverrier.models.families.number_terms import code_bounds
from leverrier.models.families.number_tree import NumberTree, Split

MOST_LEAVES = 8
LEAST_ROWS = 10


@dataclass(eq=False)
class _Leaf:
    rows: NDArray[np.int64]
    logs: float
    gain: float
    parent: int
    code: int


def fit_trees(design: Design, child: int, parents: Sequence[int], bent: bool) -> Fitted | None:
    """The better of trees with lines and with constants at the leaves; None where no split pays."""
    family = (child, *parents)
    rows = design.rows_of(family)
    column = design.space.columns[child]
    jacobian = 0.0
    if bent:
        jacobian = float((column.log_slope if rows is None else column.log_slope[rows]).sum())
    mains = [j for p in parents if design.space.columns[p].ordered for j in design.mains(p, bent)]
    grown = [_grown(design, child, parents, places, bent, rows) for places in (([0, *mains], [0]) if mains else ([0],))]
    best = max((tree for tree in grown if tree is not None), key=lambda tree: tree.score, default=None)
    return None if best is None else _finished(design, child, parents, bent, rows, best, jacobian)


@dataclass(frozen=True, eq=False)
class _Grown:
    splits: tuple[Split, ...]
    places: list[int]
    x: Floats
    cost: float
    score: float


def _grown(
    design: Design, child: int, parents: Sequence[int], places: list[int], bent: bool, rows: NDArray[np.int64] | None
) -> _Grown | None:
    x = design.columns([*places, design.response(child, bent)], rows)
    columns = [design.space.columns[p] for p in parents]
    codes = np.stack([c.codes if rows is None else c.codes[rows] for c in columns]).astype(np.uint8)
    n_codes = np.array([c.n_codes for c in columns])
    ordered = np.array([c.ordered or c.n_codes == 2 for c in columns])
    n = x.shape[1]
    log_n = float(np.log(n))
    choices = float(np.log(np.sum(n_codes - ordered)))
    least = max(LEAST_ROWS, 2 * len(x))
    leaf_cost = 0.5 * (len(x)) * log_n

    def leaf(of: NDArray[np.int64]) -> _Leaf:
        gain, parent, code, logs = best_linear_split(x, of, codes, n_codes, ordered, least, ADDED, FLOOR)
        return _Leaf(of, logs, gain, parent, code)

    leaves = {-1: leaf(np.arange(n))}
    splits: list[Split] = []
    history = [(leaves[-1].logs - leaf_cost, 0)]
    while len(leaves) < MOST_LEAVES:
        key = max(leaves, key=lambda k: leaves[k].gain if leaves[k].parent >= 0 else -np.inf)
        split = leaves[key]
        if split.parent < 0 or split.gain <= 0:
            break
        left = codes[split.parent, split.rows] <= split.code
        if not ordered[split.parent]:
            left = codes[split.parent, split.rows] == split.code
        _replace(leaves, splits, key, columns, split, leaf(split.rows[left]), leaf(split.rows[~left]))
        total = sum(each.logs for each in leaves.values()) - len(leaves) * leaf_cost - len(splits) * choices
        history.append((total, len(splits)))
    score, best = max(history)
    if best == 0:
        return None
    return _Grown(_shortened(splits[:best]), places, x, (best + 1) * leaf_cost + best * choices, score)


def _replace(leaves, splits, key, columns, split, left, right) -> None:  # type: ignore[no-untyped-def]
    """The leaf becomes a split; leaves have negative keys, in the order in which they were made."""
    column = columns[split.parent]
    low, high = code_bounds(column.bounds, split.code)
    if column.ordered or column.n_codes == 2:
        low = -np.inf
    number = len(splits)
    for at, each in enumerate(splits):
        if each.left == key:
            splits[at] = Split(each.parent, each.low, each.high, number, each.right)
        elif each.right == key:
            splits[at] = Split(each.parent, each.low, each.high, each.left, number)
    new = min(leaves) - 1
    del leaves[key]
    splits.append(Split(split.parent, low, high, new, new - 1))
    leaves[new], leaves[new - 1] = left, right


def _shortened(splits: Sequence[Split]) -> tuple[Split, ...]:
    """The first splits alone, their open ends numbered as leaves."""
    made = 0
    kept = []
    for split in splits:
        ends = []
        for end in (split.left, split.right):
            if 0 <= end < len(splits):
                ends.append(end)
            else:
                made += 1
                ends.append(-made)
        kept.append(Split(split.parent, split.low, split.high, *ends))
    return tuple(kept)


def _finished(
    design: Design,
    child: int,
    parents: Sequence[int],
    bent: bool,
    rows: NDArray[np.int64] | None,
    tree: _Grown,
    jacobian: float,
) -> Fitted:
    """Lines and deviations of the leaves, and noise where it pays."""
    splits, places, x, cost = tree.splits, tree.places, tree.x, tree.cost
    moved = {p: at for at, p in enumerate(parents)}
    terms = tuple(term.moved(moved) for j in places if (term := design.terms[j]) is not None)
    curves = tuple(design.curves[p] for p in parents)
    curve = design.curves[child] if bent else None
    blank = NumberTree(splits, terms, ((0.0,) * len(places),) * (len(splits) + 1), (1.0,) * (len(splits) + 1))
    cells = [design.cells[p] if rows is None else design.cells[p][rows] for p in parents]
    leaf_of = blank.leaves(cells, x.shape[1])
    lines, deviations, logs = [], [], jacobian
    standard = np.empty(x.shape[1])
    for leaf in range(len(splits) + 1):
        here = np.flatnonzero(leaf_of == leaf)
        inside, y = x[:-1, here], x[-1, here]
        line = np.linalg.lstsq(inside @ inside.T, inside @ y, rcond=1e-9)[0] if len(here) else np.zeros(len(places))
        e = y - line @ inside
        s2, each = gaussian(float(e @ e), len(here))
        lines.append(tuple(line.tolist()))
        deviations.append(float(np.sqrt(s2)))
        standard[here] = e / np.sqrt(s2)
        logs += each
    log_n = float(np.log(x.shape[1]))
    noise, gain = fit_noise(standard, log_n)
    more = 0.5 * noise.dimension * log_n
    family = NumberTree(splits, terms, tuple(lines), tuple(deviations), noise, curve, curves)
    return Fitted(family, logs + gain + more, cost + more, standard)
