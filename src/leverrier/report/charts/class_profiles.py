"""Latent classes as a picture: what each class looks like, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.report.charts.pictures import INK
from leverrier.report.parts.page_parts import shortened

if TYPE_CHECKING:
    import altair

MOST_COLUMNS = 40
CELL = 20


def class_profiles(found: LatentClassResult, most: int = MOST_COLUMNS) -> altair.TopLevelMixin:
    """The probability of each column's states in each class; columns with two states show the second alone. Beyond
    `most` columns those are shown in which classes differ most."""
    import altair as alt

    network = found.network
    tables = {name: network.cpt(name) for name in network.variables if name != found.variable}
    chosen = sorted(tables, key=lambda name: -float((tables[name].max(axis=0) - tables[name].min(axis=0)).max()))[:most]
    classes = [
        f"class {label} ({share:.0%})"
        for label, share in zip(network.states[found.variable], found.shares, strict=True)
    ]
    values, rows = [], []
    for name in (name for name in tables if name in chosen):
        states = network.states[name]
        for k in range(1 if len(states) == 2 else 0, len(states)):
            row = f"{shortened(name, 30)} = {shortened(str(states[k]), 20)}"
            rows.append(row)
            values += [
                {"row": row, "class": c, "probability": float(tables[name][i, k])} for i, c in enumerate(classes)
            ]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("class:N", sort=classes, title=None, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=320)),
    )
    boxes = base.mark_rect().encode(
        color=alt.Color("probability:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), title="probability"),
        tooltip=["row:N", "class:N", alt.Tooltip("probability:Q", format=".3f")],
    )
    words = base.mark_text(fontSize=10).encode(
        text=alt.Text("probability:Q", format=".2f"),
        color=alt.condition("datum.probability > 0.6", alt.value("white"), alt.value(INK)),
    )
    return (boxes + words).properties(
        width=90 * len(classes),
        height=CELL * len(rows),
        title=alt.TitleParams(f"{found.states} latent classes", anchor="start", color=INK),
    )


def fit_scree(found: LatentClassResult) -> altair.TopLevelMixin:
    """BIC and AIC by number of classes: where the line bends, more classes stop paying."""
    import altair as alt

    values = [
        {"classes": row.states, "criterion": name, "value": float(value)}
        for row in found.table
        for name, value in (("BIC", row.bic), ("AIC", row.aic))
    ]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("classes:O", title="classes", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            color=alt.Color("criterion:N", title=None),
            tooltip=["classes:O", "criterion:N", alt.Tooltip("value:Q", format=",.1f")],
        )
        .properties(width=320, height=180, title=alt.TitleParams("BIC and AIC", anchor="start", color=INK))
    )
