"""The verdict in plain words, the same for tables and for sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leverrier.discovery.done import GroupsSeen
from leverrier.discovery.evidence.simplest_description import TIE, Simplest
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.discovery.time.time_unit import STEP
from leverrier.discovery.verdict import HiddenKind, ModelKind, Reason
from leverrier.report.words.bet_words import bets
from leverrier.report.words.done_words import done_words, groups_told
from leverrier.report.words.measured_words import like_for_like
from leverrier.report.words.opening_words import NOTHING_YET, opening, provisionally
from leverrier.report.words.page_words import ONE_NAT
from leverrier.report.words.time_words import person, plain_chain, time_lines


def verdict(found: Result) -> str:
    """All of it: what was found, why we believe it, what the states mean, what was done."""
    return "\n".join(_lines(found))


def headline(found: Result) -> str:
    """One sentence; one more on groups of rows that the columns show."""
    if found.verdict.reason is Reason.UNSTABLE:
        return (
            "Undecided: the search is unstable. Searches without a hidden variable ended "
            f"{found.spread:.0f} nats apart, so nothing can be said of a gain of that size."
        )
    if found.simplest is not None and found.verdict.reason is Reason.EITHER:
        what = described_by(found.simplest)
        return f"Undecided: {what} behind the columns and arcs between them describe these rows about equally well."
    if not found.believed:
        groups = [groups_told(step) for step in found.did if isinstance(step, GroupsSeen)]
        said = opening(found.verdict, len(found.hidden))
        return " ".join([said.removesuffix(NOTHING_YET), *groups]) if groups else said
    states, provisional = found.believed[0].states, provisionally(found.verdict)
    if found.kind is ModelKind.CAUSES:
        count = len(found.believed)
        return f"{count} overlapping hidden causes explain these signs better than any network of the columns."
    if found.verdict.reason is Reason.SIMPLEST and found.simplest is not None:
        said = found.simplest
        where = _and(said.columns) if said.columns else f"all {found.shape.columns} columns"
        return (
            f"Simplest description: {described_by(said)} behind {where} "
            f"{'say' if said.classes else 'says'} with {said.parameters} numbers what the best network of them needs "
            f"{said.network_parameters} for."
        )
    if found.kind is ModelKind.CLASSES:
        return (
            f"One hidden class with {states} states is at work behind all {found.shape.columns} columns{provisional}."
        )
    said = opening(found.verdict, len(found.believed))
    return f"{said[:-1]}: {_in_time(found)}." if found.time is not None else said


def _in_time(found: Result) -> str:
    """What moves or stays, in the reader's own units."""
    unit = STEP if found.along is None else found.along.unit
    who = person(found.settings.by)
    chains = [(each.chain, each.kind) for each in found.believed if each.chain is not None]
    said = [plain_chain(chain, kind, unit, who) for chain, kind in chains[:2]]
    return "; and ".join(said) + ("; and more beside" if len(chains) > 2 else "")


def _lines(found: Result) -> Iterator[str]:
    shape = found.shape
    yield headline(found)
    many = "1 sequence" if shape.sequences == 1 else f"{shape.sequences:,} sequences"
    rows = f"{many}, {shape.rows:,} time steps" if shape.sequences else f"{shape.rows:,} rows"
    yield f"({rows}, {shape.columns} columns, {shape.holes:,} empty cells)"
    if found.time is not None:
        yield from time_lines(found.time, STEP if found.along is None else found.along.unit)
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
    if any(each.evidence is not None for each in (*found.hidden, *found.compressors)):
        yield ""
        yield ONE_NAT
    if found.simplest is not None:
        yield ""
        yield simplest_words(found.simplest)
    if found.power is not None:
        yield ""
        yield str(found.power)
    if found.did:
        yield ""
        yield "What was done: " + "; ".join(map(done_words, found.did)) + "."


def hidden_lines(found: Result, each: HiddenVariable) -> Iterator[str]:
    """A paragraph on one hidden variable."""
    yield f"{each.name}: {kind_words(each)}, {place(each)}."
    if each.evidence is not None:
        yield "  Why we believe it:" if each in found.believed else "  What speaks for it so far:"
        yield from (f"  - {said}" for said in bets(found, each, each.evidence))
    for state in found.meanings.get(each.name, ()):
        yield f"  State {state}"


def described_by(said: Simplest) -> str:
    if said.open:
        return "one trait or 2 classes" if not said.classes else "2 classes or one trait"
    return "one trait" if not said.classes else f"{said.classes} classes"


def simplest_words(said: Simplest) -> str:
    """How few classes, or a trait, describe a small table, beside the best network."""
    what, table = described_by(said), _and(said.columns) if said.columns else "the table"
    fit = f"describe{'s' if not said.classes else ''} {table}" if said.adequate else f"do not describe {table}"
    fit = f"does not describe {table}" if not said.classes and not said.adequate else fit
    numbers = f"{said.parameters} numbers; the best network of the columns takes {said.network_parameters}"
    ends = [f"{numbers}, all {said.cells} cells {said.cells - 1}"]
    ends.append(f"log Bayes factor by BIC {said.preferred:+.1f} nats, {_preferred(said)}")
    if said.over_kinds is not None:
        ends.append(f"{said.over_kinds:+.1f} nats against a network that may use logits, noisy-ors and trees")
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
    words = "not tested" if each.evidence is None else like_for_like(each, each.evidence)
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


def _and(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
