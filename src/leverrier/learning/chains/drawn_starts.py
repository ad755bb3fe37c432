"""Where EM for a dynamic network may begin: tables drawn at random, or counted from slices grouped by their looks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.learning.chains.chain_networks import grouped_slices
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

WINDOWS = (1, 9, 41)
"""Slices are grouped with their neighbours over so many: slow states need a wide window."""
LOOSE = 0.1
"""Share of a counted table that is drawn: groups are only a guess."""


def drawn_starts(
    network: DynamicNetwork, data: Sequences, starts: int, initial: str, seed: int, *, groups: bool = True
) -> list[DynamicNetwork]:
    """The network itself, then (or only) others of its structure: three from groups of slices, one at random.

    Tables drawn at random alone mostly lie where EM ends on low hills. Factored counts take variables one by one, and
    groups that all look at the same slices leave them alike: for those `groups` is False.
    """
    streams = np.random.SeedSequence(seed).spawn(starts)
    own = [network] if initial == "own" else []
    found = []
    for place, stream in enumerate(streams[: starts - len(own)]):
        rng = np.random.default_rng(stream)
        turn = place % (len(WINDOWS) + 1)
        labels = grouped_states(network, data, WINDOWS[turn], rng) if groups and turn < len(WINDOWS) else {}
        found.append(drawn_start(network, data, labels, rng))
    return own + found


def grouped_states(
    network: DynamicNetwork, data: Sequences, window: int, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """By hidden variable, groups of the slices that look alike: each variable has groups of its own."""
    seen = [name for name in data.variables if name in network.variables and name not in network.numbers]
    missing = data.table.missing
    seen = [name for name in seen if np.any(data.table.column(name) != missing)]
    numbers = [name for name in network.numbers if name in data.numbers and np.any(~np.isnan(data.numbers[name]))]
    if not seen and not numbers:
        return {}
    hidden = [name for name in network.variables if name not in seen and name not in network.numbers]
    return {name: grouped_slices(data, seen, numbers, network.cardinality(name), window, rng) for name in hidden}


def drawn_start(
    network: DynamicNetwork, data: Sequences, labels: dict[str, NDArray[np.int64]], rng: np.random.Generator
) -> DynamicNetwork:
    """Tables of every family with something unobserved; those that were equal stay equal.

    They are counted where the hidden variables have labels, and drawn uniformly where they have none.
    """
    missing = data.table.missing
    open_ = set(network.variables) - {name for name in data.variables if not np.any(data.table.column(name) == missing)}
    drawn: list[tuple[str, CPD, CPD]] = []
    codes = _codes(network, data, labels)

    def redrawn(name: str, cpd: CPD) -> CPD:
        if not isinstance(cpd, TableCPD) or not open_.intersection((name, *(parent for parent, _ in cpd.parents))):
            return cpd
        for known, before, after in drawn:
            if known == name and before == cpd:
                return after
        table = rng.dirichlet(np.ones(cpd.values.shape[-1]), size=cpd.values.shape[:-1])
        if labels:
            table = LOOSE * table + (1 - LOOSE) * _counted(cpd, name, codes, data.position)
        drawn.append((name, cpd, TableCPD(cpd.parents, table)))
        return drawn[-1][2]

    parts = [{name: redrawn(name, cpd) for name, cpd in part.items()} for part in (*network.stages, network.transition)]
    numbers = {name: _normal(cpd, data.numbers.get(name), labels, rng) for name, cpd in network.numbers.items()}
    return network.with_parts(parts[:-1], parts[-1], numbers)


def _codes(
    network: DynamicNetwork, data: Sequences, labels: dict[str, NDArray[np.int64]]
) -> dict[str, NDArray[np.int64]]:
    """By variable, the state of each slice; −1 where it is not known."""
    found = {}
    for name in network.variables:
        if name in labels:
            found[name] = labels[name]
        elif name in data.variables:
            cells = data.table.column(name).astype(np.int64)
            found[name] = np.where(cells == data.table.missing, -1, cells)
        else:
            found[name] = np.full(data.n_slices, -1)
    return found


def _counted(cpd: TableCPD, name: str, codes: dict[str, NDArray[np.int64]], position: NDArray[np.int64]) -> Floats:
    """P(name | parents) as slices with all of them show it, with one slice more of every kind."""
    deepest = max((lag for _, lag in cpd.parents), default=0)
    at = np.flatnonzero(position >= deepest)
    columns = [codes[parent][at - lag] for parent, lag in (*cpd.parents, (name, 0))]
    there = np.all([column >= 0 for column in columns], axis=0)
    cells = np.ravel_multi_index([column[there] for column in columns], cpd.values.shape)
    counts = np.bincount(cells, minlength=cpd.values.size).reshape(cpd.values.shape) + 1.0 / cpd.values.shape[-1]
    return counts / counts.sum(axis=-1, keepdims=True)


def _normal(
    cpd: GaussianCPD, values: Floats | None, labels: dict[str, NDArray[np.int64]], rng: np.random.Generator
) -> GaussianCPD:
    """Means at values that occur, or of the groups; deviations of the whole column."""
    there = np.zeros(0, dtype=np.int64) if values is None else np.flatnonzero(~np.isnan(values))
    if values is None or not len(there):
        return cpd
    seen = values[there]
    means = rng.choice(seen, size=cpd.means.shape)
    parents = [labels[parent][there] for parent in cpd.parents if parent in labels]
    if parents and len(parents) == len(cpd.parents):
        cells = np.ravel_multi_index(parents, cpd.means.shape)
        count = np.bincount(cells, minlength=cpd.means.size)
        total = np.bincount(cells, seen, cpd.means.size)
        means = np.where(count > 0, total / np.maximum(count, 1), means.ravel()).reshape(cpd.means.shape)
    return GaussianCPD(cpd.parents, means, np.full(cpd.means.shape, max(float(seen.std()), 1e-6)))
