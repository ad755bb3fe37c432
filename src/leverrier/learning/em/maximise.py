"""Parameters from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.family import Family, Statistics
from leverrier.data.table import Label
from leverrier.learning.structure.score import Score
from leverrier.models.families.conditional import StateConditional
from leverrier.models.graph import Graph
from leverrier.models.network import Network


def table_from_counts(counts: NDArray[np.float64], pseudo_count: float = 0.0) -> NDArray[np.float64]:
    """P(child | parents) from counts plus a pseudo-count in every cell; uniform where nothing was counted."""
    padded = counts + pseudo_count
    total = padded.sum(axis=-1, keepdims=True)
    uniform = np.full(padded.shape, 1.0 / padded.shape[-1])
    return np.divide(padded, total, out=uniform, where=total > 0)


def network_from_counts(
    graph: Graph,
    states: Mapping[str, Sequence[Label]],
    statistics: Statistics,
    score: Score | None = None,
    known: Mapping[Family, NDArray[np.float64]] | None = None,
    families: Mapping[str, StateConditional] | None = None,
) -> Network:
    """The network with these counts' parameters: posterior means under a Bayesian score, else relative frequencies.

    `known` families keep the tables given; those said by another kind than a table have it written out.
    """
    sizes = {node: len(states[node]) for node in graph}
    given = dict(known or {})
    for node, family in (families or {}).items():
        shape = [sizes[v] for v in (*graph.parents(node), node)]
        given[Family(node, graph.parents(node))] = family.table(shape)
    tables = {family.child: table for family, table in given.items()}
    counted = [family for family in (Family(node, graph.parents(node)) for node in graph) if family not in given]
    for family, counts in zip(counted, statistics.tables(counted), strict=True):
        rows = counts.size // counts.shape[-1]
        pseudo_count = 0.0 if score is None else score.alphas(counts.shape[-1], rows)[0]
        tables[family.child] = table_from_counts(counts, pseudo_count)
    return Network.trusted(graph, {node: tuple(states[node]) for node in graph}, tables, families)
