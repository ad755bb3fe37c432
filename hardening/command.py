"""The checks on the user's own machine, and a table of how they went."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from leverrier.cli.progress_bar import note
from leverrier.cli.shared_flags import Flags, shared
from leverrier.errors import OptionError

if TYPE_CHECKING:
    from hardening.outcome import Outcome

CHECKS = ("fuzz", "cli", "attacks", "damage", "writes", "kills", "interrupts", "budget", "digests")


@click.command()
@click.argument("checks", nargs=-1, metavar="[CHECK]...")
@click.option("--quick", is_flag=True, help="A fiftieth of each check: a minute or two in all.")
@shared("budget json quiet")
def verify(checks: tuple[str, ...], quick: bool, flags: Flags) -> int:
    """Check on this machine that hostile files, kills, interrupts and full disks do no harm, and seeds keep their word.

    CHECK is fuzz (malformed files), cli (odd commands), attacks (files made to do harm), damage (broken checkpoints),
    writes (failing disks), kills, interrupts (Ctrl-C), budget, digests (threads, processes, hash seeds); all of them if
    none is named. Each ends within nine minutes, or its share of --budget. The exit code is 1 if a check fails.

    \b
    scripts/verify --quick
    scripts/verify kills interrupts
    scripts/verify fuzz --budget 2m
    """
    unknown = [name for name in checks if name not in CHECKS]
    if unknown:
        raise OptionError(f"no check {unknown[0]!r}: there are {', '.join(CHECKS)}")
    if not hasattr(os, "fork"):
        raise OptionError("verify needs a system on which processes can be forked (Linux, macOS)")
    from hardening.checks import run_check
    from leverrier.cli import run

    asked = checks or CHECKS
    found = []
    for name in asked:
        note(f"{name} …", flags.hush)
        budget = None if flags.budget is None else flags.budget / len(asked)
        found.append(run_check(name, run, quick=quick, budget=budget))
    if flags.json:
        click.echo(json.dumps([{**asdict(each), "holds": each.holds} for each in found]))
    else:
        _show(found)
    return 0 if all(each.holds for each in found) else 1


def _show(found: list[Outcome]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading, side in (
        ("check", "left"),
        ("what", "left"),
        ("tried", "right"),
        ("failed", "right"),
        ("seconds", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    for each in found:
        table.add_row(
            each.name,
            each.what,
            f"{each.tried:,} of {each.wanted:,}",
            f"{each.failed:,}",
            f"{each.seconds:.0f}",
            "holds" if each.holds else "FAILS",
        )
    console = Console(highlight=False)
    console.print(table)
    for each in found:
        for line in each.notes:
            console.print(f"{each.name}: {line}", markup=False)
        for line in each.failures:
            console.print(f"{each.name} failed: {line}", markup=False)
