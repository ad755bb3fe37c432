"""Trees as tables that can be read: a line for each leaf, with what leads to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from leverrier.data.sequences.slice_features import LEVELS, SPANS, Feature, Lag, Memory, MemoryKind
from leverrier.data.table import Label
from leverrier.kernels.search.tree_growth import AT_MOST
from leverrier.models.slices.shaped_cpd import CPD
from leverrier.models.slices.tree_cpd import SliceShape, TreeCPD
from leverrier.report.parts.page_parts import Grid, percent, shortened

MOST_LEAVES = 24
LIKELY = 3
LONG = 24
States = Mapping[str, Sequence[Label]]
"""By column and hidden variable, its states."""
MEANING = {
    "average": "the mean of the column's past, older steps weighing less",
    "activity": "how often it changed lately",
    "step": "how far it moved",
    "run": "for how many time steps it has had its present state",
    "since": "how long ago it was last so",
    "before": "the state it had before the present one",
    "total": "the sum of its numbers since the sequence began, modulo the span",
    "position": "how long the sequence has lasted",
}


def node_name(feature: Feature) -> str:
    """How something that is asked is called in the drawing."""
    if isinstance(feature, Lag):
        return slice_name(feature.variable, feature.lag)
    return feature.name


def slice_name(name: str, lag: int) -> str:
    """X for this time step, "X, before" for the one before, "X, 3 before"."""
    return name if lag == 0 else f"{name}, before" if lag == 1 else f"{name}, {lag} before"


def tree_grid(cpd: CPD, child: str, states: States) -> Grid:
    """A column's distribution: when, how many time steps, what is likely then."""
    if cpd.averaged:
        return Grid(("",), ((f"the average of {len(cpd.singles)} trees",),))
    one = cpd.singles[0]
    told = _told(one.shape, [str(label) for label in states[child]])
    rows: list[tuple[str, str, str]] = []
    for tree, (labels, when) in zip(one.trees, told, strict=True):
        rows += _lines(tree, labels, states, when)
    more = f"the first {MOST_LEAVES} of {len(rows)} cases" if len(rows) > MOST_LEAVES else ""
    return Grid(("when", "time steps", "most likely"), tuple(rows[:MOST_LEAVES]), more, words=(0, 2), stack=True)


def _told(shape: SliceShape, labels: Sequence[str]) -> tuple[tuple[Sequence[str], str], ...]:
    """Of each tree of such a distribution what its states are called, and when it is asked."""
    match shape:
        case SliceShape.TREE:
            return ((labels, ""),)
        case SliceShape.SAME:
            return ((("as before", "changed"), ""), (labels, "if it changes"))
        case SliceShape.STEP:
            moves = [f"{step:+d}" for step in range(1 - len(labels), len(labels))]
            return ((moves, "moves by"), (labels, "where the state before is not known"))


def _lines(cpd: TreeCPD, labels: Sequence[str], states: States, before: str) -> Iterator[tuple[str, str, str]]:
    stack: list[tuple[int, tuple[str, ...]]] = [(0, (before,) if before else ())]
    tree = cpd.tree
    while stack:
        node, path = stack.pop()
        if tree.feature[node] < 0:
            shares = cpd.leaf_probabilities[node]
            top = np.argsort(-shares, kind="stable")[:LIKELY]
            likely = ", ".join(f"{shortened(labels[k], LONG)} {percent(float(shares[k]))}" for k in top)
            yield "; ".join(path) or "always", f"{tree.counts[node].sum():,.0f}", likely
            continue
        feature, value = cpd.parents[int(tree.feature[node])], int(tree.value[node])
        yes, no = ("≤", ">") if tree.kind[node] == AT_MOST else ("is", "is not")
        name, said = shortened(node_name(feature), 40), value_text(feature, value, states)
        stack.append((int(tree.right[node]), (*path, f"{name} {no} {said}")))
        stack.append((int(tree.left[node]), (*path, f"{name} {yes} {said}")))


def value_text(feature: Feature, code: int, states: States) -> str:
    """What a code of a feature stands for."""
    labels = states.get(feature.variable, ())
    if isinstance(feature, Memory) and feature.kind is not MemoryKind.BEFORE:
        return _memory_value(feature, code, len(labels))
    return shortened(labels[code], LONG) if code < len(labels) else "unknown"


def _memory_value(memory: Memory, code: int, size: int) -> str:
    if memory.kind in (MemoryKind.AVERAGE, MemoryKind.ACTIVITY):
        return "unknown" if code >= LEVELS else f"{(code + 1) / LEVELS:.2f}"
    if memory.kind is MemoryKind.STEP:
        return f"{code - size + 1:+d}" if code < 2 * size - 1 else "unknown"
    if memory.kind is MemoryKind.TOTAL:
        return str(code)
    return f"{int(SPANS[min(code, len(SPANS) - 1)])} time steps"
