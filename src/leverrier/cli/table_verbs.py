"""Verbs about tables: check."""

from __future__ import annotations

import json

import click

import leverrier as lv
from leverrier.cli import options
from leverrier.cli.help_pages import Verb
from leverrier.cli.progress_bar import Interruptible
from leverrier.run.event import Event


@click.command(cls=Verb)
@click.argument("table")
@options.reading
@options.as_json
@options.quiet
def check(
    table: str,
    ignore: tuple[str, ...],
    types: tuple[str, ...],
    missing: tuple[str, ...],
    weights: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how a table is read: types, holes, bins, what is set aside and why.

    \b
    leverrier check survey.csv
    leverrier check survey.parquet --json
    """
    with Interruptible(quiet or as_json) as run:
        run.load(lv.read_table)
        run.stop.break_in()
        run.tell(Event.READING)
        data = lv.read_table(
            table, ignore=list(ignore), types=options.types_asked(types), missing=list(missing), weights=weights
        )
    if as_json:
        columns = [
            {"name": c.name, "kind": c.kind, "states": [str(s) for s in c.states], "cuts": list(c.cuts)}
            for c in data.columns
        ]
        answer = {"rows": data.n_rows, "holes": data.n_missing, "columns": columns, "notes": list(data.notes)}
        click.echo(json.dumps(answer))
        return
    click.echo(data.summary())
