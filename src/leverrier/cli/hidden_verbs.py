"""Verbs about hidden variables: cardinality, causes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leverrier as lv
from leverrier.cli.help_pages import Verb
from leverrier.cli.network_verbs import open_network
from leverrier.cli.progress_bar import Interruptible, interrupted, note
from leverrier.cli.reading_options import Reading, reading
from leverrier.cli.shared_flags import Flags, require_folders, shared
from leverrier.status import Status

if TYPE_CHECKING:  # `leverrier --help` must not import numerics
    from leverrier.noisy_or.causes_result import HiddenCausesResult
    from leverrier.noisy_or.sampler_state import Method

AFTERWARDS = 0.7
"""Seconds of computing that the summary of chains takes."""


@click.command(cls=Verb)
@click.argument("network")
@click.argument("table")
@click.option("--hidden", multiple=True, required=True, metavar="VARIABLE", help="Hidden node (repeat for several).")
@click.option("--no-refine", is_flag=True, help="Stop after merging states; do not run EM.")
@click.option("--brief", is_flag=True, help="A few steps of EM from the merged states: fast, and nearly as exact.")
@shared("seed jobs budget json quiet")
def cardinality(network: str, table: str, hidden: tuple[str, ...], no_refine: bool, brief: bool, flags: Flags) -> int:
    """How many states a hidden node of a network has.

    \b
    leverrier cardinality model.bif data.csv --hidden STROKEVOLUME
    leverrier cardinality alarm rows.parquet --hidden HR --hidden CO --budget 2m
    """
    if brief and no_refine:
        raise lv.OptionError("--brief runs EM, --no-refine does not: give one of them")
    with Interruptible(flags.hush, flags.budget) as run:
        run.load(lv.read_table, lv.cardinality)
        run.stop.break_in()  # Ctrl-C breaks in: EM ends where it is, and what it has counts
        model = open_network(network)
        known = {name: model.states[name] for name in model.variables if name not in hidden}
        data = lv.read_table(table, states=known)
        asked = hidden[0] if len(hidden) == 1 else list(hidden)
        found = lv.cardinality(
            model,
            data,
            hidden=asked,
            refine="brief" if brief else not no_refine,
            seed=flags.seed,
            budget=run.seconds,
            jobs=flags.jobs or 1,
            progress=run.tell,
        )
    words = {"states": found.states, "status": str(found.status), "words": str(found)}
    click.echo(json.dumps(words) if flags.json else str(found))
    return interrupted(run)


@click.command(cls=Verb)
@click.argument("table")
@click.option(
    "--method",
    type=click.Choice(["gibbs", "rjmcmc"]),
    default="gibbs",
    show_default=True,
    help="Unboundedly many causes, or finitely many.",
)
@click.option("--alike", is_flag=True, help="All causes equally frequent and strong, as in the source.")
@click.option("--sweeps", type=click.IntRange(2), default=500, show_default=True, help="Half are left out.")
@click.option("--chains", type=click.IntRange(1), default=2, show_default=True)
@reading
@click.option("--page", type=click.Path(dir_okay=False), help="The page that is written (default: beside TABLE).")
@click.option("--pictures", type=click.Path(file_okay=False), help="Folder for PNGs: the graph, the links, the traces.")
@shared("static seed jobs budget checkpoint resume json quiet")
def causes(
    table: str,
    method: Method,
    alike: bool,
    sweeps: int,
    chains: int,
    reading: Reading,
    page: str | None,
    pictures: str | None,
    flags: Flags,
) -> int:
    """Overlapping hidden causes behind columns of yes/no signs.

    \b
    leverrier causes signs.csv
    leverrier causes signs.csv --ignore diagnosis --sweeps 2000 --pictures causes
    leverrier causes signs.csv --resume           # after Ctrl-C, a crash, or a budget that ran out
    """
    from leverrier.run.checkpoint import forget

    place = page or f"{os.path.splitext(table)[0]}.causes.html"
    require_folders(place)
    kept = flags.checkpoint_place(place)
    with Interruptible(flags.hush, flags.budget, AFTERWARDS) as run:
        run.load(lv.read_table, lv.hidden_causes)
        run.stop.break_in()  # Ctrl-C breaks in: chains end after their sweep, and the summary is of what they have
        signs = reading.table(table)
        found = lv.hidden_causes(
            signs,
            method,
            sweeps,
            chains,
            flags.seed,
            per_cause=() if alike else ("lambda", "p"),
            jobs=flags.jobs,
            budget=run.seconds,
            progress=run.tell,
            checkpoint=kept,
            resume=flags.resume,
        )
    if found.status in (Status.BUDGET, Status.INTERRUPTED):
        note(f"leverrier: {found.status}; the same command with --resume goes on from {kept}", flags.hush)
    else:  # every sweep was made: there is nothing to go on from
        forget(kept)
    click.echo(json.dumps(found.to_dict()) if flags.json else str(found))
    if pictures:
        _draw(found, Path(pictures))
        if not flags.hush:
            click.echo(f"\nThe pictures are in {pictures}")
    if found.status is Status.INTERRUPTED:
        return 130
    found.report(place, f"Hidden causes in {Path(table).name}", live=not flags.static)
    if not flags.hush:
        click.echo(f"\nThe page is in {place}")
    return 0


def _draw(found: HiddenCausesResult, folder: Path) -> None:
    from leverrier.report.charts.causes_charts import plot_links, plot_structure, plot_traces

    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in (("graph", plot_structure), ("links", plot_links), ("traces", plot_traces)):
        plot(found).save(str(folder / f"{name}.png"), scale_factor=2)
