"""The E-step of groups whose joint is too large for a table: sum–product over a tree of cliques.

trees:   cliques, first clique, first row, rows, factors, first base, cells of all cliques, first kept cell
cliques: cells, parent (within the tree, −1 for the first), separator's cells, first entry of the map from its cells to
         the separator, first entry of the map from the parent's cells, first cell, first separator cell, first factor,
         factors                                              (parents come before children)
factors: column among the tree's bases, first offset
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.em.plan_columns import (
    CLIQUE_CELL,
    CLIQUE_CELLS,
    CLIQUE_FACTORS,
    CLIQUE_FIRST_FACTOR,
    FACTOR_COLUMN,
    FACTOR_OFFSET,
    TREE_BASE,
    TREE_CELLS,
    TREE_CLIQUES,
    TREE_FACTORS,
    TREE_FIRST_CLIQUE,
    TREE_FIRST_ROW,
    TREE_KEPT,
    TREE_ROWS,
)


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(tree, cliques, maps, beliefs, messages):
    """Leaves to root; every message is scaled to sum to one, and the logarithm of what was taken out given back."""
    taken_out = 0.0
    for c in range(tree[TREE_FIRST_CLIQUE] + tree[TREE_CLIQUES] - 1, tree[TREE_FIRST_CLIQUE] - 1, -1):
        size, parent, width, up, down, cell, sep, _, _ = cliques[c]
        total = 0.0
        for k in range(size):
            total += beliefs[cell + k]
        if total <= 0.0:
            return -np.inf
        taken_out += math.log(total)
        for k in range(size):
            beliefs[cell + k] /= total
        if parent < 0:
            continue
        for s in range(width):
            messages[sep + s] = 0.0
        for k in range(size):
            messages[sep + maps[up + k]] += beliefs[cell + k]
        above = cliques[tree[TREE_FIRST_CLIQUE] + parent]
        for k in range(above[CLIQUE_CELLS]):
            beliefs[above[CLIQUE_CELL] + k] *= messages[sep + maps[down + k]]
    return taken_out


@njit(cache=True, nogil=True, error_model="numpy")
def _distribute(tree, cliques, maps, beliefs, messages, fresh):
    """Root to leaves: each clique is corrected by what its parent now says of their separator."""
    for c in range(tree[TREE_FIRST_CLIQUE] + 1, tree[TREE_FIRST_CLIQUE] + tree[TREE_CLIQUES]):
        size, parent, width, up, down, cell, sep, _, _ = cliques[c]
        for s in range(width):
            fresh[s] = 0.0
        above = cliques[tree[TREE_FIRST_CLIQUE] + parent]
        for k in range(above[CLIQUE_CELLS]):
            fresh[maps[down + k]] += beliefs[above[CLIQUE_CELL] + k]
        for s in range(width):
            fresh[s] = fresh[s] / messages[sep + s] if messages[sep + s] > 0.0 else 0.0
        for k in range(size):
            beliefs[cell + k] *= fresh[maps[up + k]]


@njit(cache=True, nogil=True, error_model="numpy")
def pass_trees(trees, cliques, factors, maps, bases, offsets, weights, theta, beliefs, messages, fresh, counts, kept):
    """Log-likelihood of the trees' rows; adds expected counts to `counts`, copies beliefs to `kept` if it has room."""
    total = 0.0
    for t in range(trees.shape[0]):
        tree = trees[t]
        for i in range(tree[TREE_ROWS]):
            base = tree[TREE_BASE] + i * tree[TREE_FACTORS]
            for c in range(tree[TREE_FIRST_CLIQUE], tree[TREE_FIRST_CLIQUE] + tree[TREE_CLIQUES]):
                size, cell = cliques[c, CLIQUE_CELLS], cliques[c, CLIQUE_CELL]
                first, n_factors = cliques[c, CLIQUE_FIRST_FACTOR], cliques[c, CLIQUE_FACTORS]
                for k in range(size):
                    beliefs[cell + k] = 1.0
                for f in range(first, first + n_factors):
                    b, offset = bases[base + factors[f, FACTOR_COLUMN]], factors[f, FACTOR_OFFSET]
                    for k in range(size):
                        beliefs[cell + k] *= theta[b + offsets[offset + k]]
            weight = weights[tree[TREE_FIRST_ROW] + i]
            total += weight * _collect(tree, cliques, maps, beliefs, messages)
            if total == -np.inf:
                return total
            _distribute(tree, cliques, maps, beliefs, messages, fresh)
            for c in range(tree[TREE_FIRST_CLIQUE], tree[TREE_FIRST_CLIQUE] + tree[TREE_CLIQUES]):
                size, cell = cliques[c, CLIQUE_CELLS], cliques[c, CLIQUE_CELL]
                first, n_factors = cliques[c, CLIQUE_FIRST_FACTOR], cliques[c, CLIQUE_FACTORS]
                for f in range(first, first + n_factors):
                    b, offset = bases[base + factors[f, FACTOR_COLUMN]], factors[f, FACTOR_OFFSET]
                    for k in range(size):
                        counts[b + offsets[offset + k]] += weight * beliefs[cell + k]
            if kept.size > 0:
                for k in range(tree[TREE_CELLS]):
                    kept[tree[TREE_KEPT] + i * tree[TREE_CELLS] + k] = beliefs[k]
    return total
