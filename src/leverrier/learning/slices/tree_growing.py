"""Growing tree CPDs: a Dirichlet score at the leaves, and a price for each split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.search.tree_growth import AT_MOST, best_split, count_by_feature, dirichlet_score, fill_log_rises
from leverrier.models.slices.code_tree import Tree

LEAF_COUNT = 0.2
"""The prior count of each state at a leaf, when splits are judged."""
MOST_NODES = 4000
TABLED_COUNTS = 32_768
"""Scores of whole counts are looked up to this many."""


@dataclass(frozen=True, eq=False)
class Splits:
    """What trees may ask: codes of (features, rows), how many codes each feature has, and which are in order."""

    codes: NDArray[np.unsignedinteger]
    cardinalities: NDArray[np.int64]
    ordinal: NDArray[np.bool_]

    @property
    def offsets(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.cardinalities)]).astype(np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


def grow_tree(
    splits: Splits,
    child: NDArray[np.int64],
    states: int,
    weights: Floats,
    *,
    allowed: NDArray[np.bool_] | None = None,
    leaf_count: float = LEAF_COUNT,
) -> Tree:
    """The tree in which every split gains more than its price: ln(number of splits to choose from).

    Rows of weight zero are left out. A split is judged by the Dirichlet score of its two sides against the node's.
    """
    return grown(splits, child, states, weights, allowed=allowed, leaf_count=leaf_count)[0]


def grown(
    splits: Splits,
    child: NDArray[np.int64],
    states: int,
    weights: Floats,
    *,
    allowed: NDArray[np.bool_] | None = None,
    leaf_count: float = LEAF_COUNT,
    price: float = 0.0,
    most_nodes: int = MOST_NODES,
) -> tuple[Tree, float]:
    """The tree of `grow_tree`, and its score: that of its leaves less what its splits cost, each `price` more."""
    may = np.ones(len(splits.cardinalities), dtype=np.bool_) if allowed is None else allowed
    kept = np.flatnonzero(may)
    codes = np.ascontiguousarray(splits.codes[kept]) if len(kept) < len(may) else splits.codes
    offsets = np.concatenate([[0], np.cumsum(splits.cardinalities[kept])]).astype(np.int64)
    ordinal = splits.ordinal[kept]
    cells, whole = log_rises(leaf_count, states)
    feature, kind, value, left, right = [-1], [0], [0], [-1], [-1]
    rows = np.flatnonzero(weights > 0)
    seen = [np.bincount(child[rows], weights[rows], states).astype(np.float64)]
    waiting = [(0, rows)]
    score = dirichlet_score(seen[0], leaf_count, cells, whole)
    while waiting and len(feature) < most_nodes and len(kept):
        node, rows = waiting.pop()
        if np.count_nonzero(seen[node]) < 2:
            continue
        counts = np.zeros((int(offsets[-1]), states))
        count_by_feature(codes, child, weights, rows, offsets, counts)
        gain, f, how, at = best_split(counts, offsets, ordinal, leaf_count, cells, whole)
        if f < 0 or gain <= price:
            continue
        score += gain - price
        asked = codes[f, rows]
        yes = asked <= at if how == AT_MOST else asked == at
        feature[node], kind[node], value[node] = int(kept[f]), how, at
        left[node], right[node] = len(feature), len(feature) + 1
        for part in (rows[yes], rows[~yes]):
            waiting.append((len(feature), part))
            for column, empty in ((feature, -1), (kind, 0), (value, 0), (left, -1), (right, -1)):
                column.append(empty)
            seen.append(np.bincount(child[part], weights[part], states).astype(np.float64))
    nodes = [np.array(part, dtype=np.int64) for part in (feature, kind, value, left, right)]
    return Tree(nodes[0], nodes[1], nodes[2], nodes[3], nodes[4], np.array(seen)), float(score)


def tree_score(tree: Tree, leaf_count: float = LEAF_COUNT) -> float:
    """ln P(children | splits): the Dirichlet score of all leaves."""
    cells, whole = log_rises(leaf_count, tree.counts.shape[1])
    leaves = np.flatnonzero(tree.feature < 0)
    return float(sum(dirichlet_score(tree.counts[leaf], leaf_count, cells, whole) for leaf in leaves))


@cache
def log_rises(leaf_count: float, states: int) -> tuple[Floats, Floats]:
    """Log rises of whole counts: for a state of a leaf, and for the whole leaf."""
    made = np.empty(TABLED_COUNTS), np.empty(TABLED_COUNTS)
    for alpha, out in zip((leaf_count, leaf_count * states), made, strict=True):
        fill_log_rises(alpha, out)
    return made
