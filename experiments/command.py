"""The verb that repeats the sources' experiments: reproduce."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leverrier.cli.page_writing import told_as_notes
from leverrier.cli.progress_bar import Interruptible
from leverrier.cli.shared_flags import Flags, shared
from leverrier.run.cores import usable_cores
from leverrier.run.event import Event, Told

if TYPE_CHECKING:
    from experiments.experiment import Experiment, Unit
    from experiments.runner import Run, Settings, Tell

NAMES = ("em", "elidan2000", "elidan2001", "wood2006", "boyen1999")


@click.command()
@click.argument("names", nargs=-1, metavar="[em|elidan2000|elidan2001|wood2006|boyen1999|all]...")
@click.option("--quick", is_flag=True, help="Fewer samples and rows: minutes instead of hours.")
@click.option("--only", default="", metavar="TEXT", help="Only units of work whose name holds this, as 'figure 2'.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    default="leverrier-reproduce",
    show_default=True,
    help="Folder for results, pages and figures.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, exists=True),
    envvar="LEVERRIER_DATA",
    show_envvar=True,
    help="Folder of the real data; without it the experiments that need it are left out.",
)
@click.option("--resume/--no-resume", default=True, show_default=True, help="Take up what an earlier run has done.")
@click.option("--shown-only", is_flag=True, help="Run nothing: write the tables of what is done already.")
@click.option(
    "--write-docs",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Write the tables and figures as a page reproduced.md in this folder too.",
)
@shared("static seed jobs json quiet")
def reproduce(
    names: tuple[str, ...],
    quick: bool,
    only: str,
    output: str,
    data: str | None,
    resume: bool,
    shown_only: bool,
    write_docs: str | None,
    flags: Flags,
) -> int:
    """Repeat a source's experiments with our code: each table and figure, the source's value and ours, what holds.

    \b
    scripts/reproduce em
    scripts/reproduce all --quick --data ../shared/data
    scripts/reproduce elidan2001 --only "figure 4"
    """
    from experiments import documentation, experiments, showing
    from experiments.runner import Settings

    wanted = _wanted(names)
    real = Path(data) if data else None
    settings = Settings(Path(output), quick, flags.seed, only, flags.jobs or usable_cores(), resume, real)
    asked = [experiments.experiment(name) for name in wanted]
    if settings.data is None and not flags.quiet and not shown_only:
        click.echo("leverrier: no data folder (--data, LEVERRIER_DATA): what needs real data is left out", err=True)
    done = []
    for each in asked:
        found = _run(each, settings, shown_only, flags.hush)
        shown = each.show(found.results, quick)
        with told_as_notes(flags.hush):
            written = showing.write(found, shown, live=not flags.static)
        done.append((found, shown))
        if not flags.json:
            click.echo(showing.as_text(found, shown))
        if not flags.hush:
            click.echo(f"Written: {', '.join(map(str, written))}\n")
        if found.stopped:
            break
    if flags.json:
        click.echo(json.dumps([showing.as_json(found, shown) for found, shown in done]))
    if write_docs:
        page = documentation.write_docs(Path(write_docs), done)
        click.echo(f"wrote {page}", err=True)
    return _code([found for found, _ in done])


def _wanted(names: tuple[str, ...]) -> list[str]:
    for name in names:
        if name not in (*NAMES, "all"):
            raise click.BadParameter(f"{name!r}: expected one of {', '.join(NAMES)}, or all")
    if not names:
        raise click.UsageError(f"name a source: {', '.join(NAMES)}, or all")
    return list(NAMES) if "all" in names else list(dict.fromkeys(names))


def _run(experiment: Experiment, settings: Settings, shown_only: bool, quiet: bool) -> Run:
    from experiments.runner import kept, run

    if shown_only:
        return kept(experiment, settings)
    with Interruptible(quiet) as going:
        tell = _teller(experiment.name, going, quiet)
        return run(experiment, settings, going.stop, tell)


def _teller(name: str, going: Interruptible, quiet: bool) -> Tell:
    """A bar on a terminal; elsewhere a line for each unit done."""
    begun = time.monotonic()

    def tell(unit: Unit, share: float) -> None:
        going.tell(Told.of(Event.EXPERIMENT, name), share)
        if not quiet and not sys.stderr.isatty():
            left = (time.monotonic() - begun) * (1 - share) / share
            click.echo(f"{name}: {unit.key} done; {share:.0%}, about {_minutes(left)} left", err=True)

    return tell


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _code(runs: list[Run]) -> int:
    if any(run.stopped for run in runs):
        click.echo("leverrier: interrupted; what was done is kept, the same command goes on from there", err=True)
        return 130
    failed = [f"{run.experiment.name}: {key}" for run in runs for key in run.failed]
    if failed:
        click.echo(f"leverrier: failed: {', '.join(failed)} (the others are kept)", err=True)
        return 1
    return 0
