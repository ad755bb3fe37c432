"""A hidden class behind numbers and categories, as a frozen value: Gaussian children and categorical children."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.arrays import Floats
from leverrier.data.matrix import row_weights
from leverrier.data.reading.binning import bin_labels
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Label, Table
from leverrier.errors import OptionError
from leverrier.inference.gaussian.gaussian_rows import stretches_of_posteriors
from leverrier.inference.gaussian.mixed_rows import Categories, ClassPass
from leverrier.models.mixture import Mixture


@dataclass(frozen=True, eq=False)
class MixedClasses:
    """P(row) = Σ_c w_c N(numbers | μ_c, Σ_c) Π_v P(v | c): given the class, numbers and categories are independent.

    numbers  the mixture over the columns of numbers; its weights are the classes'
    tables   for each category, P(state | class) of shape (classes, states)
    """

    numbers: Mixture
    tables: Mapping[str, Floats]
    states: Mapping[str, tuple[Label, ...]]

    def __post_init__(self) -> None:
        if list(self.tables) != list(self.states):
            raise OptionError("tables and states must have the same variables in the same order")
        own = {}
        for name, given in self.tables.items():
            table = np.array(given, dtype=np.float64)
            shape = (self.n_classes, len(self.states[name]))
            if table.shape != shape:
                raise OptionError(f"the table of {name!r} has shape {table.shape}, expected {shape}")
            if not (np.all(table >= 0) and np.allclose(table.sum(axis=1), 1, atol=1e-6)):
                raise OptionError(f"the table of {name!r} is not a distribution for each class")
            table.flags.writeable = False
            own[name] = table
        object.__setattr__(self, "tables", MappingProxyType(own))
        object.__setattr__(self, "states", MappingProxyType({name: tuple(s) for name, s in self.states.items()}))

    @property
    def weights(self) -> Floats:
        """How large each class is."""
        return self.numbers.weights

    @property
    def n_classes(self) -> int:
        return self.numbers.n_components

    @property
    def variables(self) -> tuple[str, ...]:
        """Numbers first, then categories."""
        return (*self.numbers.names, *self.tables)

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return self.numbers.dimension + sum(table.size - len(table) for table in self.tables.values())

    def posterior(self, data: Any) -> Floats:
        """(rows, classes): P(class | the observed cells of the row)."""
        return self._each_row(data)[0]

    def row_log_likelihood(self, data: Any) -> Floats:
        """log P(the observed cells) of each row, in nats: a density for numbers, a probability for categories."""
        return self._each_row(data)[1]

    def log_likelihood(self, data: Any, weights: ArrayLike | None = None) -> float:
        logs = self.row_log_likelihood(data)
        each = row_weights(weights, len(logs))
        return float(logs @ each) if len(each) else float(logs.sum())

    def assign(self, data: Any) -> NDArray[np.int64]:
        """The most probable class of each row."""
        return self.posterior(data).argmax(axis=1)

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> dict[str, Any]:
        """Rows drawn from the model, as a dict of columns; `sample_labelled` gives the classes too."""
        return self.sample_labelled(n_rows, seed)[0]

    def sample_labelled(
        self, n_rows: int, seed: int | np.random.Generator = 0
    ) -> tuple[dict[str, Any], NDArray[np.int64]]:
        rng = np.random.default_rng(seed)
        numbers, labels = self.numbers.sample_labelled(n_rows, rng)
        columns: dict[str, Any] = dict(zip(self.numbers.names, numbers.T, strict=True))
        for name, table in self.tables.items():
            bounds = np.cumsum(table, axis=1)[:, :-1]
            codes = (rng.random(n_rows)[:, None] >= bounds[labels]).sum(axis=1)
            columns[name] = [self.states[name][code] for code in codes]
        return columns, labels

    def profiles(self) -> list[dict[str, Any]]:
        """What each class looks like: its share, (mean, deviation) of numbers, {state: probability} of categories."""
        deviations = np.sqrt(np.diagonal(self.numbers.matrices, axis1=1, axis2=2))
        found = []
        for c in range(self.n_classes):
            profile: dict[str, Any] = {"share": float(self.weights[c])}
            for j, name in enumerate(self.numbers.names):
                profile[name] = (float(self.numbers.means[c, j]), float(deviations[c, j]))
            for name, table in self.tables.items():
                profile[name] = dict(zip(self.states[name], table[c].tolist(), strict=True))
            found.append(profile)
        return found

    def __repr__(self) -> str:
        shares = ", ".join(f"{weight:.3g}" for weight in self.weights)
        return (
            f"MixedClasses({self.n_classes} classes over {self.numbers.n_columns} numbers and {len(self.tables)} "
            f"categories, shares {shares})"
        )

    def _each_row(self, data: Any) -> tuple[Floats, Floats]:
        data = self._rows(data)
        rows = self.numbers.scaled_rows(data)
        theta = np.concatenate([table.T for table in self.tables.values()] or [np.empty((0, self.n_classes))])
        table = self._categories(data, len(rows.x))
        ready = ClassPass(self.numbers.scaled_pass, Categories.of(table), np.ascontiguousarray(theta))
        posterior, logs = np.empty((len(rows.x), self.n_classes)), np.empty(len(rows.x))
        shifts = np.log(rows.scale)
        for places, shares, values in stretches_of_posteriors(rows, ready):
            posterior[places] = shares.T
            present = ~np.isnan(rows.x[places]) if rows.patterns.holes else np.ones((1, self.numbers.n_columns))
            logs[places] = values + present @ shifts
        return posterior, logs

    def _categories(self, data: Any, n_rows: int) -> Table:
        if not self.states:
            return Table((), np.empty((0, n_rows), np.uint8))
        return read_table(data, states=self.states)

    def _rows(self, data: Any) -> Any:
        """A file is read once, into a table with the model's columns, numbers kept as they are."""
        if not isinstance(data, str | os.PathLike):
            return data
        cut = {name: bin_labels((0.0,)) for name in self.numbers.names}  # (anywhere: the numbers are what is used)
        return read_table(data, states={**cut, **self.states})
