"""What the states of a column say of order: values to add up, ranks, and scores for logits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.data.table import Label, Variable
from leverrier.data.variable import ColumnKind

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


@dataclass(frozen=True, eq=False)
class StateColumn:
    """A column's states, as the kinds of families see them."""

    values: tuple[float, ...]
    """A number for each state: its label, the number in it, the middle of its bin, or its place."""
    ordered: bool
    """Whether the order is known; that of other columns is tried all the same."""
    weights: Floats
    """How often each state occurs."""
    measured: bool = True
    """Whether the values are numbers that were given, and not places or bins."""
    hidden: bool = False
    """Whether no row shows its states."""

    @property
    def states(self) -> int:
        return len(self.values)

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Each state's place in the order of values."""
        return np.argsort(np.argsort(np.array(self.values), kind="stable"), kind="stable")

    @cached_property
    def scores(self) -> Floats:
        """Mean 0 and deviation 1 over the rows: of the numbers themselves, else of the middle ranks' normal scores."""
        total = max(float(self.weights.sum()), 1e-300)
        if self.measured:
            raw = np.array(self.values)
        else:
            order = np.argsort(self.ranks)
            share = self.weights[order] / total
            middle = np.cumsum(share) - share / 2
            raw = np.empty(self.states)
            raw[order] = ndtri(np.clip(middle, 1e-4, 1 - 1e-4))
        mean = float(self.weights @ raw) / total
        spread = np.sqrt(float(self.weights @ (raw - mean) ** 2) / total)
        return (raw - mean) / max(spread, 1e-9)


def state_column(variable: Variable, weights: Floats) -> StateColumn:
    """A column of a table; `weights` says how often each state occurs."""
    ordered = variable.ordered and variable.kind is not ColumnKind.BOOLEAN
    if variable.binned and variable.cuts:
        return StateColumn(tuple(float(k) for k in range(variable.cardinality)), True, weights, measured=False)
    numbers = _numbers(variable.states)
    if numbers is None:
        return StateColumn(tuple(float(k) for k in range(variable.cardinality)), ordered, weights, measured=False)
    return StateColumn(numbers, True, weights)


def plain_column(states: int) -> StateColumn:
    """A hidden variable's: its states have no order to speak of."""
    return StateColumn(tuple(float(k) for k in range(states)), False, np.ones(states), measured=False, hidden=True)


def _numbers(labels: Sequence[Label]) -> tuple[float, ...] | None:
    """The labels as numbers, or the one number in each, if they all differ; else nothing."""
    found: list[float] = []
    for label in labels:
        if isinstance(label, bool):
            return None
        if isinstance(label, int | float):
            found.append(float(label))
            continue
        inside = _NUMBER.findall(str(label).replace("_", " "))
        if not inside:
            return None
        found.append(float(inside[0]))
    return tuple(found) if len(set(found)) == len(found) and np.all(np.isfinite(found)) else None
