"""Pictures of networks in time: the graph of two slices, states along a sequence, how long they last, what comes next.

Each function gives an Altair chart: shown in notebooks as it is, or `chart.save("ribbon.png")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.sequences.time_axis import TimeKind
from leverrier.discovery.time.along_time import Ribbon, Span, Stays
from leverrier.discovery.time.time_unit import time_unit
from leverrier.errors import OptionError
from leverrier.learning.chains.fit_dynamic import DynamicFit
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import most_probable_path
from leverrier.report.charts.over_columns import over_columns
from leverrier.report.charts.palette import HIDDEN, INK, OBSERVED, STATES
from leverrier.report.charts.pictures import Size, styled
from leverrier.report.charts.sequence_charts import ribbon_chart, stays_chart
from leverrier.report.words.time_words import steps_of

if TYPE_CHECKING:
    import altair


def state_ribbon(
    network: DynamicNetwork,
    data: Any,
    variable: str | None = None,
    *,
    sequence: int = 0,
    beside: str | None = None,
    size: Size = "notebook",
) -> altair.TopLevelMixin:
    """The most probable states along one sequence, paler where less certain; `beside` is a column drawn above it."""
    import altair as alt

    name = _hidden(network, variable)
    one = _one(network, data, sequence)
    path = most_probable_path(network, one).table.column(name)
    sure = network.posterior(one, name)[np.arange(len(path)), path]
    labels = [str(label) for label in network.states[name]]
    edges = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(path)]
    spans = tuple(
        Span(_time(one, low), _time(one, high - 1, 1), int(path[low]), float(sure[low:high].mean()))
        for low, high in pairwise(edges)
    )
    drawn = Ribbon(name, str(one.names[0]), spans, len(path), 0)
    title = alt.TitleParams(f"{name}: most probable states", subtitle=f"sequence {one.names[0]}", anchor="start")
    if beside is None:
        return ribbon_chart(drawn, labels, one.time or "time step", size).properties(title=title)
    return over_columns(drawn, labels, one, [beside], one.time or "time step", size).properties(title=title)


def dwell_times(
    network: DynamicNetwork, data: Any, variable: str | None = None, size: Size = "notebook"
) -> altair.TopLevelMixin:
    """How long states last along the most probable paths, against the geometric times that a chain would have."""
    import altair as alt

    name = _hidden(network, variable)
    sequences = network.read(data)
    path = most_probable_path(network, sequences).table.column(name)
    breaks = np.flatnonzero((np.diff(path) != 0) | (np.diff(sequences.position) < 1)) + 1
    edges = np.concatenate([[0], breaks, [len(path)]])
    lengths, states = np.diff(edges), path[edges[:-1]]
    labels = [str(label) for label in network.states[name]]
    stays = []
    for code in range(len(labels)):
        seen, counts = np.unique(lengths[states == code], return_counts=True)
        stays.append(Stays(name, code, tuple(seen.tolist()), tuple(counts.tolist())))
    title = alt.TitleParams(
        f"How long {name} lasts", subtitle="dashed: geometric times of the same mean", anchor="start"
    )
    return stays_chart(stays, labels, time_unit(sequences), size).properties(title=title)


def forecast_chart(
    network: DynamicNetwork,
    data: Any,
    variable: str,
    steps: int = 10,
    interval: float = 0.9,
    *,
    sequence: int = 0,
    history: int = 60,
    size: Size = "notebook",
) -> altair.TopLevelMixin:
    """A column's last slices and what is expected next: a band for numbers, probabilities for states."""
    import altair as alt

    if history < 1:
        raise OptionError(f"history={history}: expected at least 1 time step")
    one = _one(network, data, sequence)
    found = network.forecast(one, steps, interval)
    low = max(0, one.n_slices - history)
    said = f"{interval:.0%} interval" if variable in found.numbers else "probabilities"
    title = alt.TitleParams(f"{variable}: the next {steps} {steps_of(time_unit(one))}", subtitle=said, anchor="start")
    x = alt.X("slice:Q", title="time step", scale=alt.Scale(nice=False, zero=False))
    if variable in found.numbers:
        seen, ahead = one.numbers[variable], found.numbers[variable]
        past = [{"slice": t, "value": float(seen[t])} for t in range(low, one.n_slices) if not np.isnan(seen[t])]
        future = [
            {
                "slice": one.n_slices + j,
                "value": float(ahead.mean[0, j]),
                "low": float(ahead.low[0, j]),
                "high": float(ahead.high[0, j]),
            }
            for j in range(steps)
        ]
        y = alt.Y("value:Q", title=variable, scale=alt.Scale(zero=False))
        band = (
            alt.Chart(alt.Data(values=future))
            .mark_area(color=OBSERVED, opacity=0.2)
            .encode(x=x, y=alt.Y("low:Q", title=variable), y2="high:Q")
        )
        lines = alt.Chart(alt.Data(values=past)).mark_line(color=INK, strokeWidth=1.2).encode(x=x, y=y)
        mean = alt.Chart(alt.Data(values=future)).mark_line(color=OBSERVED, strokeWidth=2).encode(x=x, y=y)
        return styled((band + lines + mean).properties(title=title), 240, size)
    table = found.probabilities[network._known(variable)][0]
    labels = [str(label) for label in network.states[variable]]
    codes = one.table.column(variable) if variable in one.variables else np.full(one.n_slices, one.table.missing)
    cells = [
        {"slice": t, "next": t + 1, "state": labels[codes[t]], "probability": 1.0}
        for t in range(low, one.n_slices)
        if codes[t] != one.table.missing
    ]
    cells += [
        {"slice": one.n_slices + j, "next": one.n_slices + j + 1, "state": label, "probability": float(p)}
        for j in range(steps)
        for label, p in zip(labels, table[j], strict=True)
    ]
    tiles = (
        alt.Chart(alt.Data(values=cells))
        .mark_rect()
        .encode(
            x=x,
            x2="next:Q",
            y=alt.Y("state:N", title=variable, sort=labels),
            color=alt.Color("probability:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), title="probability"),
            tooltip=["slice:Q", "state:N", alt.Tooltip("probability:Q", format=".3f")],
        )
    )
    now = alt.Chart(alt.Data(values=[{"slice": one.n_slices}])).mark_rule(color=HIDDEN, strokeDash=[5, 3]).encode(x=x)
    return styled((tiles + now).properties(title=title), max(80, 24 * len(labels)), size)


def bits_by_iteration(fits: DynamicFit | Mapping[str, DynamicFit], size: Size = "notebook") -> altair.TopLevelMixin:
    """What was climbed at each step of EM, as bits per time step: less is better."""
    import altair as alt

    named = {"EM": fits} if isinstance(fits, DynamicFit) else dict(fits)
    values = [
        {"fit": name, "iteration": step, "bits": -value / (fit.n_slices * float(np.log(2)))}
        for name, fit in named.items()
        for step, value in enumerate(fit.trace)
    ]
    colour = alt.Color(
        "fit:N",
        title=None,
        sort=list(named),
        scale=alt.Scale(domain=list(named), range=list(STATES)),
        legend=None if len(named) == 1 else alt.Legend(orient="bottom"),
    )
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X("iteration:Q", title="iteration", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("bits:Q", title="bits per time step", scale=alt.Scale(zero=False)),
            color=colour,
        )
    )
    return styled(lines.properties(title="Bits per time step by iteration"), 260, size)


def _hidden(network: DynamicNetwork, variable: str | None) -> str:
    if variable is not None:
        return network._known(variable)
    if not network.hidden:
        raise OptionError("the network has no hidden variable: name the variable to be drawn")
    return network.hidden[0]


def _one(network: DynamicNetwork, data: Any, sequence: int) -> Sequences:
    sequences = network.read(data)
    if not 0 <= sequence < len(sequences):
        raise OptionError(f"sequence={sequence}: there are {len(sequences)}, counted from 0")
    whole = data if isinstance(data, Sequences) else sequences  # with the columns that the network lacks, too
    return whole[sequence]


def _time(one: Sequences, place: int, after: int = 0) -> float:
    """A slice's time for the axis; text and dates have none, so its place stands for it."""
    if one.time_kind is not TimeKind.NUMBER:
        return float(place + after)
    step = float(np.median(np.diff(one.times))) if one.n_slices > 1 else 1.0
    return float(one.times[place]) + after * step
