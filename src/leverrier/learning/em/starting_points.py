"""Where EM begins: random tables that break the symmetry between hidden states, a network, or an assignment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.observation import Observation, Pairing
from leverrier.errors import OptionError
from leverrier.learning.em.maximise import table_from_counts
from leverrier.models.network import Network

SMOOTHING = 0.1
"""Added to each cell of an assignment's counts: EM never leaves a zero."""


def random_start(seen: Pairing, observed: list[Floats], rng: np.random.Generator, first: bool) -> Floats:
    """Rows of hidden variables' families are drawn evenly from all distributions (Dirichlet 1).

    Families that only have holes begin at their available cases, plus one in every cell; after the first start
    they are drawn from the Dirichlet posterior around that.
    """
    hidden = set(seen.hidden)
    tables = []
    for node, counts in zip(seen.open_nodes, observed, strict=True):
        if not hidden.isdisjoint((node, *seen.graph.parents(node))):
            drawn = rng.standard_exponential(counts.shape)
        elif first:
            drawn = counts + 1.0
        else:
            drawn = rng.standard_gamma(counts + 1.0)
        tables.append(table_from_counts(drawn + 1e-12))
    return seen.layout.pack(tables)


def network_start(seen: Pairing, network: Network) -> Floats:
    """The network's own tables."""
    tables = []
    for node in seen.open_nodes:
        if node not in network.graph or network.graph.parents(node) != seen.graph.parents(node):
            raise OptionError(f"initial: the family of {node!r} is not the graph's: give a network with this graph")
        if network.shape(node) != seen.shape(node):
            raise OptionError(
                f"initial: the table of {node!r} has shape {network.shape(node)}, expected {seen.shape(node)}"
            )
        tables.append(network.cpt(node))
    return seen.layout.pack(tables)


def assigned_start(
    seen: Observation, observed: list[Floats], assigned: Mapping[str, Any], rng: np.random.Generator
) -> Floats:
    """Tables from a state (or a posterior) of each row for some hidden variables; the rest at random.

    A row with a hole in a family is left out of that family's table here, and only here.
    """
    shares = {name: _shares(seen, name, given) for name, given in assigned.items()}
    hidden = set(seen.hidden)
    base = seen.layout.unpack(random_start(seen, observed, rng, first=True))
    tables = []
    for node, at_random in zip(seen.open_nodes, base, strict=True):
        scope = (*seen.graph.parents(node), node)
        unseen = [v for v in scope if v in hidden]
        known = bool(unseen) and all(v in shares for v in unseen)
        tables.append(table_from_counts(_counted(seen, scope, shares), SMOOTHING) if known else at_random)
    return seen.layout.pack(tables)


def _shares(seen: Observation, name: str, given: Any) -> Floats:
    """(rows, states): the posterior given, or a one where a state was given."""
    if name not in seen.hidden:
        raise OptionError(f"initial: {name!r} is no hidden variable here; those are {', '.join(seen.hidden) or 'none'}")
    states = seen.states[name]
    array = np.asarray(given)
    if seen.kept is not None and len(array) == len(seen.kept):
        array = array[seen.kept]
    rows = seen.table.n_rows
    if array.shape == (rows, len(states)):
        shares = array.astype(np.float64)
        if not (np.all(shares >= 0) and np.allclose(shares.sum(axis=1), 1, atol=1e-6)):
            raise OptionError(f"initial: the posterior of {name!r} must be at least 0 and sum to 1 in every row")
        return shares
    if array.shape != (rows,):
        raise OptionError(
            f"initial: {name!r} has shape {array.shape}, expected ({rows},) states "
            f"or ({rows}, {len(states)}) probabilities"
        )
    place = {label: k for k, label in enumerate(states)}
    codes = [place.get(value, value) for value in array.tolist()]
    if not all(isinstance(code, int) and 0 <= code < len(states) for code in codes):
        raise OptionError(f"initial: a state of {name!r} is neither one of its labels nor a number below {len(states)}")
    return np.eye(len(states))[np.array(codes, dtype=np.int64)]


def _counted(seen: Observation, scope: tuple[str, ...], shares: Mapping[str, Floats]) -> Floats:
    """Weighted counts of a family whose hidden members have shares and whose others are columns."""
    table = seen.table
    hidden = [v for v in scope if v in shares]
    columns = [v for v in scope if v not in shares]
    rows = np.ones(table.n_rows, dtype=np.bool_)
    key = np.zeros(table.n_rows, dtype=np.int64)
    for v in columns:
        cells = table.column(v)
        rows &= cells != table.missing
        key = key * len(seen.states[v]) + cells
    weight = np.ones((table.n_rows, 1)) if table.weights is None else table.weights[:, None].copy()
    for v in hidden:
        weight = (weight[:, :, None] * shares[v][:, None, :]).reshape(table.n_rows, -1)
    sizes = [len(seen.states[v]) for v in columns]
    n_keys = math.prod(sizes)
    counts = np.stack([np.bincount(key[rows], share[rows], n_keys) for share in weight.T], axis=-1).astype(np.float64)
    counts = counts.reshape([*sizes, *(len(seen.states[v]) for v in hidden)])
    order = [*columns, *hidden]
    return counts.transpose([order.index(v) for v in scope])
