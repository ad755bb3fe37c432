"""How much a search for hidden variables tries, and what it may cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np

from leverrier.errors import Cut, as_raised
from leverrier.run.checkpoint import Journal

Method = Literal["fixed", "region", "full"]
Construction = Literal["default", "elidan2000"]
Progress = Callable[[str, float], None]
Result = TypeVar("Result")

WORTH = 1e-3
"""Gains below this many nats are none."""


LEAST_SECONDS = 0.01
"""What is left when nothing is: enough for an answer of some kind."""


class Stop:
    """Someone's wish to end now with what there is: a first Ctrl-C."""

    def __init__(self) -> None:
        self.asked = False
        self.waiting = False
        """Whether other processes are being waited for: then the wish must break in."""
        self.answered = False
        """Whether the answer is there: what follows is short, and is not to be cut."""

    def ask(self) -> None:
        self.asked = True
        if self.waiting:
            raise KeyboardInterrupt


def answered(stop: Stop | None, whole: Callable[[], Result], in_haste: Callable[[], Result]) -> Result:
    """What `whole` gives; if it is cut, what `in_haste` makes of the pieces that are kept. Then nothing more is cut."""
    try:
        with as_raised():
            result = whole()
        if stop is not None:
            stop.answered = True
        return result
    except Cut:
        return in_haste()


@dataclass
class Work:
    """A budget that is the same on every machine: pieces of work that may be done, and that were."""

    limit: int
    done: int = 0

    @property
    def left(self) -> int:
        return max(self.limit - self.done, 0)


@dataclass(frozen=True)
class Plan:
    """The options of `find_hidden`. The same plan is followed on the data and on every simulated table."""

    method: Method = "region"
    construction: Construction = "default"
    cardinality: int | Literal["auto"] = "auto"
    max_hidden: int = 3
    max_states: int = 12
    baseline_seeds: int = 3
    baseline_rounds: int = 10
    max_parents: int | None = None
    seed: int = 0
    deadline: float = np.inf
    progress: Progress | None = None
    stop: Stop | None = None
    journal: Journal | None = None
    """Where pieces of the work are kept, so that a run can be resumed."""
    work: Work | None = None
    jobs: int = 1
    """Processes among which candidates are shared out: the answer does not depend on them."""
    client: Any = None
    """A Dask client whose workers do independent pieces."""

    def __getstate__(self) -> dict[str, Any]:
        """The deadline by the clock on the wall: another machine's own clock began at another time."""
        return {**self.__dict__, "deadline": self.deadline - time.monotonic() + time.time()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, deadline=state["deadline"] - time.time() + time.monotonic())

    @property
    def spent(self) -> bool:
        return time.monotonic() > self.deadline or self.stopped or (self.work is not None and not self.work.left)

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop.asked

    def seconds_left(self) -> float | None:
        if self.stopped:
            return LEAST_SECONDS
        return None if self.deadline == np.inf else max(self.deadline - time.monotonic(), LEAST_SECONDS)

    def worked(self, pieces: int = 1) -> None:
        """So many pieces of work are done, or were before the run was resumed."""
        if self.work is not None:
            self.work.done += pieces

    def tell(self, what: str, share: float) -> None:
        if self.progress is not None:
            self.progress(what, share)

    def silent(self) -> Plan:
        """The same, telling nobody: for runs in other processes."""
        return replace(self, progress=None, stop=None, journal=None, work=None, jobs=1, client=None)
