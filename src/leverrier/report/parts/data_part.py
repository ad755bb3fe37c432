"""The data: how they were read, what was changed or set aside, where cells were empty."""

from __future__ import annotations

from collections.abc import Sequence

from leverrier.data.quality.noticed import Noticed
from leverrier.discovery.result import Result
from leverrier.report.charts.discovery_charts import holes_chart
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.page_parts import Beside, Block, Fold, Grid, Items, Part, Words, percent, shortened
from leverrier.report.words.data_words import holes_words, kinds_words
from leverrier.report.words.quality_words import quality_lines

MOST_NOTES, MOST_COLUMNS = 20, 100


def _noticed(quality: Sequence[Noticed]) -> list[Block]:
    """What a careful analyst would notice: what may change the answer is seen at once, the rest can be unfolded."""
    first, rest = (tuple(each for each in quality if each.important is asked) for asked in (True, False))
    blocks: list[Block] = []
    if first:
        blocks += [Words("Noticed, and able to change the answer:"), Items(tuple(quality_lines(first[:MOST_NOTES])))]
    if len(first) > MOST_NOTES:
        blocks.append(Words(f"And {len(first) - MOST_NOTES} more: `leverrier check` lists them all."))
    if rest:
        blocks.append(Fold("Also noticed", (Items(tuple(quality_lines(rest[:MOST_NOTES]))),)))
    return blocks


def data_part(found: Result) -> Part:
    """Notes of the reader first: whatever changed the user's data is said aloud."""
    shape = found.shape
    blocks: list[Block] = [Words(" ".join((*kinds_words(found), holes_words(found))))]
    holes = {} if found.rows is None else found.rows.holes
    if holes:
        caption = f"Empty cells by column{' (the 20 with most)' if len(holes) > 20 else ''}."
        blocks = [Beside(pictured(holes_chart(holes, shape.rows), caption), tuple(blocks))]
    blocks += _noticed(shape.quality)
    if shape.notes:
        blocks += [
            Words("What reading the data changed:"),
            Items(tuple(str(each) for each in shape.notes[:MOST_NOTES])),
        ]
        if len(shape.notes) > MOST_NOTES:
            blocks.append(Words(f"And {len(shape.notes) - MOST_NOTES} more: `leverrier check` lists them all."))
    if shape.variables:
        rows = tuple(
            (
                shortened(column.name, 48),
                "number, in bins where states are needed" if column.binned else column.kind,
                str(column.cardinality),
                *([] if found.rows is None else [percent(holes.get(column.name, 0) / max(shape.rows, 1))]),
            )
            for column in shape.variables[:MOST_COLUMNS]
        )
        rest = len(shape.variables) - MOST_COLUMNS
        caption = f"The first {MOST_COLUMNS} of {len(shape.variables)}." if rest > 0 else ""
        known = ("column", "read as", "states", *(() if found.rows is None else ("empty",)))
        grid = Grid(known, rows, caption, words=(0, 1), stack=True)
        blocks.append(Fold("Every column", (grid,)))
    return Part("data", "The data", blocks)
