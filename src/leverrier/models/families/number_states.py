"""States (or the ordered codes of an atomic number) given numbers and states: tables on codes, and logits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, ndtr, ndtri

from leverrier.arrays import Floats
from leverrier.models.curve import Curve
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_histogram import joined, pieces_of
from leverrier.models.families.number_terms import Term
from leverrier.plain_values import Plain

LEAST = 1e-12


class CodedChild(Plain, ABC):
    """What tables and logits share: a child by its codes, drawn as a state or as a score within its code."""

    bounds: tuple[float, ...]
    """What parts the codes of an atomic number's scores; empty where the cells are codes."""

    @abstractmethod
    def log_probabilities(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        """(rows, codes)."""

    def codes(self, child: Cells) -> NDArray[np.int64]:
        return pieces_of(child, self.bounds) if self.bounds else np.asarray(child, dtype=np.int64)

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        codes = self.codes(child)
        return self.log_probabilities(parents, len(codes))[np.arange(len(codes)), codes]

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        cumulative = np.cumsum(np.exp(self.log_probabilities(parents, n_rows)), axis=1)
        uniform = rng.random(n_rows)[:, None] * cumulative[:, -1:]
        codes = np.minimum((uniform >= cumulative).sum(axis=1), cumulative.shape[1] - 1)
        if not self.bounds:
            return codes
        edges = np.concatenate([[0.0], ndtr(np.array(self.bounds)), [1.0]])
        return ndtri(edges[codes] + rng.random(n_rows) * (edges[codes + 1] - edges[codes]))


@dataclass(frozen=True)
class NumberTable(CodedChild):
    """P(code | pieces of the parents)."""

    bounds: tuple[float, ...]
    parent_bounds: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    """By the parents' pieces, the last parent changing fastest."""
    seen: int
    """How many of the parents' configurations occurred."""

    @property
    def kind(self) -> str:
        return "table"

    @property
    def dimension(self) -> int:
        return self.seen * (len(self.shares[0]) - 1)

    @cached_property
    def _logs(self) -> Floats:
        return np.log(np.maximum(np.array(self.shares), LEAST))

    def log_probabilities(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        return self._logs[joined(parents, self.parent_bounds, n_rows)]


@dataclass(frozen=True)
class NumberLogit(CodedChild):
    """log P(code) = Σ coefficient·term, against the first code (multinomial)."""

    bounds: tuple[float, ...]
    terms: tuple[Term, ...]
    coefficients: tuple[tuple[float, ...], ...]
    """By code from the second on: the constant, then one for each term."""
    parent_curves: tuple[Curve | None, ...] = ()

    @property
    def kind(self) -> str:
        return "logit"

    @property
    def dimension(self) -> int:
        return len(self.coefficients) * (len(self.terms) + 1)

    def log_probabilities(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        x = np.stack([np.ones(n_rows), *(term.column(parents, self.parent_curves) for term in self.terms)])
        sums = np.zeros((n_rows, len(self.coefficients) + 1))
        sums[:, 1:] = x.T @ np.array(self.coefficients).T
        return log_softmax(sums, axis=1)


@dataclass(frozen=True)
class NumberOrderedLogit(CodedChild):
    """P(code ≤ k) = logistic(threshold_k − Σ coefficient·term)."""

    bounds: tuple[float, ...]
    terms: tuple[Term, ...]
    thresholds: tuple[float, ...]
    coefficients: tuple[float, ...]
    parent_curves: tuple[Curve | None, ...] = ()

    @property
    def kind(self) -> str:
        return "ordered logit"

    @property
    def dimension(self) -> int:
        return len(self.thresholds) + len(self.coefficients)

    def log_probabilities(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        along = np.zeros(n_rows)
        for term, coefficient in zip(self.terms, self.coefficients, strict=True):
            along += coefficient * term.column(parents, self.parent_curves)
        upto = expit(np.array(self.thresholds)[None, :] - along[:, None])
        shares = np.diff(upto, axis=1, prepend=0.0, append=1.0)
        return np.log(np.maximum(shares, LEAST))
