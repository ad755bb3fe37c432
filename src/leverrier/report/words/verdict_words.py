"""The verdict in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from leverrier.discovery.evidence.null_test import Evidence
from leverrier.discovery.examined import Examined
from leverrier.discovery.findings import HiddenVariable


def verdict(found: Examined) -> str:
    """All of it: what was found, why we believe it, what the states mean, what was done."""
    return "\n".join(_lines(found))


def headline(found: Examined) -> str:
    """One sentence."""
    count = len(found.hidden)
    if found.verdict == "search unstable":
        return (
            "Search unstable: searches without a hidden variable ended "
            f"{found.spread:.0f} nats apart, so nothing can be said of a gain of that size."
        )
    if count and found.kind == "causes":
        return f"{count} overlapping hidden causes explain these signs better than any network of the columns."
    if count and found.kind == "classes":
        behind = f"behind all {found.shape.columns} columns"
        return f"One hidden class with {found.hidden[0].states} states is at work {behind}."
    if count:
        number = "One hidden variable is" if count == 1 else f"{count} hidden variables are"
        untested = " (not tested against chance)" if found.verdict == "not tested" else ""
        return f"{number} at work{untested}."
    if found.verdict == "compressor":
        return (
            "Nothing hidden was found. One hidden variable would compress the table, but tables simulated without it "
            "show the same: it is no sign of a hidden cause."
        )
    if found.verdict == "not tested":
        return "Nothing can be said yet: the time ran out before the search was done."
    if found.verdict == "no candidates":
        return "Nothing hidden was found: no group of columns hangs together enough to suggest one."
    return "Nothing hidden was found: no hidden variable explains these rows better than the columns themselves."


def _lines(found: Examined) -> Iterator[str]:
    shape = found.shape
    yield headline(found)
    yield f"({shape.rows:,} rows, {shape.columns} columns, {shape.holes:,} empty cells)"
    for each in found.hidden:
        yield ""
        yield from hidden_lines(found, each)
    for each in found.compressors:
        yield ""
        yield f"Compressor, not a cause: {place(each)}, {each.states} states, gain {each.gain:.1f} nats; " + null_words(
            each.evidence
        )
    if found.power is not None:
        yield ""
        yield str(found.power)
    if found.did:
        yield ""
        yield "What was done: " + "; ".join(found.did) + "."


def hidden_lines(found: Examined, each: HiddenVariable) -> Iterator[str]:
    """A paragraph on one hidden variable."""
    yield f"{each.name}: {each.states} states, {place(each)}."
    evidence = each.evidence
    if evidence is not None:
        yield "  Why we believe it: " + " ".join(evidence_sentences(each, evidence))
    for state in found.meanings.get(each.name, ()):
        yield f"  State {state}"


def place(each: HiddenVariable) -> str:
    """What it drives, and what drives it."""
    words = f"drives {_and(each.children)}" if each.children else "drives no column"
    return words + (f" and is driven by {_and(each.parents)}" if each.parents else "")


def evidence_sentences(each: HiddenVariable, evidence: Evidence) -> Iterator[str]:
    """Gain, null test, held-out gain, support: a sentence for each that was measured."""
    if evidence.kind == "classes":
        yield (
            f"{each.gain:.1f} nats over independent columns. Arcs between columns score {-evidence.gain:.1f} nats "
            f"more, but in {len(evidence.null_gains)} tables simulated from those arcs the difference was "
            f"{-max(evidence.null_gains):.1f} or more (p = {evidence.p_value:.2g}): arcs do not explain these rows, "
            "classes do."
            if evidence.gain < 0
            else f"{evidence.gain:.1f} nats above arcs between columns (p = {evidence.p_value:.2g})."
        )
    elif evidence.kind == "causes":
        yield "All causes together were compared with the network on rows neither had seen."
    else:
        yield f"Gain {each.gain:,.1f} nats over the best network without it."
        if evidence.rows is not None:
            yield f"In a random sample of {evidence.rows:,} rows, where it was found, it gained {evidence.gain:.1f}."
        if evidence.tested:
            yield null_words(evidence).capitalize() + "."
    if evidence.held_out is not None and evidence.held_out_interval is not None:
        low, high = evidence.held_out_interval
        yield f"On held-out rows {evidence.held_out:+.4f} nats a row (95 %: {low:+.4f} to {high:+.4f})."
    if evidence.support is not None:
        yield f"It came back in {100 * evidence.support:.0f} % of resamples."


def null_words(evidence: Evidence) -> str:
    """What simulated tables without it showed."""
    if not evidence.null_gains:
        return "not tested"
    count = len(evidence.null_gains)
    largest = max(evidence.null_gains)
    chance = f"p = {evidence.p_value:.2g}"
    size = "" if evidence.rows is None else " of that size"
    words = f"{count} simulated tables{size} with nothing hidden gained at most {largest:.1f} nats ({chance}"
    return words + (f"; stopped after {count}, since {evidence.stopped})" if evidence.stopped else ")")


def _and(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
