"""The first thing a new user runs: something is hidden from bundled data, and found again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import leverrier as lv
from leverrier.cli.help_pages import Verb
from leverrier.cli.page_writing import afterwards, telling, told_as_notes
from leverrier.cli.progress_bar import Interruptible, interrupted, note
from leverrier.cli.shared_flags import Flags, shared

if TYPE_CHECKING:  # `leverrier --help` must not import numerics
    import numpy as np
    from numpy.typing import NDArray

HIDDEN = "HR"
AROUND = ("CATECHOL", "STROKEVOLUME", "CO", "HRBP", "HREKG", "HRSAT")
ROWS = 1000


@click.command(cls=Verb)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    default="leverrier-demo",
    show_default=True,
    help="Folder for the data, the findings and the report.",
)
@shared("seed jobs budget static json quiet")
def demo(output: str, flags: Flags) -> int:
    """Take the heart rate out of a table of heart measurements, and find that something is missing there.

    \b
    leverrier demo
    leverrier demo --budget 30s -o somewhere
    """
    from leverrier.report.words.terminal_words import terminal_words

    rows = lv.datasets.network("alarm").sample(ROWS, seed=flags.seed).select([*AROUND, HIDDEN])
    data = rows.drop(HIDDEN)
    note(
        f"{ROWS:,} patients of the ALARM network, {len(AROUND)} measurements; {HIDDEN}, the heart rate, was "
        "taken away. Compiling numerical kernels, once (some seconds) …",
        flags.hush,
    )
    with Interruptible(flags.hush, flags.budget, afterwards(not flags.static), cuts=True) as run:
        found = lv.discover(
            data,
            level=0.05,
            draws=19,
            resamples=2,
            max_hidden=1,
            jobs=flags.jobs,
            seed=flags.seed,
            stop=run.stop,
            progress=telling(run, not flags.static),
            budget=run.seconds,
        )
    if run.stop.asked:
        return interrupted(run)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    lv.write_table(data, folder / "patients.csv")
    found.save(folder / "findings.json")
    with told_as_notes(flags.hush):
        title = "Something unmeasured among heart measurements"
        found.report(folder / "report.html", title=title, live=not flags.static)
    if flags.json:
        click.echo((folder / "findings.json").read_text(encoding="utf-8"))
        return 0
    click.echo(terminal_words(found.result))
    if found.hidden:
        from leverrier.counts.label_agreement import adjusted_rand

        states = found.posterior(data).argmax(axis=1)
        agreement = adjusted_rand(rows.column(HIDDEN), states)
        click.echo(
            f"\nThe states found for each row agree with the heart rate that was taken away at an adjusted Rand "
            f"index of {agreement:.2f} (1 is perfect, 0 is chance)."
        )
        click.echo(_reveal(rows, states))
    if not flags.quiet:
        click.echo(f"The report is in {folder / 'report.html'}")
    return 0


def _reveal(rows: lv.Table, found: NDArray[np.intp]) -> str:
    """The true heart rate by the states found, as counts of patients."""
    truth, labels = rows.column(HIDDEN), rows.states[HIDDEN]
    states = range(int(found.max(initial=0)) + 1)
    lines = ["", "true heart rate  " + "".join(f"{f'state {k}':>10}" for k in states)]
    for code, label in enumerate(labels):
        counts = [int(((truth == code) & (found == k)).sum()) for k in states]
        lines.append(f"{label!s:15}  " + "".join(f"{count:>10}" for count in counts))
    return "\n".join(lines)
