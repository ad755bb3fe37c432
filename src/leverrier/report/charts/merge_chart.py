"""The merge tree of a hidden variable's states [elidan2001 figure 2], lying on its side so that names fit a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leverrier.discovery.states.merge_tree import FEW, MergeTree
from leverrier.report.charts.palette import HIDDEN, INK, QUIET
from leverrier.report.charts.pictures import WIDTHS, Size, tips
from leverrier.report.parts.page_parts import shortened

if TYPE_CHECKING:
    import altair

LABEL = 26
ROW = 30
NAMES = 190
"""Pixels that the leaves' names take."""


def merge_chart(tree: MergeTree, states: int, size: Size = "page") -> altair.TopLevelMixin:
    """Leaves at the left, each merge a step to the right with its change of score; orange: the states chosen."""
    import altair as alt

    height, depth = _places(tree)
    chosen = set(tree.nodes(states))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.2, len(tree.merges) + 0.6], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[len(tree.leaves) - 0.5, -0.5], nice=False))
    lines = (
        alt.Chart(alt.Data(values=_segments(tree, height, depth)))
        .mark_rule(color=QUIET, strokeWidth=1.4, tooltip=None)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    )
    letters, beside = LABEL * (1 if size == "page" else 2), NAMES * (1 if size == "page" else 2)
    says = {n: shortened(label, 4 * LABEL) for n, label in enumerate(tree.leaves)}
    rows = dict(enumerate(tree.rows))
    for m, (left, right, gain) in enumerate(tree.merges, start=len(tree.leaves)):
        says[m], rows[m] = f"merged: {gain:+,.1f} nats", rows[left] + rows[right]
    nodes = [{"x": depth[n], "y": height[n], "state": n in chosen, "says": says[n], "rows": rows[n]} for n in height]
    points = (
        alt.Chart(alt.Data(values=nodes))
        .mark_point(filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.condition("datum.state", alt.value(HIDDEN), alt.value(QUIET)),
            size=alt.condition("datum.state", alt.value(120), alt.value(24)),
            tooltip=tips(("says:N", "what", ""), ("rows:Q", "rows", ",.0f")),
        )
    )
    gains = [
        {"x": depth[len(tree.leaves) + m], "y": height[len(tree.leaves) + m], "said": f"{gain:+,.0f}".replace("-", "−")}
        for m, (_, _, gain) in enumerate(tree.merges)
    ]
    numbers = (
        alt.Chart(alt.Data(values=gains))
        .mark_text(align="right", dx=-9, fontSize=10, color=INK)
        .encode(x=x, y=y, text="said:N")
    )
    names = [{"y": height[n], "said": shortened(label, letters)} for n, label in enumerate(tree.leaves)]
    texts = (
        alt.Chart(alt.Data(values=names))
        .mark_text(align="right", fontSize=11, color=INK, dy=-5)
        .encode(x=alt.value(-8), y=y, text="said:N")
    )
    counts = [{"y": height[n], "said": _rows(rows)} for n, rows in enumerate(tree.rows)]
    below = (
        alt.Chart(alt.Data(values=counts))
        .mark_text(align="right", fontSize=9, color=QUIET, dy=7)
        .encode(x=alt.value(-8), y=y, text="said:N")
    )
    corner = alt.Chart(alt.Data(values=[{"y": 0}]))
    edge = corner.mark_point(opacity=0, tooltip=None).encode(x=alt.value(8 - beside), y=y)
    layers: Any = lines + points + numbers + texts + below + edge  # (the edge keeps all trees at one size)
    room = {"width": WIDTHS[size] - beside if size == "page" else WIDTHS[size], "height": ROW * len(tree.leaves)}
    return layers.properties(**room).configure_view(stroke=None, clip=False)


def _rows(count: float) -> str:
    return f"{count:,.0f} rows" if count >= FEW else f"fewer than {FEW} rows"


def _places(tree: MergeTree) -> tuple[dict[int, float], dict[int, float]]:
    """By node, how far down it stands (no lines cross) and after how many merges it was made."""
    count = len(tree.leaves)
    parts = {count + m: (left, right) for m, (left, right, _) in enumerate(tree.merges)}
    order = leaf_order(parts, [count + len(tree.merges) - 1] if tree.merges else list(range(count)))
    height = {leaf: float(place) for place, leaf in enumerate(order)}
    depth = dict.fromkeys(range(count), 0.0)
    for node, (left, right) in parts.items():
        height[node] = (height[left] + height[right]) / 2
        depth[node] = float(node - count + 1)
    return height, depth


def leaf_order(parts: Mapping[int, tuple[int, int]], tops: Sequence[int]) -> list[int]:
    """Leaves side by side so that no lines cross; `parts` are the two nodes that each merge made one of."""
    order: list[int] = []
    waiting = list(tops)
    while waiting:
        node = waiting.pop()
        if node in parts:
            waiting += reversed(parts[node])
        else:
            order.append(node)
    return order


def _segments(tree: MergeTree, height: dict[int, float], depth: dict[int, float]) -> list[dict[str, float]]:
    lines = []
    for m, (left, right, _) in enumerate(tree.merges):
        at = depth[len(tree.leaves) + m]
        lines += [{"x": depth[part], "x2": at, "y": height[part], "y2": height[part]} for part in (left, right)]
        lines.append({"x": at, "x2": at, "y": height[left], "y2": height[right]})
    return lines
