"""Logits from counts: which terms each parent gets is chosen step by step, cheap ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.families.log_linear import fit_log_linear
from leverrier.learning.families.family_counts import FamilyCounts, Price
from leverrier.learning.families.offered import Offered, log_rows
from leverrier.learning.families.state_column import StateColumn
from leverrier.models.families.state_logit import LogitKind, design_of

Pairs = tuple[tuple[int, int], ...]

RIDGE = 0.3
"""A normal prior of deviation 1.8 for coefficients of standardised scores: with few rows a state that never occurs, or
is always told, is no certainty; with many it says nothing."""
STEPS, TOLERANCE = 25, 0.05
MOST_PARAMETERS = 64
MOST_SEPARATE = 6
"""A child with more states has no coefficients of its own for each: they are in order, or a tree says it."""
LINEAR, SQUARED, EACH = 0, 1, 2
"""A parent's terms: its score, its score and the square of it, or one for each state but the first."""
PAIRED_PARENTS = 3
SETTLED_PARENTS = 4


def offer_logits(family: FamilyCounts, price: Price, floor: float) -> Iterator[Offered]:
    """The best logit; nothing that the saturated likelihood already tells to be below the floor is fitted."""
    search = _Search(family, price, floor)
    best = search.climb()
    if best is not None:
        yield best


class _Search:
    def __init__(self, family: FamilyCounts, price: Price, floor: float) -> None:
        self.family = family
        self.price = price
        self.floor = floor
        self.shares = family.share_price(price)
        self.best: Offered | None = None
        self.done: set[tuple[int, tuple[int, ...], Pairs]] = set()

    def climb(self) -> Offered | None:
        family = self.family
        many = [i for i, parent in enumerate(family.parents) if parent.states > 2]
        bases = (
            [1, 2, family.states - 1] if 3 < family.states <= MOST_SEPARATE else [1, 2] if family.states > 2 else [1]
        )
        flat = tuple(LINEAR for _ in family.parents)
        terms, columns, pairs = flat, 1, ()
        reached = self._try(columns, terms, pairs)
        for how in (SQUARED, EACH) if many else ():
            other = tuple(how if i in many else LINEAR for i in range(len(flat)))
            if (found := self._try(columns, other, pairs)) > reached:
                reached, terms = found, other
        for more in bases[1:]:
            if (found := self._try(more, terms, pairs)) > reached:
                reached, columns = found, more
        for i in many if 1 < len(many) <= SETTLED_PARENTS else ():  # (each parent's terms, once the rest is settled)
            for how in (LINEAR, EACH):
                other = (*terms[:i], how, *terms[i + 1 :])
                if (found := self._try(columns, other, pairs)) > reached:
                    reached, terms = found, other
        if 2 <= len(flat) <= PAIRED_PARENTS:
            whole = tuple((a, b) for b in range(len(flat)) for a in range(b))
            self._try(columns, terms, whole)
        return self.best

    def _try(self, columns: int, how: tuple[int, ...], pairs: Pairs) -> float:
        family = self.family
        key = (columns, how, pairs)
        width = sum(_width(parent, each) for parent, each in zip(family.parents, how, strict=True)) + len(pairs)
        size = family.states - 1 + width * columns
        spent = self.shares + self.price.parameter * width * columns
        bound = family.saturated - spent
        least = self.floor if self.best is None else max(self.floor, self.best.score)
        if key in self.done or bound <= least or size > MOST_PARAMETERS:
            return -np.inf
        self.done.add(key)
        terms = tuple(_terms(parent, each) for parent, each in zip(family.parents, how, strict=True))
        basis = _basis(family.child, columns)
        theta = np.zeros(size)
        theta[: family.states - 1] = np.log((family.margin[1:] + 0.5) / (family.margin[0] + 0.5))
        design = design_of(terms, pairs, family.codes)
        reached = fit_log_linear(family.counts, design, basis, theta, RIDGE, STEPS, TOLERANCE, least + spent)
        score = reached - spent
        if score > least:
            self.best = _offered(LogitKind(terms, pairs, basis, theta), score, spent, family)
        return score


def _offered(made: LogitKind, score: float, spent: float, family: FamilyCounts) -> Offered:
    return Offered(score, made.kind, lambda: made, partial(log_rows, made, family), partial(_again, made, spent))


def _again(made: LogitKind, spent: float, family: FamilyCounts) -> Offered:
    """The same terms, climbed from the coefficients there are."""
    theta = made.theta.copy()
    design = design_of(made.terms, made.pairs, family.codes)
    reached = fit_log_linear(family.counts, design, made.basis, theta, RIDGE, STEPS, TOLERANCE, -np.inf)
    return _offered(replace(made, theta=theta), float(reached) - spent, spent, family)


def _width(parent: StateColumn, how: int) -> int:
    if parent.states == 2 or how == LINEAR:
        return 1
    return 2 if how == SQUARED and parent.states > 3 else parent.states - 1


def _terms(parent: StateColumn, how: int) -> Floats:
    """(states, columns): what a parent's state adds to the design."""
    width = _width(parent, how)
    score = parent.scores[:, None]
    if width == 1:
        return np.ascontiguousarray(score)
    if width == 2 and how == SQUARED:
        return np.concatenate([score, score**2 - 1.0], axis=1)
    return np.eye(parent.states)[:, 1:].copy()


def _basis(child: StateColumn, columns: int) -> Floats:
    if columns >= child.states - 1:
        return np.eye(child.states)[:, 1:].copy()
    score = child.scores
    return np.stack([score, score**2 - 1.0][:columns], axis=1)
