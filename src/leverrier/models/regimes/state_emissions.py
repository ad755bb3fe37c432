"""Columns of categories: a table by state, or a multinomial logit where there are regressors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.logits import log_shares, logit_step
from leverrier.models.regimes.terms import Term

LEAST = 1e-10
"""No category is impossible in a state: the smallest chance of one."""
STEPS = 1


@dataclass(frozen=True, eq=False)
class StateEmission(Emission):
    """ln P(c) / P(last) = z'β_{s,c}; without terms a table whose M-step is exact."""

    pseudo: float = 0.0
    """A pseudo-count in every cell of a table."""

    @property
    def categories(self) -> int:
        return self.coefficients.shape[2] + 1

    @property
    def dimension(self) -> int:
        return self._slopes * (self.categories - 1)

    def chances(self, z: Floats, state: int) -> Floats:
        """(slices, categories)."""
        return np.exp(log_shares(z, self.coefficients[state]))

    @property
    def table(self) -> Floats:
        """(states, categories), terms at their usual values."""
        return np.exp(log_shares(np.ones((1, 1)), self.coefficients[:, :1].transpose(1, 0, 2))[0])

    def logs(self, y: Floats, z: Floats) -> Floats:
        hole = np.isnan(y)
        cells = np.where(hole, 0, y).astype(np.int64)
        if not self.terms:
            found = np.log(self.table)[:, cells].T
        else:
            rows = np.arange(len(y))
            found = np.stack([log_shares(z, each)[rows, cells] for each in self.coefficients], axis=1)
        return np.where(hole[:, None], 0.0, found)

    def _fitted(self, y: Floats, z: Floats, weights: Floats) -> Self:
        cells = y.astype(np.int64)
        if not self.terms:
            counts = np.stack([np.bincount(cells, w, self.categories) for w in weights.T]) + self.pseudo
            table = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
            return replace(self, coefficients=table_logits(table))
        coefficients = self.coefficients
        own, shared = self.slots
        for _ in range(STEPS):
            coefficients = logit_step(z, own, shared, cells, weights, coefficients)
        return replace(self, coefficients=coefficients)

    def drawn(self, z: Floats, state: int, rng: np.random.Generator) -> Floats:
        chances = self.chances(z, state).cumsum(axis=1)
        found = (rng.random((len(z), 1)) * chances[:, -1:] > chances).sum(axis=1)
        return np.minimum(found, self.categories - 1).astype(np.float64)

    def means(self, z: Floats) -> Floats:
        codes = np.arange(self.categories)
        return np.stack([self.chances(z, s) @ codes for s in range(self.states)], axis=1)


def table_logits(table: Floats) -> Floats:
    """(states, 1, categories − 1) of chances (states, categories)."""
    logs = np.log(np.maximum(table, LEAST))
    return (logs[:, :-1] - logs[:, -1:])[:, None, :]


def state_emission(
    name: str,
    y: Floats,
    categories: int,
    terms: tuple[Term, ...] = (),
    shared: tuple[bool, ...] | None = None,
    pseudo: float = 0.0,
) -> StateEmission:
    """One state with the column's frequencies."""
    seen = y[~np.isnan(y)].astype(np.int64)
    counts = np.bincount(seen, minlength=categories) + 0.5
    coefficients = np.zeros((1, 1 + len(terms), categories - 1))
    coefficients[:, :1] = table_logits((counts / counts.sum())[None])
    return StateEmission(
        name,
        Family.CATEGORY,
        terms,
        tuple(shared) if shared is not None else (True,) * len(terms),
        coefficients,
        np.ones(1),
        np.zeros(1),
        pseudo=pseudo,
    )
