"""Flags that several verbs share, gathered into one value."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from leverrier.errors import OptionError

Command = Callable[..., Any]
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


_WORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "names": (
        "A name for a hidden state, such as H1:0=low (repeatable), or a JSON file of names; kept in the findings.",
        {"multiple": True, "metavar": "VARIABLE:STATE=NAME"},
    ),
    "seed": ("The same seed gives the same answer.", {"type": click.IntRange(0), "default": 0, "show_default": True}),
    "jobs": (
        "Workers that share the work out (default: all cores); the answer does not depend on them.",
        {"type": click.IntRange(1)},
    ),
    "budget": ("Stop cleanly after this time: 90s, 5m, 1h.", {"type": Duration()}),
    "work": (
        "Stop cleanly after so many pieces of work: unlike time, the same on every machine.",
        {"type": click.IntRange(1)},
    ),
    "max_memory": ("For the whole program, such as 2GB; what cannot fit is refused.", {"metavar": "SIZE"}),
    "cluster": (
        "A Dask scheduler, such as tcp://10.0.0.1:8786, for a Parquet file that its workers see.",
        {"metavar": "ADDRESS"},
    ),
    "checkpoint": (
        "Folder for what is done so far (default: beside the output; removed at the end).",
        {"type": click.Path(file_okay=False)},
    ),
    "resume": ("Go on from the checkpoint: the answer is that of a run that was never stopped.", {"is_flag": True}),
    "static": ("Figures as pictures: a smaller page, without the script that makes them answer.", {"is_flag": True}),
    "rows": (
        "Of sequences, draw each one's columns above its states: the page then holds your data.",
        {"is_flag": True},
    ),
    "json": ("Print JSON for machines instead of words.", {"is_flag": True}),
    "quiet": ("Print only the answer: no progress, no notes.", {"is_flag": True}),
}


@dataclass(frozen=True)
class Flags:
    """How a verb runs, and what it writes; a flag that a verb has not is as if it were not given."""

    names: tuple[str, ...] = ()
    seed: int = 0
    jobs: int | None = None
    budget: float | None = None
    work: int | None = None
    max_memory: str | None = None
    cluster: str | None = None
    checkpoint: str | None = None
    resume: bool = False
    static: bool = False
    rows: bool = False
    json: bool = False
    quiet: bool = False

    @property
    def hush(self) -> bool:
        """Nothing but the answer: no progress, no notes."""
        return self.quiet or self.json

    def checkpoint_place(self, output: str) -> str:
        """The folder asked for, or one beside the output; says so if an earlier run's is about to be lost."""
        place = Path(self.checkpoint or os.path.splitext(output)[0] + ".checkpoint")
        if not self.resume and not self.hush and any(place.glob("*.[01]")):
            words = f"beginning anew: {place}, which an earlier run left, would have been used with --resume"
            click.echo(words, err=True)
        return str(place)


def gathered(value: str, made: type, flags: Mapping[str, tuple[str, dict[str, Any]]]) -> Callable[[Command], Command]:
    """Flags, each with its words, that come to a verb as one value under this name."""

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def called(**given: Any) -> Any:
            return command(**{value: made(**{name: given.pop(name) for name in flags})}, **given)

        wrapped: Command = called
        for name, (words, how) in reversed([*flags.items()]):
            spelt = ["-q"] if name == "quiet" else []
            wrapped = click.option(f"--{name.replace('_', '-')}", *spelt, name, help=words, **how)(wrapped)
        return wrapped

    return decorated


def shared(names: str) -> Callable[[Command], Command]:
    """These of the shared flags, as `flags` in the verb."""
    return gathered("flags", Flags, {name: _WORDS[name] for name in names.split()})


def require_folders(*files: str) -> None:
    """Say at once, not after hours, that a file has no place."""
    for name in files:
        folder = Path(name).expanduser().parent
        if not folder.is_dir():
            raise OptionError(f"{name}: there is no folder {folder}")


def require_network(output: str | None) -> None:
    """The same of a file that a network is to be written to."""
    if output is not None:
        from leverrier.formats.network_files import require_format

        require_folders(output)
        require_format(output)
