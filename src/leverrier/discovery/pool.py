"""Independent calls in other processes, given up when the user asks to stop."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from joblib import Parallel, delayed

from leverrier.counts.cluster_parts import each_on_cluster
from leverrier.discovery.plan import Plan

Result = TypeVar("Result")
_started: set[int] = set()
_starting: list[threading.Thread] = []


def ready(plan: Plan) -> bool:
    """Whether other processes can take calls at once."""
    return plan.client is not None or plan.jobs in _started


def streamed(plan: Plan, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]) -> Iterator[Result]:
    """The results in order, each as soon as it is there; no more of them once the user has stopped it."""
    results: Any = None
    try:
        if plan.client is not None:
            results = each_on_cluster(plan.client, function, calls)
        else:
            _await(plan.jobs)
            there: Any = Parallel(n_jobs=plan.jobs, return_as="generator")
            results = there(delayed(function)(*call) for call in calls)
        for _ in calls:
            yield _waited_for(plan, results)
    except BaseException:
        if not plan.stopped:  # (else: whatever the dying workers raised)
            raise
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # (joblib's, that tasks were given up: that is the user's wish, or time's)
            if results is not None:
                results.close()


def _waited_for(plan: Plan, results: Iterator[Result]) -> Result:
    """The next one. Only here may Ctrl-C break in, not while a result is being used."""
    try:
        if plan.stop is not None:
            plan.stop.waiting = plan.jobs > 1 or plan.client is not None  # (alone, the work itself looks at the stop)
        return next(results)
    finally:
        if plan.stop is not None:
            plan.stop.waiting = False


def prepare(jobs: int, warm: Callable[[], object]) -> None:
    """Start the workers in the background: they load their libraries while we still work alone."""
    if jobs < 2 or jobs in _started or _starting:
        return
    thread = threading.Thread(target=_try_start, args=(jobs, warm), daemon=True)
    _starting.append(thread)
    thread.start()


def _try_start(jobs: int, warm: Callable[[], object]) -> None:
    with suppress(Exception):  # (killed by Ctrl-C, say: who needs them starts them again, and hears why it fails)
        _start(jobs, warm)


def _await(jobs: int) -> None:
    while _starting:
        _starting[-1].join()
        _starting.pop()
    _start(jobs, int)


def _start(jobs: int, warm: Callable[[], object]) -> None:
    """Start the workers deaf to Ctrl-C: a terminal sends it to them too, and each would print a traceback. It waits for
    us meanwhile, and reaches us after."""
    if jobs < 2 or jobs in _started or not hasattr(signal, "pthread_sigmask"):
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        Parallel(n_jobs=jobs)(delayed(warm)() for _ in range(jobs))
        _started.add(jobs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_workers() -> None:
    """Kill the workers, for a process that ends without waiting for them."""
    module = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(module, "_executor", None)
    for pid in list(getattr(executor, "_processes", None) or ()):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
