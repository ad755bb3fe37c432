"""What a calibrated junction tree answers: evidence, posteriors of any variables, completions, draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.errors import OptionError, TooLargeError
from leverrier.inference.exact.clique_merging import joint
from leverrier.inference.exact.elimination import in_words
from leverrier.inference.exact.factors import Codes, Factor, Scope, condition, count_cells
from leverrier.inference.exact.propagation import (
    LOGS,
    MAXIMA,
    SCALED,
    CliqueTree,
    Collected,
    collect,
    descend,
    potentials,
)

CHUNK_CELLS, CHUNK_ROWS = 2**21, 2**13
"""Beliefs computed at a time (16 MiB), and rows: chunks of that size stay near the processor."""
KEPT_CELLS = 2**24
"""Beliefs kept between questions (128 MiB, or what `max_cells` allows one row); beyond, each question computes them
again, chunk by chunk."""

Rows = NDArray[np.int64]


@dataclass(eq=False)
class Batch:
    """Rows that share a tree. `observed` variables have left it; other evidence enters as zeros and ones."""

    tree: CliqueTree
    observed: frozenset[int]
    rows: Rows
    logs: Sequence[Factor]
    kept: list[tuple[Rows, Collected]] = field(default_factory=list)

    @property
    def cells(self) -> int:
        return self.tree.cells * len(self.rows)

    def chunks(self) -> Iterator[Rows]:
        step = max(1, min(CHUNK_ROWS, CHUNK_CELLS // self.tree.cells))
        return (self.rows[start : start + step] for start in range(0, len(self.rows), step))

    def potentials(self, codes: Codes, rows: Rows) -> list[Floats]:
        """Each clique's log potential for these rows."""
        return potentials(self.tree, self._terms(np.ascontiguousarray(codes[:, rows]), rows))

    def _terms(self, codes: Codes, rows: Rows) -> Iterator[tuple[Scope, Floats]]:
        for factor in self.logs:
            own = Factor(factor.scope, factor.values[rows]) if factor.by_row else factor
            yield condition(own, codes, self.observed)
        for variable in self.tree.homes:
            states = codes[variable]
            if np.any(states >= 0):
                allowed = (states < 0) | (states == np.arange(self.tree.cardinalities[variable])[:, None])
                yield (variable,), np.where(allowed, 0.0, -np.inf)

    def collected(self, codes: Codes) -> Iterator[tuple[Rows, Collected]]:
        """Beliefs by chunk; rows that scaling could not carry come again in logarithms."""
        if self.kept:
            yield from self.kept
            return
        for rows in self.chunks():
            scaled = collect(self.tree, self.potentials(codes, rows), SCALED, len(rows))
            yield rows[~scaled.doubtful], scaled.at(~scaled.doubtful)
            if scaled.doubtful.any():
                again = rows[scaled.doubtful]
                yield again, collect(self.tree, self.potentials(codes, again), LOGS, len(again))


@dataclass(eq=False)
class Calibrated:
    """Posteriors for a batch of rows of evidence. Equal rows were computed once; `index` spreads them out again."""

    cardinalities: tuple[int, ...]
    max_cells: int
    codes: NDArray[np.integer]
    index: Rows
    batches: list[Batch]

    def __post_init__(self) -> None:
        if sum(batch.cells for batch in self.batches) <= max(KEPT_CELLS, self.max_cells):
            for batch in self.batches:
                batch.kept = list(batch.collected(self.codes))

    def _collected(self) -> Iterator[tuple[Batch, Rows, Collected]]:
        for batch in self.batches:
            for rows, collected in batch.collected(self.codes):
                if len(rows):
                    yield batch, rows, collected

    @cached_property
    def log_evidence(self) -> Floats:
        """log P(evidence) of each row, −∞ where it is impossible: the log of the sum over all completions."""
        result = np.empty(self.codes.shape[1])
        for _, rows, collected in self._collected():
            result[rows] = collected.log_total
        return result[self.index]

    def marginal(self, variables: Scope) -> Floats:
        """P(variables | evidence), shape (rows, states of the first, …); all zero where the evidence is impossible."""
        return self.marginals([variables])[0]

    def marginals(self, sets: Sequence[Scope]) -> list[Floats]:
        """Several posteriors in one pass over the rows."""
        for variables in sets:
            self._check(variables)
        n = self.codes.shape[1]
        results = [np.zeros((n, *(self.cardinalities[v] for v in variables))) for variables in sets]
        for batch, rows, collected in self._collected():
            for variables, result in zip(sets, results, strict=True):
                left = tuple(variable for variable in variables if variable not in batch.observed)
                seen = [variable for variable in variables if variable in batch.observed]
                posterior = joint(collected, left, self.max_cells)
                axes = [1 + variables.index(variable) for variable in (*seen, *left)]
                states = [self.codes[variable, rows] for variable in seen]
                result.transpose([0, *axes])[rows, *states] = np.moveaxis(posterior, -1, 0)
        return [result[self.index] for result in results]

    def most_probable(self) -> tuple[Codes, Floats]:
        """The most probable completion of each row (variables, rows), and its log-probability with the evidence.

        Where the evidence is impossible there is none: the holes stay −1 and the log-probability is −∞.
        """
        codes = self.codes.copy()
        best = np.empty(codes.shape[1])
        for batch in self.batches:
            for rows in batch.chunks():
                found = collect(batch.tree, batch.potentials(self.codes, rows), MAXIMA, len(rows))
                best[rows] = found.log_total
                filled = codes[:, rows]
                descend(found, lambda weights: weights.argmax(axis=0), np.arange(len(rows)), filled)
                possible = found.log_total > -np.inf
                codes[:, rows[possible]] = filled[:, possible]
        return codes[:, self.index], best[self.index]

    def sample(self, rng: np.random.Generator) -> Codes:
        """One completion of each row drawn from its posterior (variables, rows); holes stay where it is impossible."""
        codes = self.codes[:, self.index]
        place = np.empty(self.codes.shape[1], dtype=np.int64)
        for _, rows, collected in self._collected():
            place[:] = -1
            place[rows] = np.where(collected.log_total > -np.inf, np.arange(len(rows)), -1)
            wanted = np.flatnonzero(place[self.index] >= 0)
            drawn = codes[:, wanted]
            descend(collected, _draw(rng, collected), place[self.index[wanted]], drawn)
            codes[:, wanted] = drawn
        return codes

    def _check(self, variables: Scope) -> None:
        if len(set(variables)) < len(variables) or any(v < 0 or v >= len(self.cardinalities) for v in variables):
            last = len(self.cardinalities) - 1
            raise OptionError(f"variables {variables}: expected different numbers from 0 to {last}")
        cells = count_cells(variables, self.cardinalities)
        if cells > self.max_cells:
            raise TooLargeError(
                f"the posterior of {len(variables)} variables has {in_words(cells)} cells a row, "
                f"at most {in_words(self.max_cells)} are allowed: ask for fewer variables at a time"
            )


def _draw(rng: np.random.Generator, collected: Collected) -> Callable[[Floats], NDArray[np.int64]]:
    def pick(weights: Floats) -> NDArray[np.int64]:
        if collected.algebra is LOGS:
            weights = np.exp(weights - weights.max(axis=0))
        cumulative = np.cumsum(weights, axis=0)
        threshold = rng.random(weights.shape[1]) * cumulative[-1]
        return (cumulative <= threshold).sum(axis=0)

    return pick
