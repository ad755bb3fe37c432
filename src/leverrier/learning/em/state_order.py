"""A stated order of hidden states, so that the same data and seed give the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.models.graph import Graph

Orders = dict[str, NDArray[np.int64]]


def state_orders(
    graph: Graph, tables: Mapping[str, Floats], counts: Mapping[str, Floats], hidden: Sequence[str]
) -> Orders:
    """For each hidden variable its states by falling expected frequency.

    Frequencies equal to nine digits are ordered by the children's tables, read as one list of numbers, larger first.
    """
    orders: Orders = {}
    for name in hidden:
        frequency = counts[name].reshape(-1, counts[name].shape[-1]).sum(axis=0)
        largest = max(float(frequency.max()), 1e-300)
        profiles = [
            np.moveaxis(tables[child], graph.parents(child).index(name), 0).reshape(len(frequency), -1)
            for child in graph.children(name)
        ]

        def key(k: int, frequency: Floats = frequency, largest: float = largest, profiles=profiles) -> tuple:
            listed = [value for profile in profiles for value in np.round(-profile[k], 9).tolist()]
            return (-round(float(frequency[k]) / largest, 9), *listed)

        orders[name] = np.array(sorted(range(len(frequency)), key=key), dtype=np.int64)
    return orders


def reordered(graph: Graph, tables: Mapping[str, Floats], orders: Orders) -> dict[str, Floats]:
    """The tables with hidden states in these orders."""
    new = dict(tables)
    for node, table in tables.items():
        for axis, member in enumerate((*graph.parents(node), node)):
            if member in orders:
                table = np.take(table, orders[member], axis=axis)
        new[node] = table
    return new
