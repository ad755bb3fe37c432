"""Pictures of a mixture: the components over the data, and the climb against the true model's line.

Charts are Altair's: they show themselves in a notebook, and `chart.save("picture.png")` writes PNG, SVG or HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.matrix import matching
from leverrier.errors import OptionError
from leverrier.learning.mixtures.fit_mixture import MixtureResult
from leverrier.models.mixture import Mixture
from leverrier.report.charts.palette import INK, PAPER, QUIET, SHADE, STATES
from leverrier.report.charts.pictures import WIDTHS, Size, styled

if TYPE_CHECKING:
    import altair as alt


MOST_POINTS = 2000
"""More points than this would only cover each other: a picture shows a sample."""
HEIGHT = 260
RINGS = (1.0, 2.0)
"""Ellipses at so many standard deviations."""


def mixture_figure(
    fitted: Mixture | MixtureResult,
    x: Any = None,
    *,
    columns: Sequence[str] | None = None,
    true: Mixture | None = None,
    size: Size = "notebook",
) -> alt.TopLevelMixin:
    """The components as ellipses (1 and 2 standard deviations) over the rows, each in its component's colour.

    `columns` are the one or two to show, the first two by default; one column is shown as a histogram with densities.
    With the `true` mixture there are three panels: the model, the data, the model found [figure 20.11].
    """
    mixture = fitted.mixture if isinstance(fitted, MixtureResult) else fitted
    shown = _shown(mixture, columns)
    rows = None if x is None else matching(x, mixture.names)
    total = 0 if rows is None else len(rows)
    if rows is not None and total > MOST_POINTS:
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST_POINTS, replace=False))]
    if len(shown) == 1:
        return styled(_one_column(mixture, rows, shown[0], true), HEIGHT, size)
    if true is None:
        return styled(_panel(mixture, mixture, rows, shown, _title(mixture)), WIDTHS[size] * 4 // 5, size)
    import altair as alt

    domain = _domain([mixture, true], rows, shown)
    panels = [_panel(true, None, None, shown, "The model", domain)]
    if rows is not None:
        panels.append(
            _panel(
                None,
                None,
                rows,
                shown,
                f"{total} points" if total == len(rows) else f"{len(rows)} of {total} points",
                domain,
                mixture.names,
            )
        )
    panels.append(_panel(_matched(mixture, true), None, None, shown, "The model found", domain))
    side = WIDTHS[size] * 4 // 7
    return styled(alt.hconcat(*(panel.properties(width=side, height=side) for panel in panels)))


def climb_figure(
    fitted: MixtureResult | Sequence[float], true: Mixture | float | None = None, x: Any = None, size: Size = "notebook"
) -> alt.TopLevelMixin:
    """Log-likelihood against iteration; the line is the true model's [figure 20.12].

    `fitted` is a mixture's result, or the log-likelihoods themselves. `true` is the true model's log-likelihood, or the
    mixture itself with the rows `x`.
    """
    import altair as alt

    if isinstance(true, Mixture):
        if x is None:
            raise OptionError("the true model's log-likelihood needs the rows: give x as well")
        line: float | None = true.log_likelihood(x)
    else:
        line = true
    climbed = fitted.likelihoods if isinstance(fitted, MixtureResult) else tuple(fitted)
    steps = [{"iteration": i, "log-likelihood": value} for i, value in enumerate(climbed)]
    ends = [*climbed] if line is None else [*climbed, line]
    lowest, highest = min(ends), max(ends)
    scale = alt.Scale(domain=[lowest - 0.05 * (highest - lowest), highest + 0.1 * (highest - lowest)], nice=False)
    curve = (
        alt.Chart(alt.Data(values=steps))
        .mark_line(point=alt.OverlayMarkDef(size=25), color=STATES[0])
        .encode(
            x=alt.X("iteration:Q", title="Iteration", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("log-likelihood:Q", title="Log-likelihood (nats)", scale=scale),
            tooltip=["iteration:Q", alt.Tooltip("log-likelihood:Q", format=".4f")],
        )
    )
    if line is None:
        return styled(curve, HEIGHT, size)
    place = {"log-likelihood": line, "iteration": len(steps) - 1, "text": f"true model {line:.1f}"}
    mark = alt.Chart(alt.Data(values=[place]))
    rule = mark.mark_rule(color=STATES[1], strokeDash=[5, 3]).encode(y="log-likelihood:Q")
    text = mark.mark_text(align="right", baseline="top", dy=5, color=STATES[1]).encode(
        x="iteration:Q", y="log-likelihood:Q", text="text:N"
    )
    return styled(curve + rule + text, HEIGHT, size)


def _shown(mixture: Mixture, columns: Sequence[str] | None) -> list[int]:
    wanted = list(mixture.names[:2] if columns is None else [columns] if isinstance(columns, str) else columns)
    for name in wanted:
        if name not in mixture.names:
            known = ", ".join(repr(column) for column in mixture.names[:8])
            raise OptionError(f"columns= names {name!r}; the mixture's columns are {known}")
    if len(wanted) not in (1, 2):
        raise OptionError(f"columns= names {len(wanted)} columns: a picture shows one or two")
    return [mixture.names.index(name) for name in wanted]


def _title(mixture: Mixture) -> str:
    seen = f", seen in two of {mixture.n_columns} columns" if mixture.n_columns > 2 else ""
    return f"{mixture.n_components} components{seen}"


def _matched(mixture: Mixture, other: Mixture) -> Mixture:
    """The components in the order that is nearest to the other's, so that colours agree."""
    from scipy.optimize import linear_sum_assignment

    if mixture.n_components != other.n_components:
        return mixture
    distance = np.linalg.norm(other.means[:, None] - mixture.means[None], axis=2)
    return mixture.select(linear_sum_assignment(distance)[1])


