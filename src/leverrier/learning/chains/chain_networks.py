"""Hidden Markov models as dynamic networks: one or several hidden chains that everything observed depends on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import Sequences
from leverrier.errors import OptionError, TableError
from leverrier.learning.mixtures.mixture_start import group
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

ENOUGH = 4000
"""Slices, evenly spaced, that groups are formed of; the others join the nearest."""
STICKY = 0.9
"""Where a start says nothing of a chain's transitions it stays where it is with this probability."""


def split_columns(sequences: Sequences, numbers: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns taken as states and those taken as numbers: by default the ones that a table cuts into bins."""
    binned = {column.name for column in sequences.table.columns if column.binned}
    if numbers is None:
        chosen = tuple(name for name in sequences.numbers if name in binned)
    else:
        chosen = tuple(numbers)
        for name in chosen:
            if name not in sequences.numbers:
                known = ", ".join(sequences.numbers) or "none"
                raise TableError(f"numbers= names {name!r}, which is no column of numbers; those are: {known}")
    states = tuple(name for name in sequences.variables if name not in chosen)
    if not states and not chosen:
        raise TableError("there are no columns: a hidden Markov model needs something to be seen")
    return states, chosen


def chain_names(sequences: Sequences, base: str, count: int) -> tuple[str, ...]:
    """Names for hidden chains that no column has."""
    taken = {*sequences.variables, *sequences.numbers}
    names = [base] if count == 1 else [f"{base}{place}" for place in range(1, count + 1)]
    if set(names) & taken:
        raise OptionError(f"a column is named {sorted(set(names) & taken)[0]!r} already: give another name=")
    return tuple(names)


def chain_network(
    sequences: Sequences,
    chains: Sequence[str],
    cards: Sequence[int],
    categories: Sequence[str],
    numbers: Sequence[str],
    weights: Floats | None = None,
    rng: np.random.Generator | None = None,
) -> DynamicNetwork:
    """Chains that move on their own; every column depends on all of them.

    `weights` (slices, joint states) is where each slice is thought to be: tables are those it gives. Without it they
    are drawn near the columns' own frequencies.
    """
    states = {name: tuple(range(1, size + 1)) for name, size in zip(chains, cards, strict=True)}
    states |= {name: sequences.states[name] for name in categories}
    first: dict[str, CPD] = {}
    then: dict[str, CPD] = {}
    for axis, (name, size) in enumerate(zip(chains, cards, strict=True)):
        own = None if weights is None else _marginal(weights, cards, axis)
        first[name] = TableCPD((), _begin(own, sequences, size))
        then[name] = TableCPD(((name, 1),), _moves(own, sequences, size, rng))
    given = tuple((name, 0) for name in chains)
    joint = int(np.prod(cards))
    for name in categories:
        table = _shown(sequences, name, weights, joint, rng).reshape(*cards, -1)
        first[name] = then[name] = TableCPD(given, table)
    gaussian = {name: _normal(sequences.numbers[name], tuple(chains), tuple(cards), weights, rng) for name in numbers}
    return DynamicNetwork(states, (first,), then, tuple(chains), gaussian)


def _marginal(weights: Floats, cards: Sequence[int], axis: int) -> Floats:
    table = weights.reshape(-1, *cards)
    return table.sum(axis=tuple(other for other in range(1, table.ndim) if other != axis + 1))


def _begin(own: Floats | None, sequences: Sequences, size: int) -> Floats:
    if own is None:
        return np.full(size, 1 / size)
    counts = own[sequences.starts[:-1]].sum(axis=0) + 1.0
    return counts / counts.sum()


def _moves(own: Floats | None, sequences: Sequences, size: int, rng: np.random.Generator | None) -> Floats:
    if own is None:
        stay = STICKY if size > 1 else 1.0
        noise = np.full((size, size), 1 / size) if rng is None else rng.dirichlet(np.ones(size), size=size)
        return stay * np.eye(size) + (1 - stay) * noise
    later = np.flatnonzero(sequences.position > 0)
    counts = own[later - 1].T @ own[later] + 1 / size
    return counts / counts.sum(axis=1, keepdims=True)


def _shown(
    sequences: Sequences, name: str, weights: Floats | None, joint: int, rng: np.random.Generator | None
) -> Floats:
    """(joint states, states of the column)."""
    cells = sequences.table.column(name)
    size = len(sequences.states[name])
    seen = np.flatnonzero(cells != sequences.table.missing)
    overall = np.bincount(cells[seen], minlength=size) + 1.0
    overall /= overall.sum()
    if weights is None:
        if rng is None:
            return np.tile(overall, (joint, 1))
        return rng.dirichlet(np.maximum(overall * size, 0.1), size=joint)
    counts = np.stack([np.bincount(cells[seen], weights=weights[seen, k], minlength=size) for k in range(joint)])
    counts = counts + overall  # (of a column never seen, bincount gives whole numbers)
    return counts / counts.sum(axis=1, keepdims=True)


def _normal(
    values: Floats,
    parents: tuple[str, ...],
    cards: tuple[int, ...],
    weights: Floats | None,
    rng: np.random.Generator | None,
) -> GaussianCPD:
    seen = ~np.isnan(values)
    if not seen.any():
        raise TableError("a column of numbers is empty: leave it out (ignore=)")
    x = values[seen]
    mean, spread = float(x.mean()), max(float(x.std()), 1e-9 * max(1.0, abs(float(x.mean()))))
    joint = int(np.prod(cards))
    if weights is None:
        means = np.full(joint, mean) if rng is None else rng.choice(x, size=joint)
        return GaussianCPD(parents, means.reshape(cards), np.full(cards, spread))
    some = weights[seen]
    total = some.sum(axis=0) + 1.0
    means = (some.T @ x + mean) / total
    square = (some * (x[:, None] - means) ** 2).sum(axis=0) + spread**2
    return GaussianCPD(parents, means.reshape(cards), np.sqrt(square / total).reshape(cards))


def grouped_slices(
    sequences: Sequences,
    categories: Sequence[str],
    numbers: Sequence[str],
    k: int,
    window: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """k-means of the slices, each seen with its neighbours (the mean over a window): slow states need a wide one."""
    columns, known = [], []
    for name in categories:
        cells = sequences.table.column(name)
        there = cells != sequences.table.missing
        size = len(sequences.states[name])
        shown = np.zeros((sequences.n_slices, size))
        shown[there] = np.eye(size)[cells[there]]
        columns.append(shown * there[:, None])
        known.append(np.repeat(there[:, None], size, axis=1))
    for name in numbers:
        values = sequences.numbers[name]
        there = ~np.isnan(values)
        scale = max(float(np.nanstd(values)), 1e-300)
        columns.append(np.where(there, (values - np.nanmean(values)) / scale, 0.0)[:, None])
        known.append(there[:, None])
    cells, seen = np.concatenate(columns, axis=1), np.concatenate(known, axis=1).astype(np.float64)
    if window > 1:
        cells, seen = _averaged(cells, seen, sequences, window)
    some = np.arange(0, len(cells), -(-len(cells) // ENOUGH))
    labels = group(cells[some], seen[some], np.ones(len(some)), k, rng)
    if len(some) == len(cells):
        return labels
    there = np.stack([seen[some][labels == c].sum(axis=0) for c in range(k)])
    centres = np.stack([cells[some][labels == c].sum(axis=0) for c in range(k)]) / np.maximum(there, 1.0)
    return (seen @ (centres**2).T - 2 * (cells @ centres.T)).argmin(axis=1)


def _averaged(cells: Floats, seen: Floats, sequences: Sequences, window: int) -> tuple[Floats, Floats]:
    """Means over a window about each slice, within its own sequence, of what is there."""
    low = np.maximum(np.arange(len(cells)) - window // 2, np.repeat(sequences.starts[:-1], sequences.lengths))
    high = np.minimum(np.arange(len(cells)) + window // 2 + 1, np.repeat(sequences.starts[1:], sequences.lengths))
    sums = np.concatenate([np.zeros((1, cells.shape[1])), np.cumsum(cells, axis=0)])
    counts = np.concatenate([np.zeros((1, cells.shape[1])), np.cumsum(seen, axis=0)])
    total, there = sums[high] - sums[low], counts[high] - counts[low]
    return np.divide(total, there, out=np.zeros_like(total), where=there > 0), (there > 0).astype(np.float64)
