"""The classes' sizes by row: a multinomial logit on the predictors, the first class the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class ClassLogit:
    """log P(class | x) with coefficients (classes − 1, terms) as one vector, class by class; cells are distinct x."""

    classes: int
    x: Floats
    """(cells, terms)."""
    cell_of_row: Integers

    @classmethod
    def of(cls, classes: int, values: Floats) -> ClassLogit:
        x, where = np.unique(values, axis=0, return_inverse=True)
        return cls(classes, x, where.reshape(-1).astype(np.int64))

    @property
    def terms(self) -> int:
        return self.x.shape[1]

    @property
    def size(self) -> int:
        return (self.classes - 1) * self.terms

    def log_shares(self, theta: Floats) -> Floats:
        """(cells, classes)."""
        q = np.zeros((len(self.x), self.classes))
        q[:, 1:] = self.x @ theta.reshape(self.classes - 1, self.terms).T
        top = q.max(axis=1, keepdims=True)
        return q - top - np.log(np.exp(q - top).sum(axis=1, keepdims=True))

    def gradient(self, theta: Floats, weights: Floats) -> Floats:
        """Σ weights · ∂ log P / ∂θ, for weights (cells, classes)."""
        shares = np.exp(self.log_shares(theta))
        rest = weights - weights.sum(axis=1, keepdims=True) * shares
        return (rest[:, 1:].T @ self.x).ravel()

    def scores(self, theta: Floats) -> Floats:
        """(classes, cells, size)."""
        shares = np.exp(self.log_shares(theta))
        found = np.zeros((self.classes, len(self.x), self.classes - 1, self.terms))
        for k in range(self.classes):
            rest = (np.arange(1, self.classes) == k) - shares[:, 1:]
            found[k] = rest[:, :, None] * self.x[:, None, :]
        return found.reshape(self.classes, len(self.x), self.size)

    def information(self, theta: Floats, weights: Floats) -> Floats:
        """Σ weights · −∂² log P / ∂θ∂θ', for weights (cells, classes)."""
        shares = np.exp(self.log_shares(theta))[:, 1:]
        total = weights.sum(axis=1)
        found = np.zeros((self.classes - 1, self.terms, self.classes - 1, self.terms))
        for k in range(self.classes - 1):
            for j in range(self.classes - 1):
                each = total * shares[:, k] * ((k == j) - shares[:, j])
                found[k, :, j, :] = (self.x * each[:, None]).T @ self.x
        return found.reshape(self.size, self.size)

    def maximise(self, theta: Floats, weights: Floats, steps: int = 2) -> Floats:
        """Higher Σ weights · log P: by formula with a constant alone, or after so many Newton steps, halved to gain."""
        if not self.size:
            return theta
        if len(self.x) == 1 and self.terms == 1:
            logs = np.log(np.maximum(weights[0], 1e-12 * max(float(weights.sum()), 1e-300)))
            return (logs[1:] - logs[0]) / self.x[0, 0]
        value = float((weights * self.log_shares(theta)).sum())
        for _ in range(steps):
            information = self.information(theta, weights)
            information[np.diag_indices(self.size)] += 1e-9 * max(1.0, float(np.diag(information).max()))
            step = np.linalg.solve(information, self.gradient(theta, weights))
            for length in 0.5 ** np.arange(10):
                reached = float((weights * self.log_shares(theta + length * step)).sum())
                if reached > value:
                    theta, value = theta + length * step, reached
                    break
            else:
                break
        return theta
