"""What the model leaves unexplained: pairs of columns that depend on each other more than it says, against chance.

Tables of the same size and with the same holes are drawn from the model. The mutual information of a pair in the data,
less its mean in those tables, is what remains; the largest of all pairs in each drawn table is what chance alone shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.kernels.counts.pair_tables import pair_tables

Simulate = Callable[[int, np.random.Generator], Table]
"""A table of so many rows drawn from the model; columns in the order of the data."""

DRAWS, LEAST_DRAWS = 60, 20
MOST_CELLS = 2_000_000
"""Rows × columns of one drawn table; of a larger table so many rows are drawn at random."""
ALL_CELLS = 4_000_000
"""Cells over all draws: beyond it fewer tables are drawn."""
MOST_STATES = 2000
"""States over all columns: their square is the number of cells that are counted."""
SHOWN = 10
FEW_COLUMNS = 64
"""Up to so many columns the rows are counted pair by pair; of more, one product of indicators is cheaper."""


@dataclass(frozen=True)
class Pair:
    """Two columns, the mutual information in the data and in the model (nats a row), and how unusual that is."""

    first: str
    second: str
    observed: float
    expected: float
    """The mean in tables drawn from the model: what it says, with the bias of so many rows."""
    z: float
    """What remains, in standard deviations of the drawn tables."""
    p_value: float
    """Share of drawn tables (and this one) in which the most unusual pair is as unusual."""

    @property
    def excess(self) -> float:
        return self.observed - self.expected


@dataclass(frozen=True)
class Remaining:
    """The largest remaining dependencies, most unusual first."""

    pairs: tuple[Pair, ...]
    n_pairs: int
    draws: int
    chance: float
    """The most unusual pair of each drawn table: the level (in z) that one in twenty exceeds."""
    rows: int
    """On which it was measured."""

    @property
    def clear(self) -> tuple[Pair, ...]:
        """Those that chance does not explain."""
        return tuple(pair for pair in self.pairs if pair.p_value <= 0.05)


def remaining(table: Table, simulate: Simulate, seed: int) -> Remaining | None:
    """Every pair of columns; None where there are no pairs or too many states to count."""
    width = len(table.variables)
    if width < 2 or int(table.cardinalities.sum()) > MOST_STATES or table.total < 2:
        return None
    rng = np.random.default_rng([seed, 37])
    table = _fewer(table, MOST_CELLS // width, rng)
    rows = round(table.total)
    draws = int(np.clip(ALL_CELLS // max(rows * width, 1), LEAST_DRAWS, DRAWS))
    holes = table.codes == table.missing if table.n_missing and rows == table.n_rows else None
    first, second = np.triu_indices(width, 1)
    drawn = np.empty((draws, len(first)))
    for number in range(draws):
        one = simulate(rows, rng)
        drawn[number] = pair_information(one.codes, one.missing, table.cardinalities, None, holes)[first, second]
    observed = pair_information(table.codes, table.missing, table.cardinalities, table.weights)[first, second]
    return _largest(table, observed, drawn, first, second)


def pair_information(
    codes: NDArray[np.unsignedinteger],
    missing: int,
    sizes: NDArray[np.int64],
    weights: Floats | None = None,
    holes: NDArray[np.bool_] | None = None,
) -> Floats:
    """(columns, columns): mutual information of every pair in nats, each from the rows that show both."""
    seen = codes != missing if holes is None else (codes != missing) & ~holes
    starts = np.concatenate([[0], np.cumsum(sizes)])
    if weights is None and len(codes) <= FEW_COLUMNS:
        return _information_of(*_counted(codes, seen, sizes, starts), starts)
    said, shown_by, from_said = _indicators(codes, seen, sizes, starts)
    if weights is not None:  # (32 bits are exact for whole rows)
        said = said.astype(np.float64)
    counted = ((said if weights is None else said * weights) @ said.T).astype(np.float64)
    half = from_said @ counted
    joint = np.maximum((from_said @ half.T).T, 0.0)
    totals = np.maximum(counted[np.ix_(shown_by, shown_by)], 1e-300)
    column = np.maximum(half[:, shown_by], 0.0)
    return _information_of(joint, column, totals, starts)


def _counted(
    codes: NDArray[np.unsignedinteger], seen: NDArray[np.bool_], sizes: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """The tables of all pairs, pair by pair; a hole is a further state, which is then left out."""
    widened = starts + np.arange(len(starts))
    cells = np.where(seen, codes, sizes[:, None]).astype(np.uint16)
    kept = np.delete(np.arange(widened[-1]), widened[1:] - 1)
    joint = pair_tables(cells, widened)[np.ix_(kept, kept)]
    column = np.add.reduceat(joint, starts[:-1], axis=1)
    return joint, column, np.maximum(np.add.reduceat(column, starts[:-1], axis=0), 1e-300)


def _information_of(joint: Floats, column: Floats, totals: Floats, starts: NDArray[np.int64]) -> Floats:
    """From how many rows show both: by two states, by a state and a column, by two columns."""
    by_column = starts[:-1]
    joint_sum = np.add.reduceat(np.add.reduceat(xlogy(joint, joint), by_column, axis=0), by_column, axis=1)
    own_sum = np.add.reduceat(xlogy(column, column), by_column, axis=0)
    # N I = Σ n_ab ln n_ab − Σ n_a ln n_a − Σ n_b ln n_b + N ln N
    return np.maximum((joint_sum - own_sum - own_sum.T + xlogy(totals, totals)) / totals, 0.0)


def _indicators(
    codes: NDArray[np.unsignedinteger], seen: NDArray[np.bool_], sizes: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int64], csr_array]:
    """The fewest rows of 0 and 1 that say all cells: where a column is seen (one row for all that have no holes), and
    its states but the first; by column the place of the former; the matrix that makes every state of them."""
    whole = seen.all(axis=1)
    shown_by = np.where(whole, 0, np.cumsum(~whole) - 1 + whole.any()).astype(np.int64)
    first = int(shown_by.max(initial=0)) + 1
    further = first + np.concatenate([[0], np.cumsum(sizes - 1)])
    said = np.zeros((int(further[-1]), codes.shape[1]), dtype=np.float32)
    rows, places, values = [], [], []
    for v, size in enumerate(sizes.tolist()):
        said[shown_by[v]] = seen[v]
        own = np.arange(further[v], further[v + 1])
        on = np.flatnonzero(seen[v] & (codes[v] > 0))
        said[further[v] + codes[v, on].astype(np.int64) - 1, on] = 1.0
        rows += [np.full(size, starts[v]), starts[v] + np.arange(1, size)]
        places += [np.append(shown_by[v], own), own]
        values += [np.append(1.0, np.full(size - 1, -1.0)), np.ones(size - 1)]
    cells = np.concatenate(values), (np.concatenate(rows), np.concatenate(places))
    return said, shown_by, csr_array(cells, shape=(int(starts[-1]), len(said)))


def _largest(
    table: Table, observed: Floats, drawn: Floats, first: NDArray[np.int64], second: NDArray[np.int64]
) -> Remaining:
    """Pairs by how unusual they are, judged against the most unusual pair of each drawn table."""
    mean = drawn.mean(axis=0)
    freedom = (table.cardinalities[first] - 1) * (table.cardinalities[second] - 1)
    least = np.sqrt(2.0 * np.maximum(freedom, 1)) / (2.0 * table.total)  # of 2 N I ~ χ² where nothing is shared
    z = (observed - mean) / np.maximum(drawn.std(axis=0, ddof=1), least)
    most = _most_unusual(drawn - mean, least)
    order = np.argsort(-z, kind="stable")[:SHOWN]
    pairs = tuple(
        Pair(
            table.variables[first[i]],
            table.variables[second[i]],
            float(observed[i]),
            float(mean[i]),
            float(z[i]),
            (1 + int(np.count_nonzero(most >= z[i]))) / (1 + len(most)),
        )
        for i in order.tolist()
    )
    chance = float(np.quantile(most, 0.95))
    return Remaining(pairs, len(first), len(drawn), chance, round(table.total))


def _most_unusual(off: Floats, least: Floats) -> Floats:
    """The largest z of each drawn table, judged like the data: by the tables that it is not among.

    `off` are distances from the mean of all; leaving one out shifts the mean and shrinks the sum of squares.
    """
    n = len(off)
    squares = (off**2).sum(axis=0) - off**2 * n / (n - 1)
    spread = np.maximum(np.sqrt(np.maximum(squares, 0.0) / (n - 2)), least)
    return (off * n / (n - 1) / spread).max(axis=1)


def _fewer(table: Table, most: int, rng: np.random.Generator) -> Table:
    """The table, or so many of its rows drawn at random."""
    if table.total <= most:
        return table
    if table.weights is None:
        return table.take(np.sort(rng.choice(table.n_rows, most, replace=False)))
    drawn = table.take(rng.choice(table.n_rows, most, p=table.weights / table.weights.sum()))
    return Table(drawn.columns, drawn.codes)
