"""Independent calls in other processes, given up when the user asks to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from leverrier.discovery.plan import Plan
from leverrier.statistics.cluster import on_cluster

Result = TypeVar("Result")


def in_parallel(
    plan: Plan, jobs: int, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
) -> list[Result]:
    """The results in order; none of them if the user stopped it meanwhile."""
    try:
        if plan.stop is not None:
            plan.stop.waiting = jobs > 1 or plan.client is not None
        if plan.client is not None:
            return on_cluster(plan.client, function, calls)
        results: Any = Parallel(n_jobs=jobs)(delayed(function)(*call) for call in calls)
        return list(results)
    except BaseException:
        if plan.stopped:  # whatever the dying workers raised
            return []
        raise
    finally:
        if plan.stop is not None:
            plan.stop.waiting = False
