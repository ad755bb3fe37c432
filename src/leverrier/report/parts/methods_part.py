"""The last sections: a paragraph to paste into a paper, the settings, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from leverrier.discovery.result import Result
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.verdict import ModelKind
from leverrier.report.parts.page_parts import Block, Fold, Grid, Items, Listing, Part, folded, several
from leverrier.report.words.done_words import done_words
from leverrier.report.words.time_words import ASKED, nats_of
from leverrier.report.words.verdict_words import kind_words

KINDS = {
    ModelKind.NETWORK: "hidden variables in a Bayesian network over the columns",
    ModelKind.CLASSES: "one hidden class behind all columns",
    ModelKind.NUMBERS: "hidden classes or continua beside a network of numbers and states as they are",
    ModelKind.CAUSES: "overlapping hidden yes/no causes (noisy-OR)",
}
REGIMES = (
    "First the best model without anything hidden was chosen: for each column a law of its own (normal, Student's t, "
    "counts, or categories by logits) that may ask the past of all columns, inputs, a trend, seasons and the "
    "calendar. Levels or classes of sequences that stay and hidden Markov states that move were then fitted by EM, "
    "and weighed by log-likelihood less ½ ln(time steps) a parameter; what they gain was compared with what the same "
    "search gains on sequences simulated without them"
)
WAYS = {
    "default": (
        "First the best model of each time step given those before it was chosen: trees over lags, then deterministic "
        "memories. Hidden chains were then begun from clusters of its residuals over windows of 1, 9, 41 and 201 "
        "time steps and fitted by EM"
    ),
    "boyen1999": (
        "By the loop of Boyen, Friedman and Koller (1999), arcs of a network over several time steps that skip one "
        "were replaced by hidden memory variables, begun as noisy copies, fitted by EM, and the search repeated"
    ),
}


SETTINGS = {
    "seed": "seed",
    "method": "method",
    "score": "score",
    "draws": "simulated tables asked for",
    "resamples": "resamples asked for",
    "version": "leverrier",
}


def details_part(found: Result, more: Sequence[Part | None]) -> Part:
    """Everything else, folded: what to paste into a paper, the fit tables, what was tried, how to repeat it."""
    text = methods_text(found) if found.time is None else _slices_text(found, found.time)
    folds: list[Block] = [Fold("Methods, ready to paste into a paper", (Listing(text, wrap=True),))]
    folds += [folded(part) for part in more if part is not None]
    if found.did:
        folds.append(Fold("What was done", (Items(tuple(map(done_words, found.did))),)))
    settings = found.settings
    rows = [
        (said, str(getattr(settings, name))) for name, said in SETTINGS.items() if getattr(settings, name) is not None
    ]
    rows += list(settings.versions.items())
    rows.append(("time", f"{found.seconds:.0f} s"))
    folds.append(Fold("Settings and versions", (Grid(("setting", "value"), tuple(rows), words=(0, 1)),)))
    folds.append(Fold("The command that repeats it", (Listing(repeat_text(found)),)))
    return Part("details", "Details", folds)


def methods_text(found: Result) -> str:
    """A paragraph for a paper."""
    settings, shape = found.settings, found.shape
    holes = f" ({shape.holes:,} empty cells, summed over)" if shape.holes else ""
    text = (
        f"We searched {several(shape.rows, 'row')} of {several(shape.columns, 'column')}{holes} for hidden "
        "variables with Leverrier "
        f"{settings.version} (seed {settings.seed}, score {settings.score}). "
    )
    if found.attempts:
        text += (
            f"{several(len(found.attempts), 'candidate')} were compared by the Cheeseman–Stutz score with the "
            "best network without. "
        )
    if not found.hidden:
        missed = f" {found.power}" if found.power is not None else ""
        return text + "No hidden variable was accepted." + missed
    text += f"The model accepted has {KINDS[found.kind]}: "
    text += "; ".join(f"{each.name}, {kind_words(each)}" for each in found.hidden[:8]) + ". "
    evidence = found.hidden[0].evidence
    if evidence is None or not evidence.tested:
        return text + "It was not tested against chance."
    if evidence.draws:
        text += (
            f"Against {several(evidence.draws, 'table')} simulated without the hidden variable and "
            "searched in the same way "
            f"its gain of {evidence.gain:.1f} nats has p = {evidence.p_value:.2g}. "
        )
    if evidence.held_out is not None and evidence.held_out_interval is not None:
        low, high = evidence.held_out_interval
        text += (
            f"On held-out rows it gains {evidence.held_out:+.4f} nats a row (95 % interval {low:+.4f} to {high:+.4f}). "
        )
    if evidence.support is not None:
        text += f"It came back in {100 * evidence.support:.0f} % of resamples."
    return text.strip()


def _slices_text(found: Result, time: TimeFindings) -> str:
    """The same of sequences."""
    shape, settings = found.shape, found.settings
    holes = f" ({shape.holes:,} empty cells, summed over)" if shape.holes else ""
    text = (
        f"We searched {several(shape.sequences, 'sequence')} of {shape.rows:,} time steps in all and "
        f"{several(shape.columns, 'column')}{holes} for hidden variables with Leverrier {settings.version} "
        f"(seed {settings.seed}). {WAYS[time.method] if time.decided is None else REGIMES}. "
    )
    if time.tested:
        text += (
            f"Models were compared by cross-validation over blocks ({several(len(time.folds), 'part')} held out in "
            f"turn){'' if time.decided is not None else f'; of a gain {ASKED}, over blocks'}. "
        )
    if not time.hidden:
        return text + f"No hidden variable was accepted; the best model is {time.observed_name}."
    named = "; ".join(f"{one.name}, {one.states} states" for one in time.hidden[:8])
    ahead = f"{nats_of(time.gain)} in 1,000 time steps over {time.observed_name} ({time.z:.1f} standard errors)"
    judged = f": {ahead}" if time.tested else ""
    tested = "".join(
        f" Of {one.draws} sets of sequences simulated without {name}, {one.reached} gained as much "
        f"(p = {one.p_value:.2g})."
        for name, one in time.evidence.items()
        if one.p_value is not None
    )
    tested += "".join(
        f" {name} came back in {100 * one.support:.0f} % of the resamples, of persons or of blocks of time steps."
        for name, one in time.evidence.items()
        if one.support is not None
    )
    return f"{text}The model has {several(len(time.hidden), 'hidden variable')} ({named}){judged}.{tested}"


def repeat_text(found: Result) -> str:
    """The command line's own words, and Python's: every option that was not left at its default."""
    given = found.settings.options
    command = "" if isinstance(given.get("by"), list) else f"{_command(given)}\n\n"  # (the command takes one column)
    python = "".join(f", {name}={value!r}" for name, value in given.items())
    return (
        f'{command}import leverrier as lv\nfound = lv.discover("your-table.csv"{python})\nfound.report("report.html")'
    )


def _command(given: Mapping[str, Any]) -> str:
    words = ["leverrier discover your-table.csv"]
    for name, value in given.items():
        if name == "max_parents":  # (Python's alone)
            continue
        if name == "evidence":
            words.append("--no-evidence")
            continue
        if name == "types":
            value = [f"{column}={kind}" for column, kind in value.items()]
        each = value if isinstance(value, list | tuple) else [value]
        words += [f"--{name.replace('_', '-')} {shlex.quote(str(one))}" for one in each]
    return " ".join(words)
