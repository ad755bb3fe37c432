"""The graph of a dynamic network: slices side by side, arcs into the newest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from leverrier.models.dynamic.cpd import Node
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.report.charts.pictures import HIDDEN, INK, OBSERVED, QUIET

if TYPE_CHECKING:
    import altair

WIDTH, STEP = 2.6, 0.75
"""Between slices, and between parents and children within one, in nodes' heights."""
NEAR = 0.17
"""Arrows end so far from the middle of a node."""


def slice_graph(network: DynamicNetwork) -> altair.TopLevelMixin:
    """The transition: slices before on the left with what is asked of them, this slice on the right; hidden is red."""
    import altair as alt

    place = _places(network)
    marks: list[dict[str, Any]] = []
    for (name, lag), (x, y) in place.items():
        kind = "hidden" if name in network.hidden else "number" if name in network.numbers else "observed"
        marks.append({"x": x, "y": y, "name": name, "kind": kind, "slice": _slice(lag)})
    arcs = [_arc(place[(p, lag)], place[(child, 0)]) for (p, lag), child in network.edges]
    arcs += [_arc(place[(p, 0)], place[(name, 0)]) for name, cpd in network.numbers.items() for p in cpd.parents]
    domain_x = [min(m["x"] for m in marks) - 0.6, max(m["x"] for m in marks) + 1.3]
    domain_y = [-0.7, max(m["y"] for m in marks) + 0.9]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=domain_x))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=domain_y, reverse=True))
    lines = (
        alt.Chart(alt.Data(values=arcs)).mark_rule(color=QUIET, strokeWidth=1.3).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    )
    heads = (
        alt.Chart(alt.Data(values=arcs))
        .mark_point(shape="triangle", filled=True, color=QUIET, size=46, opacity=1)
        .encode(x=alt.X("x2:Q", axis=None), y=alt.Y("y2:Q", axis=None), angle=alt.Angle("angle:Q", scale=None))
    )
    kinds = {"observed": OBSERVED, "hidden": HIDDEN, "number": "#6a994e"}
    there = [kind for kind in kinds if any(mark["kind"] == kind for mark in marks)]
    nodes = (
        alt.Chart(alt.Data(values=marks))
        .mark_circle(size=170, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=there, range=[kinds[kind] for kind in there]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=["name:N", "slice:N"],
        )
    )
    words = (
        alt.Chart(alt.Data(values=marks))
        .mark_text(align="left", dx=10, dy=-9, fontSize=11, color=INK)
        .encode(x=x, y=y, text="name:N")
    )
    tops: dict[int, float] = {}
    for (_, lag), (at, _) in place.items():
        tops[lag] = min(tops.get(lag, math.inf), at)
    heads_of = [{"x": at, "y": -0.55, "text": _slice(lag)} for lag, at in tops.items()]
    titles = (
        alt.Chart(alt.Data(values=heads_of))
        .mark_text(align="left", fontSize=11, fontStyle="italic")
        .encode(x=x, y=y, text="text:N")
    )
    return (
        (lines + heads + nodes + words + titles)
        .properties(width=110 * (domain_x[1] - domain_x[0]), height=44 * (domain_y[1] - domain_y[0]))
        .configure_view(stroke=None)
    )


def _slice(lag: int) -> str:
    return "this slice" if lag == 0 else "the slice before" if lag == 1 else f"{lag} slices before"


def _places(network: DynamicNetwork) -> dict[Node, tuple[float, float]]:
    """One row for each variable; within this slice children stand to the right of their parents."""
    depth: dict[str, int] = {}

    def deep(name: str) -> int:
        if name not in depth:
            above = [p for p, lag in network.transition[name].parents if lag == 0]
            depth[name] = 1 + max((deep(parent) for parent in above), default=-1)
        return depth[name]

    for name in network.variables:
        deep(name)
    for name, cpd in network.numbers.items():
        depth[name] = 1 + max((depth[parent] for parent in cpd.parents), default=-1)
    names = _rows(network, depth)
    row = {name: place for place, name in enumerate(names)}
    found: dict[Node, tuple[float, float]] = {(name, 0): (STEP * depth[name], float(row[name])) for name in names}
    for (name, lag), _ in network.edges:
        if lag:
            found[(name, lag)] = (-WIDTH * lag, float(row[name]))
    return found


def _rows(network: DynamicNetwork, depth: dict[str, int]) -> list[str]:
    """From top to bottom: a child below the last of its parents, so that arrows within the slice are short."""
    above = {name: [p for p, lag in network.transition[name].parents if lag == 0] for name in network.variables}
    above |= {name: list(cpd.parents) for name, cpd in network.numbers.items()}
    order: list[str] = []
    waiting = sorted(depth, key=lambda name: (depth[name], name not in network.hidden), reverse=True)
    while waiting:
        name = waiting.pop()
        order.append(name)
        ready = [n for n in waiting if name in above[n] and all(parent in order for parent in above[n])]
        waiting = [n for n in waiting if n not in ready] + sorted(ready, key=lambda n: -len(above[n]), reverse=True)
    return order


def _arc(start: tuple[float, float], end: tuple[float, float]) -> dict[str, float]:
    """A line that stops short of both nodes, and the direction of its head in degrees (0 is up)."""
    wide, high = (end[0] - start[0]) * 2.5, end[1] - start[1]  # (a unit to the right is 2.5 times one down)
    length = math.hypot(wide, high) or 1.0
    share = min(NEAR * 1.2 / length, 0.45)
    return {
        "x": start[0] + (end[0] - start[0]) * share,
        "y": start[1] + high * share,
        "x2": end[0] - (end[0] - start[0]) * share,
        "y2": end[1] - high * share,
        "angle": math.degrees(math.atan2(wide, -high)),
    }
