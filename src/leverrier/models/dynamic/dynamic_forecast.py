"""What comes next: the sequences carried on by slices that nobody has seen yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.table import Label, Table
from leverrier.errors import OptionError, TooLargeError
from leverrier.models.dynamic.cpd import GaussianCPD
from leverrier.models.dynamic.dynamic_query import Inference, engine
from leverrier.models.dynamic.dynamic_unrolled import lay
from leverrier.models.dynamic.sliced import Sliced


@dataclass(frozen=True, eq=False)
class NumberForecast:
    """(sequences, steps): what a column of numbers is expected to be."""

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Expected:
    """What is to be expected `steps` slices beyond the end of each sequence."""

    names: tuple[Label, ...]
    steps: int
    interval: float
    states: Mapping[str, tuple[Label, ...]]
    probabilities: Mapping[str, Floats]
    """(sequences, steps, states) for every variable with states, hidden ones too."""
    numbers: Mapping[str, NumberForecast]

    def most_probable(self, variable: str) -> list[list[Label]]:
        """For each sequence the most probable state of each step."""
        best = self.probabilities[variable].argmax(axis=-1)
        return [[self.states[variable][code] for code in row] for row in best.tolist()]

    def likely(self, variable: str) -> NDArray[np.bool_]:
        """(sequences, steps, states): the fewest states that hold at least `interval` of the probability."""
        table = self.probabilities[variable]
        order = np.argsort(-table, axis=-1, kind="stable")
        before = np.cumsum(np.take_along_axis(table, order, axis=-1), axis=-1) - np.take_along_axis(table, order, -1)
        inside = np.empty(table.shape, dtype=np.bool_)
        np.put_along_axis(inside, order, before < self.interval, axis=-1)
        return inside

    def rows(self) -> list[dict[str, Any]]:
        """One row for each sequence, step and variable: what is expected, and the states or range that hold it."""
        found: list[dict[str, Any]] = []
        for variable, table in self.probabilities.items():
            inside = self.likely(variable)
            for i, j in np.ndindex(*table.shape[:2]):
                best = int(table[i, j].argmax())
                found.append(
                    {
                        "sequence": self.names[i],
                        "step": j + 1,
                        "variable": variable,
                        "expected": self.states[variable][best],
                        "probability": float(table[i, j, best]),
                        "within": [
                            label for label, kept in zip(self.states[variable], inside[i, j], strict=True) if kept
                        ],
                    }
                )
        for variable, number in self.numbers.items():
            for i, j in np.ndindex(*number.mean.shape):
                found.append(
                    {
                        "sequence": self.names[i],
                        "step": j + 1,
                        "variable": variable,
                        "expected": float(number.mean[i, j]),
                        "probability": self.interval,
                        "within": [float(number.low[i, j]), float(number.high[i, j])],
                    }
                )
        return found


@dataclass(frozen=True, eq=False)
class Forecast(Expected):
    """What a network in time expects."""

    inference: Inference


def forecast(network: Sliced, data: Any, steps: int, interval: float) -> Forecast:
    """Exact where the joint of what is ahead is small enough; otherwise by Boyen–Koller, one variable a cluster."""
    if steps < 1:
        raise OptionError(f"steps={steps}: expected at least 1")
    if not 0 < interval < 1:
        raise OptionError(f"interval={interval}: expected a probability between 0 and 1")
    sequences = network.read(data)
    longer, ahead = _carried_on(sequences, steps, tuple(network.numbers))
    laid = lay(network, longer, network.variables)
    theta, _ = laid.theta(network)
    inference: Inference = "exact"
    try:
        found = engine(laid, "exact", None, network.variables).expectation(theta)
    except TooLargeError:
        inference = "boyen-koller"
        found = engine(laid, inference, [], network.variables).expectation(theta)
    probabilities, first = {}, 0
    for name in network.variables:
        size = network.cardinality(name)
        probabilities[name] = found.kept[ahead, first : first + size].reshape(len(sequences), steps, size)
        first += size
    numbers = {}
    for density in laid.densities:
        weights = density.of(found.counts, laid.n_slices)[ahead].reshape(len(ahead), -1)
        for name in density.names:
            numbers[name] = _number(network.numbers[name], weights, interval, (len(sequences), steps))
    return Forecast(sequences.names, steps, interval, network.states, probabilities, numbers, inference)


def _carried_on(sequences: Sequences, steps: int, numbers: tuple[str, ...]) -> tuple[Sequences, NDArray[np.int64]]:
    """Each sequence with so many empty slices after it, and where those are."""
    n, extra = len(sequences), steps * np.arange(len(sequences))
    old = np.arange(sequences.n_slices) + np.repeat(extra, sequences.lengths)
    ahead = (sequences.starts[1:] + extra)[:, None] + np.arange(steps)
    total = sequences.n_slices + n * steps
    table = sequences.table
    codes = np.full((len(table.columns), total), table.missing, dtype=table.codes.dtype)
    codes[:, old] = table.codes
    longer = {}
    for name in numbers:
        values = np.full(total, np.nan)
        if name in sequences.numbers:
            values[old] = sequences.numbers[name]
        longer[name] = values
    times, rows = np.zeros(total), np.full(total, -1, dtype=np.int64)
    carried = replace(
        sequences,
        table=Table(table.columns, codes),
        starts=sequences.starts + steps * np.arange(n + 1),
        times=times,
        rows=rows,
        numbers=longer,
    )
    return carried, ahead.ravel()


def _number(cpd: GaussianCPD, weights: Floats, interval: float, shape: tuple[int, int]) -> NumberForecast:
    """Mean and interval of a mixture of normals."""
    means, spread = cpd.means.ravel(), cpd.deviations.ravel()
    mean = weights @ means
    low = _quantile(weights, means, spread, (1 - interval) / 2)
    high = _quantile(weights, means, spread, (1 + interval) / 2)
    return NumberForecast(mean.reshape(shape), low.reshape(shape), high.reshape(shape))


def _quantile(weights: Floats, means: Floats, spread: Floats, level: float) -> Floats:
    """Where the mixture's distribution function reaches the level, by halving."""
    low = np.full(len(weights), (means - 12 * spread).min())
    high = np.full(len(weights), (means + 12 * spread).max())
    for _ in range(80):
        middle = (low + high) / 2
        below = (weights * ndtr((middle[:, None] - means) / spread)).sum(axis=1) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