def ellipse(mean: Floats, covariance: Floats, deviations: float) -> Floats:
    """Points (x, y) at this many standard deviations from the mean."""
    angles = np.linspace(0, 2 * np.pi, 73)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return mean + deviations * circle @ np.linalg.cholesky(covariance).T


def _rings(mixture: Mixture, shown: list[int]) -> list[dict[str, Any]]:
    places = np.ix_(shown, shown)
    return [
        {"component": str(c + 1), "ring": f"{c}-{ring}", "order": i, "x": float(px), "y": float(py)}
        for c in range(mixture.n_components)
        if mixture.weights[c] > 1e-9
        for ring in RINGS
        for i, (px, py) in enumerate(ellipse(mixture.means[c][shown], mixture.matrices[c][places], ring))
    ]


def _domain(mixtures: Sequence[Mixture], rows: Floats | None, shown: list[int]) -> list[list[float]]:
    """The same frame for all panels."""
    ends = [np.array([[ring["x"], ring["y"]] for ring in _rings(each, shown)]) for each in mixtures]
    seen = np.concatenate(ends if rows is None else [*ends, rows[:, shown]])
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    room = 0.04 * (high - low)
    return [[float(a), float(b)] for a, b in zip(low - room, high + room, strict=True)]


def _panel(
    mixture: Mixture | None,
    assigning: Mixture | None,
    rows: Floats | None,
    shown: list[int],
    title: str,
    domain: list[list[float]] | None = None,
    names: Sequence[str] = (),
) -> Any:
    """Points (in the colour of their component, if there is one to assign them) under ellipses with weights."""
    import altair as alt

    if domain is None:
        assert mixture is not None
        domain = _domain([mixture], rows, shown)
    names = mixture.names if mixture is not None else names
    x_axis = alt.X("x:Q", title=names[shown[0]], scale=alt.Scale(domain=domain[0], nice=False))
    y_axis = alt.Y("y:Q", title=names[shown[1]], scale=alt.Scale(domain=domain[1], nice=False))
    count = 1 if mixture is None else mixture.n_components
    palette = [STATES[c % len(STATES)] for c in range(count)]
    scale = alt.Scale(domain=[str(c + 1) for c in range(count)], range=palette)
    colour = alt.Color("component:N", scale=scale, legend=None)
    layers = []
    if rows is not None:
        labels = np.zeros(len(rows), int) if assigning is None else assigning.assign(rows)
        points = [
            {"x": float(row[shown[0]]), "y": float(row[shown[1]]), "component": str(labels[i] + 1)}
            for i, row in enumerate(rows)
            if not np.isnan(row[shown]).any()
        ]
        dots = alt.Chart(alt.Data(values=points)).mark_circle(size=12, opacity=0.5)
        fill = alt.value(QUIET) if assigning is None else colour
        layers.append(dots.encode(x=x_axis, y=y_axis, color=fill))
    if mixture is not None:
        rings = alt.Chart(alt.Data(values=_rings(mixture, shown))).mark_line(strokeWidth=2)
        layers.append(rings.encode(x=x_axis, y=y_axis, order="order:Q", detail="ring:N", color=colour))
        centres = [
            {"x": float(mean[shown[0]]), "y": float(mean[shown[1]]), "text": f"{weight:.2g}"}
            for mean, weight in zip(mixture.means, mixture.weights, strict=True)
            if weight > 1e-9
        ]
        text = alt.Chart(alt.Data(values=centres)).mark_text(fontSize=12, fontWeight="bold", color=INK)
        layers.append(text.encode(x=x_axis, y=y_axis, text="text:N"))
    return alt.layer(*layers).properties(title=title)


