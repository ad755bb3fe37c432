"""One row after another as it comes, numbers as numbers: where the hidden state is now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.column import is_hole
from leverrier.data.sequences.panel import Panel
from leverrier.errors import TableError
from leverrier.models.dynamic.dynamic_filter import Known, arriving_code
from leverrier.models.regimes.regime_draws import Drawable
from leverrier.models.regimes.regime_passes import by_state

SMALLEST = 1e-300


class Followed(Drawable, Protocol):
    """What a filter follows."""

    @property
    def name(self) -> str: ...

    @property
    def lags(self) -> int: ...


class RegimeFilter:
    """Follows one sequence. `step` takes a row as a mapping; what it lacks is a hole.

    Only as many rows are kept as the model looks back; all of them where it asks for a person's own mean, which here
    is that of the rows so far.
    """

    def __init__(self, model: Followed) -> None:
        self.model = model
        terms = [term for each in model.emissions for term in each.terms]
        self._back = None if any(term.shrink for term in terms) else max(model.lags, 1) + 1
        self._rows: list[dict[str, float]] = []
        self._times: list[float] = []
        self._now: Floats | None = None
        numbers = set(model.numbers)
        self._labels = {each.name: each.states for each in model.variables if each.name not in numbers}

    def step(self, row: Mapping[str, Any], time: float | None = None) -> Known:
        """Take one row more: P(state | rows so far) under the hidden state's name; ln P(row | rows before).

        `time` is asked for where the model has a trend or a season and rows are not one unit of time apart.
        """
        self._rows.append({each.name: self._cell(each.name, row.get(each.name)) for each in self.model.variables})
        self._times.append(time if time is not None else self._times[-1] + 1.0 if self._times else 0.0)
        if self._back is not None:
            self._rows, self._times = self._rows[-self._back :], self._times[-self._back :]
        panel = self._panel()
        walk = self.model.moves.walk(panel)
        logs = self.model.logs(panel)[-1]
        before = walk.initial if self._now is None else self._now @ walk.transitions[walk.which[-1]]
        top = float(logs.max())
        here = before * np.exp(logs - top)[walk.state]
        total = float(here.sum())
        if not total > 0:
            raise TableError("this row cannot happen under the model: begin again with a new filter")
        now = self._now = here / total
        states = by_state(now[None], walk, len(logs))[0]
        return Known({self.model.name: states}, float(np.log(max(total, SMALLEST))) + top)

    def _panel(self) -> Panel:
        values = {name: np.array([row[name] for row in self._rows]) for name in self._rows[0]}
        return Panel(values, self._labels, np.array([0, len(self._rows)]), np.array(self._times))

    def _cell(self, name: str, value: Any) -> float:
        if value is None or is_hole(value):
            return float("nan")
        if name not in self._labels:
            try:
                return float(value)
            except (TypeError, ValueError):
                raise TableError(f"{name!r} is {value!r}: expected a number; leave it out if unknown") from None
        return float(arriving_code(name, self._labels[name], (), value))
