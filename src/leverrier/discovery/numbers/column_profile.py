"""What a column is, over all rows and in each state of a hidden class, in the user's units; and states in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Label, Table
from leverrier.discovery.meaning import Mark, State

MARKS = 4
LEAST_LIFT = 0.1


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """Shares of values, or (mean, deviation) of numbers: (values,) over all rows, (states, values) by state."""

    number: bool
    values: tuple[Label, ...]
    overall: Floats
    by_state: Floats

    def content(self) -> dict[str, Any]:
        values = [None if self.number else value for value in self.values]
        cells = {"overall": self.overall.tolist(), "by_state": self.by_state.tolist()}
        return {"number": self.number, "values": [] if self.number else values, **cells}

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> ColumnProfile:
        number = bool(content["number"])
        values = ("mean", "deviation") if number else tuple(content["values"])
        return cls(number, values, np.array(content["overall"]), np.array(content["by_state"]))


def column_profile(table: Table, name: str, posterior: Floats) -> ColumnProfile:
    """From the rows that show the column; `posterior` (rows, states) may have no states."""
    weights = np.concatenate([np.ones((table.n_rows, 1)), posterior], axis=1)
    if name in table.measured:
        x = table.numbers[name]
        seen = ~np.isnan(x)
        own = weights[seen] / np.maximum(weights[seen].sum(axis=0), 1e-12)
        mean = own.T @ x[seen]
        size = float(np.abs(x[seen]).max(initial=0.0)) or 1.0  # (squares of huge numbers overflow)
        spread = size * np.sqrt((own * ((x[seen, None] - mean) / size) ** 2).sum(axis=0))
        cells = np.column_stack([mean, spread])
        return ColumnProfile(True, ("mean", "deviation"), cells[0], cells[1:])
    codes, states = table.column(name).astype(np.int64), table.states[name]
    seen = codes != table.missing
    counts = np.stack([np.bincount(codes[seen], each[seen], len(states)) for each in weights.T])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    return ColumnProfile(False, tuple(states), shares[0], shares[1:])


def number_states(profiles: Mapping[str, ColumnProfile], shares: Floats) -> tuple[State, ...]:
    """Each class by its share and the columns in which it differs most from all rows."""
    return tuple(_state(k, float(share), profiles) for k, share in enumerate(shares))


def _state(k: int, share: float, profiles: Mapping[str, ColumnProfile]) -> State:
    marks: list[tuple[float, Mark]] = []
    shares: dict[str, dict[Label, float]] = {}
    for column, profile in profiles.items():
        own, overall = profile.by_state[k], profile.overall
        if profile.number:
            lift = abs(own[0] - overall[0]) / max(float(overall[1]), 1e-12)
            words = f"about {own[0]:.4g} (all rows {overall[0]:.4g})"
            marks.append((float(lift), Mark(column, words, number=True)))
        else:
            best = int(np.argmax(own - overall))
            mark = Mark(column, profile.values[best], float(own[best]), float(overall[best]))
            marks.append((2 * float(own[best] - overall[best]), mark))
            shares[column] = dict(zip(profile.values, own.tolist(), strict=True))
    marks.sort(key=lambda pair: -pair[0])
    chosen = tuple(mark for lift, mark in marks[:MARKS] if lift > LEAST_LIFT)
    name = ", ".join(f"{mark.column} {mark.value}" for mark in chosen[:2]) or f"state {k}"
    return State(k, share, chosen, shares, name)
