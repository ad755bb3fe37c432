"""The network as a drawing: which nodes are shown, and their SVG."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.etree.ElementTree import Element, SubElement, tostring

from leverrier.discovery.result import Result
from leverrier.discovery.verdict import ModelKind
from leverrier.models.graph import Graph
from leverrier.report.charts.graph_layout import HEIGHT, Arc, Layout, Point, layered
from leverrier.report.parts.page_parts import abbreviated, percent, shortened

MOST_NODES = 48
"""Larger networks are drawn around their hidden variables."""
MANY_COLUMNS, NEAR = 15, 14
"""From so many columns on only the surroundings of what is hidden are drawn, beyond its neighbours up to so many."""
LONGEST = 20
LETTER, WIDE_LETTER, MARGIN = 6.9, 12.5, 20.0


@dataclass(frozen=True, eq=False)
class Picture:
    """What is drawn of a network."""

    graph: Graph
    hidden: frozenset[str]
    support: Mapping[Arc, float]
    """Of arcs at hidden variables: the share of resamples that have it, where that was measured."""
    left_out: int = 0
    """Nodes that are not drawn."""
    resampled: bool = True
    """Whether arcs at hidden variables say how often they came back."""
    reversible: frozenset[Arc] = frozenset()
    """Arcs whose direction the data cannot tell: drawn without a head."""
    prefix: str = "node"
    """Of the names of nodes within a page."""

    @cached_property
    def layout(self) -> Layout:
        widths = {node: node_width(label) for node, label in self.labels.items()}
        return layered(widths, self.graph.edges, self.graph.order)

    @cached_property
    def labels(self) -> dict[str, str]:
        return abbreviated(self.graph, LONGEST)

    @property
    def idents(self) -> dict[str, str]:
        """A name for each node that is safe in a page."""
        return {node: f"{self.prefix}{number}" for number, node in enumerate(self.graph)}

    def strength(self, arc: Arc) -> float | None:
        return self.support.get(arc)

    def at_hidden(self, arc: Arc) -> bool:
        return arc[0] in self.hidden or arc[1] in self.hidden


def picture(found: Result, whole: bool = False) -> Picture:
    """The graph that the verdict rests on, with hidden variables if there are any; of many columns what is near those,
    unless the `whole` is asked for."""
    hidden = frozenset(each.name for each in found.hidden)
    graph = found.model.graph
    most = MOST_NODES if whole or not hidden or len(graph) - len(hidden) < MANY_COLUMNS else NEAR
    kept = shown_nodes(graph, hidden, most)
    parents = {node: tuple(p for p in graph.parents(node) if p in kept) for node in graph if node in kept}
    support: dict[Arc, float] = {}
    for each in found.hidden:
        links = {} if each.evidence is None else each.evidence.links or {}
        support |= {(each.name, c): links[c] for c in each.children if c in links}
        support |= {(p, each.name): links[p] for p in each.parents if p in links}
    told = frozenset(graph.edges) if found.kind is ModelKind.CAUSES else graph.compelled
    return Picture(
        Graph.from_parents(parents),
        hidden,
        support,
        len(graph) - len(kept),
        reversible=frozenset(graph.edges) - told,
        prefix="all" if whole else "node",
    )


def shown_nodes(graph: Graph, hidden: frozenset[str], most: int = MOST_NODES) -> set[str]:
    """All nodes, or of a large graph the hidden ones and what is near them, or those with most arcs."""
    if len(graph) <= most:
        return set(graph)
    kept = set(hidden)
    for node in hidden:
        near = [*graph.children(node), *graph.parents(node)]
        kept.update(near[: max(MOST_NODES - len(kept), 0)])
    for node in hidden:
        kept.update([n for n in graph.blanket(node) if n not in kept][: max(most - len(kept), 0)])
    if not hidden:
        kept.update(sorted(graph, key=lambda n: -len(graph.neighbours(n)))[:most])
    return kept


def node_width(label: str) -> float:
    """Of a node's box."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in label)
    return max(44.0, LETTER * (len(label) - wide) + WIDE_LETTER * wide + MARGIN)


