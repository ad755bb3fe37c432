"""What each state of a hidden variable means: how frequent it is, and the columns that mark it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label, Table
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.models.network import Network

MARKS = 3


@dataclass(frozen=True)
class Mark:
    """A value of a column that is much more (or less) frequent in one state than over all rows."""

    column: str
    value: Label
    share: float = 0.0
    overall: float = 0.0
    number: bool = False
    """Whether the column is one of numbers: then the value says it all."""

    def __str__(self) -> str:
        if self.number:
            return f"{self.column} {self.value}"
        return f"{self.column} is {self.value} in {_percent(self.share)} (of all rows {_percent(self.overall)})"


@dataclass(frozen=True, eq=False)
class State:
    """One state: its share of the rows, what marks it, and by column the shares of its values."""

    label: Label
    prevalence: float
    marks: tuple[Mark, ...]
    profile: dict[str, dict[Label, float]]
    suggested: str
    """A name made of what marks it most."""

    def __str__(self) -> str:
        words = "; ".join(str(mark) for mark in self.marks)
        return f"{self.label}: {_percent(self.prevalence)} of the rows" + (f": {words}" if words else "")


def explain(network: Network, table: Table, name: str, posterior: NDArray[np.float64]) -> tuple[State, ...]:
    """Every state of a hidden variable, from the rows' posteriors."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    weighted = posterior * weights[:, None]
    prevalence = weighted.sum(axis=0) / weights.sum()
    near = [v for v in (*network.children(name), *network.parents(name)) if v in table.variables]
    shares = {column: _shares(table, column, weighted) for column in near}
    overall = {column: _shares(table, column, weights[:, None])[:, 0] for column in near}
    return tuple(
        marked(table.states, network.states[name][k], float(prevalence[k]), k, shares, overall)
        for k in range(len(prevalence))
    )


def _shares(table: Table, column: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(values, states): how frequent each value is within each state, in rows that show the column."""
    codes = table.column(column)
    seen = codes != table.missing
    counts = np.zeros((len(table.states[column]), weights.shape[1]))
    np.add.at(counts, codes[seen], weights[seen])
    return counts / np.maximum(counts.sum(axis=0), 1e-300)


def marked(
    states: Mapping[str, Sequence[Label]],
    label: Label,
    prevalence: float,
    k: int,
    shares: dict[str, NDArray[np.float64]],
    overall: dict[str, NDArray[np.float64]],
) -> State:
    """State k: what marks it, from shares of (values, states) by column and those over all rows."""
    found = []
    for column, each in shares.items():
        lift = each[:, k] - overall[column]
        value = int(np.argmax(lift))
        found.append(Mark(column, states[column][value], float(each[value, k]), float(overall[column][value])))
    found.sort(key=lambda mark: mark.overall - mark.share)
    profile = {c: dict(zip(states[c], each[:, k].tolist(), strict=True)) for c, each in shares.items()}
    marks = tuple(mark for mark in found[:MARKS] if mark.share - mark.overall > 0.02)
    suggested = ", ".join(f"{mark.column} {mark.value}" for mark in marks[:2]) or f"state {label}"
    return State(label, prevalence, marks, profile, suggested)


def explain_chain(one: HiddenChain, labels: Mapping[str, Sequence[Label]]) -> tuple[State, ...]:
    """What marks each state of a hidden variable, from the columns that it drives."""
    shares = {name: table.T for name, table in one.profiles.items()}
    overall = {name: table @ one.share for name, table in shares.items()}
    names = one.labels or tuple(range(one.states))
    return tuple(marked(labels, names[k], float(one.share[k]), k, shares, overall) for k in range(one.states))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
