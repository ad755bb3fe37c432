"""The section of a report on sequences that runs along time: ribbons, moves, how long states last, what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.time.along_time import AlongTime, Ribbon
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import TimeUnit
from leverrier.report.charts.over_columns import over_columns
from leverrier.report.charts.palette import STATES
from leverrier.report.charts.pictures import pictured
from leverrier.report.charts.sequence_charts import MANY, ahead_chart, ribbons_chart, stays_chart
from leverrier.report.parts.page_parts import (
    Beside,
    Block,
    Figure,
    Figures,
    Fold,
    Grid,
    Part,
    Words,
    abbreviated,
    percent,
    shortened,
)
from leverrier.report.parts.time_parts import LONG, certainty_words
from leverrier.report.words.time_words import lengths_text, step_of, steps_of

MOST_COLUMNS, MOST_DRAWN = 6, 24
"""Of the columns above a ribbon, and of the sequences drawn so."""
MOST_STATES = len(STATES)
"""With more states there are no ribbons: colours would repeat."""


def time_part(found: TimeFindings, kept: AlongTime, sequences: Sequences | None = None) -> Part | None:
    """States along sequences, transitions, dwell times, forecast; with the sequences, their own columns above."""
    blocks: list[Block] = []
    for one in found.hidden:
        blocks += _chain(one, kept)
        if sequences is not None and one.states <= MOST_STATES:
            blocks.append(_over_columns(one, kept, sequences))
    ahead = [
        pictured(
            ahead_chart(each, steps_of(kept.unit)),
            f"{shortened(each.name, LONG)}{' (hidden)' if each.hidden else ''}, "
            f"after sequence {shortened(each.sequence, 40)}.",
        )
        for each in kept.ahead
    ]
    if ahead:
        blocks += [
            Words("What comes next, by the model: the further ahead, the nearer to what is usual."),
            Figures(tuple(ahead)),
        ]
    return Part("time", "Over time", blocks) if blocks else None


def _chain(one: HiddenChain, kept: AlongTime) -> list[Block]:
    labels = _labels(one)
    name = shortened(one.name, LONG)
    step = step_of(kept.unit)
    words = f"{name}: by row the state of a {step}, by column that of the next. {certainty_words(one, kept)}".strip()
    blocks: list[Block] = [Words(words), _moves(one, labels, kept.unit)]
    if one.states > MOST_STATES:
        return blocks
    ribbons = [each for each in kept.ribbons if each.hidden == one.name]
    figures = [_ribbons(name, ribbons, labels, kept)] if ribbons else []
    stays = [each for each in kept.stays if each.hidden == one.name]
    if any(each.lengths for each in stays):
        caption = f"{name}: how long its states lasted; dashed, a chain of the same mean."
        lasted = pictured(stays_chart(stays, labels, kept.unit), caption)
        if len(figures) == 1 and len(ribbons) <= MANY:
            figures.append(lasted)
        else:
            blocks = [Beside(lasted, tuple(blocks))]
    return [Figures(tuple(figures)), *blocks] if figures else blocks


def _over_columns(one: HiddenChain, kept: AlongTime, sequences: Sequences) -> Fold:
    """Every sequence that has a ribbon with the columns that the variable drives: chosen by scrolling."""
    names = [str(name) for name in sequences.names]
    columns = [name for name in one.drives if name in sequences.variables or name in sequences.numbers][:MOST_COLUMNS]
    drawn = [each for each in kept.ribbons if each.hidden == one.name and each.spans][:MOST_DRAWN]
    figures = tuple(
        pictured(
            over_columns(each, _labels(one), sequences[names.index(each.sequence)], columns, kept.time, "page"),
            f"{shortened(each.sequence, 40)}: its columns, and below them its states.",
        )
        for each in drawn
    )
    return Fold(f"{shortened(one.name, LONG)} below the data of each sequence", (Figures(figures),))


def _ribbons(name: str, ribbons: Sequence[Ribbon], labels: Sequence[str], kept: AlongTime) -> Figure:
    """Every sequence a line, one below the other."""
    cut = any(each.left_out for each in ribbons)
    rest = f" Of long ones the first {steps_of(kept.unit)} are shown." if cut else ""
    shown = len({each.sequence for each in ribbons})
    which = "" if shown >= kept.sequences else f" of the {shown} longest of {kept.sequences:,} sequences"
    caption = f"{name}: the most probable states{which}, paler where they are less sure.{rest}"
    size = "page" if len(ribbons) <= MANY else "notebook"
    return pictured(ribbons_chart(ribbons, labels, kept.time, size), caption, wide=size == "notebook")


def _labels(one: HiddenChain) -> list[str]:
    if not one.labels:
        return [f"state {k}" for k in range(one.states)]
    names = abbreviated(one.labels, 20)
    return [names[label] for label in one.labels]


def _moves(one: HiddenChain, labels: Sequence[str], unit: TimeUnit) -> Grid:
    """The transition table, with how long each state lasts."""
    most = MOST_STATES
    rows = tuple(
        (
            labels[k],
            *(percent(float(share)) for share in one.transition[k, :most]),
            percent(float(one.share[k])),
            "always" if one.stays else lengths_text([float(one.dwell[k])], unit),
        )
        for k in range(min(one.states, most))
    )
    head = (shortened(one.name, 24), *(f"→ {label}" for label in labels[:most]), "share of time", "lasts")
    note = f"The first {most} of {one.states} states." if one.states > most else ""
    return Grid(head, rows, note, stack=one.states > 4)
