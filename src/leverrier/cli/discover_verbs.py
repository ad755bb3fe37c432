"""The main verb, and those that show and apply what it found: discover, report, posterior."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leverrier as lv
from leverrier.api.state_names import names_asked
from leverrier.cli import options
from leverrier.cli.help_pages import Verb
from leverrier.cli.page_writing import afterwards, telling, told_as_notes
from leverrier.cli.progress_bar import Interruptible, note
from leverrier.run.event import Event

if TYPE_CHECKING:  # `leverrier --help` must not import numerics
    from leverrier.api.discover import Method
    from leverrier.data.labels import Unseen


@click.command(cls=Verb)
@click.argument("table")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The report (default: TABLE.leverrier.html).")
@click.option("--save", type=click.Path(dir_okay=False), help="The findings as JSON (default: TABLE.leverrier.json).")
@click.option(
    "--method",
    type=click.Choice(["auto", "network", "classes", "causes", "sequences", "boyen1999"]),
    default="auto",
    show_default=True,
    help="What to look for; the last two take rows as sequences.",
)
@options.reading
@options.names
@click.option("--groups", metavar="COLUMN", help="Rows that belong together, such as a household: drawn together.")
@click.option("--max-hidden", type=click.IntRange(0), default=None, help="At most so many (default: all that pass).")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="How often something may be found where nothing is hidden.",
)
@click.option(
    "--draws",
    type=click.IntRange(0),
    default=99,
    show_default=True,
    help="Tables simulated with nothing hidden, at most.",
)
@click.option("--resamples", type=click.IntRange(0), default=6, show_default=True, help="Resamples for the support.")
@click.option("--no-evidence", is_flag=True, help="Only search: leave the tests out.")
@options.seed
@options.jobs
@options.budget
@options.work
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=None,
    help="Rows of a large table to look in (20,000 of more than 100,000; 0: all).",
)
@options.max_memory
@options.cluster
@options.checkpoint
@options.resume
@options.static
@options.rows
@options.as_json
@options.quiet
def discover(
    table: str,
    output: str | None,
    save: str | None,
    method: Method,
    reading: options.Reading,
    names: tuple[str, ...],
    groups: str | None,
    max_hidden: int | None,
    level: float,
    draws: int,
    resamples: int,
    no_evidence: bool,
    seed: int,
    jobs: int | None,
    budget: float | None,
    work: int | None,
    sample: int | None,
    max_memory: str | None,
    cluster: str | None,
    checkpoint: str | None,
    resume: bool,
    static: bool,
    rows: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Say whether something unmeasured is at work in a table, and write a report beside it.

    \b
    leverrier discover survey.csv
    leverrier discover survey.csv --budget 5m --ignore id
    leverrier discover survey.csv --resume           # after Ctrl-C, a crash, or a budget that ran out
    leverrier discover claims.parquet --max-memory 4GB
    leverrier discover diary.csv --by patient --time day
    leverrier discover diary.csv --by patient --time day --method boyen1999
    """
    from leverrier.report.words.quality_words import quality_lines
    from leverrier.report.words.terminal_words import terminal_words
    from leverrier.run.checkpoint import forget

    hush = quiet or as_json
    asked = names_asked(names)
    base = os.path.splitext(table)[0]
    report, saved = output or f"{base}.leverrier.html", save or f"{base}.leverrier.json"
    options.require_folders(report, saved)
    kept = options.checkpoint_place(checkpoint, report, resume, hush)
    with Interruptible(hush, budget, afterwards(not static), cuts=True) as run:
        run.tell(Event.LOADING)
        found = lv.discover(
            table,
            **reading.said(),
            method=method,
            evidence=not no_evidence,
            level=level,
            draws=draws,
            resamples=resamples,
            max_hidden=max_hidden,
            groups=groups,
            budget=run.seconds,
            jobs=jobs,
            seed=seed,
            work=work,
            sample=sample,
            max_memory=max_memory,
            client=cluster,
            stop=run.stop,
            checkpoint=kept,
            resume=resume,
            progress=telling(run, not static),
        )
    rename_known(found, asked)
    found.save(saved)
    again = f"; the same command with --resume goes on from {kept}"
    if run.stop.asked:
        page = f"; `leverrier report {saved}` makes its page"
        click.echo(f"leverrier: interrupted; what was found by then is in {saved}{page}{again}", err=True)
        return 130
    with told_as_notes(hush):
        found.report(report, title=f"What nobody measured in {Path(table).name}", live=not static, rows=rows)
    if not found.finished:
        note(f"leverrier: the time ran out{again}", hush)
    else:
        forget(kept)
    if not hush:
        for line in quality_lines(found.result.shape.quality, important=True):
            click.echo(f"noticed: {line}", err=True)
    click.echo(Path(saved).read_text(encoding="utf-8") if as_json else terminal_words(found.result))
    if not hush:
        click.echo(f"\nThe report is in {report}, the findings are in {saved}")
    return 0


