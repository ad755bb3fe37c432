"""The E-step over the parts of a table: each part explains its own rows, and what they say is added up.

Sums are taken in the order of the parts, and how a file is parted does not depend on who holds the parts, so that the
answer is the same to the last bit on any number of workers.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.parted_counts import CountedRows, Kept, Parts
from leverrier.errors import TooLargeError
from leverrier.inference.exact.e_step import EStep
from leverrier.inference.exact.groups import Plan, make_plan
from leverrier.inference.exact.parameter_layout import Layout
from leverrier.inference.exact.unobserved import Evidence


class PartedPlan:
    """The plans of all parts as one: called with parameters it is an E-step, one pass over the parts.

    Starts climb side by side in threads, and a pass serves all that wait for one: see `joined`.
    """

    work = math.inf
    needs_passes = True
    elsewhere = True
    approximate = False
    notes = ()

    def __init__(self, parts: Parts, layout: Layout, columns: Sequence[str | None], prune: bool) -> None:
        """`columns` has the column of each variable, or None for the hidden ones."""
        self.layout = layout
        self._kept: Kept = parts.keep(plan_part, layout, tuple(columns), prune)
        if any(self._kept.ask(too_large)):
            raise TooLargeError(
                "too many unobserved variables hang together in some rows for exact inference, and approximate "
                "posteriors of all rows are kept in memory: give a table that fits there"
            )
        self._passes = Passes(self._ask)

    @property
    def pruned(self) -> bool:
        """Whether unobserved variables without observed descendants were left out somewhere."""
        return any(self._kept.ask(was_pruned))

    def __call__(self, theta: Floats, counts: Floats) -> float:
        """As `EStep`: the log-likelihood of what the parts' groups explain; adds to `counts`."""
        value, expected = self._passes(theta)
        counts += expected
        return value

    def joined(self) -> AbstractContextManager[None]:
        """While a climber is among those that passes wait for."""
        return self._passes.joined()

    def _ask(self, thetas: Floats) -> list[tuple[float, Floats]]:
        answers = self._kept.ask(expect_part, thetas)
        found = []
        for k in range(len(thetas)):
            value, counts = 0.0, np.zeros(self.layout.room)
            for values, tables in answers:
                value += float(values[k])
                counts += tables[k]
            found.append((value, counts))
        return found


AnyPlan = Plan | PartedPlan


def step_of(plan: AnyPlan, threads: Executor | None = None) -> EStep | PartedPlan:
    """The E-step of a plan of rows here, or of parts that are asked."""
    return plan if isinstance(plan, PartedPlan) else EStep(plan, threads)


def plan_part(rows: CountedRows, layout: Layout, columns: Sequence[str | None], prune: bool) -> Plan:
    """The plan of one part's rows: what its keeper holds while EM climbs. Which row became which is not kept."""
    place = {name: position for position, name in enumerate(rows.table.variables)}
    column_of = np.array([-1 if name is None else place[name] for name in columns], dtype=np.int64)
    evidence = Evidence(rows.table.codes, column_of, rows.table.weights)
    order = np.arange(len(layout.scopes), dtype=np.int64)
    return replace(make_plan(evidence, layout, order, prune=prune), places=())


def expect_part(plan: Plan, thetas: Floats) -> tuple[Floats, Floats]:
    """For each of these parameters: the log-likelihood of the part's rows, and expected counts."""
    counts = np.zeros(thetas.shape)
    step = EStep(plan)
    values = np.array([step(theta, own) for theta, own in zip(thetas, counts, strict=True)])
    return values, counts


def too_large(plan: Plan) -> bool:
    """Whether the part would need posteriors that go on from one E-step to the next."""
    return plan.approximate


def was_pruned(plan: Plan) -> bool:
    return plan.pruned


@dataclass(eq=False)
class _Request:
    theta: Floats
    answer: tuple[float, Floats] | None = None
    problem: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.answer is not None or self.problem is not None


class Passes:
    """Requests of several threads, answered together: a pass begins when all who have joined wait for one."""

    def __init__(self, ask: Callable[[Floats], list[tuple[float, Floats]]]) -> None:
        self._ask = ask
        self._changed = threading.Condition()
        self._waiting: list[_Request] = []
        self._members = 0
        self._busy = False

    @contextmanager
    def joined(self) -> Iterator[None]:
        with self._changed:
            self._members += 1
        try:
            yield
        finally:
            with self._changed:
                self._members -= 1
                self._changed.notify_all()

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        mine = _Request(theta.copy())
        with self._changed:
            self._waiting.append(mine)
            self._changed.notify_all()
            while not mine.done:
                if not self._busy and len(self._waiting) >= self._members:
                    self._serve()
                else:
                    self._changed.wait()
        if mine.problem is not None:
            raise mine.problem
        assert mine.answer is not None
        return mine.answer

    def _serve(self) -> None:
        """One pass for all who wait, by one of them; others may come meanwhile."""
        batch, self._waiting, self._busy = self._waiting, [], True
        self._changed.release()
        try:
            for request, answer in zip(batch, self._ask(np.stack([each.theta for each in batch])), strict=True):
                request.answer = answer
        except BaseException as problem:
            for request in batch:
                request.problem = problem
        finally:
            self._changed.acquire()
            self._busy = False
            self._changed.notify_all()
