"""Sequences with numbers as numbers: every column one array of floats, categories by their codes, NaN for a hole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.reading.binning import bin_labels, cuts_of
from leverrier.data.sequences.read_sequences import as_sequences, read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.time_axis import TimeKind
from leverrier.data.variable import Label, Variable


@dataclass(frozen=True, eq=False)
class Panel:
    """The columns of some sequences, as models of numbers ask them."""

    values: Mapping[str, Floats]
    labels: Mapping[str, tuple[Label, ...]]
    """Of the columns that are categories: what their codes stand for."""
    starts: Integers
    times: Floats
    """Slices since the sequence began; where times are numbers or dates, those."""
    dated: bool = False
    """Whether times are dates, as days since 1970."""

    @property
    def n_slices(self) -> int:
        return int(self.starts[-1])

    @property
    def persons(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def person(self) -> Integers:
        """Which sequence each slice belongs to."""
        return np.repeat(np.arange(self.persons), np.diff(self.starts))

    @cached_property
    def position(self) -> Integers:
        return np.arange(self.n_slices) - self.starts[:-1][self.person]

    def with_values(self, values: Mapping[str, Floats]) -> Panel:
        """The same slices with other cells."""
        return replace(self, values={**self.values, **values})

    def take(self, persons: Integers) -> Panel:
        """These sequences, in this order."""
        cuts = self.starts.tolist()
        pieces = [np.arange(cuts[i], cuts[i + 1]) for i in persons.tolist()]
        chosen = np.concatenate(pieces)
        return replace(
            self,
            values={name: column[chosen] for name, column in self.values.items()},
            starts=np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64),
            times=self.times[chosen],
        )


def panel_of(sequences: Sequences, numbers: Collection[str] | None = None) -> Panel:
    """Columns that a table would cut into bins (or those named) as numbers, all others as categories."""
    table = sequences.table
    values: dict[str, Floats] = {}
    labels: dict[str, tuple[Label, ...]] = {}
    for column in table.columns:
        name = column.name
        number = column.binned if numbers is None else name in numbers
        if number and name in sequences.numbers:
            values[name] = np.asarray(sequences.numbers[name], dtype=np.float64)
            continue
        cells = table.column(name)
        values[name] = np.where(cells == table.missing, np.nan, cells.astype(np.float64))
        labels[name] = tuple(column.states)
    times = sequences.times if sequences.time_kind.measured else sequences.position.astype(np.float64)
    return Panel(values, labels, sequences.starts, times, sequences.time_kind is TimeKind.DATE)


def read_panel(data: Any, variables: tuple[Variable, ...], numbers: Collection[str]) -> Panel:
    """New sequences as a model's columns were read: categories keep their codes, numbers stay numbers."""
    if isinstance(data, Panel):
        return data
    states = {each.name: each.states for each in variables}
    if isinstance(data, Sequences):
        known = {name: labels for name, labels in states.items() if name not in numbers}
        kept = as_sequences(data.select([name for name in data.variables if name in states]), _with_bins(data, known))
    else:
        anything = {name: bin_labels((0.0,)) for name in numbers if not cuts_of(states[name])}
        kept = read_sequences(data, states=states | anything)  # (a count may be one that was never seen before)
    return panel_of(kept, numbers)


def _with_bins(data: Sequences, known: Mapping[str, tuple[Label, ...]]) -> dict[str, tuple[Label, ...]]:
    """The states asked for; columns of numbers keep whatever bins they have, which nothing looks at."""
    return {name: known.get(name, states) for name, states in data.states.items()} | dict(known)
