"""Charts of a discovery: evidence, states, rows, what remains, power, causes. Altair's; each as wide as a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.discovery.evidence.certainty import AMBIGUOUS, BINS, Certainty
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.evidence.residual import Remaining
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.report.charts.pictures import HIDDEN, INK, OBSERVED, QUIET, styled, tips
from leverrier.report.parts.page_parts import abbreviated, shortened
from leverrier.report.parts.profiles import Profile

if TYPE_CHECKING:
    import altair

LABEL = 22
MANY_STATES = 6
"""With more states the profile is a map of shades, not dots."""


def null_histogram(evidence: Evidence) -> altair.TopLevelMixin:
    """Gains of tables simulated without the hidden variable, and the gain that was found."""
    import altair as alt

    gains = np.array(evidence.null_gains)
    ends = np.append(gains, evidence.gain)
    low, high = float(ends.min()), float(ends.max())
    pad = 0.06 * max(high - low, 1.0)
    heights, edges = np.histogram(gains, bins=26, range=(low, max(high, low + 1)))
    bars = [
        {"from": float(a), "to": float(b), "tables": int(h), "floor": 0}
        for h, a, b in zip(heights, edges, edges[1:], strict=False)
        if h
    ]
    scale = alt.Scale(domain=[low - pad, high + pad], nice=False, zero=False)
    words = {"score": "gain (nats)", "classes": "classes less arcs (nats)"}.get(evidence.kind, "gain (nats)")
    x = alt.X("from:Q", title=words, scale=scale, axis=alt.Axis(tickCount=5))
    boxes = (
        alt.Chart(alt.Data(values=bars))
        .mark_rect(color=QUIET, stroke=None)
        .encode(
            x=x,
            x2="to:Q",
            y=alt.Y("tables:Q", title="simulated tables", axis=alt.Axis(tickMinStep=1, tickCount=4)),
            y2="floor:Q",
            tooltip=tips(
                ("tables:Q", "simulated tables", ""), ("from:Q", f"{words} from", ",.1f"), ("to:Q", "to", ",.1f")
            ),
        )
    )
    found = alt.Chart(alt.Data(values=[{"from": evidence.gain, "said": f"found: {evidence.gain:,.1f}"}]))
    rule = found.mark_rule(color=HIDDEN, strokeWidth=3).encode(x=x, tooltip=tips(("from:Q", words, ",.1f")))
    right = evidence.gain > (low + high) / 2
    text = found.mark_text(
        color=HIDDEN, align="right" if right else "left", dx=-6 if right else 6, fontSize=12, y=8, fontWeight="bold"
    ).encode(x=x, text="said:N")
    return styled(boxes + rule + text, 170)


def score_chart(scores: Sequence[tuple[int, float]], states: int) -> altair.TopLevelMixin:
    """Score against the number of states, less the best."""
    import altair as alt

    best = max(score for _, score in scores)
    values = [{"states": k, "score": score - best, "chosen": k == states} for k, score in scores]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("states:O", title="states", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score:Q", title="score less the best (nats)", axis=alt.Axis(tickCount=5)),
    )
    line = base.mark_line(color=QUIET, strokeWidth=2)
    colour = alt.condition("datum.chosen", alt.value(HIDDEN), alt.value(QUIET))
    return styled(line + base.mark_point(filled=True, size=110, opacity=1).encode(color=colour), 170)


def profile_chart(profile: Profile) -> altair.TopLevelMixin:
    """How each state looks: shares (or means) by column with 95 % intervals; a map of shades for many states."""
    return _profile_map(profile) if len(profile.states) > MANY_STATES else _profile_dots(profile)


def _profile_dots(profile: Profile) -> altair.TopLevelMixin:
    import altair as alt

    from leverrier.report.charts.pictures import STATES

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
        scale=alt.Scale(domain=names, range=list(STATES)),
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
    dots = base.mark_point(filled=True, size=58, opacity=1).encode(x=alt.X("share:Q", title=profile.title, scale=scale))
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
    return styled(layers, alt.Step(max(20, 8 * len(names) + 6), **{"for": "position"}))


def _profile_map(profile: Profile) -> altair.TopLevelMixin:
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
    )


def certainty_chart(known: Certainty) -> altair.TopLevelMixin:
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
    return styled(boxes, 160)


def remaining_chart(left: Remaining) -> altair.TopLevelMixin:
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
    return styled(bars + level, alt.Step(20))


def power_chart(missed: Power) -> altair.TopLevelMixin:
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
    return styled(level + base.mark_line(color=OBSERVED) + points, 170)


def links_chart(model: HiddenCauses, names: Sequence[str]) -> altair.TopLevelMixin:
    """Which cause reaches which sign, and how surely."""
    import altair as alt

    signs = abbreviated(model.names, LABEL)
    values: list[dict[str, Any]] = [
        {
            "sign": signs[sign],
            "cause": str(k + 1),
            "chance": float(1 - (1 - model.epsilon) * (1 - model.lam[k])) if model.links[i, k] else model.epsilon,
        }
        for i, sign in enumerate(model.names)
        for k in range(len(names))
    ]
    x = alt.X("cause:O", sort=None, title="hidden cause", axis=alt.Axis(labelAngle=0, orient="top"))
    y = alt.Y("sign:N", sort=None, title=None, axis=alt.Axis(labelLimit=130))
    base = alt.Chart(alt.Data(values=values)).encode(x=x, y=y)
    tiles = base.mark_rect(stroke=None).encode(
        color=alt.Color(
            "chance:Q",
            title="P(sign | one cause)",
            scale=alt.Scale(scheme="oranges", domain=[0, 1]),
            legend=alt.Legend(gradientLength=180, format="%"),
        ),
        tooltip=tips(
            ("sign:N", "sign", ""), ("cause:N", "hidden cause", ""), ("chance:Q", "P(sign | one cause)", ".1%")
        ),
    )
    return styled(tiles, alt.Step(20))


def active_chart(model: HiddenCauses, shares: Mapping[str, float]) -> altair.TopLevelMixin:
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
    )


def holes_chart(holes: Mapping[str, int], rows: int) -> altair.TopLevelMixin:
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
    )
