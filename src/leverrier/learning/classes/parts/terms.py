"""Columns of a design: numbers standardised, categories as one column a state but the first, always with a constant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.errors import TableError


@dataclass(frozen=True, eq=False)
class Terms:
    """`values` (rows, terms) for computing; coefficients in the data's own units are `back` times those found."""

    names: tuple[str, ...]
    values: Floats
    back: Floats
    of: tuple[str | None, ...]
    """The column each term comes from; the constant is nobody's."""
    held: NDArray[np.bool_]
    """Which rows have no hole in any of the columns."""

    @property
    def size(self) -> int:
        return len(self.names)

    def places(self, column: str) -> list[int]:
        """Which terms are this column's."""
        return [place for place, name in enumerate(self.of) if name == column]

    def without(self, column: str) -> Terms:
        """The same design with one column left out; rows with its holes stay out, so that fits can be compared."""
        kept = [place for place, name in enumerate(self.of) if name != column]
        return Terms(
            tuple(self.names[i] for i in kept),
            self.values[:, kept],
            self.back[np.ix_(kept, kept)],
            tuple(self.of[i] for i in kept),
            self.held,
        )


def constant(rows: int) -> Terms:
    return Terms(("1",), np.ones((rows, 1)), np.eye(1), (None,), np.ones(rows, bool))


def terms_of(table: Table, columns: Sequence[str], what: str = "predictor", categories: Collection[str] = ()) -> Terms:
    """A constant, then every column: as a number if it came as one (unless it is among the `categories`), else a term
    for each state but the first."""
    names, blocks = ["1"], [np.ones((table.n_rows, 1))]
    of: list[str | None] = [None]
    back, held = [np.eye(1)], np.ones(table.n_rows, bool)
    shifts: list[tuple[int, float]] = []
    for name in columns:
        column = table.columns[table.index(name)]
        if name in table.numbers and name not in categories:
            values = table.numbers[name]
            seen = ~np.isnan(values)
            centre = float(values[seen].mean()) if seen.any() else 0.0
            spread = float(values[seen].std()) if seen.any() else 0.0
            if not spread > 0:
                raise TableError(f"the {what} {name!r} has one value only: it explains nothing; leave it out")
            blocks.append(np.where(seen, (values - centre) / spread, 0.0)[:, None])
            shifts.append((len(names), centre / spread))
            back.append(np.full((1, 1), 1 / spread))
            names.append(name)
            of.append(name)
        else:
            codes = table.column(name)
            seen = codes != table.missing
            states = [s for s in range(column.cardinality) if np.any(codes == s)]
            if len(states) < 2:
                raise TableError(f"the {what} {name!r} has one value only: it explains nothing; leave it out")
            blocks.append((codes[:, None] == np.array(states[1:])).astype(np.float64))
            back.append(np.eye(len(states) - 1))
            names += [f"{name} = {column.states[s]}" for s in states[1:]]
            of += [name] * (len(states) - 1)
        held &= seen
    whole = _diagonal(back)
    for place, shift in shifts:
        whole[0, place] = -shift
    return Terms(tuple(names), np.hstack(blocks), whole, tuple(of), held)


def _diagonal(blocks: Sequence[Floats]) -> Floats:
    size = sum(len(block) for block in blocks)
    whole, at = np.zeros((size, size)), 0
    for block in blocks:
        whole[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return whole
