"""Charts of a discovery: evidence, states, rows, what remains, power, causes. Altair's; each as wide as a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.discovery.evidence.certainty import AMBIGUOUS, BINS, Certainty
from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.evidence.residual import Remaining
from leverrier.discovery.states.states_fit import StatesFit
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.report.charts.palette import HIDDEN, INK, OBSERVED, PAPER, QUIET, state_colours, state_shapes
from leverrier.report.charts.pictures import Size, styled, tips
from leverrier.report.parts.page_parts import abbreviated, shortened
from leverrier.report.parts.profiles import Profile

if TYPE_CHECKING:
    import altair

LABEL = 22
MOST_NUMBERED = 14
"""Of more causes the cells are shades alone: numbers would lie upon each other."""
MANY_STATES = 6
"""With more states the profile is a map of shades, not dots."""


def null_dots(evidence: Evidence, gate: float | None = None, size: Size = "page") -> altair.TopLevelMixin:
    """Gains of tables simulated without the hidden variable, a dot each; the gain found, and what it had to exceed."""
    import altair as alt

    ends = [*evidence.null_gains, evidence.gain, *([] if gate is None else [gate])]
    low, high = min(ends), max(max(ends), min(ends) + 1)
    step, pad = (high - low) / 40, 0.06 * (high - low)
    piles: dict[int, int] = {}
    dots = []
    for gain in sorted(evidence.null_gains):
        pile = round((gain - low) / step)
        piles[pile] = height = piles.get(pile, 0) + 1
        dots.append({"gain": low + pile * step, "height": height, "exactly": gain})
    words = "classes less arcs (nats)" if evidence.kind is Compared.CLASSES else "gain (nats)"
    scale = alt.Scale(domain=[low - pad, high + pad], nice=False, zero=False)
    x = alt.X("gain:Q", title=words, scale=scale, axis=alt.Axis(tickCount=5))
    tallest = max(piles.values(), default=1)
    y = alt.Y(
        "height:Q",
        title="simulated tables",
        scale=alt.Scale(domain=[0, max(tallest + 1, 6)], nice=False),
        axis=alt.Axis(tickMinStep=1, tickCount=4),
    )
    told = tips(("exactly:Q", words, ",.1f"))
    layers = alt.Chart(alt.Data(values=dots)).mark_point(filled=True, color=QUIET, size=42, opacity=1)
    charts: Any = layers.encode(x=x, y=y, tooltip=told)
    if gate is not None:
        at = alt.Chart(alt.Data(values=[{"gain": gate}]))
        charts += at.mark_rule(color=INK, strokeDash=[5, 4]).encode(x=x, tooltip=tips(("gain:Q", "to exceed", ",.1f")))
    found = alt.Chart(alt.Data(values=[{"gain": evidence.gain, "said": f"found: {evidence.gain:,.1f}"}]))
    charts += found.mark_rule(color=HIDDEN, strokeWidth=3).encode(x=x, tooltip=tips(("gain:Q", words, ",.1f")))
    right = evidence.gain > (low + high) / 2
    charts += found.mark_text(
        color=INK, align="right" if right else "left", dx=-6 if right else 6, fontSize=12, y=8, fontWeight="bold"
    ).encode(x=x, text="said:N")
    return styled(charts, 170, size)


def score_chart(fits: Sequence[StatesFit], states: int, size: Size = "page") -> altair.TopLevelMixin:
    """Score against the number of states, less the best."""
    import altair as alt

    best = max(one.score for one in fits)
    values = [{"states": one.states, "score": one.score - best, "chosen": one.states == states} for one in fits]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("states:O", title="states", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score:Q", title="score less the best (nats)", axis=alt.Axis(tickCount=5)),
    )
    line = base.mark_line(color=QUIET, strokeWidth=2)
    colour = alt.condition("datum.chosen", alt.value(HIDDEN), alt.value(QUIET))
    return styled(line + base.mark_point(filled=True, size=110, opacity=1).encode(color=colour), 170, size)


def profile_chart(profile: Profile, size: Size = "notebook") -> altair.TopLevelMixin:
    """How each state looks: shares (or means) by column with 95 % intervals; a map of shades for many states."""
    return _profile_map(profile, size) if len(profile.states) > MANY_STATES else _profile_dots(profile, size)


def _profile_dots(profile: Profile, size: Size) -> altair.TopLevelMixin:
    import altair as alt

    names = [shortened(label, 44) for label in profile.labels]
    values = [
        {"row": row.key, "state": names[k], "share": row.values[k], "low": row.low[k], "high": row.high[k]}
        for row in profile.rows
        for k in range(len(names))
    ]
    overall = [{"row": row.key, "all": row.overall} for row in profile.rows if row.overall is not None]
    y = alt.Y(
        "row:N",
        sort=None,
        title=None,
        axis=alt.Axis(labelLimit=150, labelPadding=8, grid=True, ticks=False, domain=False),
    )
    scale = alt.Scale(domain=[-0.02, 1.02], nice=False) if profile.shares else alt.Scale(zero=False, padding=6)
    axis = (
        alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]) if profile.shares else alt.Axis(format="~g", tickCount=5)
    )
    x = alt.X("low:Q", title=profile.title, scale=scale, axis=axis)
    colour = alt.Color(
        "state:N",
        title=None,
        sort=None,
        scale=state_colours(names),
        legend=alt.Legend(columns=1, symbolOpacity=1, labelLimit=165),
    )
    offset = alt.YOffset("state:N", sort=names)
    form = ".1%" if profile.shares else ".4~r"
    told = tips(
        ("row:N", "what", ""),
        ("state:N", "state", ""),
        ("share:Q", profile.title, form),
        ("low:Q", "95 % interval from", form),
        ("high:Q", "to", form),
    )
    base = alt.Chart(alt.Data(values=values)).encode(y=y, color=colour, yOffset=offset, tooltip=told)
    spans = base.mark_rule(strokeWidth=2, opacity=0.55).encode(x=x, x2="high:Q")
    dots = base.mark_point(filled=True, size=58, opacity=1).encode(
        x=alt.X("share:Q", title=profile.title, scale=scale),
        shape=alt.Shape("state:N", title=None, sort=None, scale=state_shapes(names)),
    )
    ticks = (
        alt.Chart(alt.Data(values=overall))
        .mark_tick(color=INK, thickness=1.5, size=14)
        .encode(
            x=alt.X("all:Q", title=profile.title, scale=scale),
            y=y,
            tooltip=tips(("row:N", "what", ""), ("all:Q", "all rows", form)),
        )
    )
    layers = spans + dots + ticks if overall else spans + dots
    return styled(layers, alt.Step(max(20, 8 * len(names) + 6), **{"for": "position"}), size)


def _profile_map(profile: Profile, size: Size) -> altair.TopLevelMixin:
    import altair as alt

    values = [
        {"row": row.key, "state": str(profile.short[k]), "share": row.values[k]}
        for row in profile.rows
        for k in range(len(profile.states))
    ]
    return styled(
        alt.Chart(alt.Data(values=values))
        .mark_rect(stroke=None)
        .encode(
            x=alt.X("state:O", sort=None, title="state", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=130)),
            color=alt.Color(
                "share:Q",
                title=profile.title,
                scale=alt.Scale(scheme="blues"),
                legend=alt.Legend(gradientLength=180, format="%" if profile.shares else "~g"),
            ),
            tooltip=tips(
                ("row:N", "what", ""),
                ("state:N", "state", ""),
                ("share:Q", profile.title, ".1%" if profile.shares else ".4~r"),
            ),
        ),
        alt.Step(18),
        size,
    )


def certainty_chart(known: Certainty, size: Size = "page") -> altair.TopLevelMixin:
    """Rows by the probability of their most probable state."""
    import altair as alt

    first = next((b for b, count in enumerate(known.counts) if count), 0)
    bars = [
        {
            "from": b / BINS,
            "to": (b + 1) / BINS,
            "rows": known.counts[b],
            "floor": 0,
            "sure": "sure" if b / BINS >= AMBIGUOUS - 1e-9 else "in doubt",
        }
        for b in range(min(first, BINS // 2), BINS)
    ]
    colour = alt.Color("sure:N", title=None, scale=alt.Scale(domain=["sure", "in doubt"], range=[OBSERVED, HIDDEN]))
    x = alt.X(
        "from:Q",
        title="probability of the most probable state",
        axis=alt.Axis(format="%", tickCount=6),
        scale=alt.Scale(domain=[bars[0]["from"], 1], nice=False),
    )
    boxes = (
        alt.Chart(alt.Data(values=bars))
        .mark_rect(stroke=None)
        .encode(
            x=x,
            x2="to:Q",
            y=alt.Y("rows:Q", title="rows", axis=alt.Axis(tickCount=4)),
            y2="floor:Q",
            color=colour,
            tooltip=tips(("rows:Q", "rows", ",.0f"), ("from:Q", "probability from", ".0%"), ("to:Q", "to", ".0%")),
        )
    )
    return styled(boxes, 160, size)


def remaining_chart(left: Remaining, size: Size = "page") -> altair.TopLevelMixin:
    """The most unusual pairs, and the level that chance alone reaches."""
    import altair as alt

    names = abbreviated(dict.fromkeys(name for pair in left.pairs for name in (pair.first, pair.second)), LABEL // 2)
    values = [
        {"pair": f"{number}. {names[pair.first]} – {names[pair.second]}", "z": pair.z, "clear": pair.p_value <= 0.05}
        for number, pair in enumerate(left.pairs, start=1)
    ]
    y = alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False))
    x = alt.X("z:Q", title="unexplained (z)", axis=alt.Axis(tickCount=5))
    colour = alt.condition("datum.clear", alt.value(HIDDEN), alt.value(QUIET))
    bars = alt.Chart(alt.Data(values=values)).mark_bar().encode(x=x, y=y, color=colour)
    chance = alt.Chart(alt.Data(values=[{"z": left.chance}]))
    level = chance.mark_rule(color=INK, strokeDash=[5, 4]).encode(x=x, tooltip=tips(("z:Q", "by chance (z)", ".3~r")))
    return styled(bars + level, alt.Step(20), size)


def power_chart(missed: Power, size: Size = "page") -> altair.TopLevelMixin:
    """Of planted hidden variables the share that would have been found, by strength."""
    import altair as alt

    values = [{"strength": strength, "found": share} for strength, share in sorted(missed.shares.items())]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "strength:Q",
            title="share of values that it sets",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, max(0.85, *missed.shares)], nice=False),
        ),
        y=alt.Y("found:Q", title="found", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=4)),
    )
    level = alt.Chart(alt.Data(values=[{"found": 0.8}])).mark_rule(color=QUIET, strokeDash=[5, 4], tooltip=None)
    level = level.encode(y="found:Q")
    points = base.mark_point(filled=True, color=OBSERVED, size=80, opacity=1).encode(
        tooltip=tips(("strength:Q", "share of values that it sets", ".0%"), ("found:Q", "found", ".0%"))
    )
    return styled(level + base.mark_line(color=OBSERVED) + points, 170, size)


def sign_chances(model: HiddenCauses, causes: int) -> Floats:
    """(signs, causes): how surely a sign shows with one cause alone."""
    alone = 1 - (1 - model.epsilon) * (1 - np.asarray(model.lam)[:causes])
    return np.where(model.links[:, :causes] == 1, alone[None, :], model.epsilon)


def links_chart(
    signs: Sequence[str], chances: Floats, frames: NDArray[np.uint8], title: str, size: Size = "page"
) -> altair.TopLevelMixin:
    """Signs by causes: a chance in each cell, and frames around links that the best structure has."""
    import altair as alt

    names = abbreviated(signs, LABEL if size == "page" else 3 * LABEL)
    cells: list[dict[str, Any]] = [
        {"sign": names[sign], "cause": str(k + 1), "chance": float(chances[i, k]), "text": _two_digits(chances[i, k])}
        for i, sign in enumerate(signs)
        for k in range(chances.shape[1])
    ]
    framed = [
        {"sign": names[sign], "cause": str(k + 1)}
        for i, sign in enumerate(signs)
        for k in range(chances.shape[1])
        if frames[i, k]
    ]
    x = alt.X("cause:O", sort=None, title="hidden cause", axis=alt.Axis(labelAngle=0, orient="top", labelOverlap=True))
    y = alt.Y("sign:N", sort=None, title=None, axis=alt.Axis(labelLimit=130 if size == "page" else 300))
    base = alt.Chart(alt.Data(values=cells)).encode(x=x, y=y)
    shades = alt.Scale(scheme="oranges", domain=[0, 1])
    tiles = base.mark_rect(stroke=None).encode(
        color=alt.Color("chance:Q", title=title, scale=shades, legend=alt.Legend(gradientLength=180, format="%")),
        tooltip=tips(("sign:N", "sign", ""), ("cause:N", "hidden cause", ""), ("chance:Q", title, ".1%")),
    )
    rings = alt.Chart(alt.Data(values=framed)).mark_rect(filled=False, stroke=INK, strokeWidth=1.2, tooltip=None)
    shade = alt.condition("datum.chance > 0.6", alt.value(PAPER), alt.value(INK))
    words = base.mark_text(fontSize=10).encode(text="text:N", color=shade)
    layers = tiles + rings.encode(x=x, y=y)
    return styled(layers if chances.shape[1] > MOST_NUMBERED else layers + words, alt.Step(20), size)


def _two_digits(chance: float) -> str:
    """Nothing where there is nothing."""
    return "" if chance < 0.005 else f"{chance:.2f}".lstrip("0") if chance < 0.995 else "1"


def active_chart(model: HiddenCauses, shares: Mapping[str, float], size: Size = "page") -> altair.TopLevelMixin:
    """How often each cause is active."""
    import altair as alt

    values = [{"cause": name, "share": share} for name, share in shares.items()]
    return styled(
        alt.Chart(alt.Data(values=values))
        .mark_bar(color=HIDDEN)
        .encode(
            x=alt.X(
                "share:Q",
                title="share of rows in which it is active",
                axis=alt.Axis(format="%", tickCount=5),
                scale=alt.Scale(domain=[0, max([*shares.values(), *model.p.tolist(), 0.01])]),
            ),
            y=alt.Y("cause:N", sort=None, title=None),
            tooltip=tips(("cause:N", "cause", ""), ("share:Q", "active in", ".1%")),
        ),
        alt.Step(22),
        size,
    )


def holes_chart(holes: Mapping[str, int], rows: int, size: Size = "page") -> altair.TopLevelMixin:
    """The columns with most empty cells."""
    import altair as alt

    most = sorted(holes.items(), key=lambda pair: -pair[1])[:20]
    names = abbreviated([name for name, _ in most], LABEL)
    values = [{"column": names[name], "share": count / max(rows, 1)} for name, count in most]
    return styled(
        alt.Chart(alt.Data(values=values))
        .mark_bar(color=QUIET)
        .encode(
            x=alt.X("share:Q", title="empty cells", axis=alt.Axis(format="%", tickCount=5)),
            y=alt.Y("column:N", sort=None, title=None, axis=alt.Axis(labelLimit=150)),
            tooltip=tips(("column:N", "column", ""), ("share:Q", "empty cells", ".1%")),
        ),
        alt.Step(18),
        size,
    )
