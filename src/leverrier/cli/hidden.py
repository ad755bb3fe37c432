"""Verbs about hidden variables: cardinality, classes, causes."""

from __future__ import annotations

import json

import click

import leverrier as lv
from leverrier.cli import options
from leverrier.cli.networks import open_network


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
@click.option("--sweeps", type=click.IntRange(2), default=500, show_default=True)
@click.option("--chains", type=click.IntRange(1), default=2, show_default=True)
@options.seed
@options.budget
@options.as_json
def causes(table: str, sweeps: int, chains: int, seed: int, budget: float | None, as_json: bool) -> None:
    """Overlapping hidden causes behind columns of yes/no signs.

    \b
    leverrier causes signs.csv
    """
    found = lv.hidden_causes(table, sweeps=sweeps, chains=chains, seed=seed, budget=budget)
    if as_json:
        click.echo(json.dumps({"count": {str(k): p for k, p in found.count.items()}, "links": found.links.tolist()}))
    else:
        click.echo(str(found))
