"""Networks, graphs and cells as pieces of a checkpoint, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from leverrier.data.table import Table
from leverrier.models.families.family_content import read_family
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.codecs import Key
from leverrier.run.run import Run

States = Mapping[str, tuple[Any, ...]]


def identity(table: Table) -> tuple[Any, ...]:
    """What a checkpoint belongs to: the columns and every cell."""
    columns = [(each.name, each.states, each.cuts) for each in table.columns]
    return columns, b"" if table.weights is None else table.weights, table.codes


def write_graph(graph: Graph) -> dict[str, Any]:
    return {node: list(graph.parents(node)) for node in graph}


def read_graph(piece: Mapping[str, Any]) -> Graph:
    return Graph.from_parents({node: tuple(parents) for node, parents in piece.items()})


def write_network(network: Network, known: States) -> dict[str, Any]:
    """Arcs, tables and families of other kinds; of the states only those that the data do not say."""
    own = {node: list(network.states[node]) for node in network.graph if node not in known}
    said = {node: dict(family.content()) for node, family in network.families.items()}
    return {"graph": write_graph(network.graph), "tables": dict(network.tables), "own": own, "families": said}


def read_network(piece: Mapping[str, Any], known: States) -> Network:
    graph = read_graph(piece["graph"])
    own = {node: tuple(labels) for node, labels in piece["own"].items()}
    states = {node: own[node] if node in own else known[node] for node in graph}
    shapes = {node: [len(states[v]) for v in (*graph.parents(node), node)] for node in graph}
    families = {node: read_family(said, shapes[node]) for node, said in piece["families"].items()}
    return Network(graph, states, piece["tables"], families=families)


def scored_network_once(
    run: Run, key: Key, compute: Callable[[], tuple[Network, float]], known: States
) -> tuple[Network, float]:
    """A network and its score."""
    return run.once(
        key,
        compute,
        lambda found: {"network": write_network(found[0], known), "score": found[1]},
        lambda piece: (read_network(piece["network"], known), float(piece["score"])),
    )


def network_once(run: Run, key: Key, compute: Callable[[], Network], known: States) -> Network:
    return run.once(key, compute, lambda found: write_network(found, known), lambda piece: read_network(piece, known))


def read_codes(codes: Any, table: Table) -> Table:
    """The same columns with other cells."""
    given = np.asarray(codes)
    if given.shape != table.codes.shape or given.dtype != table.codes.dtype:
        raise ValueError("cells of another table")
    return Table(table.columns, given, table.weights)
