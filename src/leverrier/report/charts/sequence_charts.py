"""Charts of a discovery in sequences: states along time, how long they last, what is next, what models cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leverrier.discovery.time.along_time import Ahead, Ribbon, Stays
from leverrier.discovery.time.time_findings import Fold, Tried
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.report.charts.palette import HIDDEN, OBSERVED, QUIET, state_colours
from leverrier.report.charts.pictures import Size, styled, tips
from leverrier.report.parts.page_parts import abbreviated
from leverrier.report.words.time_words import THOUSAND, several_units

if TYPE_CHECKING:
    import altair

LABEL = 24
MANY = 12
"""With more sequences their ribbons are thinner."""


def ribbon_chart(one: Ribbon, labels: Sequence[str], time: str, size: Size = "page") -> altair.TopLevelMixin:
    """The most probable states along a sequence, paler where less certain."""
    return styled(ribbon_marks([one], labels, time), 46, size)


def ribbons_chart(
    ribbons: Sequence[Ribbon], labels: Sequence[str], time: str, size: Size = "notebook"
) -> altair.TopLevelMixin:
    """The same of several sequences, each on a line of its own."""
    import altair as alt

    names = list(dict.fromkeys(each.sequence for each in ribbons))
    short = abbreviated(names, LABEL)
    axis = alt.Axis(ticks=False, domain=False, labelLimit=130)
    y = alt.Y("sequence:N", sort=[short[name] for name in names], title=None, axis=axis)
    marks = ribbon_marks([replace(each, sequence=short[each.sequence]) for each in ribbons], labels, time)
    return styled(marks.encode(y=y), alt.Step(26 if len(names) < MANY else 15), size)


def ribbon_marks(ribbons: Sequence[Ribbon], labels: Sequence[str], time: str) -> Any:
    """The same without a size, to be put below something else."""
    import altair as alt

    values = [
        {
            "sequence": one.sequence,
            "from": span.begin,
            "to": span.end,
            "state": labels[span.state],
            "certainty": span.certainty,
        }
        for one in ribbons
        for span in one.spans
    ]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_rect(stroke=None)
        .encode(
            x=alt.X(
                "from:Q", title=time, scale=alt.Scale(nice=False, zero=False), axis=alt.Axis(tickCount=5, grid=False)
            ),
            x2="to:Q",
            color=_colour(labels),
            opacity=alt.Opacity("certainty:Q", scale=alt.Scale(domain=[0.3, 1], range=[0.25, 1]), legend=None),
            tooltip=tips(
                ("sequence:N", "sequence", ""),
                ("state:N", "state", ""),
                ("from:Q", f"{time} from", ""),
                ("to:Q", "to", ""),
                ("certainty:Q", "certainty", ".1%"),
            ),
        )
    )


def _colour(labels: Sequence[str]) -> Any:
    import altair as alt

    return alt.Color(
        "state:N",
        title=None,
        sort=None,
        scale=state_colours(labels),
        legend=alt.Legend(columns=3, symbolOpacity=1, labelLimit=105),
    )


def stays_chart(
    stays: Sequence[Stays], labels: Sequence[str], unit: TimeUnit = STEP, size: Size = "page"
) -> altair.TopLevelMixin:
    """How long states lasted: the share of stays at least as long; dashed, as a chain of the same mean would."""
    import altair as alt

    seen, chain = [], []
    longest = max((each.lengths[-1] for each in stays if each.lengths), default=1)
    for each in stays:
        total = sum(each.counts)
        if not total:
            continue
        left = total
        for length, count in zip(each.lengths, each.counts, strict=True):
            seen.append({"state": labels[each.state], "length": length * unit.step, "share": left / total})
            left -= count
        last = each.lengths[-1]
        for length in sorted({1 + round((last - 1) * step / 24) for step in range(25)}):
            share = (1 - 1 / each.mean) ** (length - 1) if each.mean > 1 else float(length == 1)
            chain.append({"state": labels[each.state], "length": length * unit.step, "share": share})
    kind = "log" if longest > 60 else "linear"
    x = alt.X("length:Q", title=several_units(unit), scale=alt.Scale(type=kind, nice=False), axis=alt.Axis(tickCount=5))
    y = alt.Y("share:Q", title="stays at least as long", axis=alt.Axis(format=".0%", tickCount=4))
    colour = _colour(labels)
    lines = alt.Chart(alt.Data(values=seen)).mark_line(interpolate="step-before", strokeWidth=2)
    curves = alt.Chart(alt.Data(values=chain)).mark_line(strokeDash=[4, 3], strokeWidth=1)
    return styled(lines.encode(x=x, y=y, color=colour) + curves.encode(x=x, y=y, color=colour), 170, size)


def ahead_chart(one: Ahead, steps: str = "time steps", size: Size = "page") -> altair.TopLevelMixin:
    """P(state) so many time steps after the end."""
    import altair as alt

    names = abbreviated(one.labels, LABEL)
    labels = [names[label] for label in one.labels]
    values = [
        {"ahead": step + 1, "state": labels[k], "probability": share}
        for step, row in enumerate(one.probabilities)
        for k, share in enumerate(row)
    ]
    x = alt.X("ahead:O", title=f"{steps} ahead", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("state:N", sort=None, title=None, axis=alt.Axis(labelLimit=120))
    scheme = "oranges" if one.hidden else "blues"
    colour = alt.Color(
        "probability:Q",
        title="probability",
        scale=alt.Scale(scheme=scheme, domain=[0, 1]),
        legend=alt.Legend(gradientLength=180, format=".0%"),
    )
    told = tips(("ahead:O", f"{steps} ahead", ""), ("state:N", "state", ""), ("probability:Q", "probability", ".1%"))
    tiles = alt.Chart(alt.Data(values=values)).mark_rect(stroke=None).encode(x=x, y=y, color=colour, tooltip=told)
    return styled(tiles, alt.Step(20), size)


def tried_chart(rows: Sequence[Tried], steps: str = "time steps", size: Size = "page") -> altair.TopLevelMixin:
    """What held-out time steps cost every model that was tried."""
    import altair as alt

    names = abbreviated([row.name for row in rows], 22)
    kinds = ["without", "with hidden variables"]
    values = [{"model": names[row.name], "cost": row.bits * THOUSAND, "kind": kinds[row.hidden]} for row in rows]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X(
                "cost:Q",
                title=f"nats in 1,000 {steps}",
                scale=alt.Scale(zero=False, padding=8),
                axis=alt.Axis(tickCount=4),
            ),
            y=alt.Y(
                "model:N", sort=None, title=None, axis=alt.Axis(labelLimit=150, grid=True, ticks=False, domain=False)
            ),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=[OBSERVED, HIDDEN]),
                legend=alt.Legend(columns=1),
            ),
        )
    )
    return styled(chart, alt.Step(20), size)


def folds_chart(folds: Sequence[Fold], steps: str = "time steps", size: Size = "page") -> altair.TopLevelMixin:
    """By part held out, how much less its time steps cost with the hidden variables."""
    import altair as alt

    values = [
        {"part": number, "gain": (fold.observed - fold.hidden) * THOUSAND}
        for number, fold in enumerate(folds, start=1)
        if fold.hidden is not None
    ]
    x = alt.X("part:O", title="part held out", axis=alt.Axis(labelAngle=0))
    y = alt.Y("gain:Q", title=f"nats gained in 1,000 {steps}", axis=alt.Axis(tickCount=4))
    colour = alt.condition("datum.gain > 0", alt.value(HIDDEN), alt.value(QUIET))
    return styled(alt.Chart(alt.Data(values=values)).mark_bar(size=26).encode(x=x, y=y, color=colour), 160, size)
