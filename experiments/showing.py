"""An experiment's results as text, as a page, as JSON and as a part of the documentation."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import leverrier as lv
from experiments.experiment import Claim, Figure, Section, Shown
from experiments.runner import Run
from leverrier.report.charts.pictures import pictured, save_picture
from leverrier.report.html.page_html import page
from leverrier.report.parts.page_parts import Block, Figures, Grid, Items, Part, Words
from leverrier.run.atomic_file import fill, put

WIDTH = 110
CLAIM_HEAD = ("claim", "source", "ours", "verdict", "why, or what to know")


def as_text(run: Run, shown: Shown) -> str:
    """For a terminal."""
    lines = [run.experiment.title, "=" * len(run.experiment.title), "", *_wrapped(run.experiment.data)]
    for section in shown.sections:
        lines += ["", section.heading, "-" * len(section.heading)]
        for words in section.words:
            lines += _wrapped(words)
        for grid in section.grids:
            lines += ["", *_text_grid(grid)]
    lines += ["", "Claims", "------"]
    for claim in shown.claims:
        lines += _wrapped(
            f"[{claim.verdict}] {claim.claim}. Source: {claim.source}. Ours: {claim.ours}."
            + (f" ({claim.reason})" if claim.reason else ""),
            "    ",
        )
    return "\n".join([*lines, "", *_wrapped(missing_words(run))]).rstrip() + "\n"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent)


def _text_grid(grid: Grid) -> list[str]:
    rows = [grid.head, *grid.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(grid.head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if place in grid.words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    caption = [grid.caption] if grid.caption else []
    return [*caption, line(grid.head), "  ".join("-" * width for width in widths), *map(line, grid.rows)]


def missing_words(run: Run) -> str:
    """What is not there, and why."""
    said = []
    if run.left_out:
        files = sorted({name for names in run.left_out.values() for name in names})
        said.append(
            f"Left out for want of data: {', '.join(run.left_out)}; they need {', '.join(files)} "
            "(give the folder with --data or LEVERRIER_DATA)."
        )
    if run.failed:
        said.append("Failed: " + "; ".join(f"{key} ({error})" for key, error in run.failed.items()) + ".")
    if run.stopped:
        said.append("Interrupted: what was done is kept, and the same command goes on from there.")
    return " ".join(said)


def provenance(run: Run) -> str:
    """When, with which commit and in what time the results were made."""
    if not run.kept:
        return "Nothing was run yet."
    dates = sorted({each.date for each in run.kept.values()})
    commits = list(dict.fromkeys(each.commit for each in run.kept.values() if each.commit))
    seconds = sum(each.seconds for each in run.kept.values())
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    made = f", commit{'s' * (len(commits) > 1)} {', '.join(commits)}" if commits else ""
    every = len(run.experiment.units(run.settings.quick, run.settings.seed))
    count = f"{len(run.kept)} of {every} units" if len(run.kept) < every else f"{every} units"
    return (
        f"{count}, {_duration(seconds)} of processor time, {when}, version {lv.__version__}{made}, "
        f"seed {run.settings.seed}."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def command(run: Run) -> str:
    """What to type for these results."""
    words = ["scripts/reproduce", run.experiment.name]
    words += ["--quick"] if run.settings.quick else []
    words += ["--seed", str(run.settings.seed)] if run.settings.seed else []
    return " ".join([*words, "--data", "DATA"])


def as_json(run: Run, shown: Shown) -> dict[str, Any]:
    """For machines: claims, tables and every unit's result."""
    return {
        "experiment": run.experiment.name,
        "title": run.experiment.title,
        "command": command(run),
        "quick": run.settings.quick,
        "seed": run.settings.seed,
        "version": lv.__version__,
        "claims": [
            {"claim": c.claim, "source": c.source, "ours": c.ours, "verdict": c.verdict, "reason": c.reason}
            for c in shown.claims
        ],
        "tables": [
            {"section": section.heading, "caption": grid.caption, "head": grid.head, "rows": grid.rows}
            for section in shown.sections
            for grid in section.grids
        ],
        "left out": run.left_out,
        "failed": run.failed,
        "stopped": run.stopped,
        "results": {
            key: {"result": each.result, "seconds": each.seconds, "date": each.date, "commit": each.commit}
            for key, each in run.kept.items()
        },
    }


def claims_grid(claims: Sequence[Claim]) -> Grid:
    rows = tuple((c.claim, c.source, c.ours, c.verdict, c.reason) for c in claims)
    return Grid(CLAIM_HEAD, rows, words=tuple(range(len(CLAIM_HEAD))), stack=True)


def as_page(run: Run, shown: Shown, live: bool = True) -> str:
    """One HTML file that needs no network."""
    holding = sum(claim.holds is True for claim in shown.claims)
    decided = sum(claim.holds is not None for claim in shown.claims)
    summary = f"{holding} of {decided} claims hold"
    first: list[Block] = [Words(summary + ".", strong=True), claims_grid(shown.claims)]
    parts = [Part("claims", "Claims", first)]
    for number, section in enumerate(shown.sections):
        parts.append(Part(f"part{number}", section.heading, _blocks(section)))
    about = [run.experiment.data, f"Command: {command(run)}", provenance(run), missing_words(run)]
    parts.append(Part("about", "How it was made", [Items(tuple(line for line in about if line))]))
    return page(run.experiment.title, summary, parts, live)


def _blocks(section: Section) -> list[Block]:
    blocks: list[Block] = [Words(words) for words in section.words]
    blocks += section.grids
    pictures = [pictured(figure.chart, figure.caption, figure.wide) for figure in section.figures]
    small = tuple(picture for picture in pictures if not picture.wide)
    blocks += [picture for picture in pictures if picture.wide]
    return [*blocks, Figures(small)] if small else blocks


def figures_of(shown: Shown) -> list[Figure]:
    return [figure for section in shown.sections for figure in section.figures]


def write(run: Run, shown: Shown, live: bool = True) -> list[Path]:
    """NAME.html, NAME.json and a PNG of each figure in the output folder."""
    folder, name = run.settings.output, run.experiment.name
    content = json.dumps(as_json(run, shown), indent=1) + "\n"
    texts = {f"{name}.html": as_page(run, shown, live), f"{name}.json": content}
    written = []
    for file, text in texts.items():
        written.append(folder / file)
        write_text(written[-1], text)
    for figure in figures_of(shown):
        written.append(folder / picture_name(run, figure))
        save_picture(figure.chart, written[-1])
    return written


def picture_name(run: Run, figure: Figure) -> str:
    return f"{run.experiment.name}-{figure.name}.png"


def write_text(path: Path, text: str) -> None:
    put(path, lambda part: fill(part, text.encode()))
