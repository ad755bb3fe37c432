"""Loopy belief propagation: approximate posteriors of single variables where exact inference is too large.

Messages run on the factor graph until they settle. On a tree the answer is exact; with cycles it is an approximation
without a bound, and `converged` says whether the messages settled at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.inference.exact.factors import Codes, Factor, check_factors, condition, log
from leverrier.inference.exact.propagation import LOGS

CHUNK_CELLS = 2**21
"""Cells of all factors times rows that are worked on at a time."""
PATIENCE = 30
"""Rounds before damping sets in: on a tree it would only delay the exact answer."""


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
    max_iterations: int = 500,
    tolerance: float = 1e-7,
    damping: float = 0.5,
) -> Approximate:
    """Sum-product messages in rounds until none moves by more than `tolerance` (of its largest entry)."""
    check_factors(factors, cardinalities)
    codes = np.full((len(cardinalities), 1), -1) if evidence is None else np.asarray(evidence)
    cells = max(1, sum(factor.values[0].size if factor.by_row else factor.values.size for factor in factors))
    step = max(1, CHUNK_CELLS // cells)
    logs = [Factor(factor.scope, log(np.asarray(factor.values, dtype=np.float64))) for factor in factors]
    parts = []
    for start in range(0, max(codes.shape[1], 1), step):
        rows = slice(start, start + step)
        own = [Factor(f.scope, f.values[rows]) if f.by_row else f for f in logs]
        parts.append(_Messages(cardinalities, own, codes[:, rows]).run(max_iterations, tolerance, damping))
    return Approximate(
        tuple(np.concatenate([part.marginals[v] for part in parts]) for v in range(len(cardinalities))),
        np.concatenate([part.log_evidence for part in parts]),
        np.concatenate([part.converged for part in parts]),
    )


class _Alike:
    """Factors of one shape, stacked, with their log messages to the variables on each axis: (factors, states, rows)."""

    def __init__(self, scopes: list[tuple[int, ...]], values: list[Floats], rows: int) -> None:
        self.scopes = np.array(scopes, dtype=np.int64).reshape(len(scopes), -1)
        self.values = np.stack(values)
        self.sent = [np.zeros((len(scopes), size, rows)) for size in self.values.shape[1:-1]]

    def times(self, heard: Sequence[Floats], skip: int | None = None) -> Floats:
        """The factors times what their variables say, on all axes but one."""
        total = self.values
        for axis, message in enumerate(heard):
            if axis != skip:
                shape = [1] * (len(heard) + 2)
                shape[0], shape[axis + 1], shape[-1] = message.shape
                total = total + message.reshape(shape)
        return total


class _Messages:
    """The state of one run. Variables' totals are padded to the largest cardinality with states that are impossible."""

    def __init__(self, cardinalities: Sequence[int], logs: Sequence[Factor], codes: Codes) -> None:
        self.rows = codes.shape[1]
        self.cardinalities = cardinalities
        observed = frozenset(np.flatnonzero((codes >= 0).all(axis=1)).tolist())  # these leave the graph
        stacks: dict[tuple[int, ...], tuple[list[tuple[int, ...]], list[Floats]]] = {}
        for scope, values in (condition(factor, codes, observed) for factor in logs):
            scopes, tables = stacks.setdefault(values.shape, ([], []))
            scopes.append(scope)
            tables.append(values)
        self.stacks = [_Alike(scopes, tables, self.rows) for scopes, tables in stacks.values()]
        states = np.arange(max(cardinalities, default=1))[:, None]
        sizes = np.array(cardinalities, dtype=np.int64)[:, None, None]
        cells = np.asarray(codes)[:, None, :]
        self.impossible = (states >= sizes) | ((cells >= 0) & (cells != states))

    def run(self, max_iterations: int, tolerance: float, damping: float) -> Approximate:
        moved = np.full(self.rows, np.inf)
        for round_number in range(max_iterations):
            moved = self.update(damping if round_number >= PATIENCE else 0.0)
            if np.all(moved <= tolerance):
                break
        finite, zeros = self.totals()
        beliefs = np.exp(_scaled(np.where(zeros > 0, -np.inf, finite), axis=1))
        totals = beliefs.sum(axis=1, keepdims=True)
        log_evidence = self.bethe()
        beliefs *= (log_evidence > -np.inf) / np.where(totals > 0, totals, 1.0)
        marginals = tuple(belief[:size].T for belief, size in zip(beliefs, self.cardinalities, strict=True))
        return Approximate(marginals, log_evidence, moved <= tolerance)

    def totals(self) -> tuple[Floats, NDArray[np.int64]]:
        """All messages to each variable summed: the finite parts, and how many say "impossible", counted apart so that
        one message can be taken out again."""
        finite = np.zeros(self.impossible.shape)
        zeros = self.impossible.astype(np.int64)
        for alike in self.stacks:
            for axis, sent in enumerate(alike.sent):
                to, size = alike.scopes[:, axis], sent.shape[1]
                np.add.at(finite[:, :size], to, np.where(np.isneginf(sent), 0.0, sent))
                np.add.at(zeros[:, :size], to, np.isneginf(sent))
        return finite, zeros

    def heard(self, alike: _Alike, totals: tuple[Floats, NDArray[np.int64]]) -> list[Floats]:
        """What each factor's variables say, its own message to them taken out."""
        result = []
        for axis, sent in enumerate(alike.sent):
            to, none = alike.scopes[:, axis], np.isneginf(sent)
            finite = totals[0][to, : sent.shape[1]] - np.where(none, 0.0, sent)
            zeros = totals[1][to, : sent.shape[1]] - none
            result.append(_scaled(np.where(zeros > 0, -np.inf, finite), axis=1))
        return result

    def update(self, damping: float) -> Floats:
        """One round: every factor to every variable. Gives back how far the messages of each row moved."""
        totals = self.totals()
        moved = np.zeros(self.rows)
        for alike in self.stacks:
            heard = self.heard(alike, totals)
            for axis, sent in enumerate(alike.sent):
                others = tuple(1 + other for other in range(len(heard)) if other != axis)
                product = alike.times(heard, skip=axis)
                fresh = np.exp(_scaled(LOGS.summed(product, others) if others else product, axis=1))
                old = np.exp(sent)
                # A zero is certain as soon as it appears: damping must not keep the impossible alive.
                mixed = np.where(fresh > 0, (1 - damping) * fresh + damping * old, 0.0)
                moved = np.maximum(moved, np.abs(mixed - old).max(axis=(0, 1)))
                alike.sent[axis] = np.broadcast_to(log(mixed), sent.shape)
        return moved

    def bethe(self) -> Floats:
        """log Z = Σ_factors log Z_f + Σ_variables log Z_v − Σ_edges log Z_fv, exact at the messages' fixed point."""
        finite, zeros = self.totals()
        total = LOGS.summed(np.where(zeros > 0, -np.inf, finite), 1).sum(axis=0)
        for alike in self.stacks:
            heard = self.heard(alike, (finite, zeros))
            product = alike.times(heard)
            inner = tuple(range(1, product.ndim - 1))
            total = total + (LOGS.summed(product, inner) if inner else product).sum(axis=0)
            for sent, message in zip(alike.sent, heard, strict=True):
                # An edge that carries nothing belongs to a variable that carries nothing: counted there, once.
                edge = LOGS.summed(sent + message, 1)
                total = total - np.where(np.isneginf(edge), 0.0, edge).sum(axis=0)
        return np.broadcast_to(total, (self.rows,)).copy()


def _scaled(values: Floats, axis: int) -> Floats:
    """The largest entry made log 1."""
    peak = values.max(axis=axis, keepdims=True)
    return values - np.where(np.isneginf(peak), 0.0, peak)
