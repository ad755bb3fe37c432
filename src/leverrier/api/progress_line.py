"""One line that says what is being done and how much is left of it: a bar in a terminal, a text in a notebook."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from leverrier.run.event import Event, Told

PATIENCE = 2.0
"""Seconds before anything is shown: quick answers need none."""
PAUSE = 0.2
"""Seconds between two lines in a notebook."""
F = TypeVar("F", bound=Callable[..., Any])


def with_progress(function: F, module: str | None = None) -> F:
    """The function, whose `progress` may be True (shown), False (not), or left out: shown where somebody looks on.
    `module` is where the function is found so, if not where it was made: by that it is pickled."""

    names = list(inspect.signature(function).parameters)
    place = names.index("progress")

    @functools.wraps(function)
    def shown(*given: Any, **named: Any) -> Any:
        asked = named.get("progress")
        if callable(asked) or len(given) > place:
            return function(*given, **named)
        if asked is False or (asked is None and not somebody_looks()):
            named["progress"] = None
            return function(*given, **named)
        line = ProgressLine()
        named["progress"] = line.tell
        try:
            return function(*given, **named)
        finally:
            line.close()

    shown.__module__ = module or function.__module__
    return cast(F, shown)


def somebody_looks() -> bool:
    return in_notebook() or bool(sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, which shows what is written and never says that it is a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


class ProgressLine:
    """Shows what `tell` is told, once that lasts; `left` gives the seconds left of a budget of so many."""

    def __init__(self, budget: float | None = None, left: Callable[[], float] | None = None) -> None:
        self._budget, self._left = budget, left
        self._begun = self._stage_begun = time.monotonic()
        self._stage: Event | str | None = None
        self._shown: Any = None

    def tell(self, what: Told | Event, share: float = math.nan) -> None:
        """One line for each kind of work, with the share done if that is known."""
        now = time.monotonic()
        if now - self._begun < PATIENCE:
            return
        if self._shown is None:
            self._shown = _Text() if in_notebook() else _Bar()
        told = what if isinstance(what, Told) else Told.of(what)
        stage = told.event if told.event.is_step else told.task
        if self._stage != stage:  # what is done folds away: its line becomes the next one's
            self._stage, self._stage_begun = stage, now
        over = None if self._left is None else max(self._left(), 0.0)
        self._shown.show(
            str(told) if told.event.is_step else told.task,
            share,
            "" if self._budget is None else f"of at most {clock_words(self._budget)}",
            left_words(share, now - self._stage_begun, over),
        )

    def close(self) -> None:
        if self._shown is not None:
            self._shown.close()


class _Bar:
    """In a terminal; it takes itself away."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[budget]}"),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._line = self._bar.add_task("", total=None, left="", budget="")
        self._bar.start()

    def show(self, what: str, share: float, budget: str, left: str) -> None:
        known = not math.isnan(share)
        self._bar.update(
            self._line,
            total=1.0 if known else None,
            completed=share if known else 0.0,
            description=what,
            budget=budget,
            left=left,
        )

    def close(self) -> None:
        self._bar.stop()


class _Text:
    """In a notebook: a line that is written over."""

    def __init__(self) -> None:
        self._last, self._width = 0.0, 0

    def show(self, what: str, share: float, budget: str, left: str) -> None:
        if time.monotonic() - self._last < PAUSE:
            return
        self._last = time.monotonic()
        done = "" if math.isnan(share) else f"{100 * share:.0f} %"
        self._write("  ".join(part for part in (what, done, budget, left) if part))

    def _write(self, words: str) -> None:
        sys.stderr.write(f"\r{words:<{self._width}}")
        sys.stderr.flush()
        self._width = len(words)

    def close(self) -> None:
        self._write("")
        sys.stderr.write("\r")


def left_words(share: float, seconds: float, budget: float | None = None) -> str:
    """What is left of this stage, as a range: nobody knows better. What later stages take is not promised."""
    if math.isnan(share) or share < 0.02 or seconds < 1.0:
        return "" if budget is None else f"at most {clock_words(budget)} left"
    rest = seconds * (1 - share) / share
    least, most = 0.6 * rest, 1.8 * rest + 2.0
    if budget is not None and most >= budget:
        return f"at most {clock_words(budget)} left"
    return f"this stage {clock_words(least)} to {clock_words(most)} more"


def clock_words(seconds: float) -> str:
    """Minutes and seconds, or hours: rounded up, so that work that lies ahead never takes 0:00."""
    whole = max(math.ceil(seconds), 1)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
