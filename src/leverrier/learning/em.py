"""EM for a network's parameters: the climber that goes with `climb`."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import OptionError
from leverrier.inference.expectation import EStep
from leverrier.inference.groups import Plan
from leverrier.kernels import iteration
from leverrier.kernels.iteration import advance, constant_part, iterate, maximise
from leverrier.learning.climb import Outcome

Floats = NDArray[np.float64]

LONG = 3e6
"""An E-step of more than about so many nanoseconds is shared out over threads; a shorter one stays in one kernel."""
FIRST_STEP = 4.0


@dataclass(frozen=True, eq=False)
class Objective:
    """What EM climbs: the plan, N₀ + α for cells that rows show directly (`fixed`), and α (`prior`)."""

    plan: Plan
    fixed: Floats
    prior: Floats
    variational: bool = False

    @property
    def mode(self) -> int:
        return iteration.VARIATIONAL if self.variational else iteration.MAXIMUM


class ParameterClimb:
    """Parameters θ on their way up. `counts` are the expected counts (with the prior's) that θ was last made of."""

    def __init__(
        self,
        objective: Objective,
        theta: Floats,
        *,
        tolerance: float,
        accelerate: bool = True,
        threads: Executor | None = None,
        counts: Floats | None = None,
    ) -> None:
        self.objective = objective
        self.theta = theta.copy()
        self.counts = objective.fixed.copy() if counts is None else counts.copy()
        self.tolerance = tolerance
        self.accelerate = accelerate and not objective.variational
        self._state = np.zeros(9)
        self.begin_again()
        self._saved = np.zeros((3, len(theta)))
        self._step = EStep(objective.plan, threads)
        self._expected: Floats | None = None
        if objective.variational and counts is None:  # the bound knows θ only as what counts make of it
            self._step(self.theta, self.counts)
            maximise(objective.plan.layout.runs, self.counts, self.theta, objective.mode)

    def begin_again(self) -> None:
        """Forget the way here: θ has been moved."""
        self._state[:] = [-np.inf, 0.0, iteration.FIRST, 0.0, 1.0, FIRST_STEP, 1.0, self.refused, 0.0]

    @property
    def refused(self) -> int:
        """How many extrapolations were no improvement and were taken back."""
        return int(self._state[iteration.REFUSED])

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        if self.objective.plan.work > LONG or len(self.objective.plan.trees):
            return self._climb_in_threads(evaluations)
        self._expected = None
        plan, o = self.objective.plan, self.objective
        trace = np.empty(evaluations)
        _, kept, status = iterate(
            plan.groups, plan.packs, plan.bases, plan.offsets, plan.ids, plan.weights, plan.pack_weights,
            plan.layout.runs, o.fixed, o.prior, o.mode, self.accelerate, self.tolerance, self.theta, self.counts,
            self._step.cells, self._step.sums, self._saved, trace, self._state,
        )  # fmt: skip
        return self._judged(trace[:kept], status)

    def _climb_in_threads(self, evaluations: int) -> tuple[Floats, Outcome]:
        self._expected = None
        trace: list[float] = []
        runs, o = self.objective.plan.layout.runs, self.objective
        for _ in range(evaluations):
            value = self.evaluate()
            status = advance(
                runs, value, self.counts, o.mode, self.accelerate, self.tolerance, self.theta, self._saved, self._state
            )
            if status == iteration.REFUSED_PROPOSAL:
                continue
            trace.append(value)
            if status != iteration.RUNNING:
                return self._judged(np.array(trace), status)
        return np.array(trace), Outcome.RUNNING

    @staticmethod
    def _judged(trace: Floats, status: int) -> tuple[Floats, Outcome]:
        if len(trace) and trace[-1] == -np.inf:
            raise OptionError(
                "the start gives some row probability zero, and EM never leaves a zero: smooth the initial network "
                "(mix in a little of the uniform distribution), or leave initial= out"
            )
        return trace, Outcome(status)

    def evaluate(self) -> float:
        """The objective at θ; `counts` become those expected under θ."""
        o = self.objective
        value = constant_part(o.plan.layout.runs, o.fixed, o.prior, self.counts, self.theta, o.mode)
        self.counts[:] = o.fixed
        return value + self._step(self.theta, self.counts)

    def settle(self) -> float:
        """The objective at θ; if θ is an extrapolation that is no improvement, at the EM step it started from."""
        made_of = self.counts.copy()
        value = self.evaluate()
        if self._state[iteration.PHASE] == iteration.PROPOSAL and not value >= self._state[iteration.VALUE]:
            self.theta[:] = self._saved[2]
            value = self.evaluate()
        self._state[iteration.PHASE] = iteration.FIRST
        self._state[iteration.PLAIN] = 0.0
        self._expected, self.counts = self.counts, made_of
        return value

    @property
    def expected(self) -> Floats:
        """Counts expected under θ, the prior's included, once the climb has ended."""
        return self.counts if self._expected is None else self._expected
