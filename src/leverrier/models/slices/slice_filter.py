"""One row after another as it comes, for a model of slices: what is known now of its hidden chains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.column import is_hole
from leverrier.data.reading.binning import cuts_of
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Lag
from leverrier.data.table import Table
from leverrier.errors import TableError
from leverrier.models.dynamic.dynamic_filter import Known, arriving_code
from leverrier.models.slices.chain_passes import SMALLEST, marginal
from leverrier.models.slices.unlike_slices import Explained


class SliceFilter:
    """Follows one sequence. `step` takes a row as a mapping; what it lacks is a hole.

    As many rows are kept as the model looks back; all of them where it remembers more than lags.
    """

    def __init__(self, model: Explained) -> None:
        self.model = model
        asked = [feature for name in model.cpds for feature in model.asked(name)]
        lags = [feature.lag for feature in asked if isinstance(feature, Lag)]
        self._back = max(lags, default=0) + 1 if len(lags) == len(asked) else None
        self._codes = np.zeros((len(model.variables), 0), dtype=np.int64)
        self._cuts = {variable.name: cuts_of(variable.states) for variable in model.variables}
        self._now: Floats | None = None

    def step(self, row: Mapping[str, Any]) -> Known:
        """Take one row more: P(state | rows so far) by hidden chain; ln P(row | rows before)."""
        model = self.model
        new = [self._code(variable.name, variable.states, row.get(variable.name)) for variable in model.variables]
        grown = np.column_stack([self._codes, np.array(new)])
        self._codes = grown if self._back is None else grown[:, -self._back :]
        table = Table.from_codes({variable.name: variable.states for variable in model.variables}, self._codes)
        logs = model.emissions(Sequences.from_table(table))[-1]
        before = model.initial if self._now is None else self._now @ model.transition
        top = float(logs.max())
        here = before * np.exp(logs - top)
        total = float(here.sum())
        if not total > 0:
            raise TableError("this row cannot happen under the model: begin again with a new filter")
        now = self._now = here / total
        states = {name: marginal(now[None], model.sizes, i)[0] for i, name in enumerate(model.chain_names)}
        return Known(states, float(np.log(max(total, SMALLEST))) + top)

    def _code(self, name: str, labels: Any, value: Any) -> int:
        return -1 if value is None or is_hole(value) else arriving_code(name, labels, self._cuts[name], value)
