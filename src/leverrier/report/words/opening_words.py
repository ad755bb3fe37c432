"""The first sentence of a verdict."""

from __future__ import annotations

from leverrier.discovery.verdict import Answer, Reason, Verdict

NOTHING_YET = " Nothing can be said yet."


def opening(said: Verdict, count: int) -> str:
    """The answer, of so many hidden variables that are believed, or else were found."""
    many = "One hidden variable" if count == 1 else f"{count} hidden variables"
    was, them = ("was", "it is") if count == 1 else ("were", "they are")
    if said.answer is Answer.FOUND:
        return f"{many} {'is' if count == 1 else 'are'} at work{provisionally(said)}."
    if said.answer is Answer.NOT_TESTED:
        return f"Not tested: {many.lower()} {was} found, but whether {them} real is open, since {said.reason}."
    if said.answer is Answer.UNDECIDED and count:
        return f"Undecided: {many.lower()} {was} found, but {said.reason}."
    if said.answer is Answer.UNDECIDED:
        return f"Undecided: {said.reason}.{NOTHING_YET}"
    if said.reason is Reason.COMPRESSOR:
        return (
            "Nothing hidden was found. One hidden variable would compress the table, but tables simulated without it "
            "show the same: it is no sign of a hidden cause."
        )
    return f"Nothing hidden was found: {said.reason}."


def provisionally(said: Verdict) -> str:
    """Where a finding may not stand, that it may not."""
    return f" ({said.reason})" if said.reason is Reason.FEW_DRAWS else ""
