"""Someone's wish to end now, a budget of work, and the answer that is made in haste."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from leverrier.errors import Cut, as_raised

Result = TypeVar("Result")


class Stop:
    """Someone's wish to end now with what there is: a first Ctrl-C."""

    def __init__(self) -> None:
        self._asked = self._breaks_in = self._answered = False

    @property
    def asked(self) -> bool:
        return self._asked

    @property
    def answered(self) -> bool:
        """Whether the answer is there: what follows is short, and is not to be cut."""
        return self._answered

    def ask(self) -> None:
        """End soon. Where nobody looks, the wish breaks in."""
        self._asked = True
        if self._breaks_in:
            raise KeyboardInterrupt

    def spread(self) -> None:
        """Someone was interrupted already: the others, who were not, are to end too."""
        self._asked = True

    def answer(self) -> None:
        self._answered = True

    def break_in(self) -> None:
        """From now on nobody looks: the wish ends the work where it is."""
        self._breaks_in = True

    @contextmanager
    def breaking_in(self) -> Iterator[None]:
        """While other processes are waited for nobody looks."""
        try:
            self._breaks_in = True
            yield
        finally:
            self._breaks_in = False


@dataclass
class Work:
    """A budget that is the same on every machine: pieces of work that may be done, and that were."""

    limit: int
    done: int = 0

    @property
    def left(self) -> int:
        return max(self.limit - self.done, 0)


def answered(stop: Stop | None, whole: Callable[[], Result], in_haste: Callable[[], Result]) -> Result:
    """What `whole` gives; if it is cut, what `in_haste` makes of the pieces that are kept. Then nothing more is cut."""
    try:
        with as_raised():
            result = whole()
        if stop is not None:
            stop.answer()
        return result
    except Cut:
        return in_haste()
