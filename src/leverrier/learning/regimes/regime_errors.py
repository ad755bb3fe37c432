"""Standard errors of a model with a hidden state, from the curvature of its log-likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.learning.regimes.regime_em import Designs
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Moves, Stay
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.regime_passes import passed

STEP = 1e-4
MOST = 120
EDGE = 1e-4
"""Chances below this are at their bound: no standard error is given there."""


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """NaN where a parameter is at its bound or the data say nothing of it."""

    coefficients: Mapping[str, Floats]
    """By column, shaped as its coefficients."""
    spread: Mapping[str, Floats]
    transition: Floats
    """Of the transition table (delta method), or of the logits' slopes where inputs turn it."""
    initial: Floats


def standard_errors(model: RegimeModel, panel: Panel) -> StandardErrors:
    """By central differences of the log-likelihood; parameters with many states take a while."""
    parts = _Parts(model)
    designs = Designs(panel)
    zs = [designs.of(each.terms) for each in model.emissions]
    ys = [panel.values[each.name] for each in model.emissions]

    def value(theta: Floats) -> float:
        at = parts.model(theta)
        logs = np.zeros((panel.n_slices, at.states))
        for each, y, z in zip(at.emissions, ys, zs, strict=True):
            logs += each.logs(y, z)
        return float(passed(at.moves.walk(panel), logs, panel.starts).slice_logs.sum())

    theta = parts.theta
    covariance = np.full((len(theta), len(theta)), np.nan)
    if 0 < len(theta) <= MOST:
        information = -_curvature(value, theta)
        try:
            covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
        except np.linalg.LinAlgError:
            covariance = np.asarray(np.linalg.pinv(information), dtype=np.float64)
    return parts.errors(covariance)


def _curvature(value: Callable[[Floats], float], theta: Floats) -> Floats:
    n = len(theta)
    step = STEP * np.maximum(1.0, np.abs(theta))
    found = np.empty((n, n))
    here = value(theta)
    one = np.array([[value(theta + s * step[i] * np.eye(n)[i]) for s in (1, -1)] for i in range(n)])
    for i in range(n):
        found[i, i] = (one[i, 0] - 2 * here + one[i, 1]) / step[i] ** 2
        for j in range(i):
            a, b = step[i] * np.eye(n)[i], step[j] * np.eye(n)[j]
            both = value(theta + a + b) + value(theta - a - b)
            cross = both - one[i].sum() - one[j].sum() + 2 * here
            found[i, j] = found[j, i] = cross / (2 * step[i] * step[j])
    return found


class _Parts:
    """A model's free parameters as one vector: coefficients, ln spread, logits of chances."""

    def __init__(self, model: RegimeModel) -> None:
        self.base = model
        chunks: list[Floats] = []
        for each in model.emissions:
            own, shared = each.slots
            chunks += [each.coefficients[:, own].ravel(), each.coefficients[0, shared].ravel()]
            if each.family in (Family.NORMAL, Family.STUDENT):
                chunks.append(np.log(each.spread))
        moves = model.moves
        self.free = np.argwhere(moves.allowed & (moves.usual > EDGE))
        self.begins = np.flatnonzero(moves.initial > EDGE)
        self.turned = moves.slopes is not None and moves.states > 1
        self.plain = moves.stay is Stay.GEOMETRIC and not self.turned and not moves.stays and moves.states > 1
        if self.turned:
            assert moves.slopes is not None
            chunks.append(moves.slopes.ravel())
        elif self.plain:
            chunks.append(self._logits(moves.matrix))
        first = moves.initial[self.begins]
        chunks.append(np.log(first[:-1] / first[-1]))
        self.theta = np.concatenate(chunks) if chunks else np.zeros(0)

    def _logits(self, matrix: Floats) -> Floats:
        found = []
        for s in range(len(matrix)):
            to = self.free[self.free[:, 0] == s, 1]
            found.append(np.log(matrix[s, to[:-1]] / matrix[s, to[-1]]))
        return np.concatenate(found)

    def model(self, theta: Floats) -> RegimeModel:
        at = 0
        emissions: list[Emission] = []
        for each in self.base.emissions:
            own, shared = each.slots
            coefficients = each.coefficients.copy()
            size = coefficients[:, own].size
            coefficients[:, own] = theta[at : at + size].reshape(coefficients[:, own].shape)
            at += size
            size = coefficients[0, shared].size
            coefficients[:, shared] = theta[at : at + size].reshape(coefficients[0, shared].shape)
            at += size
            spread = each.spread
            if each.family in (Family.NORMAL, Family.STUDENT):
                spread = np.exp(theta[at : at + each.states])
                at += each.states
            emissions.append(replace(each, coefficients=coefficients, spread=spread))
        moves, at = self._moves(theta, at)
        first = np.append(np.exp(theta[at:]), 1.0)
        initial = np.zeros(moves.states)
        initial[self.begins] = first / first.sum()
        return replace(self.base, emissions=tuple(emissions), moves=replace(moves, initial=initial))

    def _moves(self, theta: Floats, at: int) -> tuple[Moves, int]:
        moves = self.base.moves
        if self.turned:
            assert moves.slopes is not None
            size = moves.slopes.size
            return replace(moves, slopes=theta[at : at + size].reshape(moves.slopes.shape)), at + size
        if not self.plain:
            return moves, at
        matrix = np.zeros_like(moves.matrix)
        for s in range(moves.states):
            to = self.free[self.free[:, 0] == s, 1]
            odds = np.append(np.exp(theta[at : at + len(to) - 1]), 1.0)
            matrix[s, to] = odds / odds.sum()
            at += len(to) - 1
        return replace(moves, matrix=matrix), at

    def errors(self, covariance: Floats) -> StandardErrors:
        """By parameter; of chances by the delta method."""
        with np.errstate(invalid="ignore"):
            error = np.sqrt(np.where(np.diag(covariance) > 0, np.diag(covariance), np.nan))
        at = 0
        coefficients, spreads = {}, {}
        for each in self.base.emissions:
            own, shared = each.slots
            made = np.empty_like(each.coefficients)
            size = made[:, own].size
            made[:, own] = error[at : at + size].reshape(made[:, own].shape)
            at += size
            size = made[0, shared].size
            made[:, shared] = error[at : at + size].reshape(made[0, shared].shape)
            at += size
            coefficients[each.name] = made
            if each.family in (Family.NORMAL, Family.STUDENT):
                spreads[each.name] = each.spread * error[at : at + each.states]
                at += each.states
        moves = self.base.moves
        table = np.full(moves.matrix.shape, np.nan)
        if self.turned:
            assert moves.slopes is not None
            table = error[at : at + moves.slopes.size].reshape(moves.slopes.shape)
            at += moves.slopes.size
        elif self.plain:
            for s in range(moves.states):
                to = self.free[self.free[:, 0] == s, 1]
                size = len(to) - 1
                table[s, to] = _of_shares(moves.matrix[s, to], covariance[at : at + size, at : at + size])
                at += size
        initial = np.full(moves.states, np.nan)
        initial[self.begins] = _of_shares(moves.initial[self.begins], covariance[at:, at:])
        return StandardErrors(coefficients, spreads, table, initial)


def _of_shares(shares: Floats, covariance: Floats) -> Floats:
    """Standard errors of chances from the covariance of their logits against the last."""
    if len(shares) < 2:
        return np.full(len(shares), np.nan)
    slope = (np.diag(shares) - np.outer(shares, shares))[:, :-1]
    variance = np.diag(slope @ covariance @ slope.T)
    return np.sqrt(np.where(variance >= 0, variance, np.nan))
