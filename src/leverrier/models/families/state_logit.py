"""Logits: multinomial with main effects, and of adjacent categories where the child's states are in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.families.log_linear import predicted
from leverrier.models.families.state_kind import Codes, StateKind


@dataclass(frozen=True, eq=False)
class LogitKind(StateKind):
    """ln P(k | x) = a_k + Σ_c B[k, c] Σ_p X_p(x) W[p, c] + constant, a_0 = 0.

    X has, for each parent, the columns of `terms[i]` at its code: a score, a score and its square, or one for each
    state but the first; then products of first columns of pairs of parents. B is the unit vectors (any child), or the
    scores of the child's states and their squares.
    """

    terms: tuple[Floats, ...]
    pairs: tuple[tuple[int, int], ...]
    basis: Floats
    theta: Floats

    @property
    def ordered(self) -> bool:
        """Whether states have an order that all effects follow."""
        return self.basis.shape[1] != self.states - 1

    @property
    def kind(self) -> str:
        return "ordered logit" if self.ordered else "logit"

    @property
    def states(self) -> int:
        return int(self.basis.shape[0])

    @property
    def dimension(self) -> int:
        return len(self.theta)

    def rows(self, codes: Codes) -> Floats:
        out = np.empty((codes.shape[1], self.states))
        predicted(design_of(self.terms, self.pairs, codes), self.basis, self.theta, out)
        return out

    def require_whole(self) -> None:
        width = sum(own.shape[1] for own in self.terms) + len(self.pairs)
        if self.basis.ndim != 2 or len(self.theta) != len(self.basis) - 1 + width * self.basis.shape[1]:
            raise ValueError("the logit's coefficients do not fit its terms")


def design_of(terms: Sequence[Floats], pairs: Sequence[tuple[int, int]], codes: Codes) -> Floats:
    """X by configuration: each parent's columns, then the products."""
    parts = [own[codes[i]] for i, own in enumerate(terms)]
    parts += [(parts[a][:, 0] * parts[b][:, 0])[:, None] for a, b in pairs]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))
