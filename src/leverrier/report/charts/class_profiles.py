"""Latent classes as a picture: what each class looks like, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leverrier.discovery.meaning import State
from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.report.charts.discovery_charts import profile_chart
from leverrier.report.charts.palette import state_colours
from leverrier.report.charts.pictures import Size, styled
from leverrier.report.parts.profiles import Profile, share_profiles

if TYPE_CHECKING:
    import altair

MOST_LINES = 60


def class_states(found: LatentClassResult) -> tuple[State, ...]:
    """The classes as states of a hidden variable: their shares, and the shares of each column's values in them."""
    network = found.network
    columns = [name for name in network.variables if name != found.variable]
    tables = {name: network.cpt(name) for name in columns}
    return tuple(
        State(
            f"class {label}",
            float(share),
            (),
            {name: dict(zip(network.states[name], tables[name][k].tolist(), strict=True)) for name in columns},
            f"{share:.0%} of rows",
        )
        for k, (label, share) in enumerate(zip(network.states[found.variable], found.shares, strict=True))
    )


def class_profile(found: LatentClassResult, most: int = MOST_LINES) -> Profile:
    """The most telling columns, each value's share by class with its interval."""
    states = class_states(found)
    worth = [max(state.prevalence * found.total, 1.0) for state in states]
    return share_profiles(states, worth, most)[0]


def class_profiles(found: LatentClassResult, most: int = MOST_LINES, size: Size = "notebook") -> altair.TopLevelMixin:
    """The probability of each column's values in each class, with 95 % intervals; the most telling column first."""
    return profile_chart(class_profile(found, most), size)


def fit_scree(found: LatentClassResult, size: Size = "page") -> altair.TopLevelMixin:
    """BIC and AIC by number of classes: where the line bends, more classes stop paying."""
    import altair as alt

    values = [
        {"classes": row.states, "criterion": name, "value": float(value)}
        for row in found.table
        for name, value in (("BIC", row.bic), ("AIC", row.aic))
    ]
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("classes:O", title="classes", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("value:Q", title="BIC and AIC", scale=alt.Scale(zero=False)),
            color=alt.Color("criterion:N", title=None, scale=state_colours(("BIC", "AIC"))),
            strokeDash=alt.StrokeDash("criterion:N", legend=None, sort=["BIC", "AIC"]),
            tooltip=["classes:O", "criterion:N", alt.Tooltip("value:Q", format=",.1f")],
        )
    )
    return styled(lines, 180, size)
