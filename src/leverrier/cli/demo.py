"""The first thing a new user runs: something is hidden from bundled data, and found again."""

from __future__ import annotations

from pathlib import Path

import click

import leverrier as lv
from leverrier.cli import options
from leverrier.cli.progress import Interruptible

HIDDEN = "HR"
AROUND = (
    "CATECHOL", "INSUFFANESTH", "ARTCO2", "TPR", "STROKEVOLUME", "CO", "BP", "HRBP", "ERRLOWOUTPUT", "HREKG", "HRSAT",
    "ERRCAUTER",
)  # fmt: skip
ROWS = 2000


@click.command()
@click.option("-o", "--output", type=click.Path(file_okay=False), default="leverrier-demo", show_default=True,
              help="Folder for the data, the findings and the report.")  # fmt: skip
@options.seed
@options.jobs
@options.quiet
def demo(output: str, seed: int, jobs: int | None, quiet: bool) -> None:
    """Take the heart rate out of a table of heart measurements, and find that something is missing there.

    \b
    leverrier demo
    """
    from sklearn.metrics import adjusted_rand_score

    rows = lv.datasets.network("alarm").sample(ROWS, seed=seed).select([*AROUND, HIDDEN])
    data = rows.drop(HIDDEN)
    click.echo(f"{ROWS:,} patients of the ALARM network, {len(AROUND)} measurements; {HIDDEN}, the heart rate, was "
               "taken away. Compiling numerical kernels, once (some seconds) …", err=True)  # fmt: skip
    with Interruptible(quiet) as run:
        found = lv.discover(data, draws=7, resamples=3, max_hidden=1, jobs=jobs, seed=seed, progress=run.tell)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    lv.write_table(data, folder / "patients.csv")
    found.save(folder / "findings.json")
    found.report(folder / "report.html", title="Something unmeasured among heart measurements")
    click.echo(str(found))
    if found.hidden:
        states = found.posterior(data).argmax(axis=1)
        agreement = adjusted_rand_score(rows.column(HIDDEN), states)
        click.echo(f"\nThe states found for each row agree with the heart rate that was taken away at an adjusted Rand "
                   f"index of {agreement:.2f} (1 is perfect, 0 is chance).")  # fmt: skip
    click.echo(f"The report is in {folder / 'report.html'}")
