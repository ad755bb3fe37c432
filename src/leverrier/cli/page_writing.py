"""What verbs that write a page share: its time is kept back, its libraries are loaded early, its warnings are lines."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from leverrier.cli.progress_bar import Interruptible, note
from leverrier.run.event import Event, Told

AFTERWARDS = 2.5
"""Seconds of computing that the answer from what is kept, and the report, take."""


def afterwards(live: bool) -> float:
    """The same, and what the script of live figures takes where none is kept from an earlier run."""
    from leverrier.report.html.live_script import MAKING, is_kept

    return AFTERWARDS + (MAKING if live and not is_kept() else 0.0)


def telling(run: Interruptible, live: bool) -> Callable[..., None]:
    """Progress; while the tests run elsewhere, the page's libraries are loaded here."""
    from leverrier.report.charts.pictures import load_in_background

    begun: list[Event] = []

    def tell(what: Told, share: float = math.nan) -> None:
        if what.event is Event.NULL_TABLES and not begun:
            begun.append(what.event)
            load_in_background(live)
        run.tell(what, share)

    return tell


@contextmanager
def told_as_notes(quiet: bool) -> Iterator[None]:
    """Warnings as lines beside the answer, without the place in our code that Python would name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for each in caught:
        if each.category is UserWarning:
            note(f"leverrier: {each.message}", quiet)
