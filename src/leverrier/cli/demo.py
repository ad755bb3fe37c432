"""The first thing a new user runs."""

from __future__ import annotations

import click

import leverrier as lv
from leverrier.cli import options


@click.command()
@options.seed
def demo(seed: int) -> None:
    """Learn a network from bundled data and show how close it comes to the truth."""
    truth = lv.datasets.network("asia")
    click.echo("compiling numerical kernels, once (a few seconds) …", err=True)
    found = lv.learn_structure(truth.sample(5000, seed=seed))
    same = {frozenset(e) for e in found.network.edges} & {frozenset(e) for e in truth.edges}
    click.echo(f"from 5,000 rows of the Asia network: {len(found.network.edges)} edges found, "
               f"{len(same)} of the true {len(truth.edges)}")  # fmt: skip
    for parent, child in found.network.edges:
        click.echo(f"  {parent} → {child}")
