"""Verbs about hidden variables: cardinality, classes, causes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leverrier as lv
from leverrier.cli import options
from leverrier.cli.networks import open_network
from leverrier.cli.progress import Interruptible
from leverrier.status import Status

if TYPE_CHECKING:  # `leverrier --help` must not import numerics
    from leverrier.sampling.result import HiddenCausesResult
    from leverrier.sampling.state import Method


@click.command()
@click.argument("network")
@click.argument("table")
@click.option("--hidden", multiple=True, required=True, metavar="VARIABLE", help="Hidden node (repeat for several).")
@click.option("--no-refine", is_flag=True, help="Stop after merging states; do not run EM.")
@options.seed
@options.budget
@options.as_json
def cardinality(
    network: str, table: str, hidden: tuple[str, ...], no_refine: bool, seed: int, budget: float | None, as_json: bool
) -> None:
    """How many states a hidden node of a network has.

    \b
    leverrier cardinality model.bif data.csv --hidden STROKEVOLUME
    """
    model = open_network(network)
    known = {name: model.states[name] for name in model.variables if name not in hidden}
    data = lv.read_table(table, states=known)
    asked = hidden[0] if len(hidden) == 1 else list(hidden)
    found = lv.cardinality(model, data, hidden=asked, refine=not no_refine, seed=seed, budget=budget)
    if as_json:
        click.echo(json.dumps({"states": found.states, "words": str(found)}))
    else:
        click.echo(str(found))


@click.command()
@click.argument("table")
@click.option("--states", default="1-6", show_default=True, help="Numbers of classes to try: 3, 1-6 or 2,4.")
@click.option("--starts", type=click.IntRange(1), default=20, show_default=True, help="Random starts for each number.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the model (.json, .bif, .xml).")
@options.seed
@options.as_json
def classes(table: str, states: str, starts: int, output: str | None, seed: int, as_json: bool) -> None:
    """Latent classes: one hidden grouping of the rows behind all columns.

    \b
    leverrier classes survey.csv
    leverrier classes survey.csv --states 2-4 -o classes.json
    """
    found = lv.latent_classes(lv.read_table(table), states=_numbers(states), starts=starts, seed=seed)
    if output:
        lv.write_network(found.network, output)
    if as_json:
        click.echo(json.dumps({"states": found.states, "log_likelihood": found.log_likelihood, "words": str(found)}))
    else:
        click.echo(str(found))


def _numbers(text: str) -> list[int]:
    """3, 1-6 or 2,4 as numbers."""
    try:
        first, dash, last = text.partition("-")
        numbers = list(range(int(first), int(last) + 1)) if dash else [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise lv.OptionError(f"--states {text!r}: write a number, a range or a list of them: 3, 1-6 or 2,4")
    return numbers


@click.command()
@click.argument("table")
@click.option("--method", type=click.Choice(["gibbs", "rjmcmc"]), default="gibbs", show_default=True,
              help="Unboundedly many causes, or finitely many.")  # fmt: skip
@click.option("--alike", is_flag=True, help="All causes equally frequent and strong, as in the source.")
@click.option("--sweeps", type=click.IntRange(2), default=500, show_default=True, help="Half are left out.")
@click.option("--chains", type=click.IntRange(1), default=2, show_default=True)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave this column out (repeat for several).")
@click.option("--pictures", type=click.Path(file_okay=False), help="Folder for PNGs: the graph, the links, the traces.")
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder that chains are saved to as they go.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint.")
@options.seed
@options.budget
@options.as_json
@options.quiet
def causes(
    table: str, method: Method, alike: bool, sweeps: int, chains: int, ignore: tuple[str, ...], pictures: str | None,
    checkpoint: str | None, resume: bool, seed: int, budget: float | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Overlapping hidden causes behind columns of yes/no signs.

    \b
    leverrier causes signs.csv
    leverrier causes signs.csv --ignore diagnosis --sweeps 2000 --pictures causes
    """
    signs = lv.read_table(table).drop(*ignore)
    with Interruptible(quiet or as_json) as run:

        def tell(line: str, share: float) -> None:
            if run.stop.asked:
                raise KeyboardInterrupt  # the chains end after their sweep, and the summary is of what they have
            run.tell(line.partition(":")[0], share)

        found = lv.hidden_causes(
            signs, method, sweeps, chains, seed, per_cause=() if alike else ("lambda", "p"),
            budget=budget, progress=tell, checkpoint=checkpoint, resume=resume,
        )  # fmt: skip
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
    if pictures:
        _draw(found, Path(pictures))
        if not quiet and not as_json:
            click.echo(f"\nThe pictures are in {pictures}")
    return 130 if found.status is Status.INTERRUPTED else 0


def _draw(found: HiddenCausesResult, folder: Path) -> None:
    from leverrier.report.causes import plot_links, plot_structure, plot_traces

    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in (("graph", plot_structure), ("links", plot_links), ("traces", plot_traces)):
        plot(found).save(str(folder / f"{name}.png"), scale_factor=2)
