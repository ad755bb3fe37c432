"""A directed acyclic graph as a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from leverrier.errors import NetworkError

if TYPE_CHECKING:
    import networkx

Edge = tuple[str, str]


@dataclass(frozen=True)
class Graph:
    """Nodes and each node's parents, in order. Checked to be acyclic when made."""

    families: tuple[tuple[str, tuple[str, ...]], ...]

    parent_map: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    child_map: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    order: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Parents before children; among the free nodes, the first given comes first."""

    def __post_init__(self) -> None:
        parents = dict(self.families)
        if len(parents) != len(self.families):
            raise NetworkError(f"a node is given twice among {', '.join(n for n, _ in self.families)}")
        children: dict[str, list[str]] = {node: [] for node in parents}
        for node, above in self.families:
            for parent in above:
                if parent not in children:
                    raise NetworkError(f"{node!r} has a parent {parent!r} that is not a node of the graph")
                children[parent].append(node)
            if len(set(above)) != len(above):
                raise NetworkError(f"{node!r} names a parent twice: {', '.join(above)}")
        # (all in one pass, at once: a search makes graphs by the thousand)
        object.__setattr__(self, "parent_map", MappingProxyType(parents))
        object.__setattr__(self, "child_map", MappingProxyType({node: tuple(all_) for node, all_ in children.items()}))
        object.__setattr__(self, "order", self._ordered(children))

    @classmethod
    def from_parents(cls, parents: Mapping[str, Sequence[str]]) -> Graph:
        return cls(tuple((node, tuple(above)) for node, above in parents.items()))

    @classmethod
    def from_edges(cls, nodes: Iterable[str], edges: Iterable[Edge]) -> Graph:
        parents: dict[str, list[str]] = {node: [] for node in nodes}
        for parent, child in edges:
            if child not in parents or parent not in parents:
                raise NetworkError(f"the edge {parent!r} → {child!r} names a node that is not in the graph")
            parents[child].append(parent)
        return cls.from_parents(parents)

    @classmethod
    def from_networkx(cls, graph: networkx.DiGraph) -> Graph:
        """The same arrows; parents in the order in which their arrows were added."""
        if not graph.is_directed():
            raise NetworkError("the networkx graph has no directions: a DiGraph is needed")
        return cls(tuple((str(node), tuple(map(str, graph.predecessors(node)))) for node in graph.nodes))

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self.families,)  # what is derived is derived again: read-only maps cannot be pickled

    def _ordered(self, children: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        waiting = {node: len(parents) for node, parents in self.families}
        order = [node for node, count in waiting.items() if count == 0]
        for node in order:  # grows while we walk it
            for child in children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    order.append(child)
        if len(order) < len(waiting):
            raise NetworkError(f"the graph has a cycle: {' → '.join(self._cycle(set(waiting) - set(order)))}")
        return tuple(order)

    def _cycle(self, among: set[str]) -> list[str]:
        node = min(among)
        trail: list[str] = []
        while node not in trail:
            trail.append(node)
            node = next(parent for parent in self.parent_map[node] if parent in among)
        return [node, *reversed(trail[trail.index(node) :])]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(node for node, _ in self.families)

    @property
    def edges(self) -> tuple[Edge, ...]:
        return tuple((parent, node) for node, parents in self.families for parent in parents)

    def __contains__(self, node: object) -> bool:
        return node in self.parent_map

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.families)

    def parents(self, node: str) -> tuple[str, ...]:
        found = self.parent_map.get(node)
        return self.parent_map[self._known(node)] if found is None else found

    def children(self, node: str) -> tuple[str, ...]:
        found = self.child_map.get(node)
        return self.child_map[self._known(node)] if found is None else found

    def neighbours(self, node: str) -> frozenset[str]:
        return frozenset(self.parents(node)) | frozenset(self.children(node))

    def blanket(self, node: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents, in the graph's order of nodes."""
        blanket = set(self.parents(node)) | set(self.children(node))
        for child in self.children(node):
            blanket.update(self.parents(child))
        blanket.discard(node)
        return tuple(other for other in self.nodes if other in blanket)

    def with_parents(self, changes: Mapping[str, Sequence[str]]) -> Graph:
        """The same nodes (and new ones named in `changes`) with these nodes' parents replaced."""
        return Graph.from_parents({**self.parent_map, **changes})

    def without(self, node: str, rule: Literal["minimal", "elidan2000"] = "minimal") -> Graph:
        """The graph after marginalising `node` out [elidan2000 prop. 3.1].

        Children of `node` become a clique in topological order and take its parents. Where a child has
        other parents, the proposition's graph is no I-map (conditioning on the child makes them depend on
        its later siblings), so by default later children take them too; `rule="elidan2000"` leaves that out.
        """
        above = self.parents(node)
        children = sorted(self.children(node), key=self.order.index)
        parents = {other: list(p) for other, p in self.families if other != node}
        gathered: list[str] = list(above)
        for child in children:
            own = [p for p in self.parents(child) if p != node]
            gathered += [p for p in own if p not in gathered]
            takes = gathered if rule == "minimal" else [*above, *own, *children[: children.index(child)]]
            parents[child] = list(dict.fromkeys(p for p in (*own, *takes) if p != child))
            gathered.append(child)
        return Graph.from_parents(parents)

    @cached_property
    def compelled(self) -> frozenset[Edge]:
        """The edges that point the same way in every graph that says the same of any data; of the others no data can
        tell the direction (Verma and Pearl 1990; Meek's rules)."""
        linked = {node: self.neighbours(node) for node in self.nodes}
        fixed = {  # parents of one child that are not linked themselves
            (parent, child)
            for child, parents in self.families
            for parent in parents
            if any(other != parent and other not in linked[parent] for other in parents)
        }
        found = True
        while found:
            found = {arc for arc in self.edges if arc not in fixed and self._follows(arc, fixed, linked)}
            fixed |= found
        return frozenset(fixed)

    def _follows(self, arc: Edge, fixed: set[Edge], linked: Mapping[str, frozenset[str]]) -> bool:
        """Whether the other direction would make a new v-structure or a cycle with edges that are fixed."""
        a, b = arc
        if any((c, a) in fixed and c not in linked[b] for c in linked[a]):
            return True
        if any((a, c) in fixed and (c, b) in fixed for c in linked[a]):
            return True
        near = [c for c in linked[a] & linked[b] if (c, b) in fixed and (a, c) not in fixed and (c, a) not in fixed]
        return any(d not in linked[c] for c in near for d in near if c != d)

    def moral(self) -> dict[str, frozenset[str]]:
        """Neighbours in the moral graph: edges without direction, and parents of a child married."""
        linked: dict[str, set[str]] = {node: set(self.neighbours(node)) for node in self.nodes}
        for _, parents in self.families:
            for parent in parents:
                linked[parent].update(other for other in parents if other != parent)
        return {node: frozenset(others) for node, others in linked.items()}

    def d_separated(self, x: Iterable[str] | str, y: Iterable[str] | str, given: Iterable[str] | str = ()) -> bool:
        """Whether the graph alone makes x and y independent given the rest named."""
        import networkx

        left, right, known = ({s} if isinstance(s, str) else set(s) for s in (x, y, given))
        for node in (*left, *right, *known):
            self._known(node)
        twice = (left & right) | (left & known) | (right & known)
        if twice:
            raise NetworkError(f"{min(twice)!r} stands on two sides: x, y and given must be disjoint")
        return bool(networkx.is_d_separator(self.to_networkx(), left, right, known))

    def to_networkx(self) -> networkx.DiGraph:
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    def _known(self, node: str) -> str:
        if node not in self.parent_map:
            raise NetworkError(
                f"no node {node!r}; the nodes are {', '.join(self.nodes[:12])}" + (" …" if len(self) > 12 else "")
            )
        return node
