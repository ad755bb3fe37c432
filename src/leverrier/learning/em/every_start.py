"""Every start of a fit to its end: over threads here, side by side over parts elsewhere, or as tasks on a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.cluster_parts import held, on_cluster
from leverrier.counts.parted_expectation import PartedPlan
from leverrier.learning.em.climb import Climb, Progress, climb
from leverrier.learning.em.fit_task import Task
from leverrier.learning.em.network_em import LONG, Objective, ParameterClimb
from leverrier.learning.em.saddle import leave_saddle
from leverrier.status import Status

Floats = NDArray[np.float64]

SHORT = 20
"""Iterations of every start before the best are chosen, where not all are to be run to the end."""
QUICK = 1e5
"""E-steps of fewer nanoseconds are asked for in larger blocks from the first."""
WORTH_SENDING = 1e6
"""Starts whose E-steps take fewer are done here before a cluster has answered."""


@dataclass(frozen=True)
class Effort:
    """How far starts are run, and by whom."""

    max_iterations: int
    tolerance: float
    accelerate: bool | float
    deadline: float
    keep: int | None
    workers: int
    progress: Progress | None
    client: Any = None
    """A Dask client whose workers run starts."""


Spread = Callable[[Sequence[int], int, Sequence[tuple[float, ...]]], list[Climb]]
"""Runs these starts for at most so many iterations more, each with the trace it has."""


def run_starts(task: Task, points: list[Floats], effort: Effort) -> tuple[list[ParameterClimb], list[Climb]]:
    """Every start to its end, or the best `keep` of them after a short run of each."""
    parted = isinstance(task.objective.plan, PartedPlan)
    with ThreadPoolExecutor(max(len(points), 1) if parted else effort.workers) as pool:
        long = not parted and task.objective.plan.work > LONG
        there = effort.client is not None and WORTH_SENDING <= task.objective.plan.work < np.inf
        inner = pool if long and effort.workers > 1 and not there else None
        climbers = [
            ParameterClimb(task.objective, p, tolerance=effort.tolerance, accelerate=effort.accelerate, threads=inner)
            for p in points
        ]
        if there:
            return climbers, _run(_there(task, climbers, effort), len(points), effort)
        alone = inner is not None or (effort.workers == 1 and not parted)
        return climbers, _run(_here(task, climbers, effort, None if alone else pool), len(points), effort)


def _run(spread: Spread, count: int, effort: Effort) -> list[Climb]:
    everyone = range(count)
    if effort.keep is None or effort.keep >= count or effort.max_iterations <= SHORT:
        return spread(everyone, effort.max_iterations, [()] * count)
    climbs = spread(everyone, SHORT, [()] * count)
    best = sorted(everyone, key=lambda i: -climbs[i].value)[: effort.keep]
    going = [i for i in best if climbs[i].status is Status.ITERATION_LIMIT]
    rest = spread(going, effort.max_iterations - SHORT, [climbs[i].trace[:-1] for i in going])
    for i, found in zip(going, rest, strict=True):
        climbs[i] = Climb(found.trace, SHORT + found.iterations, found.status)
    return climbs


def _here(task: Task, climbers: list[ParameterClimb], effort: Effort, pool: Executor | None) -> Spread:
    """Short E-steps: starts are shared out over threads. Long ones: one start at a time, its rows shared out (no
    pool). Parts elsewhere: all starts side by side, so that one pass over the parts serves all of them."""
    stop = threading.Event()
    plan = task.objective.plan

    def go(i: int, limit: int, before: tuple[float, ...]) -> Climb:
        with plan.joined() if isinstance(plan, PartedPlan) else nullcontext():
            found = _to_end(climbers[i], limit, effort.deadline, before, stop)
        if found.status is Status.INTERRUPTED:
            stop.set()
        _tell(task, effort, i, len(climbers), found)
        return found

    def spread(which: Sequence[int], limit: int, before: Sequence[tuple[float, ...]]) -> list[Climb]:
        works = [partial(go, i, limit, trace) for i, trace in zip(which, before, strict=True)]
        if pool is None:
            return [work() for work in works]
        futures = [pool.submit(work) for work in works]
        return [_awaited(future, stop) for future in futures]

    return spread


def _there(task: Task, climbers: list[ParameterClimb], effort: Effort) -> Spread:
    """Each start is a task that can be run again; climbers come back as they stand."""
    objective = held(effort.client, task.objective)

    def spread(which: Sequence[int], limit: int, before: Sequence[tuple[float, ...]]) -> list[Climb]:
        seconds = effort.deadline - time.monotonic()
        calls = [(objective, climbers[i], limit, seconds, trace) for i, trace in zip(which, before, strict=True)]
        found = []
        for i, (climber, climbed) in zip(which, on_cluster(effort.client, _climbed, calls), strict=True):
            climbers[i] = climber.attached(task.objective)
            found.append(climbed)
            _tell(task, effort, i, len(climbers), climbed)
        return found

    return spread


def _climbed(
    objective: Objective, climber: ParameterClimb, limit: int, seconds: float, before: tuple[float, ...]
) -> tuple[ParameterClimb, Climb]:
    """A start on a worker: the climber as it stands then, and how it went."""
    climber = climber.attached(objective)
    return climber, _to_end(climber, limit, time.monotonic() + seconds, before, None)


def _to_end(
    climber: ParameterClimb, limit: int, deadline: float, before: tuple[float, ...], stop: threading.Event | None
) -> Climb:
    """Climb, and go on where a climb ended at a saddle."""
    work = climber.objective.plan.work
    block = 1 if work == np.inf else 8 if work >= QUICK else 32
    found = climb(climber, max_iterations=limit, deadline=deadline, before=before, stop=stop, block=block)
    while (
        found.status.converged
        and climber.below == np.inf  # (whoever asks for less is in a hurry)
        and not climber.objective.variational
        and found.iterations < limit
        and leave_saddle(climber, found.value)
    ):
        left = limit - found.iterations
        more = climb(climber, max_iterations=left, deadline=deadline, before=found.trace)
        found = Climb(more.trace, found.iterations + more.iterations, more.status)
    return found


def _tell(task: Task, effort: Effort, i: int, count: int, found: Climb) -> None:
    if effort.progress is not None:
        effort.progress(f"start {i + 1} of {count}: {found.status}", found.value + task.constant)


def _awaited(future: Future[Climb], stop: threading.Event) -> Climb:
    """A thread's result. An interrupt from the keyboard stops all threads where they are, and what they have counts."""
    while True:
        try:
            return future.result()
        except KeyboardInterrupt:
            stop.set()
