"""Verbs about tables: check."""

from __future__ import annotations

import json

import click

import leverrier as lv
from leverrier.cli.help_pages import Verb
from leverrier.cli.progress_bar import Interruptible
from leverrier.cli.reading_options import Reading, reading
from leverrier.cli.shared_flags import Flags, shared
from leverrier.run.event import Event


@click.command(cls=Verb)
@click.argument("table")
@reading
@shared("json quiet")
def check(table: str, reading: Reading, flags: Flags) -> None:
    """Say how a table is read: types, holes, bins, what is set aside and why.

    \b
    leverrier check survey.csv
    leverrier check survey.parquet --json
    """
    with Interruptible(flags.hush) as run:
        run.load(lv.read_table)
        from leverrier.report.words.quality_words import quality_lines

        run.stop.break_in()
        run.tell(Event.READING)
        sequences = reading.sequences(table) if reading.in_time else None
        data = sequences.table if sequences is not None else reading.table(table)
        noticed = quality_lines(data.quality)
    if flags.json:
        columns = [
            {"name": c.name, "kind": c.kind, "states": [str(s) for s in c.states], "cuts": list(c.cuts)}
            for c in data.columns
        ]
        answer = {"rows": data.n_rows, "holes": data.n_missing, "columns": columns, "notes": list(data.notes)}
        kinds = [
            {"kind": each.kind.value, "columns": list(each.columns), "words": words}
            for each, words in zip(data.quality, noticed, strict=True)
        ]
        click.echo(json.dumps({**answer, "noticed": kinds}))
        return
    if sequences is not None:
        click.echo(f"{len(sequences):,} sequences")
    click.echo(data.summary())
    if noticed:
        click.echo("noticed:\n" + "\n".join(f"  {line}" for line in noticed))
