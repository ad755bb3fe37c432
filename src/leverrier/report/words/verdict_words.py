"""The verdict in plain words, the same for tables and for sequences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.evidence.free_learner import FreeLearner
from leverrier.discovery.evidence.simplest_description import TIE, Simplest
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import HiddenKind, ModelKind, Reason
from leverrier.report.words.opening_words import opening, provisionally
from leverrier.report.words.time_words import time_lines


def verdict(found: Result) -> str:
    """All of it: what was found, why we believe it, what the states mean, what was done."""
    return "\n".join(_lines(found))


def headline(found: Result) -> str:
    """One sentence."""
    if found.verdict.reason is Reason.UNSTABLE:
        return (
            "Undecided: the search is unstable. Searches without a hidden variable ended "
            f"{found.spread:.0f} nats apart, so nothing can be said of a gain of that size."
        )
    if found.simplest is not None and found.verdict.reason is Reason.EITHER:
        what = described_by(found.simplest)
        return f"Undecided: {what} behind the columns and arcs between them describe these rows about equally well."
    if not found.believed:
        return opening(found.verdict, len(found.hidden))
    states, provisional = found.believed[0].states, provisionally(found.verdict)
    if found.kind is ModelKind.CAUSES:
        count = len(found.believed)
        return f"{count} overlapping hidden causes explain these signs better than any network of the columns."
    if found.verdict.reason is Reason.SIMPLEST and found.simplest is not None:
        said = found.simplest
        return (
            f"Simplest description: {described_by(said)} behind all {found.shape.columns} columns "
            f"{'say' if said.classes else 'says'} with {said.parameters} numbers what the best network of them needs "
            f"{said.network_parameters} for."
        )
    if found.kind is ModelKind.CLASSES:
        return (
            f"One hidden class with {states} states is at work behind all {found.shape.columns} columns{provisional}."
        )
    return opening(found.verdict, len(found.believed))


def _lines(found: Result) -> Iterator[str]:
    shape = found.shape
    yield headline(found)
    rows = f"{shape.sequences:,} sequences, {shape.rows:,} slices" if shape.sequences else f"{shape.rows:,} rows"
    yield f"({rows}, {shape.columns} columns, {shape.holes:,} empty cells)"
    if found.time is not None:
        yield from time_lines(found.time)
        return
    for each in found.believed:
        yield ""
        yield from hidden_lines(found, each)
    if found.untested and found.believed:
        yield ""
        yield f"Found, but not tested or not to the end: {_and([each.name for each in found.untested])}."
    for each in found.untested:
        yield ""
        yield from hidden_lines(found, each)
    for each in found.compressors:
        yield ""
        yield compressor_words(each)
    if found.simplest is not None:
        yield ""
        yield simplest_words(found.simplest)
    if found.power is not None:
        yield ""
        yield str(found.power)
    if found.did:
        yield ""
        yield "What was done: " + "; ".join(found.did) + "."


def hidden_lines(found: Result, each: HiddenVariable) -> Iterator[str]:
    """A paragraph on one hidden variable."""
    yield f"{each.name}: {kind_words(each)}, {place(each)}."
    if each.evidence is not None:
        why = "Why we believe it" if each in found.believed else "What speaks for it so far"
        yield f"  {why}: " + " ".join(evidence_sentences(each, each.evidence))
    for state in found.meanings.get(each.name, ()):
        yield f"  State {state}"


def described_by(said: Simplest) -> str:
    return "one trait" if not said.classes else f"{said.classes} classes"


def simplest_words(said: Simplest) -> str:
    """How few classes, or a trait, describe a small table, beside the best network."""
    what = described_by(said)
    fit = f"describe{'s' if not said.classes else ''} the table" if said.adequate else "do not describe the table"
    fit = "does not describe the table" if not said.classes and not said.adequate else fit
    numbers = f"{said.parameters} numbers; the best network of the columns takes {said.network_parameters}"
    ends = [f"{numbers}, all {said.cells} cells {said.cells - 1}"]
    ends.append(f"log Bayes factor by BIC {said.preferred:+.1f} nats, {_preferred(said)}")
    distance = f"G² {said.g2:.1f}, p = {said.fit:.2g} by tables drawn from it"
    return f"Simplest description: {what} {fit} ({distance}) with {'; '.join(ends)}."


def _preferred(said: Simplest) -> str:
    if abs(said.preferred) < TIE / 2:
        return "neither is preferred"
    return (
        f"{'classes are' if said.classes else 'the trait is'} preferred"
        if said.preferred > 0
        else ("the network is preferred")
    )


def compressor_words(each: HiddenVariable) -> str:
    """Of one that tables with nothing hidden show as well."""
    words = "not tested" if each.evidence is None else null_words(each.evidence)
    return f"Compressor, not a cause: {place(each)}, {kind_words(each)}, gain {each.gain:.1f} nats; {words}."


def kind_words(each: HiddenVariable) -> str:
    """A class by its states; a continuum; or that the rows cannot tell which."""
    what = f"{each.states} state{'' if each.states == 1 else 's'}" if each.states else "a continuum, with a score a row"
    if each.kind is HiddenKind.CONTINUUM and each.states:
        what = f"a continuum, told here in {each.states} grades"
    if each.kind is not HiddenKind.UNDECIDED:
        return what
    return f"something hidden, its kind undecided between classes and a continuum (told here as {what})"


def place(each: HiddenVariable) -> str:
    """The columns it stands beside. Which way an arc points the data can seldom tell, so it is not said."""
    near = (*each.children, *each.parents)
    return f"next to {_and(near)}" if near else "next to no column"


def evidence_sentences(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:
    """Gain, null test, held-out gain, support: a sentence for each that was measured."""
    yield from _COMPARISONS[evidence.kind](each, evidence)
    if evidence.held_out is not None and evidence.held_out_interval is not None:
        low, high = evidence.held_out_interval
        yield f"On held-out rows {evidence.held_out:+.4f} nats a row (95 %: {low:+.4f} to {high:+.4f})."
        many = [f"{1000 * each:+,.1f}" for each in (evidence.held_out, low, high)]
        yield f"In 1,000 new rows of the same kind expect {many[0]} nats, between {many[1]} and {many[2]}."
    if evidence.support is not None:
        yield f"It came back in {100 * evidence.support:.0f} % of resamples."
    if evidence.free is not None:
        yield from _free_words(evidence.free)
    if evidence.copied and evidence.told_by is not None:
        yield f"{evidence.told_by.column} alone tells {100 * evidence.told_by.share:.0f} % of it: it is a coarser copy."


def _free_words(free: FreeLearner) -> Iterator[str]:
    """Against learners that may use any function of the other columns."""
    many = f"the {len(free.columns)} columns next to it" if len(free.columns) > 1 else "the column next to it"
    better = f"{free.advantage:+.4f} nats a row (standard error {free.error:.4f})"
    if free.outdone:
        yield f"From all other columns it foretells {many} better than boosted trees or a logit do, by {better}."
    elif free.matched:
        yield f"The network without it foretells {many} from all other columns clearly better than it does."
    else:
        yield f"Boosted trees or a logit foretell {many} from all other columns as well as it does ({better})."


def _gain_over_network(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:
    yield f"Gain {each.gain:,.1f} nats over the best network without it."
    if evidence.rows is not None:
        yield f"In a random sample of {evidence.rows:,} rows, where it was found, it gained {evidence.gain:.1f}."
    words = null_words(evidence)
    if evidence.draws and evidence.rows is None:
        words = f"a quick search, the same for all tables, gains {evidence.gain:,.1f} nats here; {words}"
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


def null_words(evidence: Evidence) -> str:
    """What simulated tables without it showed, in counts."""
    if not evidence.draws:
        return "not tested against chance"
    size = "" if evidence.rows is None else " of that size"
    tables = f"{evidence.draws} simulated table{'' if evidence.draws == 1 else 's'}{size} with nothing hidden"
    words = f"of {tables} {_reached(evidence.reached)} gained as much, the largest {max(evidence.null_gains):.1f} nats"
    return f"{words} ({p_words(evidence)})"


def _reached(count: int) -> str:
    return "none" if not count else str(count)


def p_words(evidence: Evidence) -> str:
    """The p-value, what it was compared with, and why there were no more draws."""
    words = [f"p = {evidence.p_value:.2g}"]
    if evidence.level is not None:
        sign = "≤" if evidence.p_value is not None and evidence.p_value <= evidence.level else ">"
        words.append(f"{sign} {evidence.level:g}" if not evidence.provisional else f"level {evidence.level:g}")
    joined = " ".join(words) if not evidence.provisional else ", ".join(words)
    if evidence.provisional:
        joined += f" needs {evidence.needed} tables"
    return joined + (f"; stopped after {evidence.draws}, since {evidence.stopped}" if evidence.stopped else "")


def _and(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
