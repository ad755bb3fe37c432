"""A progress bar with the time left on anything that lasts, and Ctrl-C that ends with what there is."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

PATIENCE = 2.0
"""Seconds before a bar is shown: quick answers need none."""


class Interruptible:
    """Shows what `tell` says; the first Ctrl-C asks `stop`, a second ends at once."""

    def __init__(self, quiet: bool) -> None:
        from leverrier.discovery.plan import Stop  # (late: `leverrier --help` must not import numerics)

        self.stop = Stop()
        self._quiet = quiet or not sys.stderr.isatty()
        self._begun = time.monotonic()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._before: Any = None

    def __enter__(self) -> Interruptible:
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._bar is not None:
            self._bar.stop()

    def tell(self, what: str, share: float) -> None:
        """One line for each kind of work, with the share done."""
        if self._quiet or time.monotonic() - self._begun < PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.start()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=1.0)
        self._bar.update(self._tasks[what], completed=share)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.stop.asked:
            raise KeyboardInterrupt
        self.stop.ask()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"),
               TimeRemainingColumn())  # fmt: skip
    return Progress(*columns, console=Console(stderr=True), transient=True)
