"""What was found in sequences, said in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leverrier.models.dynamic.dynamic_network import DynamicNetwork

if TYPE_CHECKING:
    from leverrier.discovery.time.time_findings import HiddenChain, TimeFindings

ASKED = "at least 0.005 and z above 3 were asked for"
MOST_NAMED = 8


def time_words(found: TimeFindings) -> Iterator[str]:
    """The verdict, a sentence a line: what is remembered, for how long, which columns it drives, how much it gains."""
    yield summary(found)
    yield from found.steps
    for one in found.hidden:
        yield chain_words(one)
    yield observed_words(found)
    if found.memories and not found.hidden:
        yield "Remembered: " + "; ".join(memory.name for memory in found.memories[:MOST_NAMED]) + "."
    if not found.status.converged:
        yield f"Note: {found.status}."


def summary(found: TimeFindings) -> str:
    """The first sentence: is something hidden at work, and what it gains on blocks that were held out."""
    if found.method == "boyen1999":
        return _loop_summary(found)
    if found.hidden:
        many = f"{len(found.hidden)} hidden variables are" if len(found.hidden) > 1 else "A hidden variable is"
        return (
            f"{many} at work: {found.gain:.3f} bits a slice better than the best model without "
            f"({found.observed_name}), {found.z:.1f} standard errors on held-out blocks."
        )
    tried = [row for row in found.table if row.hidden]
    best = max(tried, key=lambda row: row.gain, default=None)
    if best is None and not found.status.converged:
        return "No hidden variable was found by then: time ran out before one was tried on held-out blocks."
    if best is None:
        return "No hidden variable was found: none that could be begun drives a column."
    return (
        f"No hidden variable: the best attempt ({best.name}) gains {best.gain:+.3f} bits a slice over the best model "
        f"without (z {best.z:.1f}; {ASKED})."
    )


def _loop_summary(found: TimeFindings) -> str:
    """Of the source's loop: how many memories it made, and whether they predict better."""
    if not found.hidden:
        return "No arc skips a slice and no memory drives a column: nothing needs to be remembered."
    count = len(found.hidden)
    made = f"The search for arcs that skip slices left {count} memory variable{'' if count == 1 else 's'}"
    if not found.tested:
        return f"{made}; whether they predict better was not tested."
    what = f"{found.gain:+.3f} bits a slice over the best network without ({found.observed_name}), z {found.z:.1f}"
    if found.accepted:
        return f"{made}: on held-out blocks {what}, so something hidden is remembered."
    return f"{made}: on held-out blocks {what} ({ASKED}), which is not clearly more than the columns' own past says."


def chain_words(one: HiddenChain) -> str:
    """A hidden variable: its states, what it drives, how long it lasts."""
    drives = ", ".join(one.drives)
    began = f"began as {one.of} of {one.depth + 1} slices back, " if one.of else ""
    states = f"{one.name} {began}has {one.states} states, drives {drives}"
    if one.within_slice and not one.of:
        return f"{states}, and is a cause within the slice: it hardly lasts."
    return f"{states}, and lasts {', '.join(map(slices_text, one.dwell))} slices on average (by state)."


def slices_text(dwell: float) -> str:
    """A length of time, with a decimal where it is short."""
    return f"{dwell:.0f}" if dwell >= 2 else f"{dwell:.1f}"


def observed_words(found: TimeFindings) -> str:
    """How far back a slice looks."""
    if found.hidden:
        back = found.model.order if isinstance(found.model, DynamicNetwork) else found.model.lags
        what = "no slice before it" if back == 0 else "the slice before" if back == 1 else f"up to {back} slices back"
        return f"Given the hidden states, a slice depends on {what}."
    if found.lags == 0:
        return "Slices do not depend on the slices before them."
    if found.lags == 1:
        return "A slice depends on the slice before; nothing longer is clearly better."
    return f"A slice depends on up to {found.lags} slices back."
