"""What a check found, and how long it may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

SHOWN = 5
"""Failures that are kept in words."""


@dataclass(eq=False)
class Outcome:
    """So many were tried, so many held; failures in words, the first few."""

    name: str
    what: str
    wanted: int
    tried: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Figures worth a line: the slowest, the largest."""
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return self.tried > 0 and self.failed == 0

    def count(self, failure: str | None) -> None:
        """One more, with what was wrong if anything was."""
        self.tried += 1
        if failure is not None:
            self.failed += 1
            if len(self.failures) < SHOWN:
                self.failures.append(" ".join(failure.split())[:300])


@dataclass(frozen=True)
class Size:
    """How much of a check is done: a share of the whole, until a deadline."""

    share: float = 1.0
    deadline: float = float("inf")

    def of(self, whole: int) -> int:
        return max(1, round(self.share * whole))

    @property
    def spent(self) -> bool:
        return time.monotonic() > self.deadline
