"""Verbs about networks: sample, convert, learn."""

from __future__ import annotations

import json
from pathlib import Path

import click

import leverrier as lv
from leverrier.cli.help_pages import Verb
from leverrier.cli.progress_bar import Interruptible
from leverrier.cli.reading_options import Reading, reading
from leverrier.cli.shared_flags import Flags, require_network, shared
from leverrier.errors import OptionError
from leverrier.run.event import Event

METHODS = ("auto", "best", "ges", "hill-climb")
SCORES = {"bdeu": "BDeu", "bde": "BDe", "bic": "BIC", "aic": "AIC"}


def open_network(name: str) -> lv.Network:
    """A bundled network by its name, or a network file."""
    bundled = lv.datasets.networks()
    if name in bundled:
        return lv.datasets.network(name)
    if not Path(name).exists():
        raise OptionError(f"{name!r} is neither a file nor a bundled network; bundled are {', '.join(bundled)}")
    return lv.read_network(name)


@click.command(cls=Verb)
@click.argument("network")
@click.option("-n", "rows", type=click.IntRange(1), default=1000, show_default=True, help="How many rows.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="CSV or Parquet file to write.")
@click.option("--hide", multiple=True, metavar="VARIABLE", help="Leave this variable out (repeat for several).")
@shared("seed json quiet")
def sample(network: str, rows: int, output: str, hide: tuple[str, ...], flags: Flags) -> None:
    """Draw rows from a network: a bundled one by name, or a file.

    \b
    leverrier sample alarm -n 10000 -o alarm.csv
    leverrier sample model.bif -n 500 --hide HR -o rows.parquet
    """
    with Interruptible(flags.hush) as run:
        run.load(lv.Network, lv.write_table)
        run.stop.break_in()  # Ctrl-C ends it where it is: the file is there whole or not at all
        run.tell(Event.DRAWING)
        table = open_network(network).sample(rows, seed=flags.seed).drop(*hide)
        run.tell(Event.WRITING)
        lv.write_table(table, output)
    if flags.json:
        click.echo(json.dumps({"rows": table.n_rows, "variables": len(table.variables), "output": output}))
    elif not flags.quiet:
        click.echo(f"wrote {table.n_rows:,} rows of {len(table.variables)} variables to {output}")


@click.command(cls=Verb)
@click.argument("source")
@click.argument("target", type=click.Path(dir_okay=False))
@shared("json quiet")
def convert(source: str, target: str, flags: Flags) -> None:
    """Convert a network file between BIF, XMLBIF, Hugin, GeNIe and JSON.

    \b
    leverrier convert a.bif b.json
    leverrier convert alarm alarm.xml
    leverrier convert a.bif b.xdsl
    """
    with Interruptible(flags.hush) as run:
        run.load(lv.Network, lv.write_network)
        run.stop.break_in()
        run.tell(Event.CONVERTING)
        network = open_network(source)
        lv.write_network(network, target)
    if flags.json:
        variables, arcs = len(network.variables), len(network.edges)
        click.echo(json.dumps({"variables": variables, "arcs": arcs, "output": target}))
    elif not flags.quiet:
        click.echo(f"wrote {network!r} to {target}")


@click.command(cls=Verb)
@click.argument("table")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the network (.bif, .xml, .json).")
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True)
@click.option("--score", "rule", type=click.Choice(list(SCORES)), default="bdeu", show_default=True)
@click.option("--max-parents", type=click.IntRange(0), default=None, help="At most this many parents a column.")
@reading
@shared("seed jobs budget work max_memory cluster json quiet")
def learn(
    table: str, output: str | None, method: str, rule: str, max_parents: int | None, reading: Reading, flags: Flags
) -> None:
    """Learn a network over a table's columns, without hidden variables.

    \b
    leverrier learn survey.csv
    leverrier learn survey.csv --method best -o survey.bif
    leverrier learn diary.csv --by patient --time day -o diary.json     # a network in time
    """
    if reading.in_time:
        _learn_in_time(table, output, SCORES[rule], max_parents, reading, flags)
        return
    require_network(output)
    with Interruptible(flags.hush, flags.budget) as run:
        run.load(lv.read_table, lv.learn_structure)
        run.stop.break_in()
        run.tell(Event.READING)
        score = getattr(lv, SCORES[rule])()
        found = lv.learn_structure(
            reading.rows(table, flags.max_memory, flags.cluster),
            score,
            method=method,  # type: ignore[arg-type]
            max_parents=max_parents,
            seed=flags.seed,
            budget=run.seconds,
            jobs=flags.jobs,
            work=flags.work,
            max_memory=flags.max_memory,
            client=flags.cluster,
            progress=run.tell,
        )
    if output:
        lv.write_network(found.network, output)
    if flags.json:
        answer = {
            "score": found.score,
            "status": str(found.status),
            "edges": found.network.edges,
            "notes": list(found.notes),
        }
        click.echo(json.dumps(answer))
        return
    if not flags.quiet:
        for note in found.notes:
            click.echo(note, err=True)
    click.echo(f"{found.network!r}; {score.name} {found.score:.2f}; {found.status}")
    for parent, child in found.network.edges:
        click.echo(f"  {parent} → {child}")
    if output and not flags.quiet:
        click.echo(f"wrote the network to {output}")


def _learn_in_time(
    table: str, output: str | None, rule: str, max_parents: int | None, reading: Reading, flags: Flags
) -> None:
    """The network of sequences: a slice may look at the one before."""
    with Interruptible(flags.hush, flags.budget) as run:
        run.load(lv.read_sequences, lv.learn_dynamic)
        run.stop.break_in()
        run.tell(Event.READING)
        score = getattr(lv, rule)()
        most = 4 if max_parents is None else max_parents
        rows = reading.sequences(table)
        found = lv.learn_dynamic(rows, 1, score, most, budget=run.seconds, seed=flags.seed, progress=run.tell)
    if output:
        lv.write_dynamic(found.network, output)
    if flags.json:
        click.echo(json.dumps({"status": str(found.status), "variables": list(rows.variables)}))
        return
    click.echo(f"{found.network!r}; {found.status}")
    if output and not flags.quiet:
        click.echo(f"wrote the network to {output}")
