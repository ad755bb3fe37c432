"""From what a caller gives (a network or graph, data, hidden variables) to an Observation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leverrier.counts.cluster_parts import ClusterParts
from leverrier.counts.observation import Observation, observe
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.parted_counts import DiskParts
from leverrier.counts.parted_observation import PartedObservation, PartedTable, pair_in_parts
from leverrier.data.file_parts import FileParts, look_at
from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Label, Table
from leverrier.errors import NetworkError, OptionError
from leverrier.models.graph import Graph
from leverrier.models.network import Network, as_graph
from leverrier.run.cluster import connect

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
    asked = _asked(network, hidden)
    known = asked.visible
    table = as_table(data, states=known if known and not _agrees(data, known) else None, max_memory=max_memory)
    wanted = asked.columns(table.variables)
    table = table if wanted == table.variables else table.select(wanted)
    return observe(asked.graph, asked.states(table.states), table, counts)


def parted_observation_of(
    network: Any, data: Any, hidden: Mapping[str, int | Sequence[Label]] | None = None, client: Any = None
) -> PartedObservation:
    """The same with the rows of a Parquet file left in parts: on disk, or with the workers of a Dask client. Whoever
    fits many graphs to one file may give its PartedTable as data."""
    asked = _asked(network, hidden)
    if not isinstance(data, PartedTable):
        file = look_at(data, states=asked.visible or None)
        data = in_parts(file.only(asked.columns([column.name for column in file.columns])), client)
    asked.columns([column.name for column in data.file.columns])
    states = asked.states({column.name: column.states for column in data.file.columns})
    return pair_in_parts(asked.graph, states, data)


def in_parts(file: FileParts, client: Any = None) -> PartedTable:
    """A file's rows, with the workers of a cluster or on disk."""
    return PartedTable(file, DiskParts(file) if client is None else ClusterParts(connect(client), file))


@dataclass(frozen=True)
class _Asked:
    """What the caller says of the graph, before the data are looked at."""

    graph: Graph
    known: States
    """The network's own states."""
    hidden: States

    @property
    def visible(self) -> States:
        """States that columns are known to have."""
        return {name: labels for name, labels in self.known.items() if name not in self.hidden}

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """The data's columns that are the graph's, without those asked to be hidden."""
        wanted = tuple(name for name in names if name in self.graph and name not in self.hidden)
        if not wanted:
            raise NetworkError(
                f"no node of the graph ({', '.join(self.graph.nodes[:6])}…) is a column of the data "
                f"({', '.join(names[:6])}…): the names must agree"
            )
        return wanted

    def states(self, found: Mapping[str, Sequence[Label]]) -> States:
        """Every node's states, from the columns' (`found`) where nothing else is known."""
        states: States = {**self.known, **{name: tuple(own) for name, own in found.items()}, **self.hidden}
        for node in self.graph:
            if node not in states:
                raise NetworkError(
                    f'{node!r} is no column of the data: say how many states it has, hidden={{"{node}": 2}}, or drop it'
                )
        return {node: states[node] for node in self.graph}


def _asked(network: Any, hidden: Mapping[str, int | Sequence[Label]] | None) -> _Asked:
    graph = as_graph(network)
    known: States = dict(network.states) if isinstance(network, Network) else {}
    return _Asked(graph, known, {name: _labels(name, states, graph, known) for name, states in (hidden or {}).items()})


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
