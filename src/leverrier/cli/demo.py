"""The first thing a new user runs: something is hidden from bundled data, and found again."""

from __future__ import annotations

from pathlib import Path

import click

import leverrier as lv
from leverrier.cli import options

HIDDEN = "HR"
ROWS = 5000


@click.command()
@click.option("-o", "--output", type=click.Path(file_okay=False), default="leverrier-demo", show_default=True,
              help="Folder for the report.")  # fmt: skip
@options.seed
def demo(output: str, seed: int) -> None:
    """Hide a variable of the bundled ALARM network, and find out how many states it has and which row is in which.

    \b
    leverrier demo
    """
    from sklearn.metrics import adjusted_rand_score

    from leverrier.discovery.cardinality_result import Cardinality
    from leverrier.formats.files import write_whole
    from leverrier.report.cardinality import merge_tree, score_by_states
    from leverrier.report.page import Section, render, svg

    network = lv.datasets.network("alarm")
    rows = network.sample(ROWS, seed=seed)
    data = rows.drop(HIDDEN)
    click.echo(f"{ROWS:,} rows of the ALARM network, {HIDDEN} (heart rate) taken away; "
               "compiling numerical kernels, once (some seconds) …", err=True)  # fmt: skip
    found = lv.cardinality(network, data, hidden=HIDDEN, seed=seed)
    assert isinstance(found, Cardinality)  # one name was asked about
    states = found.states
    fitted = lv.fit(network, data, hidden={HIDDEN: states}, starts=5, seed=seed)
    shares = fitted.network.posterior(data, HIDDEN)
    agreement = adjusted_rand_score(rows.column(HIDDEN), shares.argmax(axis=1))
    words = (
        f"{HIDDEN} was hidden; it has {states} states (truly {network.cardinality(HIDDEN)}). Every row was given one: "
        f"they agree with the truth at an adjusted Rand index of {agreement:.2f} (1 is perfect, 0 is chance)."
    )
    sections = [
        Section("The answer", (words,)),
        Section("How many states", (), str(found), svg(score_by_states(found)), "Score against the number of states."),
        Section("How they were merged", (), "", svg(merge_tree(found)), "The merge tree, with the chosen cut."),
        Section("To repeat it", (), f"leverrier demo --seed {seed}"),
    ]
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.html"
    write_whole(str(report), render("A hidden variable, found again", sections).encode())
    click.echo(words)
    click.echo(f"The report is in {report}")
