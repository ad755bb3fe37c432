"""From what a caller gives (a network or graph, data, hidden variables) to an Observation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from leverrier.data.reading import as_table
from leverrier.data.table import Label, Table
from leverrier.errors import NetworkError, OptionError
from leverrier.model.graph import Graph
from leverrier.model.network import Network, as_graph
from leverrier.statistics.observation import Observation, observe
from leverrier.statistics.observed import ObservedCounts

States = dict[str, tuple[Label, ...]]


def observation_of(
    network: Any,
    data: Any,
    hidden: Mapping[str, int | Sequence[Label]] | None = None,
    max_memory: int | str | None = None,
) -> Observation:
    """Pair the graph with the data. Nodes without a column are hidden; `hidden` says how many states they have.

    Whoever fits many graphs to one table may give its ObservedCounts as data: they are laid out once.
    """
    counts = data if isinstance(data, ObservedCounts) else None
    data = counts.table if counts is not None else data
    graph = as_graph(network)
    known: States = dict(network.states) if isinstance(network, Network) else {}
    asked = {name: _labels(name, states, graph, known) for name, states in (hidden or {}).items()}
    visible = {name: labels for name, labels in known.items() if name not in asked}
    table = _read(graph, data, visible, set(asked), max_memory)
    states: States = {**known, **table.states, **asked}
    for node in graph:
        if node not in states:
            raise NetworkError(
                f'{node!r} is no column of the data: say how many states it has, hidden={{"{node}": 2}}, or drop it'
            )
    return observe(graph, {node: states[node] for node in graph}, table, counts)


def _read(graph: Graph, data: Any, known: States, asked: set[str], max_memory: int | str | None) -> Table:
    """The graph's columns, with the network's states where it has any, without those asked to be hidden."""
    table = as_table(data, states=known if known and not _agrees(data, known) else None, max_memory=max_memory)
    wanted = [name for name in table.variables if name in graph and name not in asked]
    if not wanted:
        raise NetworkError(
            f"no node of the graph ({', '.join(graph.nodes[:6])}…) is a column of the data "
            f"({', '.join(table.variables[:6])}…): the names must agree"
        )
    return table if tuple(wanted) == table.variables else table.select(wanted)


def _agrees(data: Any, known: States) -> bool:
    """Whether this is a Table whose columns have these states already."""
    return isinstance(data, Table) and all(
        column.states == known[column.name] for column in data.columns if column.name in known
    )


def _labels(name: str, states: Any, graph: Graph, known: States) -> tuple[Label, ...]:
    """A hidden variable's states: the labels given, the network's own if the number agrees, else "0", "1", …"""
    if name not in graph:
        raise OptionError(f"hidden={{{name!r}: …}}: {name!r} is no node of the graph; add it with its edges first")
    if isinstance(states, bool) or not isinstance(states, int | Sequence) or isinstance(states, str):
        raise OptionError(f"hidden={{{name!r}: {states!r}}}: expected a number of states or a list of labels")
    if isinstance(states, int):
        if states < 1:
            raise OptionError(f"hidden={{{name!r}: {states}}}: a variable has at least one state")
        own = known.get(name, ())
        return own if len(own) == states else tuple(str(k) for k in range(states))
    labels = tuple(states)
    if not labels or len(set(labels)) != len(labels) or not all(isinstance(label, Hashable) for label in labels):
        raise OptionError(f"hidden={{{name!r}: {list(labels)!r}}}: labels must be distinct, and at least one")
    return labels
