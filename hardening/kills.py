"""Runs killed at random instants and resumed: their answer is that of a run that was never stopped."""

from __future__ import annotations

import mmap
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hardening.forks import Fork, patience, rng_of
from hardening.outcome import Outcome, Size
from hardening.runs import RUNS
from leverrier.run import checkpoint as checkpoints

NUMBER = 200
WRITING = 20
"""So many kills at least must fall inside a write."""
TURNS = ("discover", "causes", "sequences", "causes", "memories", "causes")
"""(Short ones more often: most of the time is theirs to end.)"""


def kills(size: Size) -> Outcome:
    found = Outcome("kills", "kill −9 at random instants, resumed", size.of(NUMBER))
    whole, usual = {}, {}
    for name, run in RUNS.items():
        whole[name] = run(None)  # (the first time kernels are loaded)
        begun = time.monotonic()
        run(None)
        usual[name] = time.monotonic() - begun
    inside = ends = 0
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        while found.tried < found.wanted and not size.spent:
            name = TURNS[ends % len(TURNS)]
            place = Path(folder) / f"run-{ends}"
            ends += 1
            left = found.wanted - found.tried
            wrong, killed, writing = _until_done(place, RUNS[name], whole[name], usual[name], left, ends)
            inside += writing
            for _ in range(killed):
                found.count(None)
            if wrong is not None:
                found.count(f"{name}: {wrong}")
    found.notes.append(f"{inside} inside a write; {ends} runs ended")
    needed = min(WRITING, found.wanted // 10)
    if inside < needed and not size.spent:
        found.count(f"only {inside} kills fell inside a write, {needed} were wanted")
    return found


def _until_done(
    place: Path, run: Callable[[Path | None], str], whole: str, usual: float, most: int, number: int
) -> tuple[str | None, int, int]:
    """Kill the run again and again until it gets through; what was wrong, the kills, and those inside a write."""
    rng = rng_of(number)
    killed = writing = 0
    flag = mmap.mmap(-1, 1)
    while True:
        answer = place.with_name(f"{place.name}.answer")
        fork = Fork(partial(_victim, place, run, answer, flag))
        if killed < most and killed < 12:
            time.sleep(float(rng.uniform(0.02, 0.9)) * usual)
            if rng.random() < 0.5:
                _wait_for_write(flag)
            fork.kill()
        ended = fork.wait(patience(60.0))
        if ended.code == 0:
            break
        if ended.code != -9:
            return f"ended with {ended.code}: {ended.error[-200:]}", killed, writing
        killed += 1
        writing += flag[0]
        flag[0] = 0
    wrong = None if answer.read_text() == whole else "another answer than that of the run that was not stopped"
    left = [path.name for path in place.iterdir() if path.suffix == ".part"] if place.exists() else []
    checkpoints.forget(place)
    if wrong is None and (left or place.exists()):
        wrong = f"left behind: {left or place.name}"
    return wrong, killed, writing


def _victim(place: Path, run: Callable[[Path | None], str], answer: Path, flag: Any) -> int:
    checkpoints.EVERY = 0.0
    genuine = checkpoints.put

    def put(*arguments: Any) -> None:
        flag[0] = 1
        genuine(*arguments)
        flag[0] = 0

    checkpoints.put = put
    answer.write_text(run(place))
    return 0


def _wait_for_write(flag: Any) -> None:
    """Until a write is under way, or it is plain that none will be."""
    deadline = time.monotonic() + 2.0
    while not flag[0] and time.monotonic() < deadline:
        time.sleep(0.0002)
