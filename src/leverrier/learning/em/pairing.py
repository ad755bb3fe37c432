"""From what a caller gives (a network or graph, data, hidden variables) to a graph paired with rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leverrier.counts.observation import Observation, Pairing
from leverrier.counts.rows import rows_of
from leverrier.data.table import Label
from leverrier.errors import NetworkError, OptionError
from leverrier.models.graph import Graph
from leverrier.models.network import as_graph, known_states

States = dict[str, tuple[Label, ...]]


def pairing_of(
    network: Any,
    data: Any,
    hidden: Mapping[str, int | Sequence[Label]] | None = None,
    max_memory: int | str | None = None,
    client: Any = None,
) -> Pairing:
    """Pair the graph with the data, wherever the rows are (see `rows_of`). Nodes without a column are hidden; `hidden`
    says how many states they have."""
    asked = _asked(network, hidden)
    rows = rows_of(data, max_memory, client, asked.visible or None)
    rows = rows.only(asked.columns(rows.table.variables))
    return rows.pair(asked.graph, asked.states(rows.table.states))


def observation_of(network: Any, data: Any, hidden: Mapping[str, int | Sequence[Label]] | None = None) -> Observation:
    """The same for those who look at single rows, which must be here."""
    seen = pairing_of(network, data, hidden)
    if not isinstance(seen, Observation):
        raise OptionError("rows in parts of a file: this needs a table in memory")
    return seen


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
    graph, known = as_graph(network), known_states(network)
    return _Asked(graph, known, {name: _labels(name, states, graph, known) for name, states in (hidden or {}).items()})


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
