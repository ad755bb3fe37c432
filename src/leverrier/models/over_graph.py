"""What every network can say of its graph, whatever its nodes hold."""

from __future__ import annotations

from leverrier.models.graph import Graph


class OverGraph:
    """A model over the nodes of a directed acyclic graph."""

    graph: Graph

    @property
    def variables(self) -> tuple[str, ...]:
        return self.graph.nodes

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        return self.graph.edges

    def parents(self, node: str) -> tuple[str, ...]:
        return self.graph.parents(node)

    def children(self, node: str) -> tuple[str, ...]:
        return self.graph.children(node)

    def blanket(self, node: str) -> tuple[str, ...]:
        return self.graph.blanket(node)