def draw(shown: Picture) -> str:
    """The drawing: boxes are columns, rounded orange ones hidden; nodes and arcs at hidden variables are links."""
    layout, idents = shown.layout, shown.idents
    size = f"0 0 {layout.width:.0f} {layout.height:.0f}"
    root = Element(
        "svg",
        {
            "viewBox": size,
            "width": f"{layout.width:.0f}",
            "height": f"{layout.height:.0f}",
            "class": "net",
            "role": "group",
            "aria-label": "The network",
        },
    )
    definitions = SubElement(root, "defs")
    for name, size in (("plain", "8"), ("hot", "13")):
        marker = SubElement(
            definitions,
            "marker",
            {
                "id": f"{shown.prefix}-head-{name}",
                "viewBox": "0 0 8 8",
                "refX": "7",
                "refY": "4",
                "markerWidth": size,
                "markerHeight": size,
                "orient": "auto",
                "markerUnits": "userSpaceOnUse",
                "class": f"head {name}",
            },
        )
        SubElement(marker, "path", {"d": "M0,0.6 L8,4 L0,7.4 Z"})
    for arc in sorted(shown.graph.edges, key=shown.at_hidden):
        _draw_arc(root, shown, arc, layout.routes[arc], idents)
    for node, (x, y) in layout.places.items():
        _draw_node(root, node, shown.labels[node], (x, y), idents[node], node in shown.hidden)
    return tostring(root, encoding="unicode")


def _draw_arc(root: Element, shown: Picture, arc: Arc, points: Sequence[Point], idents: Mapping[str, str]) -> None:
    parent, child = arc
    hot = shown.at_hidden(arc)
    strength = shown.strength(arc)
    width = 1.2 if not hot else 2.2 if strength is None else 1.0 + 4.0 * strength
    headless = arc in shown.reversible
    said = arc_words(arc, strength, hot and shown.resampled, headless)
    group = SubElement(
        root,
        "a",
        {
            "href": f"#{idents[child]}",
            "class": "arc hot" if hot else "arc",
            "data-from": idents[parent],
            "data-to": idents[child],
            "data-card": idents[child],
            "data-note": said,
            "tabindex": "-1",
        },
    )
    SubElement(group, "title").text = said
    path = _curve(points)
    SubElement(group, "path", {"d": path, "class": "reach"})
    head = {} if headless else {"marker-end": f"url(#{shown.prefix}-head-{'hot' if hot else 'plain'})"}
    SubElement(group, "path", {"d": path, "class": "line", "stroke-width": f"{width:.1f}", **head})


def arc_words(arc: Arc, strength: float | None, hot: bool, headless: bool = False) -> str:
    """What is said of an arc."""
    words = f"{shortened(arc[0], 60)} {'–' if headless else '→'} {shortened(arc[1], 60)}"
    if not hot:
        return words
    if strength is None:
        return f"{words}: support was not measured"
    return f"{words}: in {percent(strength)} of the resamples"


def _draw_node(root: Element, node: str, label: str, at: Point, ident: str, hidden: bool) -> None:
    (x, y), width = at, node_width(label)
    group = SubElement(
        root,
        "a",
        {"href": f"#{ident}", "class": "node hidden" if hidden else "node", "data-card": ident, "id": f"at-{ident}"},
    )
    SubElement(group, "title").text = f"{shortened(node, 200)}{' (hidden)' if hidden else ''}"
    SubElement(
        group,
        "rect",
        {
            "x": f"{x - width / 2:.1f}",
            "y": f"{y - HEIGHT / 2:.1f}",
            "width": f"{width:.1f}",
            "height": f"{HEIGHT:.0f}",
            "rx": f"{HEIGHT / 2:.0f}" if hidden else "4",
        },
    )
    text = SubElement(group, "text", {"x": f"{x:.1f}", "y": f"{y + 4:.1f}", "text-anchor": "middle"})
    text.text = label


def _curve(points: Sequence[Point]) -> str:
    """A smooth line through the points that leaves and enters straight down."""
    (x, y), *rest = points
    parts = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in rest:
        half = (to_y - y) / 2
        parts.append(f"C{x:.1f},{y + half:.1f} {to_x:.1f},{to_y - half:.1f} {to_x:.1f},{to_y:.1f}")
        x, y = to_x, to_y
    return " ".join(parts)
