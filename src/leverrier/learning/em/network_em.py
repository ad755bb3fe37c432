"""EM for a network's parameters: the climber that goes with `climb`."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.parted_expectation import AnyPlan, step_of
from leverrier.errors import OptionError
from leverrier.inference.exact.e_step import EStep
from leverrier.kernels.em import iteration
from leverrier.kernels.em.iteration import advance, constant_part, iterate, maximise
from leverrier.learning.em.climb import Outcome

LONG = 3e6
"""An E-step of more than about so many nanoseconds is shared out over threads; a shorter one stays in one kernel."""
FIRST_STEP = 4.0


@dataclass(frozen=True, eq=False)
class Objective:
    """What EM climbs: the plan (of rows here, or of parts that are asked), N₀ + α for cells that rows show directly
    (`fixed`), and α (`prior`)."""

    plan: AnyPlan
    fixed: Floats
    prior: Floats
    variational: bool = False

    @property
    def mode(self) -> int:
        return iteration.VARIATIONAL if self.variational else iteration.MAXIMUM


class ParameterClimb:
    """Parameters θ on their way up. After an evaluation `counts` are those expected under θ, the prior's included."""

    def __init__(
        self,
        objective: Objective,
        theta: Floats,
        *,
        tolerance: float,
        accelerate: bool | float = True,
        threads: Executor | None = None,
    ) -> None:
        self.objective = objective
        self.theta = theta.copy()
        self.counts = objective.fixed.copy()
        self.tolerance = tolerance
        below = np.inf if accelerate is True else float(accelerate)
        self.below = 0.0 if objective.plan.approximate else below  # (products' posteriors do not go back)
        """Steps that gain fewer nats are extrapolated."""
        self._point = self.theta
        self._state = np.zeros(9)
        self._saved = np.zeros((3, len(theta)))
        self._step = step_of(objective.plan, threads)
        self.begin_again()
        if objective.variational:  # the climbing point is a Dirichlet posterior: the one that θ's expected counts give
            self._step(self.theta, self.counts)
            self._point = self.counts.copy()
            maximise(objective.plan.layout.runs, self._point, self.theta, objective.mode)

    def __getstate__(self) -> dict[str, Any]:
        """What all climbers share is not sent with each of them to other processes: see `attached`."""
        return {**self.__dict__, "objective": None, "_step": None, "_singles": getattr(self._step, "singles", None)}

    def attached(self, objective: Objective) -> ParameterClimb:
        """This climber, come from another process, with its objective."""
        self.objective = objective
        self._step = step_of(objective.plan)
        singles = self.__dict__.pop("_singles")
        if isinstance(self._step, EStep) and singles is not None:
            self._step.singles = singles
        return self

    def begin_again(self) -> None:
        """Forget the way here: θ has been moved."""
        self._state[:] = [-np.inf, 0.0, iteration.FIRST, 0.0, 1.0, FIRST_STEP, 1.0, self.refused, 0.0]

    @property
    def refused(self) -> int:
        """How many extrapolations were no improvement and were taken back."""
        return int(self._state[iteration.REFUSED])

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        o = self.objective
        if o.plan.work > LONG or o.plan.needs_passes:
            return self._climb_in_threads(evaluations)
        step = cast(EStep, self._step)
        plan = step.plan
        trace = np.empty(evaluations)
        _, kept, status = iterate(
            plan.groups,
            plan.packs,
            plan.bases,
            plan.offsets,
            plan.ids,
            plan.weights,
            plan.pack_weights,
            plan.layout.runs,
            o.fixed,
            o.prior,
            o.mode,
            self.below,
            self.tolerance,
            self.theta,
            self._point,
            self.counts,
            step.cells,
            step.sums,
            self._saved,
            trace,
            self._state,
        )
        return self._judged(trace[:kept], status)

    def _climb_in_threads(self, evaluations: int) -> tuple[Floats, Outcome]:
        trace: list[float] = []
        runs, o = self.objective.plan.layout.runs, self.objective
        for _ in range(evaluations):
            value = self.evaluate()
            status = advance(
                runs,
                o.prior,
                value,
                self.counts,
                o.mode,
                self.below,
                self.tolerance,
                self.theta,
                self._point,
                self._saved,
                self._state,
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
        value = constant_part(o.plan.layout.runs, o.fixed, o.prior, self._point, self.theta, o.mode)
        self.counts[:] = o.fixed
        return value + self._step(self.theta, self.counts)

    def settle(self) -> float:
        """The objective at θ; if θ is an extrapolation that is no improvement, at the EM step it started from."""
        value = self.evaluate()
        if self._state[iteration.PHASE] == iteration.PROPOSAL and not value >= self._state[iteration.VALUE]:
            n = self.objective.plan.layout.size
            self._point[:n] = self._saved[2, :n]
            if self.objective.variational:
                maximise(self.objective.plan.layout.runs, self._point, self.theta, self.objective.mode)
            value = self.evaluate()
        self._state[iteration.PHASE] = iteration.FIRST
        self._state[iteration.PLAIN] = 0.0
        return value
