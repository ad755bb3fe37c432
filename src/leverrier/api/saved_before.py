"""Discoveries that version 0.1 saved, put as they are saved today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leverrier.discovery.verdict import Answer, ModelKind, Reason
from leverrier.status import Status

Content = Mapping[str, Any]
VERDICTS = {
    "found": (Answer.FOUND, Reason.TESTED),
    "compressor": (Answer.NOTHING, Reason.COMPRESSOR),
    "none accepted": (Answer.NOTHING, Reason.NO_GAIN),
    "no candidates": (Answer.NOTHING, Reason.NO_CANDIDATES),
    "search unstable": (Answer.UNDECIDED, Reason.UNSTABLE),
    "not tested": (Answer.NOT_TESTED, Reason.NOT_ASKED),
}


def upgraded(content: Content) -> dict[str, Any]:
    """The same content in today's parts."""
    return _table(content) if content["format"] == "leverrier-discovery" else _sequences(content)


def _table(content: Content) -> dict[str, Any]:
    answer, reason = VERDICTS[content["verdict"]]
    cut = not content["settings"].get("finished", True)
    if not content["hidden"] and (cut or answer is Answer.NOT_TESTED):
        answer, reason = Answer.UNDECIDED, Reason.TIME
    elif cut and answer is Answer.NOT_TESTED:
        reason = Reason.TIME
    model = content["model"]
    if model is not None and "causes" in model:
        model = {"causes": {**model["causes"], "yes": content["settings"]["yes"]}}
        reason = Reason.HELD_OUT
    return {
        "rows": None,
        "remaining": None,
        "scores": {},
        "merges": {},
        **content,
        "verdict": answer,
        "reason_name": reason.name,
        "model": model,
        **{name: [_variable(each) for each in content[name]] for name in ("hidden", "compressors")},
    }


def _variable(each: Content) -> dict[str, Any]:
    if each["evidence"] is None:
        return dict(each)
    return {**each, "evidence": {**each["evidence"], "stopped": each["evidence"]["stopped"] or None}}


def _sequences(content: Content) -> dict[str, Any]:
    """Their verdict is made anew from what was found."""
    summary, columns = content["summary"], content["columns"]
    holes, notes = summary["holes"], content["notes"]
    shape = {"rows": content["n_slices"], "columns": summary["columns"], "holes": holes, "notes": notes}
    empty = {"compressors": (), "meanings": {}, "attempts": (), "power": None, "did": ()}
    finished = content["status"] not in (Status.BUDGET.name, Status.INTERRUPTED.name)
    return {
        **empty,
        "rows": None,
        "remaining": None,
        "untested": None,
        **dict.fromkeys(("score", "baseline_score", "spread", "repaired"), 0.0),
        **content,
        "kind": ModelKind.SEQUENCES,
        "shape": {**shape, "variables": columns, "sequences": summary["sequences"]},
        "seconds": summary["seconds"],
        "settings": {**content["settings"], "finished": finished},
    }
