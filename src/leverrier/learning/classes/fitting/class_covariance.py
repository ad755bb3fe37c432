"""How sure the parameters of a fitted latent class model are, and which of them the data do not tell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.classes.fitting.class_climb import ClassFitted
from leverrier.learning.classes.parts.indicator import Parameter

FLAT = 1e-8
"""Of the information with unit diagonal: an eigenvalue below this is a direction in which the likelihood is level."""


class ErrorsFrom(Enum):
    """Where standard errors come from. The value is what users write."""

    OBSERVED = "observed"
    """The inverse of the observed information: minus the second derivatives of the log-likelihood."""
    ROBUST = "robust"
    """The sandwich: right under weights, clusters and strata, and in large samples when the model is wrong too."""
    SCORES = "scores"
    """The inverse of the rows' squared scores, as poLCA has it."""
    BOOTSTRAP = "bootstrap"
    """The spread over resamples."""


@dataclass(frozen=True, eq=False)
class ClassCovariance:
    """Covariances of θ. Parameters at an edge have none: their rows are 0."""

    fitted: ClassFitted

    @cached_property
    def information(self) -> Floats:
        return self.fitted.likelihood.information(self.fitted.theta)

    @cached_property
    def bread(self) -> Floats:
        """The inverse of the information of what is not at an edge; level directions are left out of it."""
        return self._inverse(self.information)

    def _inverse(self, information: Floats) -> Floats:
        free = ~self.fitted.edge
        found = np.zeros_like(information)
        inner = information[np.ix_(free, free)]
        scale = np.sqrt(np.maximum(np.abs(np.diag(inner)), 1e-300))
        values, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
        kept = values > FLAT
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T / np.outer(scale, scale)
        found[np.ix_(free, free)] = inverse
        return found

    @cached_property
    def influence(self) -> Floats:
        """(rows, size): how each row moves θ; rows left out do not."""
        fitted = self.fitted
        scores = fitted.likelihood.scores(fitted.theta)
        rows = np.nan_to_num(fitted.by_row(scores)) * fitted.spec.row_weights[:, None]
        rows[:, fitted.edge] = 0.0
        return rows @ self.bread

    def matrix(self, kind: ErrorsFrom) -> Floats:
        if kind is ErrorsFrom.ROBUST:
            return self.fitted.spec.sampling.take(self.fitted.spec.terms.held).spread(self.influence)
        if kind is ErrorsFrom.SCORES:
            likelihood = self.fitted.likelihood
            scores = likelihood.scores(self.fitted.theta)
            return self._inverse((scores * likelihood.weights[:, None]).T @ scores)
        return self.bread

    @cached_property
    def level(self) -> tuple[tuple[Parameter, ...], ...]:
        """For each direction in which the likelihood is level: the parameters that move together along it."""
        free = np.flatnonzero(~self.fitted.edge)
        inner = self.information[np.ix_(free, free)]
        scale = np.sqrt(np.maximum(np.abs(np.diag(inner)), 1e-300))
        values, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
        named = self.fitted.likelihood.parameters
        found = []
        for vector in vectors[:, values <= FLAT].T:
            large = np.flatnonzero(np.abs(vector) > 0.25 * np.abs(vector).max())
            found.append(tuple(named[free[i]] for i in large))
        return tuple(found)

    @property
    def at_edge(self) -> tuple[Parameter, ...]:
        named = self.fitted.likelihood.parameters
        return tuple(named[i] for i in np.flatnonzero(self.fitted.edge))


def default_errors(fitted: ClassFitted) -> ErrorsFrom:
    return ErrorsFrom.OBSERVED if fitted.spec.sampling.plain else ErrorsFrom.ROBUST
