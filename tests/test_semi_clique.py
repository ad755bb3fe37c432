"""Semi-cliques against their definition and proposition 3.2."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leverrier.discovery.places.semi_clique import links_of, semi_cliques
from leverrier.errors import OptionError
from leverrier.models.graph import Graph

graphs = st.builds(
    lambda n, p, seed: nx.gnp_random_graph(n, p, seed=seed),
    st.integers(3, 9),
    st.floats(0.1, 0.9),
    st.integers(0, 10**6),
)


def is_semi_clique(links, nodes):
    """The definition: each node is a neighbour of at least half of the set, |δ(X; Q)| ≥ ½|Q|."""
    members = frozenset(nodes)
    return all(2 * len(links[node] & members) >= len(members) for node in members)


@settings(max_examples=150, deadline=None)
@given(graphs)
def test_each_is_a_maximal_semi_clique_and_every_triangle_is_in_one(graph):
    links = links_of(graph)
    found = semi_cliques(graph)
    assert len(set(found)) == len(found)
    for members in found:
        assert is_semi_clique(links, members)
        assert not any(is_semi_clique(links, members | {v}) for v in links if v not in members)
    for triangle in (set(c) for c in nx.enumerate_all_cliques(graph) if len(c) == 3):
        assert any(triangle <= members for members in found)


@settings(max_examples=100, deadline=None)
@given(graphs)
def test_every_semi_clique_of_four_or_more_holds_a_triangle_but_for_one_kind(graph):
    """Proposition 3.2 over every subset. As stated it has one exception: the complete bipartite graph with equal sides,
    whose nodes are linked to exactly half of it and which has no triangle (the extreme case of Mantel's theorem)."""
    links = links_of(graph)
    for size in range(4, len(links) + 1):
        for members in combinations(links, size):
            if not is_semi_clique(links, members):
                continue
            holds = any(all(b in links[a] for a, b in combinations(t, 2)) for t in combinations(members, 3))
            within = graph.subgraph(members)
            even = nx.is_bipartite(within) and within.number_of_edges() == size * size / 4
            assert holds != even


def test_the_order_of_the_nodes_does_not_matter():
    graph = nx.gnp_random_graph(12, 0.5, seed=1)
    names = {v: f"n{v:02d}" for v in graph}
    relabelled = nx.relabel_nodes(graph, names)
    backwards = nx.Graph()
    backwards.add_nodes_from(reversed(list(relabelled)))
    backwards.add_edges_from(reversed(list(relabelled.edges)))
    assert semi_cliques(relabelled) == semi_cliques(backwards)


def test_a_clique_with_one_edge_missing_is_found_whole():
    """The criterion is the strictest that still accepts a 4-clique with one neighbour missing [elidan2000]."""
    graph = Graph.from_edges("abcd", [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d")])
    assert semi_cliques(graph) == [frozenset("abcd")]


def test_no_triangle_no_semi_clique():
    assert semi_cliques(Graph.from_edges("abc", [("a", "b"), ("b", "c")])) == []


def test_what_is_no_graph_is_one_clear_line():
    with pytest.raises(OptionError, match="a graph was expected"):
        semi_cliques(7)
