"""Verbs about tables: check."""

from __future__ import annotations

import json

import click

import leverrier as lv
from leverrier.cli import options


@click.command()
@click.argument("table")
@options.as_json
def check(table: str, as_json: bool) -> None:
    """Say how a table is read: types, holes, bins, what is set aside and why.

    \b
    leverrier check survey.csv
    """
    data = lv.read_table(table)
    if as_json:
        columns = [
            {"name": c.name, "kind": c.kind, "states": [str(s) for s in c.states], "cuts": list(c.cuts)}
            for c in data.columns
        ]
        answer = {"rows": data.n_rows, "holes": data.n_missing, "columns": columns, "notes": list(data.notes)}
        click.echo(json.dumps(answer))
        return
    click.echo(data.summary())