@click.command(cls=Verb)
@click.argument("findings")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The page (default: FINDINGS with .html).")
@click.option("--title", help="Its title.")
@options.names
@options.static
@options.quiet
def report(
    findings: str, output: str | None, title: str | None, names: tuple[str, ...], static: bool, quiet: bool
) -> None:
    """Make the page of findings that were saved: after Ctrl-C, say, or with a title of your own.

    \b
    leverrier report survey.leverrier.json
    leverrier report survey.leverrier.json -o page.html --title "Wards and wounds"
    leverrier report survey.leverrier.json --names "H1:0=low rate" --names "H1:1=high rate"
    """
    asked = names_asked(names)
    page = output or f"{os.path.splitext(findings)[0]}.html"
    options.require_folders(page)
    with Interruptible(quiet) as run:
        run.load(lv.load)
        run.stop.break_in()  # Ctrl-C ends it where it is: the page is written whole or not at all
        run.tell(Event.PAGE)
        found = lv.load(findings)
        if asked:
            found.rename(asked).save(findings)
        heading = title or f"What nobody measured in {Path(findings).name.split('.')[0]}"
        with told_as_notes(quiet):
            found.report(page, title=heading, live=not static)
    if not quiet:
        click.echo(f"The report is in {page}")


def rename_known(found: lv.Discovery, asked: dict[str, dict[str, str]]) -> None:
    """Names for what was found; hours of work are not lost because a name fits nothing."""
    for variable, names in asked.items():
        try:
            found.rename({variable: names})
        except lv.OptionError as error:
            note(f"leverrier: --names: {error}", quiet=False)


@click.command(cls=Verb)
@click.argument("findings")
@click.argument("table")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="CSV file to write.")
@click.option(
    "--unseen",
    type=click.Choice(["error", "hole"]),
    default="error",
    show_default=True,
    help="What a label is that was never seen.",
)
@options.reading
@options.as_json
@options.quiet
def posterior(
    findings: str, table: str, output: str, unseen: Unseen, reading: options.Reading, as_json: bool, quiet: bool
) -> None:
    """Give every row of a table its hidden states: the rows as they came, with their states and probabilities.

    \b
    leverrier posterior survey.json new.csv -o out.csv
    """
    from leverrier.data.reading.appending import append_columns

    with Interruptible(quiet or as_json) as run:
        run.load(lv.load, lv.read_table)
        run.stop.break_in()  # Ctrl-C ends it where it is: nothing is written by then
        run.tell(Event.LOADING)
        found = lv.load(findings)
        if not found.hidden:
            raise lv.OptionError(f"{findings}: nothing hidden was found there, so there are no states to give rows")
        run.tell(Event.STATES_OF_ROWS)
        with told_as_notes(quiet or as_json):
            states = found.states_of(table, unseen=unseen, **reading.said())
        run.tell(Event.WRITING)
        rows = append_columns(table, states, output, reading.said())  # type: ignore[arg-type]
    if as_json:
        click.echo(json.dumps({"rows": rows, "output": output, "hidden": [each.name for each in found.hidden]}))
    elif not quiet:
        click.echo(f"wrote {rows:,} rows to {output}")
