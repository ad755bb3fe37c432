"""Why a run stopped, as words: the value of a status *is* the message."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """How a search, an EM run or a sampler ended. Only `CONVERGED` means that it was done."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "stopped at the iteration limit, not converged"
    BUDGET = "stopped when the budget ran out, not converged"
    INTERRUPTED = "interrupted, not converged"

    @property
    def converged(self) -> bool:
        return self is Status.CONVERGED

    def __str__(self) -> str:
        return self.value
