"""The main verb, and the one that applies what it found: discover, posterior."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import leverrier as lv
from leverrier.cli import options
from leverrier.cli.progress import Interruptible

if TYPE_CHECKING:  # `leverrier --help` must not import numerics
    from leverrier.api.discover import Method


@click.command()
@click.argument("table")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The report (default: TABLE.leverrier.html).")
@click.option("--save", type=click.Path(dir_okay=False), help="The findings as JSON (default: TABLE.leverrier.json).")
@click.option("--by", metavar="COLUMN", help="Sequences: the column that tells them apart.")
@click.option("--time", metavar="COLUMN", help="Sequences: the column that orders their rows.")
@click.option("--method", type=click.Choice(["auto", "network", "classes", "causes", "sequences", "boyen1999"]),
              default="auto", show_default=True,
              help="What to look for; the last two take rows as sequences.")  # fmt: skip
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave this column out (repeat for several).")
@click.option("--weights", metavar="COLUMN", help="The column that says how often each row counts.")
@click.option("--max-hidden", type=click.IntRange(0), default=None, help="At most so many (3; 1 without evidence).")
@click.option("--draws", type=click.IntRange(0), default=19, show_default=True,
              help="Tables simulated with nothing hidden, for the null test.")  # fmt: skip
@click.option("--resamples", type=click.IntRange(0), default=6, show_default=True, help="Resamples for the support.")
@click.option("--no-evidence", is_flag=True, help="Only search: leave the tests out.")
@options.seed
@options.jobs
@options.budget
@options.as_json
@options.quiet
def discover(
    table: str, output: str | None, save: str | None, by: str | None, time: str | None, method: Method,
    ignore: tuple[str, ...], weights: str | None, max_hidden: int | None, draws: int, resamples: int, no_evidence: bool,
    seed: int, jobs: int | None, budget: float | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Say whether something unmeasured is at work in a table, and write a report beside it.

    \b
    leverrier discover survey.csv
    leverrier discover survey.csv --budget 5m --ignore id
    leverrier discover diary.csv --by patient --time day
    leverrier discover diary.csv --by patient --time day --method boyen1999
    """
    with Interruptible(quiet or as_json) as run:
        found = lv.discover(
            table, by=by, time=time, method=method, evidence=not no_evidence, draws=draws, resamples=resamples,
            max_hidden=max_hidden, weights=weights, ignore=list(ignore), budget=budget, jobs=jobs, seed=seed,
            progress=run.tell, stop=run.stop,
        )  # fmt: skip
    base = Path(table)
    report, saved = output or f"{base.with_suffix('')}.leverrier.html", save or f"{base.with_suffix('')}.leverrier.json"
    found.report(report, title=f"What nobody measured in {base.name}")
    found.save(saved)
    where = f"The report is in {report}, the findings are in {saved}"
    if as_json:
        click.echo(Path(saved).read_text(encoding="utf-8"))
    else:
        click.echo(str(found))
    if not quiet and not as_json:
        click.echo(f"\n{where}")
    if run.stop.asked:
        click.echo("leverrier: interrupted; what was found by then is saved, untested parts are marked so", err=True)
        return 130
    return 0


@click.command()
@click.argument("findings")
@click.argument("table")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="CSV file to write.")
@options.quiet
def posterior(findings: str, table: str, output: str, quiet: bool) -> None:
    """Give every row of a table its hidden states: the rows as they came, with their states and probabilities.

    \b
    leverrier posterior survey.json new.csv -o out.csv
    """
    from leverrier.data.appending import append_columns

    found = lv.load(findings)
    if not found.hidden:
        raise lv.OptionError(f"{findings}: nothing hidden was found there, so there are no states to give rows")
    rows = append_columns(table, found.states_of(table), output)
    if not quiet:
        click.echo(f"wrote {rows:,} rows to {output}")

