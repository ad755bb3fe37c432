"""Counting on while predicting: every slice is learnt from as soon as it has been predicted.

This is another task than predicting from what was learnt before, so its bits are to be reported apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.online_tree import predict_and_count
from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import as_sequences
from leverrier.data.sequences.slice_features import feature_table
from leverrier.errors import OptionError
from leverrier.learning.slices.slice_choice import Choice, fit_slices
from leverrier.learning.slices.slice_design import Design
from leverrier.models.slices.shaped_cpd import AveragedCPD, SameElseCPD, SingleCPD, StepCPD
from leverrier.models.slices.slice_model import SliceModel
from leverrier.models.slices.tree_cpd import TreeCPD

Codes = NDArray[np.unsignedinteger]
FORGETTING = (1.0, 0.999, 0.995, 0.99, 0.98, 0.95)


def online_surprise(model: SliceModel, data: Any, forget: float = 1.0) -> Floats:
    """What each slice cost in bits when all slices before it, of this data too, have been counted.

    forget   how much of a node's counts is kept each time it is visited: 1 forgets nothing
    """
    if not 0.0 < forget <= 1.0:
        raise OptionError(f"forget={forget!r}: expected a number above 0 and at most 1")
    sequences = as_sequences(data, {variable.name: variable.states for variable in model.variables})
    total = np.zeros(sequences.n_slices)
    for variable, cells in zip(model.variables, sequences.table.codes, strict=True):
        cpd = model.cpds[variable.name].compacted()
        if isinstance(cpd, AveragedCPD):
            raise OptionError("bagged trees do not count on: give the single model")
        codes = feature_table(sequences.table, sequences.starts, cpd.parents).codes
        seen = cells != sequences.table.missing
        child = np.where(seen, cells, 0).astype(np.int64)
        found = _column(cpd, codes, child, seen, forget)
        total -= np.where(seen, np.log2(np.maximum(found, 1e-300)), 0.0)
    return total


def choose_forgetting(design: Design, choice: Choice, candidates: Sequence[float] = FORGETTING) -> float:
    """The forgetting that costs least on the second half of each sequence, learnt from the first."""
    sequences = design.sequences
    late = sequences.position * 2 >= np.repeat(sequences.lengths, sequences.lengths)
    model = fit_slices(design, choice, (~late).astype(np.float64))
    return min(candidates, key=lambda forget: float(online_surprise(model, sequences, forget)[late].sum()))


def _column(cpd: SingleCPD, codes: Codes, child: NDArray[np.int64], seen: NDArray[np.bool_], forget: float) -> Floats:
    """P(child) by slice."""
    place = np.arange(len(child))
    if isinstance(cpd, TreeCPD):
        return _tree(cpd, codes, child, seen, forget)[place, child]
    before = codes[0].astype(np.int64)
    known = before < cpd.states
    own = np.where(known, before, 0)
    if isinstance(cpd, StepCPD):
        step = np.where(known, child - own + cpd.states - 1, 0)
        moves = _tree(cpd.moves, codes, step, seen & known, forget)
        start = _tree(cpd.state, codes, child, seen & ~known, forget)[place, child]
        running = np.concatenate([np.zeros((len(child), 1)), np.cumsum(moves, axis=1)], axis=1)
        possible = running[place, 2 * cpd.states - 1 - own] - running[place, cpd.states - 1 - own]
        return np.where(known, moves[place, step] / np.maximum(possible, 1e-300), start)
    assert isinstance(cpd, SameElseCPD)
    same = child == before
    changed = _tree(cpd.moves, codes, (~same).astype(np.int64), seen & known, forget)[:, 1]
    other = _tree(cpd.state, codes, child, seen & ~(same & known), forget)
    moved = changed * other[place, child] / np.maximum(1.0 - other[place, own], 1e-300)
    return np.where(known, np.where(same, 1.0 - changed, moved), other[place, child])


def _tree(cpd: TreeCPD, codes: Codes, child: NDArray[np.int64], counted: NDArray[np.bool_], forget: float) -> Floats:
    tree = cpd.tree
    above = np.full(tree.n_nodes, -1, dtype=np.int64)
    for node in np.flatnonzero(tree.feature >= 0):
        above[tree.left[node]] = above[tree.right[node]] = node
    base = cpd.notes["base"] if len(cpd.notes["base"]) == cpd.states else np.full(cpd.states, 1.0 / cpd.states)
    out = np.empty((len(child), cpd.states))
    predict_and_count(
        tree.leaves(np.ascontiguousarray(codes)),
        above,
        child,
        counted,
        tree.counts.copy(),
        base,
        float(cpd.notes["strength"]),
        float(cpd.notes["floor"]),
        forget,
        out,
    )
    return out
