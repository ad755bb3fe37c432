"""Where the nodes of a graph are drawn: layers by the graph's order, few crossings, arcs that bend around nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

Arc = tuple[str, str]
Point = tuple[float, float]

ROOM = 760.0
"""How wide a layer may become before the next one is begun."""
GAP, BEND = 22.0, 2.0
"""Between nodes; and the width of a place where a long arc passes a layer."""
HEIGHT, STEP = 28.0, 84.0
SWEEPS, SETTLES = 12, 9
PULL = 0.92
"""Towards the middle, so that the drawing stays narrow."""


@dataclass(frozen=True)
class Layout:
    """Centres of nodes, and for each arc the points it passes, from its parent's foot to its child's head."""

    places: dict[str, Point]
    routes: dict[Arc, list[Point]]
    width: float
    height: float


@dataclass
class _Layers:
    rows: list[list[str]]
    above: dict[str, list[str]]
    below: dict[str, list[str]]
    widths: dict[str, float]
    bends: dict[Arc, list[str]] = field(default_factory=dict)


def layered(widths: Mapping[str, float], arcs: Sequence[Arc], order: Sequence[str]) -> Layout:
    """Places for nodes of these widths; `order` has parents before children."""
    layers = _with_bends(_ranks(widths, arcs, order), widths, arcs, order)
    _untangle(layers)
    x = _settle(layers)
    y = {node: row * STEP + HEIGHT / 2 + 4 for row, nodes in enumerate(layers.rows) for node in nodes}
    left = min((x[n] - layers.widths[n] / 2 for n in x), default=0.0) - 4
    x = {node: value - left for node, value in x.items()}
    routes = {arc: _route(arc, layers.bends[arc], x, y) for arc in arcs}
    right = max((x[n] + layers.widths[n] / 2 for n in x), default=0.0) + 4
    return Layout({n: (x[n], y[n]) for n in widths}, routes, right, (len(layers.rows) - 1) * STEP + HEIGHT + 8)


def _route(arc: Arc, bends: Sequence[str], x: Mapping[str, float], y: Mapping[str, float]) -> list[Point]:
    parent, child = arc
    between = [(x[bend], y[bend]) for bend in bends]
    return [(x[parent], y[parent] + HEIGHT / 2), *between, (x[child], y[child] - HEIGHT / 2 - 2)]


def _ranks(widths: Mapping[str, float], arcs: Sequence[Arc], order: Sequence[str]) -> dict[str, int]:
    """Layer by node, 0 at the top: as low as its children allow, where there is room."""
    children: dict[str, list[str]] = {node: [] for node in widths}
    for parent, child in arcs:
        children[parent].append(child)
    up: dict[str, int] = {}
    used: dict[int, float] = {}
    for node in reversed(order):
        level = max((up[child] + 1 for child in children[node]), default=0)
        while used.get(level, 0.0) > 0 and used[level] + widths[node] + GAP > ROOM:
            level += 1
        up[node] = level
        used[level] = used.get(level, 0.0) + widths[node] + GAP
    top = max(up.values(), default=0)
    return {node: top - level for node, level in up.items()}


def _with_bends(
    ranks: Mapping[str, int], widths: Mapping[str, float], arcs: Sequence[Arc], order: Sequence[str]
) -> _Layers:
    """The layers with a place for each arc that passes one."""
    rows: list[list[str]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    for node in order:
        rows[ranks[node]].append(node)
    layers = _Layers(rows, {n: [] for n in widths}, {n: [] for n in widths}, dict(widths))
    for number, (parent, child) in enumerate(arcs):
        bends = [f"\0{number}:{row}" for row in range(ranks[parent] + 1, ranks[child])]
        for row, bend in enumerate(bends, start=ranks[parent] + 1):
            rows[row].append(bend)
            layers.above[bend], layers.below[bend], layers.widths[bend] = [], [], BEND
        chain = [parent, *bends, child]
        for upper, lower in pairwise(chain):
            layers.below[upper].append(lower)
            layers.above[lower].append(upper)
        layers.bends[parent, child] = bends
    return layers


def _untangle(layers: _Layers) -> None:
    """Order within layers by the mean place of neighbours, up and down; the order with fewest crossings is kept."""
    best, fewest = [list(row) for row in layers.rows], _crossings(layers)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        near = layers.above if downwards else layers.below
        rows = range(1, len(layers.rows)) if downwards else range(len(layers.rows) - 2, -1, -1)
        for row in rows:
            before = {n: p for p, n in enumerate(layers.rows[row - 1 if downwards else row + 1])}
            now = {n: p for p, n in enumerate(layers.rows[row])}
            layers.rows[row].sort(key=lambda n: _mean([before[m] for m in near[n]], now[n]))
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(row) for row in layers.rows], crossings
    layers.rows = best


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(layers: _Layers) -> int:
    total = 0
    for upper, lower in pairwise(layers.rows):
        place = {node: p for p, node in enumerate(lower)}
        ends = np.array([place[child] for node in upper for child in sorted(layers.below[node], key=place.__getitem__)])
        if len(ends) > 1:
            total += int(np.count_nonzero(np.triu(ends[:, None] > ends[None, :], 1)))
    return total


def _settle(layers: _Layers) -> dict[str, float]:
    """Places along each layer: near the mean of the neighbours, never overlapping."""
    x: dict[str, float] = {}
    for row in layers.rows:
        offsets = _offsets(layers, row)
        middle = offsets[-1] / 2 if len(row) else 0.0
        x |= {node: float(offset - middle) for node, offset in zip(row, offsets, strict=True)}
    for sweep in range(SETTLES):
        rows = layers.rows if sweep % 2 == 0 else layers.rows[::-1]
        for row in rows:
            wanted = [PULL * _mean([x[m] for m in (*layers.above[n], *layers.below[n])], x[n]) for n in row]
            x |= dict(zip(row, _apart(np.array(wanted), _offsets(layers, row)), strict=True))
    return x


def _offsets(layers: _Layers, row: Sequence[str]) -> np.ndarray:
    """The least distance of each node of a layer from the first."""
    half = np.array([layers.widths[n] / 2 for n in row])
    bend = np.array([n.startswith("\0") for n in row], dtype=bool)
    gaps = np.where(bend[:-1] & bend[1:], GAP / 3, np.where(bend[:-1] | bend[1:], GAP / 2, GAP))
    return np.concatenate([[0.0], np.cumsum(half[:-1] + half[1:] + gaps)]) if len(row) else np.empty(0)


def _apart(wanted: np.ndarray, offsets: np.ndarray) -> list[float]:
    """The places nearest to the wanted ones (least squares) that keep the distances: isotonic regression."""
    from scipy.optimize import isotonic_regression

    if not len(wanted):
        return []
    return (isotonic_regression(wanted - offsets).x + offsets).tolist()
