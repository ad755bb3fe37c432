"""Ctrl-C and budgets of the real command, started as a user starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import leverrier as lv
from hardening.forks import patience, rng_of
from hardening.outcome import Outcome, Size
from hardening.runs import of_json, rows
from leverrier.discovery.done import CutShort

INTERRUPTS, BUDGETS = 50, 30
SOON = 2.0
"""Seconds within which Ctrl-C must have ended everything."""
FIRST = 0.3
"""Before this many seconds Python itself is starting: an interrupt is not ours to answer."""
OPTIONS = ("--draws", "7", "--resamples", "3", "--max-hidden", "1", "--jobs", "2", "--quiet")


def interrupts(size: Size) -> Outcome:
    """Ctrl-C at random instants: code 130 within two seconds; resumed runs end with the same answer."""
    found = Outcome("interrupts", "Ctrl-C at random instants", size.of(INTERRUPTS))
    slowest = 0.0
    ends = 0
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        whole, usual = _whole(Path(folder))
        while found.tried < found.wanted and not size.spent:
            table = _table(Path(folder) / f"run{ends}")
            wrong, slow = _until_done(table, whole, usual, found, size, ends)
            slowest = max(slowest, slow)
            ends += 1
            if wrong is not None:
                found.count(wrong)
    found.notes.append(f"the slowest exit took {slowest:.2f} s; {ends} runs resumed to their end")
    return found


def _until_done(
    table: Path, whole: str, usual: float, found: Outcome, size: Size, number: int
) -> tuple[str | None, float]:
    """Interrupt the same run again and again, then let it end."""
    rng = rng_of(1000 + number)
    slowest = 0.0
    for _ in range(8):
        if found.tried >= found.wanted or size.spent:
            break
        process = _started("discover", str(table), *OPTIONS, "--resume")
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience(FIRST) + float(rng.uniform(0, usual)))
        if process.poll() is not None:
            break
        begun = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        error = process.communicate(timeout=patience(60.0))[1]
        took = time.monotonic() - begun
        slowest = max(slowest, took)
        if process.returncode == 0:  # it was done already
            break
        wrong = f"code {process.returncode}: {error[-200:]}" if process.returncode != 130 else None
        if wrong is None and "Traceback" in error:
            wrong = f"a traceback: {error[-200:]}"
        if wrong is None and took > patience(SOON):
            wrong = f"took {took:.2f} s"
        found.count(wrong)
    process = _started("discover", str(table), *OPTIONS, "--resume")
    error = process.communicate()[1]
    if process.returncode:
        return f"could not be resumed: {error[-200:]}", slowest
    left = sorted(path.name for path in table.parent.iterdir())
    expected = ["t.csv", "t.leverrier.html", "t.leverrier.json"]
    if left != expected:
        return f"left behind: {', '.join(name for name in left if name not in expected)}", slowest
    return (None if _answer(table) == whole else "another answer than that of the run that was not stopped"), slowest


def _whole(folder: Path) -> tuple[str, float]:
    """The answer of a run that is not stopped, and how long it takes."""
    table = _table(folder / "whole")
    _started("discover", str(table), *OPTIONS).communicate()
    begun = time.monotonic()
    error = _started("discover", str(table), *OPTIONS).communicate()[1]
    if not table.with_name("t.leverrier.json").exists():
        raise lv.OptionError(f"the command does not run here: {error[-200:]}")
    return _answer(table), time.monotonic() - begun


def _answer(table: Path) -> str:
    return of_json(json.loads(table.with_name("t.leverrier.json").read_text(encoding="utf-8")))


def _table(folder: Path) -> Path:
    folder.mkdir()
    lv.write_table(rows(600), folder / "t.csv")
    return folder / "t.csv"


def _started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "leverrier", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def budgets(size: Size) -> Outcome:
    """Runs that would take minutes, told to end in seconds: over by at most a second or a twentieth."""
    found = Outcome("budget", "runs with --budget", size.of(BUDGETS))
    over: list[float] = []
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        table = Path(folder) / "t.csv"
        lv.write_table(lv.datasets.network("alarm").sample(3000, seed=1).drop("HR"), table)
        for number in range(found.wanted):
            if size.spent:
                break
            seconds = float(rng_of(2000 + number).uniform(6.0, 16.0))
            found.count(_in_time(table, seconds, over))
    if over:
        found.notes.append(f"over by {max(over):+.2f} s at most, {sum(over) / len(over):+.2f} s on average")
    return found


def _in_time(table: Path, seconds: float, over: list[float]) -> str | None:
    begun = time.monotonic()
    process = _started("discover", str(table), "--budget", f"{seconds:.3f}", "--quiet")
    error = process.communicate()[1]
    over.append(time.monotonic() - begun - seconds)
    if process.returncode:
        return f"code {process.returncode}: {error[-200:]}"
    answer: Any = lv.load(table.with_name("t.leverrier.json"))
    if not answer.finished and not isinstance(answer.result.did[-1], CutShort):
        return "it does not say what was left out"
    if over[-1] > max(1.0, 0.05 * seconds):
        return f"a budget of {seconds:.1f} s ended {over[-1]:.2f} s late"
    return None
