"""The documentation's page of reproduced results: written from the results, never by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.experiment import Section, Shown
from experiments.runner import Run
from experiments.showing import claims_grid, command, figures_of, missing_words, picture_name, provenance, write_text
from leverrier.report.charts.pictures import save_picture
from leverrier.report.parts.page_parts import Grid

PAGE = "reproduced.md"
PICTURES = "reproduced"
INTRODUCTION = """# The sources' tables, ours beside them

Written by `scripts/reproduce all --write-docs docs` from the results of the runs named below; not edited by hand.
"""


def write_docs(folder: Path, done: Sequence[tuple[Run, Shown]]) -> Path:
    """The page and its figures."""
    pictures = folder / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for run, shown in done:
        for figure in figures_of(shown):
            save_picture(figure.chart, pictures / picture_name(run, figure))
    page = folder / PAGE
    write_text(page, "\n".join([INTRODUCTION, *(_experiment(run, shown) for run, shown in done)]))
    return page


def _experiment(run: Run, shown: Shown) -> str:
    quick = " These are quick settings, not the full run." if run.settings.quick else ""
    made = f"`{command(run)}`: {provenance(run)}{quick}"
    lines = [f"## {run.experiment.title}", "", made, "", run.experiment.data, "", *_grid(claims_grid(shown.claims)), ""]
    if words := missing_words(run):
        lines += [words, ""]
    for section in shown.sections:
        lines += _section(run, section)
    return "\n".join(lines)


def _section(run: Run, section: Section) -> list[str]:
    lines = [f"### {section.heading}", ""]
    for words in section.words:
        lines += [words, ""]
    for grid in section.grids:
        lines += [*([grid.caption, ""] if grid.caption else []), *_grid(grid), ""]
    for figure in section.figures:
        lines += [f"![{figure.caption}]({PICTURES}/{picture_name(run, figure)})", ""]
    return lines


def _grid(grid: Grid) -> list[str]:
    marks = ("---" if place in grid.words else "---:" for place in range(len(grid.head)))
    return [_row(grid.head), "|" + "|".join(marks) + "|", *map(_row, grid.rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
