"""Charts that several experiments share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leverrier.report.charts.palette import QUIET, STATES
from leverrier.report.charts.pictures import styled

if TYPE_CHECKING:
    import altair


def dots(
    rows: Sequence[tuple[str, str, float]], y: str, kinds: Sequence[str], *, height: int = 240
) -> altair.TopLevelMixin:
    """(case, kind, value): a dot for each, one column for each case, a line at 0."""
    import altair as alt

    values = [{"case": case, "kind": kind, "value": value} for case, kind, value in rows]
    cases = list(dict.fromkeys(case for case, _, _ in rows))
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=70, opacity=0.85)
        .encode(
            x=alt.X("case:N", sort=cases, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=160)),
            y=alt.Y("value:Q", title=y),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(kinds), range=list(STATES)),
                legend=alt.Legend(columns=2),
            ),
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=list(kinds))),
            tooltip=["case:N", "kind:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    line = alt.Chart(alt.Data(values=[{"value": 0.0}])).mark_rule(color=QUIET, strokeDash=[5, 3]).encode(y="value:Q")
    return styled(line + points, height)


def curves(
    rows: Sequence[tuple[float, str, float]], x: str, y: str, kinds: Sequence[str], *, truth: bool = False
) -> altair.TopLevelMixin:
    """(x, kind, y): a line for each kind; with `truth`, the line on which y is x."""
    import altair as alt

    values = [{"x": at, "kind": kind, "y": value} for at, kind, value in rows]
    colour = alt.Color(
        "kind:N", title=None, scale=alt.Scale(domain=list(kinds), range=list(STATES)), legend=alt.Legend(columns=1)
    )
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("x:Q", title=x, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("y:Q", title=y),
            color=colour,
            strokeDash=alt.StrokeDash("kind:N", title=None, scale=alt.Scale(domain=list(kinds))),
        )
    )
    if not truth:
        return styled(chart, 240)
    same = [{"x": at, "y": at} for at in sorted({at for at, _, _ in rows})]
    line = alt.Chart(alt.Data(values=same)).mark_line(color=QUIET, strokeDash=[2, 3]).encode(x="x:Q", y="y:Q")
    return styled(line + chart, 240)
