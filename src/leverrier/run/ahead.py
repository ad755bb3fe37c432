"""Calls that will be asked for later, begun in other processes while this one works alone.

The answer does not depend on it: whoever asks for a call that was begun gets the result of the same function of the
same arguments, only sooner.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any

from leverrier.run.pool import TURN, called_there, end_workers
from leverrier.run.stop import Stop

PAUSE = 0.01
"""Seconds between two looks whether the workers are free."""


class Ahead:
    """Calls by name: waiting, under way, or done."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._waiting: deque[tuple[str, Callable[..., Any], tuple[Any, ...]]] = deque()
        self._begun: dict[str, Future[Any]] = {}
        self._feeding, self._at_once = False, 1
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether nothing waits, is under way or is done."""
        return not (self._waiting or self._begun)

    def begin(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], names: Sequence[str], at_once: int
    ) -> None:
        """Have the workers take up these calls in order, so many of them at a time."""
        with self._lock:
            self._waiting += [(name, function, call) for name, call in zip(names, calls, strict=True)]
            self._at_once = at_once
            if self._feeding or not self._waiting:
                return
            self._feeding = True
        threading.Thread(target=self._feed, daemon=True).start()

    def take(self, name: str) -> Future[Any] | None:
        """The result to come of a call that was begun; None if it was not, and then it is not begun any more."""
        with self._lock:
            self._waiting = deque(each for each in self._waiting if each[0] != name)
            return self._begun.pop(name, None)

    def begin_no_more(self) -> None:
        """What is under way goes on; what waits is left to whoever asks for it."""
        with self._lock:
            self._waiting.clear()

    def end(self) -> None:
        """Nobody asks for what is still under way."""
        self.begin_no_more()
        if any(not each.done() for each in self._begun.values()):
            end_workers()
        self._begun.clear()

    def _feed(self) -> None:
        while self._more():
            if not TURN.given():  # (a call that has not begun stays waiting: nobody waits for it meanwhile)
                time.sleep(PAUSE)
                continue
            try:
                self._next()
            finally:
                TURN.over()

    def _more(self) -> bool:
        with self._lock:
            self._feeding = bool(self._waiting)
            return self._feeding

    def _next(self) -> None:
        """So many calls as go at once."""
        with self._lock:
            taken = [self._waiting.popleft() for _ in range(min(self._at_once, len(self._waiting)))]
            futures: list[Future[Any]] = [Future() for _ in taken]
            self._begun |= {name: future for (name, _, _), future in zip(taken, futures, strict=True)}
        try:
            results = called_there(self._jobs, [(function, call) for _, function, call in taken])
            for future in futures:
                future.set_result(next(results))
        except BaseException as problem:  # (whoever asks for it works it out, and hears why it fails)
            for future in futures:
                if not future.done():
                    future.set_exception(problem)


def awaited(future: Future[Any], stop: Stop | None, otherwise: Callable[[], Any], seconds: float | None = None) -> Any:
    """The result of a call that was begun; worked out here if it failed there; None if it takes longer than this, or
    the user asks to stop."""
    try:
        with stop.breaking_in() if stop is not None else nullcontext():
            failed = future.exception(seconds)
    except TimeoutError:
        return None
    except KeyboardInterrupt:
        if stop is None or not stop.asked:
            raise
        return None
    return otherwise() if failed is not None else future.result()
