"""The main verb, and those that show and apply what it found: discover, report, posterior."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leverrier as lv
from leverrier.api.state_names import names_asked
from leverrier.cli.help_pages import Verb
from leverrier.cli.page_writing import afterwards, telling, told_as_notes
from leverrier.cli.progress_bar import Interruptible, note
from leverrier.cli.reading_options import Reading, reading
from leverrier.cli.shared_flags import Flags, require_folders, shared
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
@reading
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
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=None,
    help="Rows of a large table to look in (20,000 of more than 100,000; 0: all).",
)
@shared("names seed jobs budget work max_memory cluster checkpoint resume static rows json quiet")
def discover(
    table: str,
    output: str | None,
    save: str | None,
    method: Method,
    reading: Reading,
    groups: str | None,
    max_hidden: int | None,
    level: float,
    draws: int,
    resamples: int,
    no_evidence: bool,
    sample: int | None,
    flags: Flags,
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

    asked = names_asked(flags.names)
    base = os.path.splitext(table)[0]
    report, saved = output or f"{base}.leverrier.html", save or f"{base}.leverrier.json"
    require_folders(report, saved)
    kept = flags.checkpoint_place(report)
    with Interruptible(flags.hush, flags.budget, afterwards(not flags.static), cuts=True) as run:
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
            jobs=flags.jobs,
            seed=flags.seed,
            work=flags.work,
            sample=sample,
            max_memory=flags.max_memory,
            client=flags.cluster,
            stop=run.stop,
            checkpoint=kept,
            resume=flags.resume,
            progress=telling(run, not flags.static),
        )
    rename_known(found, asked)
    found.save(saved)
    again = f"; the same command with --resume goes on from {kept}"
    if run.stop.asked:
        page = f"; `leverrier report {saved}` makes its page"
        click.echo(f"leverrier: interrupted; what was found by then is in {saved}{page}{again}", err=True)
        return 130
    with told_as_notes(flags.hush):
        found.report(
            report, title=f"What nobody measured in {Path(table).name}", live=not flags.static, rows=flags.rows
        )
    if not found.finished:
        note(f"leverrier: the time ran out{again}", flags.hush)
    else:
        forget(kept)
    if not flags.hush:
        for line in quality_lines(found.result.shape.quality, important=True):
            click.echo(f"noticed: {line}", err=True)
    click.echo(Path(saved).read_text(encoding="utf-8") if flags.json else terminal_words(found.result))
    if not flags.hush:
        click.echo(f"\nThe report is in {report}, the findings are in {saved}")
    return 0


@click.command(cls=Verb)
@click.argument("findings")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The page (default: FINDINGS with .html).")
@click.option("--title", help="Its title.")
@shared("names static quiet")
def report(findings: str, output: str | None, title: str | None, flags: Flags) -> None:
    """Make the page of findings that were saved: after Ctrl-C, say, or with a title of your own.

    \b
    leverrier report survey.leverrier.json
    leverrier report survey.leverrier.json -o page.html --title "Wards and wounds"
    leverrier report survey.leverrier.json --names "H1:0=low rate" --names "H1:1=high rate"
    """
    asked = names_asked(flags.names)
    page = output or f"{os.path.splitext(findings)[0]}.html"
    require_folders(page)
    with Interruptible(flags.quiet) as run:
        run.load(lv.load)
        run.stop.break_in()  # Ctrl-C ends it where it is: the page is written whole or not at all
        run.tell(Event.PAGE)
        found = lv.load(findings)
        if asked:
            found.rename(asked).save(findings)
        heading = title or f"What nobody measured in {Path(findings).name.split('.')[0]}"
        with told_as_notes(flags.quiet):
            found.report(page, title=heading, live=not flags.static)
    if not flags.quiet:
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
@reading
@shared("json quiet")
def posterior(findings: str, table: str, output: str, unseen: Unseen, reading: Reading, flags: Flags) -> None:
    """Give every row of a table its hidden states: the rows as they came, with their states and probabilities.

    \b
    leverrier posterior survey.json new.csv -o out.csv
    """
    from leverrier.data.reading.appending import append_columns

    with Interruptible(flags.hush) as run:
        run.load(lv.load, lv.read_table)
        run.stop.break_in()  # Ctrl-C ends it where it is: nothing is written by then
        run.tell(Event.LOADING)
        found = lv.load(findings)
        if not found.hidden:
            raise lv.OptionError(f"{findings}: nothing hidden was found there, so there are no states to give rows")
        run.tell(Event.STATES_OF_ROWS)
        with told_as_notes(flags.hush):
            states = found.states_of(table, unseen=unseen, **reading.said())
        run.tell(Event.WRITING)
        rows = append_columns(table, states, output, reading.said())  # type: ignore[arg-type]
    if flags.json:
        click.echo(json.dumps({"rows": rows, "output": output, "hidden": [each.name for each in found.hidden]}))
    elif not flags.quiet:
        click.echo(f"wrote {rows:,} rows to {output}")
