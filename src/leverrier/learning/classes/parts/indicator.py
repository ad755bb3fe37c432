"""One column of a latent class model: a density whose linear predictors are θ times a design, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.variable import Label
from leverrier.errors import OptionError
from leverrier.learning.classes.parts.densities import Density, Derivatives


class IndicatorKind(Enum):
    """What a column is given the class. The value is what users write."""

    NOMINAL = "nominal"
    ADJACENT = "ordinal"
    CUMULATIVE = "cumulative"
    POISSON = "poisson"
    NEGATIVE_BINOMIAL = "negative binomial"
    NORMAL = "normal"
    NORMAL_EQUAL = "normal, equal variances"
    CENSORED = "censored"

    @classmethod
    def named(cls, text: str) -> IndicatorKind:
        known = {kind.value: kind for kind in cls} | {
            "adjacent": cls.ADJACENT,
            "count": cls.POISSON,
            "number": cls.NORMAL,
            "category": cls.NOMINAL,
        }
        if text not in known:
            raise OptionError(f"{text!r} is no kind of indicator: expected one of {', '.join(sorted(known))}")
        return known[text]

    @property
    def categorical(self) -> bool:
        return self in (IndicatorKind.NOMINAL, IndicatorKind.ADJACENT, IndicatorKind.CUMULATIVE)

    @property
    def count(self) -> bool:
        return self in (IndicatorKind.POISSON, IndicatorKind.NEGATIVE_BINOMIAL)


class Role(Enum):
    """What a parameter is for. The value is a word for tables."""

    SHARE = "class logit"
    PROFILE = "profile"
    SHARED = "same in every class"
    SPREAD = "log deviation"
    THRESHOLD = "threshold"


@dataclass(frozen=True)
class Parameter:
    """What one free parameter is: of which column, class, state and term of the design."""

    role: Role
    column: str
    state_class: int | None
    term: str
    state: Label | None = None

    def __str__(self) -> str:
        state = "" if self.state is None else f" = {self.state}"
        where = "all classes" if self.state_class is None else f"class {self.state_class}"
        term = "" if self.term in ("", "1") else f", {self.term}"
        return f"{self.column}{state} in {where}{term}"


@dataclass(frozen=True, eq=False)
class Indicator:
    """θ (size) → predictors `design @ θ` of shape (classes, channels, cells) → log f. Cells are the distinct values
    with their designs; `cell_of_row` is the number of cells where a row has a hole."""

    name: str
    kind: IndicatorKind
    density: Density
    design: Floats
    """(classes, channels, cells, size)."""
    cell_of_row: Integers
    parameters: tuple[Parameter, ...]
    begin: Floats
    """Where Newton begins when nothing is known."""
    saturated: tuple[Integers, Integers, Integers] | None = None
    """For a nominal column without shared terms and one free term: the parameter (classes, states; −1 the reference)
    of each state, the state of each cell, and the reference state of each class: then the maximum has a formula."""

    @property
    def size(self) -> int:
        return self.design.shape[3]

    @property
    def cells(self) -> int:
        return self.design.shape[2]

    @property
    def classes(self) -> int:
        return self.design.shape[0]

    @property
    def _flat(self) -> Floats:
        """The design with a row for every class, channel and cell."""
        return self.design.reshape(int(np.prod(self.design.shape[:3])), self.size)

    def predictors(self, theta: Floats) -> Floats:
        return self.design @ theta

    def log_density(self, theta: Floats) -> Floats:
        """(cells, classes)."""
        return self.density.log(self.predictors(theta)).T

    def derivatives(self, theta: Floats) -> Derivatives:
        return self.density.derivatives(self.predictors(theta))

    def gradient(self, theta: Floats, weights: Floats) -> Floats:
        """Σ weights · ∂ log f / ∂θ, for weights (cells, classes)."""
        first = self.derivatives(theta).first * weights.T[:, None]
        return first.reshape(-1) @ self._flat

    def scores(self, theta: Floats) -> Floats:
        """(classes, cells + 1, size): ∂ log f / ∂θ of every cell; the last is a hole's."""
        found = np.zeros((self.classes, self.cells + 1, self.size))
        found[:, :-1] = np.einsum("krc,krcp->kcp", self.derivatives(theta).first, self.design)
        return found

    def information(self, theta: Floats, weights: Floats) -> Floats:
        """Σ weights · −∂² log f / ∂θ∂θ', for weights (cells, classes)."""
        return self._curvature(self.derivatives(theta), weights)

    def _curvature(self, at: Derivatives, weights: Floats) -> Floats:
        bent = np.einsum("krsc,kscp->krcp", at.second * weights.T[:, None, None], self.design)
        return -self._flat.T @ bent.reshape(self._flat.shape)

    def maximise(self, theta: Floats, weights: Floats, steps: int = 2) -> Floats:
        """Higher Σ weights · log f: its maximum by formula where there is one, or after so many Newton steps."""
        if not self.size:
            return theta
        if self.saturated is not None:
            return self._by_formula(weights)
        value = self._worth(theta, weights)
        for _ in range(steps):
            at = self.derivatives(theta)
            gradient = (at.first * weights.T[:, None]).reshape(-1) @ self._flat
            step = _uphill(self._curvature(at, weights), gradient)
            if abs(float(gradient @ step)) < 1e-13 * max(1.0, abs(value)):
                break
            theta, value, moved = self._along(theta, value, step, weights)
            if not moved:
                break
        return theta

    def _along(self, theta: Floats, value: float, step: Floats, weights: Floats) -> tuple[Floats, float, bool]:
        """As far along the step as it gains, halving."""
        length = 1.0
        for _ in range(12):
            there = theta + length * step
            reached = self._worth(there, weights)
            if reached > value + 1e-12 * abs(value):
                return there, reached, True
            length /= 2
        return theta, value, False

    def _worth(self, theta: Floats, weights: Floats) -> float:
        logs = self.log_density(theta)
        used = weights != 0
        if not np.all(np.isfinite(logs[used])):
            return -np.inf
        return float(weights[used] @ logs[used])

    def _by_formula(self, weights: Floats) -> Floats:
        assert self.saturated is not None
        place, state, reference = self.saturated
        states = place.shape[1]
        counts = np.zeros((self.classes, states))
        for k in range(self.classes):
            counts[k] = np.bincount(state, weights=weights[:, k], minlength=states)
        logs = np.log(np.maximum(counts, 1e-9 * max(float(counts.sum()), 1e-300)))
        logs -= logs[np.arange(self.classes), reference][:, None]
        theta = np.zeros(self.size)
        theta[place[place >= 0]] = logs[place >= 0]
        return theta


def _uphill(information: Floats, gradient: Floats) -> Floats:
    """A Newton step made uphill: eigenvalues of the wrong sign are turned, tiny ones raised."""
    values, vectors = np.linalg.eigh(information)
    floor = max(1e-8 * float(np.abs(values).max(initial=0.0)), 1e-10)
    step = vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), floor))
    longest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, 8.0 / longest) if longest else step