def _one_column(mixture: Mixture, rows: Floats | None, column: int, true: Mixture | None) -> Any:
    """A histogram of the rows, the components' densities times their weights, their sum, and the true one's."""
    import altair as alt

    deviations = np.sqrt([own[column, column] for own in mixture.matrices])
    means = mixture.means[:, column]
    low, high = (means - 3.5 * deviations).min(), (means + 3.5 * deviations).max()
    cells = np.empty(0) if rows is None else rows[~np.isnan(rows[:, column]), column]
    if len(cells):
        low, high = min(low, cells.min()), max(high, cells.max())
    grid = np.linspace(low, high, 301)
    curves = [
        {"x": float(at), "density": float(value), "what": what}
        for what, values in _curves(mixture, column, grid, true).items()
        for at, value in zip(grid, values, strict=True)
    ]
    names = list(dict.fromkeys(curve["what"] for curve in curves))
    look = alt.Scale(domain=names, range=[_line_colour(name) for name in names])
    frame = alt.X("x:Q", title=mixture.names[column], scale=alt.Scale(domain=[float(low), float(high)], nice=False))
    height = alt.Y("density:Q", title="Density")
    colour = alt.Color("what:N", scale=look, title=None, sort=names)
    wholes = [curve for curve in curves if not curve["what"].startswith("component")]
    parts = [curve for curve in curves if curve["what"].startswith("component")]
    lines = alt.layer(
        *(
            alt.Chart(alt.Data(values=some)).mark_line(strokeWidth=width).encode(x=frame, y=height, color=colour)
            for some, width in ((wholes, 5), (parts, 2))
        )
    )
    if not len(cells):
        return lines
    heights, edges = np.histogram(cells, bins=min(60, max(10, int(5 * len(cells) ** (1 / 3)))), density=True)
    bars = [
        {"x": float(a), "end": float(b), "density": float(value), "floor": 0}
        for a, b, value in zip(edges[:-1], edges[1:], heights, strict=True)
    ]
    blocks = alt.Chart(alt.Data(values=bars)).mark_rect(color=SHADE, stroke=PAPER)
    return blocks.encode(x=frame, x2="end:Q", y=height, y2="floor:Q") + lines


def _line_colour(name: str) -> str:
    if name == "mixture":
        return QUIET
    if name == "true model":
        return INK
    return STATES[(int(name.split()[-1]) - 1) % len(STATES)]


def _curves(mixture: Mixture, column: int, grid: Floats, true: Mixture | None) -> dict[str, Floats]:
    def density(own: Mixture) -> Floats:
        variances = own.matrices[:, column, column][:, None]
        away = grid[None] - own.means[:, column][:, None]
        return own.weights[:, None] * np.exp(-0.5 * away**2 / variances) / np.sqrt(2 * np.pi * variances)

    parts = density(mixture)
    whole = {} if true is None else {"true model": density(true).sum(axis=0)}
    whole["mixture"] = parts.sum(axis=0)
    return whole | {f"component {c + 1}": part for c, part in enumerate(parts)}
