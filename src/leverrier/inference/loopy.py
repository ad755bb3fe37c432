"""Loopy belief propagation: approximate posteriors of single variables where exact inference is too large.

Messages run on the factor graph until they settle. On a tree the answer is exact; with cycles it is an approximation
without a bound, and `converged` says whether the messages settled at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.inference.factors import Codes, Factor, Floats, aligned, check_factors, condition, log
from leverrier.inference.propagation import LOGS

CHUNK_CELLS = 2**21
"""Cells of all factors times rows that are worked on at a time."""


@dataclass(frozen=True, eq=False)
class Approximate:
    """Approximate answers for rows of evidence."""

    marginals: tuple[Floats, ...]
    """For each variable (rows, states); all zero where the evidence was found impossible."""
    log_evidence: Floats
    """Bethe's approximation of log P(evidence); no bound either way."""
    converged: NDArray[np.bool_]


def loopy(
    cardinalities: Sequence[int],
    factors: Sequence[Factor],
    evidence: Codes | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-9,
    damping: float = 0.3,
) -> Approximate:
    """Sum-product messages, one factor after another, until no belief moves by more than `tolerance`."""
    check_factors(factors, cardinalities)
    codes = np.full((len(cardinalities), 1), -1) if evidence is None else np.asarray(evidence)
    cells = max(1, sum(factor.values[0].size if factor.by_row else factor.values.size for factor in factors))
    step = max(1, CHUNK_CELLS // cells)
    logs = [Factor(factor.scope, log(np.asarray(factor.values, dtype=np.float64))) for factor in factors]
    parts = []
    for start in range(0, max(codes.shape[1], 1), step):
        rows = slice(start, start + step)
        own = [Factor(f.scope, f.values[rows]) if f.by_row else f for f in logs]
        messages = _Messages(cardinalities, own, codes[:, rows])
        parts.append(messages.run(max_iterations, tolerance, damping))
    return Approximate(
        tuple(np.concatenate([part.marginals[v] for part in parts]) for v in range(len(cardinalities))),
        np.concatenate([part.log_evidence for part in parts]),
        np.concatenate([part.converged for part in parts]),
    )


class _Messages:
    """The state of one run: log messages from factors to variables, rows last."""

    def __init__(self, cardinalities: Sequence[int], logs: Sequence[Factor], codes: Codes) -> None:
        self.rows = codes.shape[1]
        observed = frozenset(np.flatnonzero((codes >= 0).all(axis=1)).tolist())  # these leave the graph
        self.terms = [condition(factor, codes, observed) for factor in logs]
        self.allowed: list[Floats] = []
        for states, cardinality in zip(codes, cardinalities, strict=True):
            allowed = (states < 0) | (states == np.arange(cardinality)[:, None])
            self.allowed.append(np.where(allowed, 0.0, -np.inf))
        self.sent: dict[tuple[int, int], Floats] = {
            (number, variable): np.zeros((cardinalities[variable], self.rows))
            for number, (scope, _) in enumerate(self.terms)
            for variable in scope
        }
        self.touching: list[list[int]] = [[] for _ in cardinalities]
        for number, variable in self.sent:
            self.touching[variable].append(number)

    def run(self, max_iterations: int, tolerance: float, damping: float) -> Approximate:
        beliefs = [self.belief(variable) for variable in range(len(self.allowed))]
        converged = np.zeros(self.rows, dtype=np.bool_)
        for _ in range(max_iterations):
            for number in range(len(self.terms)):
                self.update(number, damping)
            fresh = [self.belief(variable) for variable in range(len(self.allowed))]
            moved = [np.abs(new - old).max(axis=0) for new, old in zip(fresh, beliefs, strict=True)]
            beliefs, converged = fresh, np.max(moved, axis=0, initial=0.0) <= tolerance
            if converged.all():
                break
        log_evidence = self.bethe()
        possible = log_evidence > -np.inf
        return Approximate(tuple((belief * possible).T for belief in beliefs), log_evidence, converged)

    def incoming(self, variable: int, without: int | None = None) -> Floats:
        """What all factors but one tell a variable, with its own evidence; the largest entry is log 1."""
        total = self.allowed[variable].copy()
        for number in self.touching[variable]:
            if number != without:
                total += self.sent[number, variable]
        return _scaled(total)

    def belief(self, variable: int) -> Floats:
        weights = np.exp(self.incoming(variable))
        total = weights.sum(axis=0)
        return weights / np.where(total > 0, total, 1.0)

    def update(self, number: int, damping: float) -> None:
        """One factor's messages to all its variables, from what they now say."""
        scope, values = self.terms[number]
        heard = [aligned(self.incoming(variable, number), (variable,), scope) for variable in scope]
        for axis, variable in enumerate(scope):
            total = sum((message for other, message in enumerate(heard) if other != axis), values)
            others = tuple(other for other in range(len(scope)) if other != axis)
            fresh = np.exp(_scaled(LOGS.summed(total, others) if others else total))
            old = np.exp(self.sent[number, variable])
            # A zero is certain as soon as it appears: damping must not keep the impossible alive.
            self.sent[number, variable] = log(np.where(fresh > 0, (1 - damping) * fresh + damping * old, 0.0))

    def bethe(self) -> Floats:
        """log Z = Σ_factors log Z_f + Σ_variables log Z_v − Σ_edges log Z_fv, exact at the messages' fixed point."""
        total = np.zeros(self.rows)
        for number, (scope, values) in enumerate(self.terms):
            heard = [self.incoming(variable, number) for variable in scope]
            product = sum((aligned(h, (v,), scope) for h, v in zip(heard, scope, strict=True)), values)
            total = total + _log_total(product)
            for variable, message in zip(scope, heard, strict=True):
                total = total - _finite(_log_total(self.sent[number, variable] + message))
        for variable in range(len(self.allowed)):
            product = self.allowed[variable].copy()
            for number in self.touching[variable]:
                product += self.sent[number, variable]
            total = total + _log_total(product)
        return total


def _log_total(values: Floats) -> Floats:
    return LOGS.summed(values, tuple(range(values.ndim - 1))) if values.ndim > 1 else values


def _finite(values: Floats) -> Floats:
    """An edge that carries nothing is a variable that carries nothing: counted there, once."""
    return np.where(np.isneginf(values), 0.0, values)


def _scaled(values: Floats) -> Floats:
    return values - _finite(values.max(axis=tuple(range(values.ndim - 1))))


