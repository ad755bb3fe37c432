"""Slices that are unlike all hidden states: how often a state would show something as unlikely as this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, feature_table
from leverrier.errors import OptionError
from leverrier.models.slices.chain_passes import SMALLEST, drawn_states
from leverrier.models.slices.shaped_cpd import CPD
from leverrier.models.slices.slice_forecast import Simulated, column_order


class Explained(Simulated, Protocol):
    """What slices can be drawn from and told by."""

    def emissions(self, data: Sequences) -> Floats:
        """(slices, joint states): ln P(slice | the past, joint hidden state)."""
        ...


@dataclass(frozen=True, eq=False)
class _Column:
    """A column to be drawn: the codes of what it asks, and which of them a draw or a state replaces."""

    name: str
    cpd: CPD
    codes: NDArray[np.unsignedinteger]
    drawn: tuple[tuple[int, str], ...]
    hidden: tuple[tuple[int, int], ...]
    seen: NDArray[np.bool_]


def unlike_slices(model: Explained, sequences: Sequences, draws: int, seed: int) -> Floats:
    """(slices, joint states): the chance that a slice of these states, given its own past, is no likelier.

    Slices are drawn anew in every joint state with the same past and holes; with so many draws no chance is below
    1 / (1 + draws). A slice of holes only is like everything.
    """
    if draws < 1:
        raise OptionError(f"draws={draws}: expected at least 1")
    rng = np.random.default_rng(seed)
    columns = [_column(model, sequences, name) for name in column_order(model)]
    here = model.emissions(sequences)
    states = np.array(np.unravel_index(np.arange(here.shape[1]), model.sizes)) if model.sizes else np.zeros((0, 1))
    as_low = np.ones_like(here)
    for _ in range(draws):
        for state in range(here.shape[1]):
            as_low[:, state] += _drawn_logs(columns, states[:, state], rng) <= here[:, state] + 1e-12
    return as_low / (1 + draws)


def _column(model: Explained, sequences: Sequences, name: str) -> _Column:
    cpd = model.cpds[name].compacted()
    chains = {Lag(chain, 0): place for place, chain in enumerate(model.chain_names)}
    observed: tuple[Feature, ...] = tuple(p for p in cpd.parents if p not in chains)
    table = feature_table(sequences.table, sequences.starts, observed)
    kind = np.uint16 if max(cpd.cardinalities, default=0) > 256 else np.uint8
    codes = np.zeros((len(cpd.parents), sequences.n_slices), dtype=kind)
    codes[[row for row, p in enumerate(cpd.parents) if p not in chains]] = table.codes
    now = tuple((row, p.variable) for row, p in enumerate(cpd.parents) if isinstance(p, Lag) and p.lag == 0)
    drawn = tuple((row, other) for row, other in now if Lag(other, 0) not in chains)
    hidden = tuple((row, chains[p]) for row, p in enumerate(cpd.parents) if p in chains)
    return _Column(name, cpd, codes, drawn, hidden, sequences.table.column(name) != sequences.table.missing)


def _drawn_logs(columns: list[_Column], states: NDArray, rng: np.random.Generator) -> Floats:
    """ln P of slices drawn in one joint state."""
    total = np.zeros(len(columns[0].seen))
    cells: dict[str, NDArray[np.int64]] = {}
    for column in columns:
        for row, other in column.drawn:
            column.codes[row] = cells[other]
        for row, chain in column.hidden:
            column.codes[row] = states[chain]
        rows = column.cpd.rows(column.codes)
        new = drawn_states(rows, rng)
        shown = np.log(np.maximum(rows[np.arange(len(new)), new], SMALLEST))
        total += np.where(column.seen, shown, 0.0)
        cells[column.name] = np.where(column.seen, new, rows.shape[1])
    return total
