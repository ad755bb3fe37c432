"""One line of progress for anything that lasts; Ctrl-C and budgets that end in time with what there is.

Both first ask politely. Work that does not look up soon is cut: an exception is raised into it, and what was kept until
then makes the answer (see `discover`).
"""

from __future__ import annotations

import math
import os
import signal
import sys
from types import FrameType, TracebackType
from typing import Any

import click

from leverrier.api.progress_line import ProgressLine
from leverrier.cli.clock import process_age, slowness
from leverrier.errors import Cut
from leverrier.run.event import Event, Told
from leverrier.run.stop import Stop

POLITE, FIRM = 0.5, 1.0
"""Seconds after Ctrl-C until the work is cut, and from then until the process ends with what is on disk; work that has
no second answer gets both to end by itself."""
GRACE = 0.25
"""Seconds that a budget's work may take to notice that it is over, before it is cut."""
CAN_CUT = hasattr(signal, "setitimer")


class Interruptible:
    """Shows what `tell` says; the first Ctrl-C asks `stop`, a second ends at once; a budget ends in time.

    `afterwards` are the seconds of computing that follow the work: the budget keeps them back. `cuts` says that the
    work answers even when it is cut: then it is, should it not look at the clock.
    """

    def __init__(
        self, quiet: bool, budget: float | None = None, afterwards: float = 0.0, *, cuts: bool = False
    ) -> None:
        self.stop = Stop()
        self.budget = budget
        self._afterwards = afterwards
        self._quiet = quiet or not sys.stderr.isatty()
        left = None if budget is None else lambda: budget - process_age()
        self._line = ProgressLine(budget, left)
        self._before: Any = None
        self._cuts = cuts
        self._armed = False

    @property
    def seconds(self) -> float | None:
        """What is left of the budget for the work; None without a budget. Asked when the libraries are loaded, which
        shows how busy the machine is."""
        if self.budget is None:
            return None
        reserve = min(self._afterwards * slowness() + GRACE, self.budget / 2)
        return max(self.budget - reserve - process_age(), 0.01)

    def __enter__(self) -> Interruptible:
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        if CAN_CUT:
            signal.signal(signal.SIGALRM, self._cut)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if CAN_CUT and not self.stop.asked:  # (after Ctrl-C the clock runs on until the process ends: see `calm`)
            calm()
        elif CAN_CUT and self._cuts:  # it ended politely: what follows is not to be cut, and has a second
            self._cuts = False
            signal.setitimer(signal.ITIMER_REAL, FIRM, FIRM)
        signal.signal(signal.SIGINT, self._before)
        self._line.close()
        if kind is Cut and self.stop.asked:
            raise KeyboardInterrupt from None

    def tell(self, what: Told | Event, share: float = math.nan) -> None:
        """One line for each kind of work, with the share done if that is known: then it is under way and can be cut."""
        known = not math.isnan(share)
        if known and not self._armed and self._cuts and self.seconds is not None and CAN_CUT:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, self.seconds + GRACE)
        if not self._quiet:
            self._line.tell(what, share)

    def load(self, *names: Any) -> None:  # noqa: ARG002  (naming them has loaded them)
        """Libraries are loaded before an interrupt may break in: half-loaded ones are of no use."""
        if self.stop.asked:
            leave()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.stop.asked:
            leave()
        if CAN_CUT:
            signal.setitimer(signal.ITIMER_REAL, POLITE if self._cuts else POLITE + FIRM, FIRM)
        self.stop.ask()

    def _cut(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.stop.asked and not self._cuts:
            leave()
        self._cuts = False  # once
        if not self.stop.answered:
            raise Cut


def leave(words: str = "interrupted") -> None:
    """End now: threads and other processes are not waited for. What is on disk is whole."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    if words:
        os.write(2, f"leverrier: {words}\n".encode())
    for module, end in (("pool", "end_workers"), ("precompile", "end_compiling")):
        loaded = sys.modules.get(f"leverrier.run.{module}")
        getattr(loaded, end, int)()  # (int does nothing: it is not loaded, or not wholly)
    os._exit(130)


def calm() -> None:
    """No alarm any more."""
    if CAN_CUT:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def early(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Ctrl-C where nothing is under way that could be saved. (An exception in the middle of loading libraries may be
    lost, or leave them half-loaded.)"""
    leave()


def interrupted(run: Interruptible) -> int:
    """The exit code of work that ends with the best so far, and the line that says so."""
    if run.stop.asked:
        note("leverrier: interrupted; this is the best so far", quiet=False)
    return 130 if run.stop.asked else 0


def note(words: str, quiet: bool) -> None:
    """A line beside the answer."""
    if not quiet:
        click.echo(words, err=True)
