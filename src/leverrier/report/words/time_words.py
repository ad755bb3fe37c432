"""What was found in sequences, said in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.memory_findings import MemoryFindings
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.discovery.verdict import HiddenKind
from leverrier.report.words.opening_words import opening

THOUSAND = 1000 * math.log(2)
"""Nats in 1,000 time steps for one bit a step: the page and the terminal have one unit."""
ASKED = f"at least {0.005 * THOUSAND:.1f} nats in 1,000 time steps and three standard errors were asked for"
MOST_NAMED = 8
NO_NAMES = frozenset({"pid", "sid", "key", "code", "number", "name", "group", "idnr", "case", "sequences"})


def time_words(found: TimeFindings) -> str:
    """The verdict, a sentence a line: what is remembered, for how long, which columns it drives, how much it gains."""
    return "\n".join([opening(found.verdict, len(found.hidden)), *time_lines(found)])


def time_lines(found: TimeFindings, unit: TimeUnit = STEP) -> Iterator[str]:
    """The same without the first sentence."""
    yield from given_words(found)
    yield from simulated_words(found, unit)
    yield from compared_words(found, unit)
    yield from found.steps
    for one in found.hidden:
        yield chain_words(one, unit)
        if found.kinds.get(one.name) is HiddenKind.CONTINUUM:
            yield f"{one.name} is a continuum: every person has a level of their own; the states are groups of them."
    yield observed_words(found, unit)
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


def simulated_words(found: TimeFindings, unit: TimeUnit = STEP) -> Iterator[str]:
    """What sequences simulated without the hidden variable show."""
    for name, one in found.evidence.items():
        if one.p_value is not None:
            some = "" if one.rows is None else f" (looked for and tested in {one.rows:,} {steps_of(unit)})"
            yield (
                f"{name} gains {one.gain:.1f} nats over the best rival, parameters priced; of {one.draws} sets of "
                f"sequences simulated without it {one.reached} gain as much: p = {one.p_value:.2g}{some}."
            )
        if one.support is not None:
            drawn = f"of persons or of blocks of {steps_of(unit)}"
            yield f"{name} came back in {100 * one.support:.0f} % of the resamples, {drawn}."
    for one in found.drawn:
        if one.p_value is not None:
            yield (
                f"The best attempt gains {one.gain:.1f} nats, but so do {one.reached} of {one.draws} sets of sequences "
                f"simulated without anything hidden: p = {one.p_value:.2g}."
            )


def compared_words(found: TimeFindings, unit: TimeUnit = STEP) -> Iterator[str]:
    """What hidden variables gain on blocks that were held out."""
    if found.method == "boyen1999" and found.hidden:
        count = len(found.hidden)
        yield f"The search for arcs that skip {steps_of(unit)} left {count} memory variable{'' if count == 1 else 's'}."
    best = max((row for row in found.table if row.hidden), key=lambda row: row.gain, default=None)
    if found.hidden and found.tested:
        asked = "" if found.accepted or found.decided is not None else f" ({ASKED})"
        yield (
            f"On held-out blocks it is ahead of the best model without it ({found.observed_name}) by "
            f"{nats_of(found.gain)} in 1,000 {steps_of(unit)}, {found.z:.1f} standard errors{asked}."
        )
    elif not found.hidden and best is not None:
        asked = "" if found.decided is not None else f"; {ASKED}"
        yield (
            f"On held-out blocks the best attempt ({best.name}) gains {nats_of(best.gain)} in 1,000 {steps_of(unit)} "
            f"over the best model without ({best.z:.1f} standard errors{asked})."
        )


def chain_words(one: HiddenChain, unit: TimeUnit = STEP) -> str:
    """A hidden variable: its states, what it drives, how long it lasts."""
    drives = ", ".join(one.drives)
    began = f"began as {one.of} of {one.depth + 1} {steps_of(unit)} back, " if one.of else ""
    states = f"{one.name} {began}has {one.states} states, drives {drives}"
    if one.stays:
        return f"{states}, and never changes within a sequence: it tells persons apart, it is no regime."
    if one.within_slice and not one.of:
        return f"{states}, and differs from one {step_of(unit)} to the next: it hardly lasts."
    law = f", not by chance alone: how long follows a {one.law} law" if one.law else ""
    lasts = lengths_text(one.dwell.tolist(), unit)
    return f"{states}, and lasts {lasts} on average (by state){law}."


def slices_text(dwell: float) -> str:
    """A length of time, with a decimal where it is short."""
    return f"{dwell:,.0f}" if dwell >= 2 else f"{dwell:.1f}"


def nats_of(bits: float) -> str:
    """Bits a time step as nats in 1,000 of them."""
    return f"{bits * THOUSAND:+,.1f} nats".replace("-", "−")


def step_of(unit: TimeUnit) -> str:
    """What one row of a sequence is called: a day where rows are days, else a time step."""
    return unit.name if unit.step == 1 else STEP.name


def steps_of(unit: TimeUnit) -> str:
    """The same of several."""
    return several_units(unit if unit.step == 1 else STEP)


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


def observed_words(found: TimeFindings, unit: TimeUnit = STEP) -> str:
    """How far back a time step looks."""
    one, many = step_of(unit), steps_of(unit)
    if found.hidden:
        back = found.face.lags
        what = f"no {one} before it" if back == 0 else f"the {one} before" if back == 1 else f"the last {back} {many}"
        return f"Given the hidden states, what a {one} shows depends on {what}."
    if found.lags == 0:
        return f"What a {one} shows does not depend on the {many} before it."
    if found.lags == 1:
        return f"What a {one} shows depends on the {one} before; nothing longer is clearly better."
    return f"What a {one} shows depends on the last {found.lags} {many}."


def memory_words(found: MemoryFindings) -> str:
    """All of it, a line each."""
    lines = [round_words(found)]
    for memory in found.memories:
        children = [c for (p, _), c in found.network.edges if p == memory.name and c != memory.name]
        drives = ", ".join(dict.fromkeys(children)) or "nothing any more"
        lines.append(f"{memory.name} remembers {memory.of} of {memory.depth + 1} time steps back and drives {drives}.")
    if not found.memories:
        lines.append("No arc skips a time step: nothing needs to be remembered.")
    return "\n".join(lines)


def round_words(found: MemoryFindings) -> str:
    """The rounds alone, and the arcs that asked for memories."""
    said = [f"{each.name}: {each.bits:.3f} bits a time step on the sequences learnt from." for each in found.rounds]
    arcs = found.rounds[1].arcs[:MOST_NAMED]
    if arcs:
        named = (f"{arc.parent} {arc.lag} steps back → {arc.child} ({arc.gain:.1f} nats)" for arc in arcs)
        said.append(f"Arcs that skip time steps: {'; '.join(named)}.")
    return "\n".join(said)
