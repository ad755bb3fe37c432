"""Families with hidden members in a whole network: put in as a region had them, or learned again from other rows."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.learning.hidden_families.completed_rows import CompletedRows
from leverrier.learning.hidden_families.families_em import MOST_COMPLETED, FamiliesClimb
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.score import Score
from leverrier.learning.structure.structural_task import MOST_CELLS
from leverrier.models.graph import Graph
from leverrier.models.network import Network


def veiled(network: Network, hidden: Collection[str]) -> list[str]:
    """The nodes with one of these in their family."""
    return [v for v in network.variables if v in hidden or any(p in hidden for p in network.parents(v))]


def with_hidden_families(network: Network, inner: Network, hidden: Collection[str]) -> Network:
    """The network with all families that have hidden members as `inner`, a part of it, has them."""
    own = veiled(inner, hidden)
    graph = network.graph.with_parents({v: inner.parents(v) for v in own})
    tables = {**network.tables, **{v: inner.tables[v] for v in own}}
    families = {v: kind for v, kind in network.families.items() if v not in own}
    families |= {v: inner.families[v] for v in own if v in inner.families}
    states = {**network.states, **{name: inner.states[name] for name in hidden}}
    return Network(graph, states, tables, network.notes, families)


def said_behind(network: Network, model: Network, table: Table, score: Score) -> Network:
    """The network with the families behind the model's hidden variables learned again from these rows, by whatever kind
    says them best; as it is where the model has tables alone there, or rows have holes."""
    hidden = {v: model.cardinality(v) for v in model.variables if v not in table.variables}
    own = veiled(model, hidden)
    if table.n_missing or not any(v in model.families for v in own):
        return network
    near = {v for node in own for v in (node, *model.parents(node))}
    columns = [v for v in table.variables if v in near]
    found = table.project(columns)
    first = np.zeros(len(found), dtype=np.int64)
    first[found.index[::-1]] = np.arange(table.n_rows)[::-1]
    kept = tuple(table.columns[table.index(v)] for v in columns)
    completed = CompletedRows(Table(kept, np.ascontiguousarray(found.configurations), found.weights), hidden)
    if len(found) * completed.joint > MOST_COMPLETED:
        return network
    some = table.take(first)
    posterior = model.posterior(some, list(hidden)).reshape(len(found), completed.joint)
    observed = FamilyScores(ObservedCounts(completed.rows), score, MOST_CELLS)
    climb = FamiliesClimb(completed, score, MOST_CELLS, observed)
    graph = Graph.from_parents({v: model.parents(v) if v in own else () for v in (*columns, *hidden)})
    return with_hidden_families(network, climb.network(climb.settle(climb.begin(graph, posterior))), hidden)
