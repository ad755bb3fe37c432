"""A sequence's own columns against time, and its hidden states below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.time_axis import TimeKind
from leverrier.discovery.time.along_time import Ribbon
from leverrier.report.charts.palette import INK
from leverrier.report.charts.pictures import WIDTHS, Size, styled
from leverrier.report.charts.sequence_charts import ribbon_marks
from leverrier.report.parts.page_parts import shortened

if TYPE_CHECKING:
    import altair

MOST_POINTS = 3000
"""A longer line is thinned: no screen shows more."""
HEIGHT, RIBBON = 64, 30


def over_columns(
    ribbon: Ribbon, labels: Sequence[str], one: Sequences, columns: Sequence[str], time: str, size: Size = "notebook"
) -> altair.TopLevelMixin:
    """One sequence: its columns above the ribbon of its most probable states, on one axis of time."""
    import altair as alt

    width = WIDTHS[size]
    low = float(ribbon.spans[0].begin)
    span = [low, float(ribbon.spans[-1].end)]
    lines = [column_line(one, name, span).properties(width=width, height=HEIGHT) for name in columns]
    below = ribbon_marks([ribbon], labels, time).properties(width=width, height=RIBBON)
    return styled(alt.vconcat(*lines, below, spacing=4).resolve_scale(x="shared"))


def column_line(one: Sequences, column: str, span: Sequence[float] | None = None) -> Any:
    """A column against time: numbers as a line, states as ticks; within a span of time, or all of it."""
    import altair as alt

    times = places(one)
    inside = np.ones(len(times), dtype=bool) if span is None else (times >= span[0]) & (times < span[1])
    shown = np.flatnonzero(inside)[:: max(1, int(inside.sum()) // MOST_POINTS)].tolist()
    x = alt.X("time:Q", title=None, axis=alt.Axis(labels=False), scale=alt.Scale(nice=False, zero=False))
    named = shortened(column, 16)
    if column in one.numbers:
        seen = one.numbers[column]
        values = [{"time": float(times[t]), "value": None if np.isnan(seen[t]) else float(seen[t])} for t in shown]
        chart = alt.Chart(alt.Data(values=values)).mark_line(color=INK, strokeWidth=1)
        return chart.encode(x=x, y=alt.Y("value:Q", title=named, scale=alt.Scale(zero=False)))
    codes, states = one.table.column(column), one.states[column]
    values = [{"time": float(times[t]), "value": str(states[codes[t]])} for t in shown if codes[t] != one.table.missing]
    chart = alt.Chart(alt.Data(values=values)).mark_tick(color=INK, thickness=1, opacity=0.5)
    return chart.encode(x=x, y=alt.Y("value:N", title=named, sort=[str(state) for state in states]))


def places(one: Sequences) -> Floats:
    """Where each time step stands: its time, or its place where times are text or dates, as ribbons have it."""
    return one.times if one.time_kind is TimeKind.NUMBER else one.position.astype(np.float64)
