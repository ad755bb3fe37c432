"""Flags that several verbs share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from leverrier.cli.reading_options import Reading as Reading
from leverrier.cli.reading_options import reading as reading
from leverrier.errors import OptionError

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(click.ParamType):
    """A time such as 90, 90s, 5m or 1.5h, in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([smh]?)\s*", str(value))
        if match is None:
            self.fail(f"{value!r} is not a time: write for instance 90s, 5m or 1h", param, ctx)
        return float(match[1]) * UNITS[match[2]]


def seed(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed gives the same answer."
    )(command)


def budget(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--budget", type=Duration(), default=None, help="Stop cleanly after this time: 90s, 5m, 1h.")(
        command
    )


def jobs(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "Workers that share the work out (default: all cores); the answer does not depend on them."
    return click.option("--jobs", type=click.IntRange(1), default=None, help=words)(command)


def work(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "Stop cleanly after so many pieces of work: unlike time, the same on every machine."
    return click.option("--work", type=click.IntRange(1), default=None, help=words)(command)


def max_memory(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "For the whole program, such as 2GB; what cannot fit is refused."
    return click.option("--max-memory", metavar="SIZE", default=None, help=words)(command)


def cluster(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "A Dask scheduler, such as tcp://10.0.0.1:8786, for a Parquet file that its workers see."
    return click.option("--cluster", metavar="ADDRESS", default=None, help=words)(command)


def as_json(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines instead of words.")(command)


def page(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "The page that is written (default: beside TABLE)."
    return click.option("--page", type=click.Path(dir_okay=False), default=None, help=words)(command)


def names(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "A name for a hidden state, such as H1:0=low (repeatable), or a JSON file of names; kept in the findings."
    return click.option("--names", multiple=True, metavar="VARIABLE:STATE=NAME", help=words)(command)


def quiet(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--quiet", "-q", is_flag=True, help="Print only the answer: no progress, no notes.")(command)


def static(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "Figures as pictures: a smaller page, without the script that makes them answer."
    return click.option("--static", is_flag=True, help=words)(command)


def rows(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "Of sequences, draw each one's columns above its states: the page then holds your data."
    return click.option("--rows", is_flag=True, help=words)(command)


def checkpoint(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "Folder for what is done so far (default: beside the output; removed at the end)."
    return click.option("--checkpoint", type=click.Path(file_okay=False), default=None, help=words)(command)


def resume(command: Callable[..., Any]) -> Callable[..., Any]:
    words = "Go on from the checkpoint: the answer is that of a run that was never stopped."
    return click.option("--resume", is_flag=True, help=words)(command)


def checkpoint_place(given: str | None, output: str, resume: bool, quiet: bool) -> str:
    """The folder asked for, or one beside the output; says so if an earlier run's is about to be lost."""
    place = Path(given or os.path.splitext(output)[0] + ".checkpoint")
    if not resume and not quiet and any(place.glob("*.[01]")):
        click.echo(f"beginning anew: {place}, which an earlier run left, would have been used with --resume", err=True)
    return str(place)


def require_folders(*files: str) -> None:
    """Say at once, not after hours, that a file has no place."""
    for name in files:
        folder = Path(name).expanduser().parent
        if not folder.is_dir():
            raise OptionError(f"{name}: there is no folder {folder}")
