"""The one loop of every EM: evaluate, improve, watch that the objective never falls, say why it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import FallError, as_raised
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status

BLOCK_SECONDS = 0.03
"""Evaluations are asked for in blocks of about this long: often enough to notice a budget or an interrupt."""


class Outcome(Enum):
    RUNNING = 0
    CONVERGED = 1
    FELL = 2


class Climber(Protocol):
    """A model on its way up. Its state changes; what it gives back when done is its own affair."""

    def climb(self, evaluations: int) -> tuple[NDArray[np.float64], Outcome]:
        """At most so many evaluations, each followed by a step up: the objective's values, and whether to go on."""
        ...

    def settle(self) -> float:
        """The objective where the climber stands, with no further step."""
        ...


@dataclass(frozen=True)
class Climb:
    """How a climb went: `trace[0]` is the objective at the start, then after each step that was kept."""

    trace: tuple[float, ...]
    iterations: int
    status: Status

    @property
    def value(self) -> float:
        return self.trace[-1]


def climb(
    climber: Climber, *, max_iterations: int, run: Run = UNBOUNDED, before: tuple[float, ...] = (), block: int = 8
) -> Climb:
    """Climb until convergence, the limit, the run's end or an interrupt. `before` is the trace of an earlier part,
    `block` how many evaluations to ask for at first.

    Threads get no interrupt from the keyboard: who starts them spreads the run's stop instead.
    """
    trace: list[float] = list(before)
    kept = 0  # (evaluations that were taken back do not count: how many fall in a block depends on the clock)
    outcome, status = Outcome.RUNNING, Status.ITERATION_LIMIT
    try:
        while outcome is Outcome.RUNNING and kept < max_iterations:
            block = min(block, max_iterations - kept)
            began = time.monotonic()
            with as_raised():
                values, outcome = climber.climb(block)
            trace += values.tolist()
            kept += len(values)
            now = time.monotonic()
            if outcome is Outcome.RUNNING and now > run.deadline:
                status = Status.BUDGET
                break
            if outcome is Outcome.RUNNING and run.stopped:
                status = Status.INTERRUPTED
                break
            if now - began < BLOCK_SECONDS:
                block = min(2 * block, 4096)
            elif now - began > 4 * BLOCK_SECONDS:
                block = max(block // 2, 1)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if outcome is Outcome.FELL:
        raise FallError(f"the objective fell from {trace[-2]!r} to {trace[-1]!r} at step {len(trace) - 1}: a bug")
    if outcome is Outcome.CONVERGED:
        status = Status.CONVERGED
    else:
        trace.append(climber.settle())
        if len(trace) > 1 and not trace[-1] >= trace[-2] - 1e-9 - 1e-12 * abs(trace[-1]):
            raise FallError(f"the objective fell from {trace[-2]!r} to {trace[-1]!r} at the last step: a bug")
    return Climb(tuple(trace), len(trace) - len(before) - 1, status)
