"""Would you bet on it? What tests say, in words that need no statistics; gains are in nats, as the page says once."""

from __future__ import annotations

import math
from collections.abc import Iterator

from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.report.words.measured_words import comparison, evidence_sentences, free_words, p_words

NEW = 1000
"""New rows that a bet is told for."""
NEAR = 0.5
"""A simulated table that gains this share of what the data gain came near."""


def bets(found: Result, each: HiddenVariable, one: Evidence) -> Iterator[str]:
    """A sentence for every test that was made, the plainest first."""
    if one.draws:
        yield chance_words(one)
    elif one.kind is Compared.SCORE:
        yield f"It gains {one.gain:,.1f} nats over the best network without it; not tested against chance."
    else:
        yield from comparison(each, one)
    if one.held_out is not None and one.held_out_interval is not None:
        yield held_out_bet(one.held_out, one.held_out_interval)
    if one.support is not None:
        yield comeback_words(each.name, one.support, found.settings.resamples)
    if one.free is not None:
        yield free_words(one.free)


def held_out_bet(gain: float, interval: tuple[float, float], rows: str = "rows") -> str:
    """The held-out gain as what a thousand new rows would show."""
    low, high = interval
    if low == high == 0:
        return f"With a part of the {rows} left out it was not found again, so held-out {rows} say nothing of it."
    ahead = f"{abs(NEW * gain):,.0f} nats (95 % interval {NEW * low:,.0f} to {NEW * high:,.0f})".replace("-", "−")
    first = f"On {rows} that neither model had seen, the one with the hidden variable"
    if high < 0:
        return f"{first} predicts worse: in {NEW:,} new {rows} it would fall behind by {ahead}. Do not bet on it."
    if low <= 0:
        return (
            f"{first} predicts about as well as the one without: in {NEW:,} new {rows} it would be "
            f"{'ahead' if gain >= 0 else 'behind'} by {ahead}, which may be nothing."
        )
    return (
        f"{first} predicts better: in {NEW:,} new {rows} it would be ahead by {ahead}, which is odds of "
        f"{odds_words(NEW * low)} even at the lower end."
    )


def odds_words(nats: float) -> str:
    """Odds that a lead of so many nats stands for."""
    if nats > math.log(1e6):
        return "more than a million to one"
    return f"{max(math.exp(nats), 1.0):,.1f} to one" if nats < 5 else f"{math.exp(nats):,.0f} to one"


def chance_words(one: Evidence) -> str:
    """How many simulated tables came near the gain."""
    things = simulated(one)
    size = "" if one.rows is None else f" of {one.rows:,} rows"
    tables = f"{one.draws} simulated {things if one.draws > 1 else things.removesuffix('s')}{size} without it"
    best = f"the best gained {max(one.null_gains):,.1f} nats, the data {one.gain:,.1f}".replace("-", "−")
    if one.reached:
        said = f"{one.reached} of {tables} gained as much"
    elif max(one.null_gains) < NEAR * one.gain:
        said = f"0 of {tables} came near"
    else:
        said = f"None of {tables} reached it"
    return f"{said}: {best} ({p_words(one)})."


def simulated(one: Evidence) -> str:
    """What was drawn without the hidden variable."""
    return "sets of sequences" if one.kind is Compared.TIME else "tables"


def compared_gain(each: HiddenVariable) -> float:
    """The one gain that a reader meets: that which simulated tables are compared with, where there are any."""
    one = each.evidence
    return each.gain if one is None or not one.draws else one.gain


def gate_of(one: Evidence) -> float | None:
    """What a gain had to exceed to be believed, where simulated tables set it."""
    if not one.draws or one.level is None:
        return None
    allowed = int(one.level * (1 + one.draws) + 1e-9)  # tables that may gain as much, the data counted among them
    return sorted(one.null_gains, reverse=True)[allowed - 1] if allowed else None


def comeback_words(name: str, support: float, resamples: object, rows: str = "the rows") -> str:
    """How often it came back, as counts where they are known."""
    if isinstance(resamples, int) and resamples > 0:
        return f"{name} came back in {round(support * resamples)} of {resamples} resamples of {rows}."
    return f"{name} came back in {100 * support:.0f} % of resamples of {rows}."


def rest_of_evidence(each: HiddenVariable, one: Evidence) -> str:
    """All that was measured, in the terminal's own sentences."""
    return " ".join(evidence_sentences(each, one))
