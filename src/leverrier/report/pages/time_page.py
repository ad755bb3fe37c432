"""The report of sequences: the same page as that of a table, with what runs along time."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from leverrier.discovery.time.time_diagnostics import TimeSummary
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_words import summary
from leverrier.report.html.page_html import page
from leverrier.report.parts.along_time import time_part
from leverrier.report.parts.page_parts import Block, Grid, Items, Listing, Part, Words, several
from leverrier.report.parts.slices_part import network_part
from leverrier.report.parts.time_parts import evidence_part, remembered_part, states_part, verdict_part

WAYS = {
    "default": (
        "First the best model of each slice given those before it was chosen: trees over lags, then deterministic "
        "memories. Hidden chains were then begun from clusters of its residuals over windows of 1, 9, 41 and 201 "
        "slices and fitted by EM"
    ),
    "boyen1999": (
        "By the loop of Boyen, Friedman and Koller (1999), arcs of a network over several slices that skip a slice "
        "were replaced by hidden memory variables, begun as noisy copies, fitted by EM, and the search repeated"
    ),
}


def time_page(
    found: TimeFindings, kept: TimeSummary, settings: Mapping[str, Any], title: str, live: bool = True
) -> str:
    """The whole report as HTML."""
    return page(title, summary(found), time_parts(found, kept, settings), live)


def time_parts(found: TimeFindings, kept: TimeSummary, settings: Mapping[str, Any]) -> list[Part]:
    """The sections, in the order they are read."""
    return [
        verdict_part(found, kept),
        network_part(found),
        evidence_part(found),
        states_part(found),
        time_part(found, kept),
        remembered_part(found),
        methods_part(found, kept, settings),
    ]


def methods_part(found: TimeFindings, kept: TimeSummary, settings: Mapping[str, Any]) -> Part:
    """What was done, ready to paste; seed, versions, the command."""
    blocks: list[Block] = [Listing(methods_text(found, kept, settings), wrap=True)]
    if found.notes:
        blocks += [Words("What reading the data changed:"), Items(found.notes[:20])]
    versions = settings.get("versions") or {}
    rows = [
        ("seed", str(settings.get("seed", "–"))),
        ("method", found.method),
        ("leverrier", str(settings.get("version", "–"))),
        *((name, str(value)) for name, value in versions.items()),
        ("time", f"{kept.seconds:.0f} s"),
    ]
    blocks += [Grid(("setting", "value"), tuple(rows), words=(0, 1)), Words("To repeat it:")]
    return Part("methods", "Methods", [*blocks, Listing(repeat_text(settings))])


def methods_text(found: TimeFindings, kept: TimeSummary, settings: Mapping[str, Any]) -> str:
    """A paragraph for a paper."""
    holes = f" ({kept.holes:,} empty cells, summed over)" if kept.holes else ""
    text = (
        f"We searched {several(kept.sequences, 'sequence')} of {found.n_slices:,} slices in all and "
        f"{several(kept.columns, 'column')}{holes} for hidden variables with Leverrier {settings.get('version', '')} "
        f"(seed {settings.get('seed', 0)}). {WAYS[found.method]}. "
    )
    if found.tested:
        text += (
            f"Models were compared by cross-validation over blocks ({several(len(found.folds), 'part')} held out in "
            "turn), a gain being accepted from .005 bits a slice and three standard errors over blocks on. "
        )
    if not found.hidden:
        return text + f"No hidden variable was accepted; the best model is {found.observed_name}."
    named = "; ".join(f"{one.name}, {one.states} states" for one in found.hidden[:8])
    judged = f": {found.gain:+.3f} bits a slice over {found.observed_name} (z {found.z:.1f})" if found.tested else ""
    return f"{text}The model has {several(len(found.hidden), 'hidden variable')} ({named}){judged}."


def repeat_text(settings: Mapping[str, Any]) -> str:
    """The command line, and Python."""
    method = settings.get("method", "auto")
    words = ["leverrier", "discover", "your-table.csv"]
    python = []
    for name in ("by", "time"):
        if settings.get(name) is not None:
            words += [f"--{name}", shlex.quote(str(settings[name]))]
            python.append(f"{name}={settings[name]!r}")
    for name in settings.get("ignore") or ():
        words += ["--ignore", shlex.quote(str(name))]
    if settings.get("ignore"):
        python.append(f"ignore={list(settings['ignore'])!r}")
    if method != "auto":
        words += ["--method", method]
        python.append(f"method={method!r}")
    words += ["--seed", str(settings.get("seed", 0))]
    arguments = ", ".join(['"your-table.csv"', *python, f"seed={settings.get('seed', 0)}"])
    command = "" if isinstance(settings.get("by"), list) else f"{' '.join(words)}\n\n"  # (the command takes one column)
    return f'{command}import leverrier as lv\nfound = lv.discover({arguments})\nfound.report("report.html")'
