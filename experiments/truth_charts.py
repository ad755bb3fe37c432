"""Pictures of answers against a known truth: errors of causes against sweeps, numbers of states against rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.accuracy import ErrorPath
from leverrier.errors import OptionError
from leverrier.report.charts.palette import HIDDEN, QUIET, STATES
from leverrier.report.charts.pictures import Size, styled

if TYPE_CHECKING:
    import altair

DEVIATIONS = {
    "exact": STATES[0],
    "one less": STATES[4],
    "collapsed to one": STATES[2],
    "fewer still": QUIET,
    "more": HIDDEN,
}


def deviation_chart(answers: Iterable[tuple[int, str, int, int]], size: Size = "notebook") -> altair.TopLevelMixin:
    """(rows, variable, states found, true states) as shares of variables by number of rows [elidan2001 figure 4]."""
    import altair as alt

    seen: dict[int, list[str]] = {}
    for rows, _, found, true in answers:
        seen.setdefault(rows, []).append(_deviation(found, true))
    values = [
        {"rows": rows, "kind": name, "share": kinds.count(name) / len(kinds)}
        for rows, kinds in sorted(seen.items())
        for name in DEVIATIONS
    ]
    colours = alt.Scale(domain=list(DEVIATIONS), range=list(DEVIATIONS.values()))
    ends = [min(seen, default=1), max(seen, default=10)]
    title = alt.TitleParams("States found against the truth", anchor="start")
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(
                "rows:Q",
                scale=alt.Scale(type="log", domain=ends, nice=False),
                title="rows",
                axis=alt.Axis(values=sorted(seen), format=",", grid=False),
            ),
            y=alt.Y("share:Q", title="share of variables", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("kind:N", title=None, scale=colours),
        )
        .properties(title=title)
    )
    return styled(lines, 280, size)


def _deviation(found: int, true: int) -> str:
    if found == true:
        return "exact"
    if found > true:
        return "more"
    if found == 1:
        return "collapsed to one"
    return "one less" if found == true - 1 else "fewer still"


def plot_errors(paths: Mapping[str, ErrorPath | Sequence[ErrorPath]]) -> altair.TopLevelMixin:
    """In-degree and structure error against sweeps, a line for each name; bars are ± one standard deviation.

    `paths` holds one path or one for each data set by name, all with the same sweeps [wood2006 figure 4].
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for name, given in paths.items():
        several = [given] if isinstance(given, ErrorPath) else list(given)
        if not several or any(not np.array_equal(path.sweeps, several[0].sweeps) for path in several):
            raise OptionError(f"the paths of {name!r} are of different sweeps: give runs of one length")
        for kind in ("in_degree", "structure"):
            values = np.array([getattr(path, kind) for path in several])
            for s, sweep in enumerate(several[0].sweeps):
                mean, sd = float(values[:, s].mean()), float(values[:, s].std())
                rows.append(
                    {
                        "name": name,
                        "kind": kind,
                        "sweep": int(sweep),
                        "error": mean,
                        "low": max(mean - sd, 0.0),
                        "high": mean + sd,
                    }
                )
    colour = alt.Color(
        "name:N",
        title=None,
        sort=list(paths),
        scale=alt.Scale(range=list(STATES)),
        legend=alt.Legend(orient="bottom", labelLimit=240),
    )
    panels = []
    for kind, title in (("in_degree", "In-degree error"), ("structure", "Structure error")):
        own = [row for row in rows if row["kind"] == kind]
        high = max(row["high"] for row in own)
        span = alt.Scale(type="log", domain=[min(r["sweep"] for r in own), max(r["sweep"] for r in own)], nice=False)
        base = alt.Chart(alt.Data(values=own)).encode(
            x=alt.X("sweep:Q", title="sweeps", scale=span, axis=alt.Axis(tickCount=5, format="d", grid=False)),
            color=colour,
        )
        lines = base.mark_line(point=True).encode(y=alt.Y("error:Q", title=None, scale=alt.Scale(domain=[0, high])))
        bars = base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q")
        panels.append((bars + lines).properties(width=300, height=220, title=title))
    return alt.hconcat(*panels)
