"""Independent calls in other processes, given up when the user asks to stop."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from leverrier.run.cluster import each_on_cluster, threads_of
from leverrier.run.stop import Stop

Result = TypeVar("Result")
_started: set[int] = set()
_starting: list[threading.Thread] = []
_one_starts = threading.Lock()


class Turn:
    """One thread at a time hands calls to the workers: joblib's executor is not made for several, and was seen to wait
    for ever. Who works ahead gives way to who needs a result now."""

    def __init__(self) -> None:
        self._held = threading.RLock()
        self._wanted = 0

    def __enter__(self) -> None:
        self._wanted += 1
        self._held.acquire()
        self._wanted -= 1

    def __exit__(self, *problem: object) -> None:
        self.over()

    def over(self) -> None:
        with suppress(RuntimeError):  # (a generator that another thread throws away)
            self._held.release()

    @property
    def free(self) -> bool:
        """Whether a call would be taken up at once."""
        if not self.given():
            return False
        self.over()
        return True

    def given(self) -> bool:
        """The turn, if nobody else has or wants it."""
        return self._wanted == 0 and self._held.acquire(blocking=False)


TURN = Turn()


@dataclass(frozen=True)
class Workers:
    """Who does independent pieces of work; the answer does not depend on them."""

    jobs: int = 1
    """Processes here, or threads where the work lets go of the interpreter; with 1 everything is done in turn."""
    client: Any = None
    """A Dask client whose workers do it instead."""

    @property
    def count(self) -> int:
        """How many calls are run at once."""
        return self.jobs if self.client is None else threads_of(self.client)

    @property
    def elsewhere(self) -> bool:
        return self.jobs > 1 or self.client is not None

    @property
    def ready(self) -> bool:
        """Whether other processes can take calls at once: not while they work ahead, for then we would wait."""
        return self.client is not None or (self.jobs in _started and TURN.free)


ALONE = Workers()


def streamed(
    workers: Workers, stop: Stop | None, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
) -> Iterator[Result]:
    """The results in order, each as soon as it is there; no more of them once the user has stopped it."""
    results: Any = None
    turns = ExitStack()
    try:
        if workers.client is not None:
            results = each_on_cluster(workers.client, function, calls)
        else:
            from joblib import Parallel, delayed  # (late: who works alone need not wait for it)

            turns.enter_context(TURN)
            _await(workers.jobs)
            there: Any = Parallel(n_jobs=workers.jobs, return_as="generator")
            results = there(delayed(_kept_on)(function, *call) for call in calls)
        for _ in calls:
            # Only here may Ctrl-C break in, not while a result is being used; alone, the work itself looks at the stop.
            with stop.breaking_in() if stop is not None and workers.elsewhere else nullcontext():
                result = next(results)
            yield result
    except BaseException:
        if stop is None or not stop.asked:  # (else: whatever the dying workers raised)
            raise
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # (joblib's, that tasks were given up: that is the user's wish, or time's)
            if results is not None:
                results.close()
        turns.close()


def called_there(jobs: int, calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]) -> Iterator[Any]:
    """These calls in other processes, by the thread whose turn it is: their results in order."""
    from joblib import Parallel, delayed

    _await(jobs)
    there: Any = Parallel(n_jobs=jobs, return_as="generator")
    return there(delayed(_kept_on)(function, *call) for function, call in calls)


def _kept_on(function: Callable[..., Result], *call: Any) -> Result:
    """The call, in a worker that is not replaced for having grown.

    joblib's workers end, with a warning, once they hold 300 MB more than after their first call. That is no leak here:
    what they grow by are libraries, kernels and one table's counts, all of them bounded, and a new worker would load
    the same again, in seconds.
    """
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf
    return function(*call)


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
    for thread in list(_starting):
        thread.join()
        with suppress(ValueError):  # (another thread was waiting too)
            _starting.remove(thread)
    with _one_starts:
        _start(jobs, int)


def _start(jobs: int, warm: Callable[[], object]) -> None:
    """Start the workers deaf to Ctrl-C: a terminal sends it to them too, and each would print a traceback. It waits for
    us meanwhile, and reaches us after."""
    if jobs < 2 or jobs in _started or not hasattr(signal, "pthread_sigmask"):
        return
    from joblib import Parallel, delayed

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        Parallel(n_jobs=jobs)(delayed(_kept_on)(warm) for _ in range(jobs))
        _started.add(jobs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_workers() -> None:
    """Kill the workers: the process ends without waiting for them, or nobody waits for what they do. Who needs some
    later starts others."""
    _started.clear()
    module = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(module, "_executor", None)
    for pid in list(getattr(executor, "_processes", None) or ()):
        with suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # (Windows has no other)
