"""What was found in sequences, said in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.discovery.verdict import HiddenKind
from leverrier.report.words.opening_words import opening

ASKED = "at least 0.005 and z above 3 were asked for"
MOST_NAMED = 8
NO_NAMES = frozenset({"pid", "sid", "key", "code", "number", "name", "group", "idnr", "case", "sequences"})


def time_words(found: TimeFindings) -> str:
    """The verdict, a sentence a line: what is remembered, for how long, which columns it drives, how much it gains."""
    return "\n".join([opening(found.verdict, len(found.hidden)), *time_lines(found)])


def time_lines(found: TimeFindings, unit: TimeUnit = STEP) -> Iterator[str]:
    """The same without the first sentence."""
    yield from given_words(found)
    yield from tested_words(found)
    yield from compared_words(found)
    yield from found.steps
    for one in found.hidden:
        yield chain_words(one, unit)
        if found.kinds.get(one.name) is HiddenKind.CONTINUUM:
            yield f"{one.name} is a continuum: every person has a level of their own; the states are groups of them."
    yield observed_words(found)
    if found.memories and not found.hidden:
        yield "Remembered: " + "; ".join(memory.name for memory in found.memories[:MOST_NAMED]) + "."
    if not found.status.converged:
        yield f"Note: {found.status}."


def given_words(found: TimeFindings) -> Iterator[str]:
    """Which columns were taken as given."""
    for role in dict.fromkeys(found.inputs.values()):
        names = [name for name, each in found.inputs.items() if each is role]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        yield f"{', '.join(names[:MOST_NAMED])}{more}: {role}."


def tested_words(found: TimeFindings) -> Iterator[str]:
    """What sequences simulated without the hidden variable show."""
    for name, one in found.evidence.items():
        if one.p_value is not None:
            some = "" if one.rows is None else f" (looked for and tested in {one.rows:,} slices)"
            yield (
                f"{name} gains {one.gain:.1f} nats over the best rival, parameters priced; of {one.draws} sets of "
                f"sequences simulated without it {one.reached} gain as much: p = {one.p_value:.2g}{some}."
            )
        if one.support is not None:
            yield f"{name} came back in {100 * one.support:.0f} % of the resamples, of persons or of blocks of slices."
    for one in found.drawn:
        if one.p_value is not None:
            yield (
                f"The best attempt gains {one.gain:.1f} nats, but so do {one.reached} of {one.draws} sets of sequences "
                f"simulated without anything hidden: p = {one.p_value:.2g}."
            )


def compared_words(found: TimeFindings) -> Iterator[str]:
    """What hidden variables gain on blocks that were held out."""
    if found.method == "boyen1999" and found.hidden:
        count = len(found.hidden)
        yield f"The search for arcs that skip slices left {count} memory variable{'' if count == 1 else 's'}."
    best = max((row for row in found.table if row.hidden), key=lambda row: row.gain, default=None)
    if found.hidden and found.tested:
        asked = "" if found.accepted or found.decided is not None else f" ({ASKED})"
        yield (
            f"On held-out blocks {found.gain:+.3f} bits a slice over the best model without ({found.observed_name}), "
            f"{found.z:.1f} standard errors{asked}."
        )
    elif not found.hidden and best is not None:
        asked = "" if found.decided is not None else f"; {ASKED}"
        yield (
            f"On held-out blocks the best attempt ({best.name}) gains {best.gain:+.3f} bits a slice over the best "
            f"model without (z {best.z:.1f}{asked})."
        )


def chain_words(one: HiddenChain, unit: TimeUnit = STEP) -> str:
    """A hidden variable: its states, what it drives, how long it lasts."""
    drives = ", ".join(one.drives)
    began = f"began as {one.of} of {one.depth + 1} slices back, " if one.of else ""
    states = f"{one.name} {began}has {one.states} states, drives {drives}"
    if one.stays:
        return f"{states}, and never changes within a sequence: it tells persons apart, it is no regime."
    if one.within_slice and not one.of:
        return f"{states}, and is a cause within the slice: it hardly lasts."
    law = f", not by chance alone: how long follows a {one.law} law" if one.law else ""
    lasts = lengths_text(one.dwell.tolist(), unit)
    return f"{states}, and lasts {lasts} on average (by state){law}."


def slices_text(dwell: float) -> str:
    """A length of time, with a decimal where it is short."""
    return f"{dwell:,.0f}" if dwell >= 2 else f"{dwell:.1f}"


def several_units(unit: TimeUnit) -> str:
    """The unit's name for more than one."""
    return f"{unit.name}es" if unit.name.endswith("ch") else f"{unit.name}s"


def lengths_text(dwell: Sequence[float], unit: TimeUnit) -> str:
    """Lengths of stay in the reader's unit: "12 and 30 days"."""
    said = [slices_text(each * unit.step) for each in dwell]
    return f"{' and '.join([', '.join(said[:-1]), said[-1]] if len(said) > 1 else said)} {several_units(unit)}"


def plain_chain(one: HiddenChain, kind: HiddenKind, unit: TimeUnit, who: str) -> str:
    """A hidden variable as one says it to somebody who only knows the columns; without a full stop."""
    shown = _and_more(one.drives)
    if one.stays and kind is HiddenKind.CONTINUUM:
        return f"each {who} has a level of its own that no column records and that stays as it is; it shows in {shown}"
    if one.stays:
        return f"there are {one.states} kinds of {who} that no column tells apart and that stay; they differ in {shown}"
    if one.within_slice:
        return f"something that no column records differs from one {unit.name} to the next; it shows in {shown}"
    return (
        f"something that no column records changes between {one.states} states, which last about "
        f"{lengths_text(one.dwell.tolist(), unit)}; it shows in {shown}"
    )


def person(by: str | Sequence[str] | None) -> str:
    """What a sequence is called: its column's name where that is a word for it."""
    name = by if isinstance(by, str) else ""
    return name.lower() if name.isalpha() and len(name) > 2 and name.lower() not in NO_NAMES else "sequence"


def _and_more(names: Sequence[str]) -> str:
    said = list(names[:4]) + ([f"{len(names) - 4} more"] if len(names) > 4 else [])
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def observed_words(found: TimeFindings) -> str:
    """How far back a slice looks."""
    if found.hidden:
        back = found.face.lags
        what = "no slice before it" if back == 0 else "the slice before" if back == 1 else f"up to {back} slices back"
        return f"Given the hidden states, a slice depends on {what}."
    if found.lags == 0:
        return "Slices do not depend on the slices before them."
    if found.lags == 1:
        return "A slice depends on the slice before; nothing longer is clearly better."
    return f"A slice depends on up to {found.lags} slices back."
