"""Malformed files and odd arguments through the command line, each in a process of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hardening.forks import Fork, one_line, patience, rng_of
from hardening.good_files import CSV, SUFFIXES
from hardening.malformed import KINDS, malformed
from hardening.outcome import Outcome, Size

NUMBER = 500
HANG = 2.0
Command = Callable[[list[str]], int]
ODD = (
    "",
    " ",
    "-",
    "--",
    "---",
    "-1",
    "0",
    "1e9",
    "nan",
    "inf",
    "9" * 30,
    "\x00",
    "\n",
    "ü",
    "💥",
    "a" * 5000,
    "/",
    "/dev/null",
    "..",
    "../..",
    "~",
    "~root",
    "$HOME",
    "`id`",
    "$(id)",
    "; id",
    "| id",
    "&& id",
    "%s",
    "{}",
    "{0.__class__}",
    "--help=1",
    "--seed",
    "--budget",
    "5x",
    "-5s",
    "1e400s",
    "--json",
    "--quiet",
    "-o",
    "--states",
    "1-",
    "-3",
    "1-999999999999",
    "*",
    "?",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x.csv",
    "s3://x/y.parquet",
    "x.csv.gz.gz",
    "con",
    "nul",
    "\u202e",
    "--ignore",
)
VERBS = (
    "check",
    "convert",
    "sample",
    "learn",
    "posterior",
    "report",
    "cardinality",
    "classes",
    "causes",
    "discover",
    "",
)
LONG = ("learn", "cardinality", "classes", "causes", "discover")
"""With odd arguments these may still have something to do: they are told to be quick."""


def cli_fuzz(size: Size, command: Command) -> Outcome:
    """`command` runs the command line and gives its exit code."""
    found = Outcome("cli", "malformed files and odd arguments, command line", size.of(NUMBER))
    slowest = 0.0
    for number in range(found.wanted):
        if size.spent:
            found.notes.append("the time ran out")
            break
        with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
            asked = odd_command(number, Path(folder))

            def work(folder: str = folder, asked: list[str] = asked) -> int:
                os.chdir(folder)
                return command(asked)

            ended = Fork(work).wait(patience(20 * HANG))
            slowest = max(slowest, ended.seconds)
            wrong = one_line(ended) or (f"took {ended.seconds:.1f} s" if ended.seconds > patience(HANG) else None)
            left = [path.name for path in Path(folder).iterdir() if path.name.endswith(".part")]
            if left and wrong is None:
                wrong = f"left {left[0]}"
            found.count(None if wrong is None else f"{number} ({' '.join(asked)[:80]!r}): {wrong}")
    found.notes.append(f"the slowest took {slowest:.2f} s")
    return found


def odd_command(number: int, folder: Path) -> list[str]:
    """Command `number`: a malformed file given to the verb that reads it, or odd arguments."""
    rng = rng_of(number)
    (folder / "good.csv").write_text(CSV[0])
    if rng.random() < 0.6:
        kind = KINDS[int(rng.integers(len(KINDS)))]
        name = f"bad{SUFFIXES[kind]}"
        (folder / name).write_bytes(malformed(kind, 10**6 + number))
        return _reading(kind, name, rng)
    verb = VERBS[int(rng.integers(len(VERBS)))]
    if not verb:
        return [_odd(rng)]
    return [verb, *(_odd(rng) for _ in range(int(rng.integers(0, 4)))), *(["--budget", "1"] if verb in LONG else [])]


def _odd(rng: np.random.Generator) -> str:
    return "good.csv" if rng.random() < 0.25 else ODD[int(rng.integers(len(ODD)))]


def _reading(kind: str, name: str, rng: np.random.Generator) -> list[str]:
    if kind in ("csv", "parquet"):
        return [
            ["check", name],
            ["learn", name, "-o", "out.json"],
            ["classes", name, "--states", "1-2", "--starts", "1", "--budget", "1"],
            ["check", name, "--json"],
        ][int(rng.integers(4))]
    if kind in ("discovery", "dynamic", "dynamic bif"):
        return [["posterior", name, "good.csv", "-o", "out.csv"], ["report", name, "-o", "out.html"]][
            int(rng.integers(2))
        ]
    return [["convert", name, "out.json"], ["sample", name, "-n", "20", "-o", "out.csv"], ["convert", name, "out.bif"]][
        int(rng.integers(3))
    ]
