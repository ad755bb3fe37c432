"""Runs the units of an experiment, several at a time, keeping each result as it comes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import leverrier as lv
from experiments.experiment import Experiment, Json, Results, Unit
from experiments.store import Kept, Store
from leverrier.run.stop import Stop

Tell = Callable[[Unit, float], None]
"""Called with a unit that is done, and the share of the work that is done by now."""


@dataclass(frozen=True)
class Settings:
    """How an experiment is run."""

    output: Path
    quick: bool = False
    seed: int = 0
    only: str = ""
    """Units whose key holds this text; all others are left as they are."""
    jobs: int = 1
    resume: bool = True
    data: Path | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """What was done: results by key, and of the rest why they are missing."""

    experiment: Experiment
    settings: Settings
    kept: dict[str, Kept]
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Units without their data, and the files they need."""
    failed: dict[str, str] = field(default_factory=dict)
    """Units that broke, and how."""
    stopped: bool = False

    @property
    def results(self) -> Results:
        return {key: each.result for key, each in self.kept.items()}


def run(experiment: Experiment, settings: Settings, stop: Stop, tell: Tell | None = None) -> Run:
    """Every unit that is not kept yet; a unit that breaks, or an interruption, costs none of the others."""
    settings.output.mkdir(parents=True, exist_ok=True)
    store = _store(experiment, settings)
    units = list(experiment.units(settings.quick, settings.seed))
    wanted = [unit for unit in units if settings.only in unit.key]
    if not settings.resume:
        store.forget(wanted)
    left_out = {unit.key: unit.missing(settings.data) for unit in wanted if unit.missing(settings.data)}
    waiting = [unit for unit in wanted if store.get(unit) is None and unit.key not in left_out]
    waiting.sort(key=lambda unit: -unit.cost)
    total = sum(unit.cost for unit in waiting) or 1.0
    done, failed = 0.0, {}
    for unit, result, error, seconds in _results(waiting, settings, stop):
        done += unit.cost
        if error:
            failed[unit.key] = error
        else:
            store.keep(unit, result, seconds, _now(), commit())
        if tell is not None:
            tell(unit, done / total)
    return Run(experiment, settings, _kept(store, units), left_out, failed, stop.asked)


def kept(experiment: Experiment, settings: Settings) -> Run:
    """What earlier runs with these settings have done, with nothing run."""
    settings.output.mkdir(parents=True, exist_ok=True)
    units = experiment.units(settings.quick, settings.seed)
    return Run(experiment, settings, _kept(_store(experiment, settings), units))


def _kept(store: Store, units: Sequence[Unit]) -> dict[str, Kept]:
    return {unit.key: found for unit in units if (found := store.get(unit)) is not None}


def _store(experiment: Experiment, settings: Settings) -> Store:
    return Store(settings.output / f"{experiment.name}.results.jsonl", lv.__version__)


def _results(units: Sequence[Unit], settings: Settings, stop: Stop) -> Iterator[tuple[Unit, Json, str, float]]:
    """Unit, result, error and seconds, as they come. After a wish to stop nothing more comes: a unit that was being
    run then may have been cut short."""
    if not units or stop.asked:
        return
    calls = (delayed(_guarded)(number, unit, settings.data) for number, unit in enumerate(units))
    with stop.breaking_in():
        try:
            results: Any = Parallel(settings.jobs, return_as="generator_unordered")(calls)
            for number, result, error, seconds in results:
                if stop.asked:
                    return
                yield units[number], result, error, seconds
        except BaseException:
            if not stop.asked:  # else: whatever the dying workers raised
                raise


def _guarded(number: int, unit: Unit, data: Path | None) -> tuple[int, Json, str, float]:
    begun = time.process_time()
    try:
        result = unit.run(data)
    except Exception as problem:  # one broken unit must not lose the others; it is named in the summary
        return number, None, f"{type(problem).__name__}: {problem}", time.process_time() - begun
    return number, result, "", time.process_time() - begun


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


@cache
def commit() -> str:
    """The commit of a checkout that the package is run from, with + if its source was changed since; else nothing."""
    folder = Path(lv.__file__).parent
    said = _git(folder, "rev-parse", "--short=10", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", ".")
    return said + ("+" if said and changed else "")


def _git(folder: Path, *words: str) -> str:
    try:
        found = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
