"""All that was measured for a hidden variable, in full: what the page keeps folded."""

from __future__ import annotations

import math
from collections.abc import Iterator

from leverrier.discovery.evidence.evidence import KINDS_WORTH, Compared, Evidence, Stopped
from leverrier.discovery.evidence.free_learner import FreeLearner
from leverrier.discovery.findings import HiddenVariable

SAME = 0.05
"""Nats: gains that are told with one decimal and differ by less are one gain."""


def evidence_sentences(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:
    """Gain, null test, held-out gain, support: a sentence for each that was measured."""
    yield from comparison(each, evidence)
    if evidence.held_out is not None and evidence.held_out_interval is not None:
        low, high = evidence.held_out_interval
        yield f"On held-out rows {evidence.held_out:+.4f} nats a row (95 %: {low:+.4f} to {high:+.4f})."
        many = [f"{1000 * each:+,.1f}" for each in (evidence.held_out, low, high)]
        yield f"In 1,000 new rows of the same kind expect {many[0]} nats, between {many[1]} and {many[2]}."
    if evidence.support is not None:
        yield f"It came back in {100 * evidence.support:.0f} % of resamples."
    if evidence.over_kinds:
        yield kinds_words(evidence.over_kinds)
    if evidence.free is not None:
        yield free_words(evidence.free)
    if evidence.copied and evidence.told_by is not None:
        yield f"{evidence.told_by.column} alone tells {100 * evidence.told_by.share:.0f} % of it: it is a coarser copy."


def comparison(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:
    """What was compared with what, and how that ended."""
    yield from _COMPARISONS[evidence.kind](each, evidence)


def kinds_words(gain: float) -> str:
    """Against a network of the columns around it that is not bound to tables either."""
    if gain <= 0:
        return f"A network of the columns around it with families of every kind scores {-gain:,.1f} nats more than it."
    little = "" if gain > KINDS_WORTH else ", too little to be told from how well either was searched for"
    return f"Where both may use families of every kind it gains {gain:,.1f} nats over a network around it{little}."


def free_words(free: FreeLearner) -> str:
    """Against learners that may use any function of the other columns."""
    many = f"the {len(free.columns)} columns next to it" if len(free.columns) > 1 else "the column next to it"
    ahead, error = 1000 * free.advantage, 1000 * free.error
    better = f"{ahead:+,.0f} nats in 1,000 rows (standard error {error:,.0f})".replace("-", "−")
    if free.outdone:
        return f"It foretells {many} better than any function of the other columns that we could learn, by {better}."
    if free.matched:
        return f"The network without it foretells {many} from all other columns clearly better than it does."
    return (
        f"Some function of the other columns (boosted trees, a logit) foretells {many} as well as it does ({better})."
    )


def _gain_over_network(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:
    yield f"Gain {each.gain:,.1f} nats over the best network without it."
    if evidence.rows is not None:
        yield f"In a random sample of {evidence.rows:,} rows, where it was found, it gained {evidence.gain:.1f}."
    words = like_for_like(each, evidence)
    yield words[0].upper() + words[1:] + "."


def _classes_or_arcs(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:  # noqa: ARG001
    """One comparison: the score of the classes less that of the best network, here and in simulated tables."""
    if not evidence.tested:
        yield f"{_over_arcs(evidence.gain)}. Whether such arcs can have made these rows was not tested."
        return
    most = max(evidence.null_gains)
    yield (
        f"{_over_arcs(evidence.gain)}; in {evidence.draws} tables simulated from those arcs that difference was at "
        f"most {most:+.1f} ({p_words(evidence)}), in tables simulated from the classes it is as here: arcs do not "
        "explain these rows, classes do."
    )


def _over_arcs(gain: float) -> str:
    return f"Classes score {gain:+.1f} nats against the best network of arcs between the columns"


def _with_fewer_parameters(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:  # noqa: ARG001
    yield (
        f"Gain {each.gain:,.1f} nats over the best network of the columns, at least three of which have no arc between "
        "them. Arcs can imitate a continuum, so simulated tables cannot tell the two apart: it is believed because it "
        "says the same with fewer parameters."
    )


def _simplest(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:  # noqa: ARG001
    odds = f"{math.exp(min(evidence.gain, 50.0)):,.0f}" if evidence.gain < 20 else "more than 100 million"
    yield (
        f"By BIC it is {odds} times as probable as the best network of the columns ({evidence.gain:+.1f} nats), and "
        "tables drawn from it look like this one. It does not say that no network explains these columns."
    )


def _causes_or_network(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:  # noqa: ARG001
    yield "All causes together were compared with the network on rows neither had seen."


def _held_out_blocks(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:  # noqa: ARG001
    if evidence.tested:
        yield "All hidden variables together were compared with the best model without on blocks neither had seen."


_COMPARISONS = {
    Compared.SCORE: _gain_over_network,
    Compared.CLASSES: _classes_or_arcs,
    Compared.CAUSES: _causes_or_network,
    Compared.PARSIMONY: _with_fewer_parameters,
    Compared.SIMPLEST: _simplest,
    Compared.TIME: _held_out_blocks,
}


def like_for_like(each: HiddenVariable, evidence: Evidence) -> str:
    """What simulated tables showed, after the gain that theirs are compared with where that is not the one told: they
    and the data are searched quickly, so that the data's own gain by that search is another one."""
    words = null_words(evidence)
    same = evidence.rows is not None or abs(each.gain - evidence.gain) < SAME
    if not evidence.draws or evidence.kind is not Compared.SCORE or same:
        return words
    quick = "a quick search, the same for the data and for simulated tables,"
    if evidence.gain < SAME:
        return f"{quick} does not find it again, so nothing speaks against chance ({p_words(evidence)})"
    return f"{quick} gains {evidence.gain:,.1f} nats here; {words}"


def null_words(evidence: Evidence) -> str:
    """What simulated tables without it showed, in counts."""
    if evidence.stopped is Stopped.UNSEEN:
        return f"{evidence.stopped}, and a table with nothing hidden gains no less (p = 1)"
    if not evidence.draws:
        return "not tested against chance"
    size = "" if evidence.rows is None else " of that size"
    tables = f"{evidence.draws} simulated table{'' if evidence.draws == 1 else 's'}{size} without it"
    words = f"of {tables} {_reached(evidence.reached)} gained as much, the largest {max(evidence.null_gains):.1f} nats"
    return f"{words} ({p_words(evidence)})"


def _reached(count: int) -> str:
    return "none" if not count else str(count)


def p_words(evidence: Evidence) -> str:
    """The p-value, what it was compared with, and why there were no more draws."""
    joined = f"p = {evidence.p_value:.2g}"
    if evidence.level is not None and not evidence.provisional:
        joined += f"; at most {evidence.level:g} was asked for"
    elif evidence.level is not None:
        joined += f", level {evidence.level:g}"
    if evidence.provisional:
        joined += f" needs {evidence.needed} tables"
    return joined + (f"; stopped after {evidence.draws}, since {evidence.stopped}" if evidence.stopped else "")
