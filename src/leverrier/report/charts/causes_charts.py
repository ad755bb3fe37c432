"""Pictures of overlapping causes: traces and histograms, the graph found, the links.

Charts are Altair's: they show themselves in a notebook, and `chart.save("picture.png")` writes PNG, SVG or HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.report.charts.discovery_charts import links_chart
from leverrier.report.charts.palette import INK, PAPER, SHADE, STATES
from leverrier.report.charts.pictures import WIDTHS, Size, shrunk, styled

if TYPE_CHECKING:
    import altair

LETTERS = {"epsilon": "ε", "lambda": "λ", "p": "p", "alpha": "α", "count": "causes"}
MOST_POINTS = 600
"""A trace of more sweeps is thinned for drawing."""


def plot_traces(found: HiddenCausesResult, size: Size = "notebook") -> altair.TopLevelMixin:
    """Each number's trace by chain, warm-up shaded, beside its histogram after the warm-up [wood2006 figure 5]."""
    import altair as alt

    n_chains, n_sweeps = found.trace["count"].shape
    every = max(1, -(-n_sweeps // MOST_POINTS))
    colour = alt.Color(
        "chain:N", scale=alt.Scale(range=list(STATES)), legend=alt.Legend(title="chain") if n_chains > 1 else None
    )
    low, high = int(found.trace["count"].min()), int(found.trace["count"].max())
    axes = {"count": alt.Axis(values=list(range(low, high + 1, max(1, (high - low) // 4))), format="d")}
    panels, width = [], WIDTHS[size] * 3 // 4
    for name, letter in LETTERS.items():
        values = found.trace[name]
        points = [
            {"chain": c + 1, "sweep": s + 1, "value": float(values[c, s])}
            for c in range(n_chains)
            for s in range(0, n_sweeps, every)
            if np.isfinite(values[c, s])
        ]
        shade = (
            alt.Chart(alt.Data(values=[{"from": 0, "to": found.warmup}]))
            .mark_rect(color=SHADE)
            .encode(x="from:Q", x2="to:Q")
        )
        lines = (
            alt.Chart(alt.Data(values=points))
            .mark_line(strokeWidth=1, opacity=0.85, clip=True)
            .encode(
                x=alt.X("sweep:Q", title="sweep" if name == "count" else None, scale=alt.Scale(domain=[0, n_sweeps])),
                y=alt.Y("value:Q", title=letter, scale=alt.Scale(zero=False), axis=axes.get(name, alt.Axis())),
                color=colour,
            )
        )
        drawn = (shade + lines).properties(width=width, height=90)
        panels.append(alt.hconcat(drawn, _histogram(found, name, width * 3 // 7)))
    title = alt.TitleParams("Traces and histograms", subtitle="grey: warm-up, left out", anchor="start")
    return styled(alt.vconcat(*panels, spacing=6).properties(title=title))


def _histogram(found: HiddenCausesResult, name: str, width: int) -> Any:
    """Shares of the sweeps after the warm-up; a bar for each whole number of causes."""
    import altair as alt

    values = found.kept[name]
    values = values[np.isfinite(values)]
    size, y = {"width": width, "height": 90}, alt.Y("share:Q", title=None, axis=alt.Axis(format="%", tickCount=3))
    if name == "count":
        counts = [{"k": k, "share": chance} for k, chance in found.count.items()]
        x = alt.X("k:O", title=LETTERS[name], axis=alt.Axis(labelAngle=0, labelOverlap=True))
        return alt.Chart(alt.Data(values=counts)).mark_bar(color=STATES[0]).encode(x=x, y=y).properties(**size)
    heights, edges = np.histogram(values, bins=30)
    bars = [
        {"from": float(a), "to": float(b), "share": float(h / max(values.size, 1)), "floor": 0}
        for a, b, h in zip(edges[:-1], edges[1:], heights, strict=True)
    ]
    x = alt.X("from:Q", title=LETTERS[name], scale=alt.Scale(nice=False, zero=False), axis=alt.Axis(tickCount=5))
    boxes = alt.Chart(alt.Data(values=bars)).mark_rect(color=STATES[0], stroke=PAPER, strokeWidth=0.5)
    return boxes.encode(x=x, x2="to:Q", y=y, y2="floor:Q").properties(**size)


def plot_structure(found: HiddenCausesResult, least: float = 0.25, size: Size = "notebook") -> altair.TopLevelMixin:
    """The best structure as a graph, causes above signs; a line's strength is its probability [wood2006 figure 6].

    Dashed lines are links that the best structure lacks and the posterior gives at least the chance `least`.
    """
    import altair as alt

    n_observed, n_causes = found.best.shape
    width = max(n_observed, n_causes, 2)
    room = max(300, 44 * width)
    scale = shrunk(room, size)
    sign_x = _spread(n_observed, width)
    # each cause above its signs as far as may be: fewer lines cross
    middles = found.best.T.astype(np.float64) @ np.array(sign_x) / np.maximum(found.best.sum(axis=0), 1)
    places = _spread(n_causes, width)
    cause_x = [places[int(rank)] for rank in np.argsort(np.argsort(middles, kind="stable"))]
    lines = [
        {
            "x": cause_x[k],
            "y": 1,
            "x2": sign_x[i],
            "y2": 0,
            "chance": float(found.links[i, k]),
            "cause": str(k + 1),
            "in": "best" if found.best[i, k] else "also",
        }
        for i in range(n_observed)
        for k in range(n_causes)
        if found.best[i, k] or found.links[i, k] >= least
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, width - 0.5]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.1, 1.1]))
    colour = alt.Color("cause:N", scale=alt.Scale(range=list(STATES)), legend=None)
    dashes = alt.Scale(domain=["best", "also"], range=[[1, 0], [4, 4]])
    links = (
        alt.Chart(alt.Data(values=lines))
        .mark_rule(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            color=colour,
            opacity=alt.Opacity("chance:Q", scale=alt.Scale(domain=[0, 1], range=[0.1, 0.9]), legend=None),
            strokeDash=alt.StrokeDash("in:N", scale=dashes, legend=None),
            tooltip=["cause:N", alt.Tooltip("chance:Q", format=".2f")],
        )
    )
    causes = [{"x": cause_x[k], "y": 1, "cause": str(k + 1), "p": f"p {found.model.p[k]:.2f}"} for k in range(n_causes)]
    signs = [{"x": sign_x[i], "y": 0, "name": name} for i, name in enumerate(found.names)]
    above = alt.Chart(alt.Data(values=causes)).encode(x=x, y=y)
    circles = above.mark_circle(size=520 * scale**2, opacity=1).encode(color=colour)
    numbers = above.mark_text(color=PAPER, fontWeight="bold", fontSize=11 * scale).encode(text="cause:N")
    often = above.mark_text(dy=-21 * scale, fontSize=10 * scale, color=INK).encode(text="p:N")
    dots = alt.Chart(alt.Data(values=signs)).mark_square(size=70 * scale**2, color=INK, opacity=1).encode(x=x, y=y)
    labels = (
        alt.Chart(alt.Data(values=signs))
        .mark_text(angle=300, align="right", dx=-8, dy=4, fontSize=11 * scale, color=INK, limit=240)
        .encode(x=x, y=y, text="name:N")
    )
    title = alt.TitleParams(
        f"{n_causes} hidden cause{'s' * (n_causes != 1)}",
        subtitle=f"{found.expected_count:.1f} expected; strength: probability of the link",
    )
    drawn = (links + circles + numbers + often + dots + labels).properties(title=title)
    return styled(drawn, 240 * scale, size, room * scale).configure_view(stroke=None, clip=False)


def _spread(n: int, width: int) -> list[float]:
    """n places over the width, evenly."""
    return [(j + 0.5) * width / max(n, 1) - 0.5 for j in range(n)]


def plot_links(found: HiddenCausesResult, size: Size = "notebook") -> altair.TopLevelMixin:
    """Link probabilities, signs by causes; a frame marks the links of the best structure."""
    return links_chart(found.names, found.links, found.best, "P(link)", size=size)
