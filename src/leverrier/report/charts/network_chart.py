"""The network as an Altair chart, for notebooks and files: the same places as in the report's drawing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from leverrier.models.network import Network
from leverrier.report.charts.graph_layout import HEIGHT, Point
from leverrier.report.charts.network_drawing import Picture, arc_words, node_width
from leverrier.report.charts.palette import HIDDEN, HIDDEN_NODE, INK, NODE, OBSERVED, QUIET
from leverrier.report.charts.pictures import Size, shrunk, styled

if TYPE_CHECKING:
    import altair

STEPS = 12


def network_chart(shown: Picture, size: Size = "notebook") -> altair.TopLevelMixin:
    """Boxes are columns, orange ones hidden; the width of an orange line is its support. As large as its nodes need; on
    a page no wider than other figures are."""
    import altair as alt

    layout = shown.layout
    scale = shrunk(layout.width, size)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, layout.width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[layout.height, 0], nice=False))
    points, heads = [], []
    for number, (arc, route) in enumerate(layout.routes.items()):
        hot, strength = shown.at_hidden(arc), shown.strength(arc)
        kind = {
            "hidden": hot,
            "width": 1.2 if not hot else 2.2 if strength is None else 1 + 4 * strength,
            "arc": arc_words(arc, strength, hot and shown.resampled, arc in shown.reversible),
        }
        line = _smooth(route)
        points += [{"x": a, "y": b, "order": i, "line": number, **kind} for i, (a, b) in enumerate(line)]
        if arc not in shown.reversible:
            heads.append({"x": line[-1][0], "y": line[-1][1] - 3, **kind})
    nodes = [
        {
            "x": a - node_width(shown.labels[node]) / 2,
            "x2": a + node_width(shown.labels[node]) / 2,
            "middle": a,
            "y": b - HEIGHT / 2,
            "y2": b + HEIGHT / 2,
            "row": b,
            "label": shown.labels[node],
            "name": node,
            "hidden": node in shown.hidden,
        }
        for node, (a, b) in layout.places.items()
    ]
    colour = alt.condition("datum.hidden", alt.value(HIDDEN), alt.value(QUIET))
    lines = (
        alt.Chart(alt.Data(values=points))
        .mark_line()
        .encode(
            x=x,
            y=y,
            detail="line:N",
            order="order:Q",
            color=colour,
            tooltip="arc:N",
            strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
        )
    )
    arrows = (
        alt.Chart(alt.Data(values=heads))
        .mark_point(shape="triangle-down", filled=True, size=46 * scale**2, opacity=1)
        .encode(x=x, y=y, color=colour)
    )
    base = alt.Chart(alt.Data(values=nodes))
    boxes = [
        base.transform_filter(f"{'' if hidden else '!'}datum.hidden")
        .mark_rect(cornerRadius=HEIGHT / 2 if hidden else 4, strokeWidth=2.6 if hidden else 1.4, fill=fill, stroke=edge)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", tooltip="name:N")
        for hidden, fill, edge in ((False, NODE, OBSERVED), (True, HIDDEN_NODE, HIDDEN))
    ]
    text = base.mark_text(fontSize=11 * scale, color=INK).encode(x=alt.X("middle:Q"), y=alt.Y("row:Q"), text="label:N")
    drawn = alt.layer(lines, arrows, *boxes, text).properties(title="The network")
    return styled(drawn, layout.height * scale, size, layout.width * scale)


def graph_chart(network: Network, hidden: Iterable[str] = (), size: Size = "notebook") -> altair.TopLevelMixin:
    """A network's graph; the nodes in `hidden` are drawn as hidden."""
    return network_chart(Picture(network.graph, frozenset(hidden), {}, resampled=False), size)


def _smooth(route: list[Point]) -> list[Point]:
    """The drawing's curve (a cubic between each two points, leaving straight down) as a chain of points."""
    t = np.linspace(0, 1, STEPS)
    bend = 3 * t**2 - 2 * t**3
    down = 1.5 * t - 1.5 * t**2 + t**3  # the cubic with both handles at half height
    chain: list[Point] = []
    for (x, y), (to_x, to_y) in pairwise(route):
        chain += zip((x + (to_x - x) * bend).tolist(), (y + (to_y - y) * down).tolist(), strict=True)
    return chain
