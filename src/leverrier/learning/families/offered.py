"""A kind that was fitted: its score, and the family itself when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from leverrier.models.families.conditional import StateConditional


@dataclass(frozen=True, eq=False)
class Offered:
    """The score is without the price of having chosen among kinds."""

    score: float
    kind: str
    make: Callable[[], StateConditional]
