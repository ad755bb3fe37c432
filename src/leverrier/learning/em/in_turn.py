"""Starts that are run one after another, each to its end: the loop of every learner whose starts are not shared out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from leverrier.learning.em.climb import Climb
from leverrier.learning.em.fit_result import Start, Starts
from leverrier.run.event import Event
from leverrier.run.run import Run
from leverrier.status import Status


class Ending(Protocol):
    """Where a start ended."""

    @property
    def climb(self) -> Climb: ...


End = TypeVar("End", bound=Ending)
Point = TypeVar("Point")


def ends_in_turn(
    run: Run, event: Event, about: tuple[Any, ...], points: Sequence[Point], go: Callable[[Point], End | None]
) -> list[End | None]:
    """How every start ended, None where it came to nothing; fewer if time runs out or the user stops it."""
    ends: list[End | None] = []
    for number, point in enumerate(points, 1):
        end = go(point)
        ends.append(end)
        if end is not None:
            said = f"{end.climb.status}, {end.climb.value:.4f}"
            run.tell(event, number / len(points), *about, number, len(points), said=said)
            if end.climb.status in (Status.INTERRUPTED, Status.BUDGET):
                break
        if run.late and any(one is not None for one in ends):
            break
    return ends


def counted(runs: Iterable[Start], near: float) -> Starts:
    """All starts, and how many of them ended as high as the best, but for so little."""
    every = tuple(runs)
    best = max(each.value for each in every)
    return Starts(every, sum(each.value >= best - near for each in every))
