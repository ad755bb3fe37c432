"""The sections of a report on sequences alone: what held-out blocks say, and what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from leverrier.data.sequences.slice_features import Memory
from leverrier.discovery.time.along_time import AlongTime
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.report.charts.pictures import pictured
from leverrier.report.charts.sequence_charts import folds_chart, tried_chart
from leverrier.report.parts.page_parts import (
    Block,
    Figures,
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
from leverrier.report.words.time_words import ASKED, chain_words, lengths_text, observed_words, tested_words

LONG = 48


def short_chain(one: HiddenChain, unit: TimeUnit = STEP) -> str:
    """The sentence on a hidden variable, with labels that can be read and at most twelve of them."""
    names = abbreviated(one.drives, LONG)
    said = [names[name] for name in one.drives]
    drives = (*said[:11], f"{len(said) - 11} more") if len(said) > 12 else tuple(said)
    short = replace(one, name=shortened(one.name, LONG), drives=drives, of=shortened(one.of, LONG))
    return chain_words(short, unit)


def held_out_part(found: TimeFindings) -> Part:
    """Blocked cross-validation against the best model without, part by part, and every model that was tried."""
    blocks: list[Block] = []
    if found.tested and found.by_laws:
        said = tuple(tested_words(found))
        blocks += [Items(said)] if said else []
        blocks.append(
            Words(
                "Every model was also fitted with a part of the slices left out, in blocks, and then asked to predict "
                f"them. What is hidden must not do worse there than the best model without ({found.observed_name})."
            )
        )
    elif found.tested:
        blocks.append(
            Words(
                "Every model was fitted with a part of the slices left out, in blocks, and then asked to predict them. "
                f"What is hidden is believed only if it beats the best model without ({found.observed_name}); {ASKED}."
            )
        )
    else:
        blocks.append(Words("Nothing was held out in this run: bits below are of the sequences learnt from."))
    figures = [pictured(tried_chart(found.table), _caption(found))]
    if any(fold.hidden is not None for fold in found.folds):
        blocks.append(_folds(found))
        what = "the hidden variables" if found.hidden else "the best attempt with something hidden"
        figures.insert(0, pictured(folds_chart(found.folds), f"By part held out: what {what} gained."))
    blocks += [Figures(tuple(figures)), _tried(found)]
    return Part("evidence", "Would you bet on it?" if found.hidden else "What was looked for", blocks)


def _caption(found: TimeFindings) -> str:
    where = "on blocks that were held out" if found.tested else "of the sequences learnt from"
    return f"Bits a slice {where}: fewer is better."


def _folds(found: TimeFindings) -> Grid:
    rows = []
    for number, fold in enumerate(found.folds, start=1):
        hidden = fold.observed if fold.hidden is None else fold.hidden
        rows.append(
            (str(number), f"{fold.slices:,}", f"{fold.observed:.4f}", f"{hidden:.4f}", f"{fold.observed - hidden:+.4f}")
        )
    head = ("part held out", "slices", "bits without", "bits with", "gain")
    return Grid(head, tuple(rows), f"Without: {found.observed_name}.")


def _tried(found: TimeFindings) -> Grid:
    rows = tuple(
        (
            shortened(row.name, 60),
            f"{row.bits:.4f}",
            f"{row.gain:+.4f}" if row.against else "–",
            f"{row.z:.1f}" if row.against and found.tested else "–",
            shortened(row.against or "–", 40),
            "yes" if row.accepted else "no",
        )
        for row in found.table
    )
    head = ("model", "bits", "gain", "z", "against", "clearly better")
    return Grid(head, rows, "z: the gain in standard errors over blocks.", words=(0, 4, 5), stack=True)


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
                f"Of the columns themselves: {observed_words(found)} Best without hidden variables: "
                f"{found.observed_name}."
            )
        )
    blocks.append(_asked(found))
    if found.memories:
        said = tuple(f"{memory.name}: {MEANING[memory.kind]}" for memory in found.memories[:20])
        blocks += [Words("Memories that clearly help, each computed from the slices before:"), Items(said)]
    elif found.method == "default":
        blocks.append(Words("No memory beyond the lags (averages, run lengths, counters) clearly helps."))
    if found.steps:
        blocks += [Words("The rounds of the loop:"), Items(found.steps)]
    return Part("remembered", "What is remembered, and for how long", blocks)


def _asked(found: TimeFindings) -> Grid:
    rows = []
    for name in (variable.name for variable in found.variables):
        features = found.face.asked[name]
        asked = [node_name(feature) for feature in features]
        back = max((f.lag for f in features if not isinstance(f, Memory)), default=0)
        rows.append((shortened(name, LONG), _names(asked) or "nothing", str(back)))
    return Grid(("column", "depends on", "slices back"), tuple(rows[:40]), _more(len(rows)), words=(0, 1), stack=True)


def _more(rows: int) -> str:
    return f"The first 40 of {several(rows, 'column')}." if rows > 40 else ""


def _names(names: Sequence[str]) -> str:
    said = [shortened(name, LONG) for name in names[:12]]
    return "; ".join(said) + (f"; {len(names) - 12} more" if len(names) > 12 else "")


def certainty_words(one: HiddenChain, kept: AlongTime) -> str:
    """How sure slices are of their state."""
    sure = kept.certainty.get(one.name)
    return "" if sure is None else f"A slice's most probable state has {percent(sure)} on average."
