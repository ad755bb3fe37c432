"""Networks as GraphML and GEXF: for programs that draw graphs. What is kept is what a drawing needs; no tables."""

from __future__ import annotations

import io
from collections.abc import Collection

from leverrier.models.network import Network

SUFFIXES = {".graphml": "graphml", ".gexf": "gexf"}


def dumps_drawn(network: Network, drawn: str, hidden: Collection[str] = ()) -> bytes:
    """The graph with, for each node, its number of states, their labels, whether it is hidden, and its layer: hidden
    variables stand one above the highest that they drive, columns at 0."""
    import networkx  # (late: reading and writing tables need not wait for it)

    graph = networkx.DiGraph()
    layer = _layers(network, hidden)
    for node in network.variables:
        labels = ", ".join(map(str, network.states[node]))
        graph.add_node(node, states=network.cardinality(node), labels=labels, hidden=node in hidden, layer=layer[node])
    graph.add_edges_from(network.edges)
    with io.BytesIO() as file:
        (networkx.write_graphml if drawn == "graphml" else networkx.write_gexf)(graph, file)
        return file.getvalue()


def _layers(network: Network, hidden: Collection[str]) -> dict[str, int]:
    found = dict.fromkeys(network.variables, 0)
    for node in reversed(network.graph.order):
        if node in hidden:
            found[node] = 1 + max((found[child] for child in network.children(node)), default=0)
    return found
