"""How the configurations around a hidden variable merge into its states, as plain values: a tree for the report.

The rows are not in it: a leaf is many configurations, named by what is most frequent among them and rare elsewhere; one
of a few rows has no name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import Agglomeration, agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph

LEAVES = 8
"""The tree begins where so many states are left."""
MOST_FIRST = 256
"""Configurations to merge from; rarer ones join them at once."""
NAMED_BY = 2
"""Columns that a leaf is named by."""
FEW = 5
"""A leaf of fewer rows is not described: that would be telling their cells."""


@dataclass(frozen=True)
class MergeTree:
    """The last merges: leaves have the numbers 0, 1, …, and each merge makes the next one."""

    leaves: tuple[str, ...]
    rows: tuple[float, ...]
    """Of each leaf; 0 if they are few."""
    merges: tuple[tuple[int, int, float], ...]
    """The two nodes that become one, and the change of the score in nats."""
    configurations: int
    """In the data, of the columns next to the variable."""

    def require_whole(self) -> None:
        """Raise ValueError unless each node but the last is merged once, after it was made."""
        count = len(self.leaves)
        parts = sorted(part for left, right, _ in self.merges for part in (left, right))
        whole = count == len(self.rows) == len(self.merges) + 1 and parts == list(range(2 * len(self.merges)))
        if not whole or any(max(left, right) >= count + m for m, (left, right, _) in enumerate(self.merges)):
            raise ValueError("a merge tree that is none")

    def nodes(self, states: int) -> tuple[int, ...]:
        """The nodes that are the states when so many are left."""
        done = self.merges[: max(len(self.leaves) - states, 0)]
        gone = {part for left, right, _ in done for part in (left, right)}
        return tuple(node for node in range(len(self.leaves) + len(done)) if node not in gone)


def merge_tree(graph: Graph, table: Table, name: str, states: int, score: Score) -> MergeTree | None:
    """The end of the merge path of a hidden variable; None if what is next to it is not all seen in every row."""
    blanket = graph.blanket(name)
    if not graph.children(name) or any(node not in table.variables for node in blanket):
        return None
    if any(np.any(table.column(node) == table.missing) for node in blanket):
        return None
    path = agglomerate(first_states(graph, table, name), score, MOST_FIRST)
    leaves = min(max(LEAVES, states + 2), path.n_first)
    return None if leaves < 2 else tree_of(path, leaves)


def tree_of(path: Agglomeration, leaves: int, few: float = FEW) -> MergeTree:
    """The last merges of a path, from so many leaves on; one of fewer rows than `few` is not described."""
    nodes = path.nodes(leaves)
    place = {node: number for number, node in enumerate(nodes)}
    merges = []
    for merge in path.merges[path.n_first - leaves :]:
        merges.append((place[merge.left], place[merge.right], float(merge.gain)))
        place[merge.node] = len(place)
    labels = _node_of_configuration(path, nodes)
    weights = path.first.weights
    return MergeTree(
        leaves=tuple(_name(path, labels == number, few) for number in range(leaves)),
        rows=tuple(rows if rows >= few else 0.0 for rows in np.bincount(labels, weights, leaves).tolist()),
        merges=tuple(merges),
        configurations=len(path.first),
    )


def _node_of_configuration(path: Agglomeration, nodes: tuple[int, ...]) -> NDArray[np.int64]:
    """For each configuration the place of its node among these."""
    inside: dict[int, list[int]] = {state: [state] for state in range(path.n_first)}
    for merge in path.merges[: path.n_first - len(nodes)]:
        inside[merge.node] = inside.pop(merge.left) + inside.pop(merge.right)
    of_state = np.empty(path.n_first, dtype=np.int64)
    for number, node in enumerate(nodes):
        of_state[inside[node]] = number
    return of_state[path.place]


def _name(path: Agglomeration, inside: NDArray[np.bool_], few: float) -> str:
    """By the columns whose most frequent value in the node is least so elsewhere."""
    first = path.first
    if first.weights[inside].sum() < few:
        return "rare"
    marks = []
    for column, labels, codes in zip(first.blanket, first.labels, first.configurations, strict=True):
        here = np.bincount(codes[inside], first.weights[inside], len(labels)) / first.weights[inside].sum()
        overall = np.bincount(codes, first.weights, len(labels)) / first.weights.sum()
        top = int(here.argmax())
        marks.append((float(here[top] - overall[top]), f"{column} {labels[top]}"))
    best = sorted(marks, key=lambda mark: -mark[0])[:NAMED_BY]
    return ", ".join(text for _, text in best)
