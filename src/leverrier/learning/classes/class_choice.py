"""Which number of classes is chosen, and what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from leverrier.learning.classes.class_fit import FitTable

Criterion = Literal["bic", "aic", "sabic", "caic", "score"]
CRITERIA: tuple[Criterion, ...] = ("bic", "aic", "sabic", "caic", "score")


@dataclass(frozen=True)
class Choice:
    """The best number of classes by a criterion, and the next best."""

    states: int
    criterion: Criterion
    value: float
    next_best: int | None
    next_value: float | None
    largest: bool
    """Whether it is the largest of several numbers tried."""
    untried: tuple[int, ...] = ()
    """Numbers that the time did not suffice for."""


def choose(table: FitTable, criterion: Criterion, scores: Mapping[int, float], wanted: Sequence[int]) -> Choice:
    """The number with the lowest criterion, or with the highest of these `scores`; the smaller one of two alike."""
    tried = [row.states for row in table.rows]
    if criterion == "score":
        values = {k: scores[k] for k in tried}
        order = sorted(values, key=lambda k: (-values[k], k))
    else:
        values = {row.states: float(getattr(row, criterion)) for row in table.rows}
        order = sorted(values, key=lambda k: (values[k], k))
    best, second = order[0], order[1] if len(order) > 1 else None
    return Choice(
        best,
        criterion,
        values[best],
        second,
        None if second is None else values[second],
        second is not None and best == max(tried),
        tuple(k for k in wanted if k not in tried),
    )
