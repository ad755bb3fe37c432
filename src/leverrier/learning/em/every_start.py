"""Every start of a fit to its end: over threads here, side by side over parts elsewhere, or as tasks on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.em.climb import Climb, climb
from leverrier.learning.em.fit_task import Task
from leverrier.learning.em.network_em import LONG, Objective, ParameterClimb
from leverrier.learning.em.saddle import leave_saddle
from leverrier.run.cluster import held, on_cluster
from leverrier.run.event import Event
from leverrier.run.run import Run
from leverrier.run.stop import Stop
from leverrier.status import Status

SHORT = 20
"""Iterations of every start before the best are chosen, where not all are to be run to the end."""
QUICK = 1e5
"""E-steps of fewer nanoseconds are asked for in larger blocks from the first."""
WORTH_SENDING = 1e6
"""Starts whose E-steps take fewer are done here before a cluster has answered."""


@dataclass(frozen=True)
class StartRule:
    """How far starts are run."""

    max_iterations: int
    tolerance: float
    accelerate: bool | float
    keep: int | None = None
    """Only so many of them to the end: the best after a short run of each."""

    def chooses(self, count: int) -> bool:
        """Whether not all of so many starts are run to their end."""
        return self.keep is not None and self.keep < count and self.max_iterations > SHORT


Spread = Callable[[Sequence[int], int, Sequence[tuple[float, ...]]], list[Climb]]
"""Runs these starts for at most so many iterations more, each with the trace it has."""


def run_starts(task: Task, points: list[Floats], rule: StartRule, run: Run) -> tuple[list[ParameterClimb], list[Climb]]:
    """Every start to its end, or the best of them after a short run of each."""
    jobs, client = run.workers.jobs, run.workers.client
    parted = task.objective.plan.elsewhere
    with ThreadPoolExecutor(max(len(points), 1) if parted else jobs) as pool:
        long = not parted and task.objective.plan.work > LONG
        there = client is not None and WORTH_SENDING <= task.objective.plan.work < np.inf
        inner = pool if long and jobs > 1 and not there else None
        climbers = [
            ParameterClimb(task.objective, p, tolerance=rule.tolerance, accelerate=rule.accelerate, threads=inner)
            for p in points
        ]
        tell = _Teller(task, run, len(points), rule)
        if there:
            return climbers, _run(_there(task, climbers, run, tell), len(points), rule)
        alone = inner is not None or (jobs == 1 and not parted)
        here = _here(task, climbers, run.stoppable(), tell, None if alone else pool)
        return climbers, _run(here, len(points), rule)


def _run(spread: Spread, count: int, rule: StartRule) -> list[Climb]:
    everyone = range(count)
    if not rule.chooses(count):
        return spread(everyone, rule.max_iterations, [()] * count)
    climbs = spread(everyone, SHORT, [()] * count)
    best = sorted(everyone, key=lambda i: -climbs[i].value)[: rule.keep]
    going = [i for i in best if climbs[i].status is Status.ITERATION_LIMIT]
    rest = spread(going, rule.max_iterations - SHORT, [climbs[i].trace[:-1] for i in going])
    for i, found in zip(going, rest, strict=True):
        climbs[i] = Climb(found.trace, SHORT + found.iterations, found.status)
    return climbs


def _here(task: Task, climbers: list[ParameterClimb], run: Run, tell: _Teller, pool: Executor | None) -> Spread:
    """Short E-steps: starts are shared out over threads. Long ones: one start at a time, its rows shared out (no
    pool). Parts elsewhere: all starts side by side, so that one pass over the parts serves all of them."""
    stop = run.stop
    assert stop is not None
    plan = task.objective.plan

    def go(i: int, limit: int, before: tuple[float, ...]) -> Climb:
        with plan.joined():
            found = _to_end(climbers[i], limit, run, before)
        if found.status is Status.INTERRUPTED:
            stop.spread()
        tell(i, found)
        return found

    def spread(which: Sequence[int], limit: int, before: Sequence[tuple[float, ...]]) -> list[Climb]:
        works = [partial(go, i, limit, trace) for i, trace in zip(which, before, strict=True)]
        if pool is None:
            return [work() for work in works]
        futures = [pool.submit(work) for work in works]
        return [_awaited(future, stop) for future in futures]

    return spread


def _there(task: Task, climbers: list[ParameterClimb], run: Run, tell: _Teller) -> Spread:
    """Each start is a task that can be run again; climbers come back as they stand."""
    client, silent = run.workers.client, run.silent()
    objective = held(client, task.objective)

    def spread(which: Sequence[int], limit: int, before: Sequence[tuple[float, ...]]) -> list[Climb]:
        calls = [(objective, climbers[i], limit, silent, trace) for i, trace in zip(which, before, strict=True)]
        found = []
        for i, (climber, climbed) in zip(which, on_cluster(client, _climbed, calls), strict=True):
            climbers[i] = climber.attached(task.objective)
            found.append(climbed)
            tell(i, climbed)
        return found

    return spread


def _climbed(
    objective: Objective, climber: ParameterClimb, limit: int, run: Run, before: tuple[float, ...]
) -> tuple[ParameterClimb, Climb]:
    """A start on a worker: the climber as it stands then, and how it went."""
    climber = climber.attached(objective)
    return climber, _to_end(climber, limit, run, before)


def _to_end(climber: ParameterClimb, limit: int, run: Run, before: tuple[float, ...]) -> Climb:
    """Climb, and go on where a climb ended at a saddle."""
    work = climber.objective.plan.work
    block = 1 if work == np.inf else 8 if work >= QUICK else 32
    found = climb(climber, max_iterations=limit, run=run, before=before, block=block)
    while (
        found.status.converged
        and climber.below == np.inf  # (whoever asks for less is in a hurry)
        and not climber.objective.variational
        and found.iterations < limit
        and leave_saddle(climber, found.value)
    ):
        left = limit - found.iterations
        more = climb(climber, max_iterations=left, run=run, before=found.trace)
        found = Climb(more.trace, found.iterations + more.iterations, more.status)
    return found


class _Teller:
    """Says how each start ended, with the share of all climbs that are done."""

    def __init__(self, task: Task, run: Run, count: int, rule: StartRule) -> None:
        self._constant, self._run, self._count = task.constant, run, count
        self._climbs = count + (rule.keep or 0) * rule.chooses(count)
        self._done = 0

    def __call__(self, i: int, found: Climb) -> None:
        self._done += 1
        said = f"{found.status}, {found.value + self._constant:.4f}"
        self._run.tell(Event.START, self._done / self._climbs, i + 1, self._count, said=said)


def _awaited(future: Future[Climb], stop: Stop) -> Climb:
    """A thread's result. An interrupt from the keyboard stops all threads where they are, and what they have counts."""
    while True:
        try:
            return future.result()
        except KeyboardInterrupt:
            stop.spread()
