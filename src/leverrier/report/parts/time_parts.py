"""The sections of a report on sequences alone: what held-out blocks say, and what is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from leverrier.data.sequences.slice_features import Memory
from leverrier.discovery.result import Result
from leverrier.discovery.time.along_time import AlongTime
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.report.charts.pictures import pictured
from leverrier.report.charts.sequence_charts import folds_chart, tried_chart
from leverrier.report.parts.null_figure import null_figure
from leverrier.report.parts.page_parts import (
    Beside,
    Block,
    Figures,
    Fold,
    Grid,
    Items,
    Part,
    Words,
    abbreviated,
    percent,
    several,
    shortened,
)
from leverrier.report.parts.tree_tables import MEANING, node_name
from leverrier.report.words.bet_words import chance_words, comeback_words, held_out_bet
from leverrier.report.words.page_words import NATS
from leverrier.report.words.time_words import (
    ASKED,
    THOUSAND,
    chain_words,
    lengths_text,
    nats_of,
    observed_words,
    step_of,
    steps_of,
)

LONG = 48
BIT = THOUSAND / 1000
"""Nats."""


def short_chain(one: HiddenChain, unit: TimeUnit = STEP) -> str:
    """The sentence on a hidden variable, with labels that can be read and at most twelve of them."""
    names = abbreviated(one.drives, LONG)
    said = [names[name] for name in one.drives]
    drives = (*said[:11], f"{len(said) - 11} more") if len(said) > 12 else tuple(said)
    short = replace(one, name=shortened(one.name, LONG), drives=drives, of=shortened(one.of, LONG))
    return chain_words(short, unit)


def held_out_part(whole: Result, found: TimeFindings, unit: TimeUnit = STEP) -> Part:
    """Simulated sequences, then blocks that were held out, in words; then part by part, and every model tried."""
    many = steps_of(unit)
    blocks: list[Block] = [Words(NATS)]
    tested = [(each, each.evidence) for each in whole.hidden if each.evidence is not None and each.evidence.draws]
    for each, one in tested:
        again = () if one.support is None else (_comeback(whole, each.name, one.support, many),)
        said = Items((chance_words(one), *_held_out_words(found, many), *again))
        blocks.append(Beside(null_figure(each.name, one), (said,)))
    if found.tested:
        if not tested:
            blocks += [Items(tuple(_held_out_words(found, many)))] if found.hidden else []
        blocks.append(
            Words(
                f"Every model was fitted with a part of the {many} left out, in blocks, and then asked to predict them."
            )
        )
    else:
        blocks.append(Words(f"Nothing was held out in this run: costs below are of the {many} learnt from."))
    figures = [pictured(tried_chart(found.table, many), _caption(found, many))]
    if any(fold.hidden is not None for fold in found.folds):
        what = "the hidden variables" if found.hidden else "the best attempt with something hidden"
        figures.insert(0, pictured(folds_chart(found.folds, many), f"By part held out: what {what} gained."))
    blocks.append(Figures(tuple(figures)))
    folds: list[Block] = [_folds(found, many)] if any(fold.hidden is not None for fold in found.folds) else []
    blocks.append(Fold("Every part and every model, in numbers", (*folds, _tried(found, many))))
    return Part("evidence", "Would you bet on it?" if found.hidden else "What was looked for", blocks)


def _comeback(whole: Result, name: str, support: float, many: str) -> str:
    return comeback_words(name, support, whole.settings.resamples, f"persons, or of blocks of {many}")


def _held_out_words(found: TimeFindings, many: str) -> Iterator[str]:
    """The gain on blocks as a bet on a thousand new time steps, from its standard error over blocks."""
    if found.tested and found.hidden and found.z:
        error = abs(found.gain / found.z)
        low, high = (BIT * (found.gain + sign * 1.959964 * error) for sign in (-1, 1))
        yield held_out_bet(BIT * found.gain, (low, high), many)


def _caption(found: TimeFindings, many: str) -> str:
    where = "on blocks that were held out" if found.tested else "of the sequences learnt from"
    return f"What 1,000 {many} cost every model, in nats, {where}: fewer is better."


def _folds(found: TimeFindings, many: str) -> Grid:
    rows = []
    for number, fold in enumerate(found.folds, start=1):
        hidden = fold.observed if fold.hidden is None else fold.hidden
        cost = (f"{each * THOUSAND:,.1f}" for each in (fold.observed, hidden))
        rows.append((str(number), f"{fold.slices:,}", *cost, nats_of(fold.observed - hidden).removesuffix(" nats")))
    head = ("part held out", many, "cost without", "cost with", "gain")
    return Grid(head, tuple(rows), f"Nats in 1,000 {many}; without: {found.observed_name}.")


def _tried(found: TimeFindings, many: str) -> Grid:
    chosen = found.decided is not None  # (by laws: the one that was tested; others may be ahead of the rival too)
    rows = tuple(
        (
            shortened(row.name, 60),
            f"{row.bits * THOUSAND:,.1f}",
            nats_of(row.gain).removesuffix(" nats") if row.against else "–",
            f"{row.z:.1f}" if row.against and found.tested else "–",
            shortened(row.against or "–", 40),
            "–" if chosen and not row.against else "yes" if row.accepted else "no",
        )
        for row in found.table
    )
    head = ("model", "cost", "gain", "in standard errors", "against", "chosen" if chosen else "clearly better")
    asked = "" if chosen else f" Clearly better: {ASKED}."
    caption = f"Cost and gain in nats in 1,000 {many}; standard errors over blocks.{asked}"
    return Grid(head, rows, caption, words=(0, 4, 5), stack=True)


def remembered_part(found: TimeFindings, unit: TimeUnit = STEP) -> Part:
    """What is remembered, for how long, and by which columns."""
    blocks: list[Block] = []
    if found.hidden:
        rows = []
        for one in found.hidden:
            what = f"{one.of}, {one.depth} before" if one.of else "a state of its own"
            lasts = "always" if one.stays else lengths_text(one.dwell.tolist(), unit)
            rows.append((shortened(one.name, LONG), shortened(what, LONG), lasts, _names(one.drives)))
        blocks.append(
            Grid(("hidden", "remembers", "lasts (by state)", "drives"), tuple(rows), words=(0, 1, 2, 3), stack=True)
        )
    lags = [row for row in found.table if not row.hidden and row.accepted and "memories" not in row.name]
    if found.method == "default" and lags:
        blocks.append(
            Words(
                f"Of the columns themselves: {observed_words(found, unit)} Best without hidden variables: "
                f"{found.observed_name}."
            )
        )
    blocks.append(_asked(found, unit))
    if found.memories:
        said = tuple(f"{memory.name}: {MEANING[memory.kind]}" for memory in found.memories[:20])
        blocks += [Words("Memories that clearly help, each computed from what came before:"), Items(said)]
    elif found.method == "default":
        blocks.append(Words("No memory beyond the lags (averages, run lengths, counters) clearly helps."))
    if found.steps:
        blocks += [Words("The rounds of the loop:"), Items(found.steps)]
    return Part("remembered", "What is remembered, and for how long", blocks)


def _asked(found: TimeFindings, unit: TimeUnit) -> Grid:
    rows = []
    for name in (variable.name for variable in found.variables):
        features = found.face.asked[name]
        asked = [node_name(feature) for feature in features]
        back = max((f.lag for f in features if not isinstance(f, Memory)), default=0)
        rows.append((shortened(name, LONG), _names(asked) or "nothing", str(back)))
    return Grid(
        ("column", "depends on", f"{steps_of(unit)} back"), tuple(rows[:40]), _more(len(rows)), words=(0, 1), stack=True
    )


def _more(rows: int) -> str:
    return f"The first 40 of {several(rows, 'column')}." if rows > 40 else ""


def _names(names: Sequence[str]) -> str:
    said = [shortened(name, LONG) for name in names[:12]]
    return "; ".join(said) + (f"; {len(names) - 12} more" if len(names) > 12 else "")


def certainty_words(one: HiddenChain, kept: AlongTime) -> str:
    """How sure time steps are of their state."""
    sure, step = kept.certainty.get(one.name), step_of(kept.unit)
    return "" if sure is None else f"The most probable state of a {step} has {percent(sure)} on average."
