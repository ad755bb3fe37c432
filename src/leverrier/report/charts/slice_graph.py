"""The graph of a dynamic network: the slices before above this one, drawn as every network is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.graph import Graph
from leverrier.report.charts.network_chart import network_chart
from leverrier.report.charts.network_drawing import Picture
from leverrier.report.charts.pictures import Size
from leverrier.report.parts.tree_tables import slice_name

if TYPE_CHECKING:
    import altair


def slice_graph(network: DynamicNetwork, size: Size = "notebook") -> altair.TopLevelMixin:
    """The transition: what is asked of slices before, and this slice; hidden variables are rounded and orange."""
    parents: dict[str, list[str]] = {}
    for (name, lag), _ in network.edges:
        if lag:
            parents[slice_name(name, lag)] = []
    for name in network.variables:
        parents[name] = [slice_name(*parent) for parent in network.transition[name].parents]
    for name, cpd in network.numbers.items():
        parents[name] = list(cpd.parents)
    hidden = {node for node in parents if node.split(", ")[0] in network.hidden or node in network.hidden}
    return network_chart(Picture(Graph.from_parents(parents), frozenset(hidden), {}, resampled=False), size)
