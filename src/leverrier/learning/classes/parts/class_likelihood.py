"""The likelihood of a latent class model: the classes' logit times the indicators, with scores and information.

One object serves every question: fits, standard errors, sandwiches, three steps, invariance, tests. θ is one vector:
the logit's coefficients, then each indicator's. Rows that agree in every cell are one pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from leverrier.arrays import Floats, Integers
from leverrier.learning.classes.parts.class_logit import ClassLogit
from leverrier.learning.classes.parts.indicator import Indicator, Parameter, Role
from leverrier.run.one_thread import one_thread

CHUNK = 4_000_000
"""Numbers of a block of scores: rows are taken in such blocks, so that memory does not grow with them."""


@dataclass(frozen=True, eq=False)
class ClassLikelihood:
    logit: ClassLogit
    indicators: tuple[Indicator, ...]
    weights: Floats
    """Of each pattern."""
    logit_cell: Integers
    """Of each pattern."""
    cells: Integers
    """(patterns, indicators): one past the last where there is a hole."""
    pattern_of_row: Integers
    """−1 for rows left out."""
    picks: csr_array
    """(patterns, all indicators' cells): 1 where a pattern has a cell."""
    offsets: tuple[int, ...]
    """Where the logit's and each indicator's parameters begin in θ; last the end."""
    term_names: tuple[str, ...]

    @property
    def classes(self) -> int:
        return self.logit.classes

    @property
    def size(self) -> int:
        return self.offsets[-1]

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        own = [Parameter(Role.SHARE, "class", k, term) for k in range(1, self.classes) for term in self.term_names]
        return (*own, *(each for indicator in self.indicators for each in indicator.parameters))

    def part(self, theta: Floats, place: int) -> Floats:
        """The logit's parameters (0) or an indicator's (from 1)."""
        return theta[self.offsets[place] : self.offsets[place + 1]]

    def _joint(self, theta: Floats) -> Floats:
        """log P(class, pattern): (patterns, classes)."""
        logs = [each.log_density(self.part(theta, i)) for i, each in enumerate(self.indicators, 1)]
        whole = np.concatenate(logs) if logs else np.zeros((0, self.classes))
        return self.logit.log_shares(self.part(theta, 0))[self.logit_cell] + self.picks @ whole

    def pattern_logs(self, theta: Floats) -> tuple[Floats, Floats]:
        """log P(pattern), and P(class | pattern)."""
        joint = self._joint(theta)
        top = joint.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            each = np.exp(joint - top)
        total = each.sum(axis=1, keepdims=True)
        return (top + np.log(total))[:, 0], each / total

    def value(self, theta: Floats) -> float:
        return float(self.weights @ self.pattern_logs(theta)[0])

    def posterior(self, theta: Floats) -> Floats:
        return self.pattern_logs(theta)[1]

    def _shared_out(self, shares: Floats) -> tuple[Floats, list[Floats]]:
        """Weights (cells, classes) of the logit's cells and of each indicator's, from those of patterns."""
        bins = np.zeros((len(self.logit.x), self.classes))
        for k in range(self.classes):
            bins[:, k] = np.bincount(self.logit_cell, weights=shares[:, k], minlength=len(bins))
        cells = self.picks.T @ shares
        ends = np.cumsum([0, *(each.cells for each in self.indicators)])
        return bins, [cells[lo:hi] for lo, hi in pairwise(ends.tolist())]

    def gradient_at(self, theta: Floats, shares: Floats) -> Floats:
        """Σ shares · ∂ log P(class, pattern) / ∂θ, for any shares (patterns, classes): EM's, and BCH's weights."""
        bins, cells = self._shared_out(shares)
        parts = [self.logit.gradient(self.part(theta, 0), bins)]
        parts += [
            each.gradient(self.part(theta, i), own)
            for i, (each, own) in enumerate(zip(self.indicators, cells, strict=True), 1)
        ]
        return np.concatenate(parts)

    def complete_information(self, theta: Floats, shares: Floats) -> Floats:
        """Σ shares · −∂² log P(class, pattern) / ∂θ∂θ': block by block."""
        bins, cells = self._shared_out(shares)
        found = np.zeros((self.size, self.size))
        blocks = [self.logit.information(self.part(theta, 0), bins)]
        blocks += [
            each.information(self.part(theta, i), own)
            for i, (each, own) in enumerate(zip(self.indicators, cells, strict=True), 1)
        ]
        for (lo, hi), block in zip(pairwise(self.offsets), blocks, strict=True):
            found[lo:hi, lo:hi] = block
        return found

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        logs, shares = self.pattern_logs(theta)
        return float(self.weights @ logs), self.gradient_at(theta, shares * self.weights[:, None])

    def improve(self, theta: Floats, steps: int = 1) -> Floats:
        """One step of EM."""
        shares = self.posterior(theta) * self.weights[:, None]
        return self.maximised(theta, shares, steps)

    def maximised(self, theta: Floats, shares: Floats, steps: int = 2) -> Floats:
        """θ with a higher Σ shares · log P(class, pattern)."""
        bins, cells = self._shared_out(shares)
        parts = [self.logit.maximise(self.part(theta, 0), bins, steps)]
        parts += [
            each.maximise(self.part(theta, i), own, steps)
            for i, (each, own) in enumerate(zip(self.indicators, cells, strict=True), 1)
        ]
        return np.concatenate(parts)

    def begun(self, shares: Floats) -> Floats:
        """θ from posteriors (patterns, classes) alone."""
        theta = np.concatenate([np.zeros(self.logit.size), *(each.begin for each in self.indicators)])
        return self.maximised(theta, shares * self.weights[:, None], steps=12)

    def _scores_by_class(self, theta: Floats) -> list[Floats]:
        return [
            self.logit.scores(self.part(theta, 0)),
            *(each.scores(self.part(theta, i)) for i, each in enumerate(self.indicators, 1)),
        ]

    def class_scores(self, theta: Floats, patterns: slice = slice(None)) -> Floats:
        """(classes, patterns, size): ∂ log P(class, pattern) / ∂θ."""
        return self._gathered(self._scores_by_class(theta), patterns)

    def _gathered(self, by_part: Sequence[Floats], patterns: slice) -> Floats:
        places = [self.logit_cell[patterns], *self.cells[patterns].T]
        return np.concatenate([found[:, place] for found, place in zip(by_part, places, strict=True)], axis=2)

    def _chunks(self) -> list[slice]:
        step = max(1, CHUNK // max(1, self.size * self.classes))
        return [slice(at, at + step) for at in range(0, len(self.weights), step)]

    def mixed_scores(self, theta: Floats, shares: Floats) -> Floats:
        """(patterns, size): Σ_class shares · ∂ log P(class, pattern); with posteriors, ∂ log P(pattern)."""
        by_part = self._scores_by_class(theta)
        parts = [np.einsum("kip,ik->ip", self._gathered(by_part, chunk), shares[chunk]) for chunk in self._chunks()]
        return np.concatenate(parts) if parts else np.zeros((0, self.size))

    def scores(self, theta: Floats) -> Floats:
        """(patterns, size): ∂ log P(pattern) / ∂θ, of one row each."""
        return self.mixed_scores(theta, self.posterior(theta))

    @one_thread
    def information(self, theta: Floats) -> Floats:
        """−∂² log-likelihood / ∂θ∂θ', exact [louis1982 eq. 3.2']."""
        shares = self.posterior(theta)
        found = self.complete_information(theta, shares * self.weights[:, None])
        by_part = self._scores_by_class(theta)
        for chunk in self._chunks():
            each = self._gathered(by_part, chunk)
            weight, own = self.weights[chunk], shares[chunk]
            mean = np.einsum("kip,ik->ip", each, own)
            for k in range(self.classes):
                found -= (each[k] * (weight * own[:, k])[:, None]).T @ each[k]
            found += (mean * weight[:, None]).T @ mean
        return (found + found.T) / 2


def make_likelihood(
    classes: int, x: Floats, term_names: tuple[str, ...], indicators: tuple[Indicator, ...], row_weights: Floats
) -> ClassLikelihood:
    """Rows put together by pattern. Rows without weight are left out."""
    logit = ClassLogit.of(classes, x)
    used = np.flatnonzero(row_weights > 0)
    places = np.column_stack([logit.cell_of_row, *(each.cell_of_row for each in indicators)])[used]
    kept, where = np.unique(places, axis=0, return_inverse=True)
    where = where.reshape(-1)
    pattern_of_row = np.full(len(x), -1, dtype=np.int64)
    pattern_of_row[used] = where
    weights = np.bincount(where, weights=row_weights[used], minlength=len(kept)).astype(np.float64)
    cells = kept[:, 1:]
    widths = np.array([each.cells for each in indicators], dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(widths)])
    seen = cells < widths
    rows = np.repeat(np.arange(len(kept)), seen.sum(axis=1))
    columns = (cells + begins[:-1])[seen]
    picks = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(kept), int(begins[-1])))
    sizes = [logit.size, *(each.size for each in indicators)]
    offsets = tuple(np.concatenate([[0], np.cumsum(sizes)]).tolist())
    return ClassLikelihood(logit, indicators, weights, kept[:, 0], cells, pattern_of_row, picks, offsets, term_names)
