"""Mixed networks whose numbers are Gaussian and linear for each configuration of the states: exact answers.

Where no state has a number above it and every number is a line in its scores, with coefficients and spread by the
states alone, the numbers have one joint Gaussian for each configuration of the states (Lauritzen's conditional
Gaussian). Rows are answered by enumerating the states that are missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.inference.gaussian.linear_gaussian import conditioned, joint_gaussian, log_marginal
from leverrier.models.families.conditional import Cells, Conditional
from leverrier.models.families.number_regression import NumberRegression
from leverrier.models.families.number_terms import TermShape
from leverrier.models.graph import Graph
from leverrier.models.margin import Margin

MOST_CONFIGURATIONS = 4096
"""Rows with more configurations of their missing states than this are not enumerated."""
_BY_STATES = {TermShape.CODE, TermShape.CURVE, TermShape.CURVE_SQUARE, TermShape.CURVE_PRODUCT, TermShape.BOTH}


class Mixed(Protocol):
    """What a query needs of a mixed network."""

    @property
    def graph(self) -> Graph: ...
    @property
    def states(self) -> Mapping[str, tuple[object, ...]]: ...
    @property
    def margins(self) -> Mapping[str, Margin]: ...
    @property
    def families(self) -> Mapping[str, Conditional]: ...


def conditional_gaussian(network: Mixed) -> bool:
    """Whether the network's numbers are jointly Gaussian given its states."""
    for node in network.graph:
        parents = network.graph.parents(node)
        if node in network.states:
            if any(p in network.margins for p in parents):
                return False
            continue
        if network.margins[node].atomic or not _linear(network, node):
            return False
    return True


def _linear(network: Mixed, node: str) -> bool:
    family, parents = network.families[node], network.graph.parents(node)
    if not isinstance(family, NumberRegression) or family.curve is not None or family.noise.dimension:
        return False
    if family.spread.follows is not None and (
        family.spread.follows < 0
        or parents[family.spread.follows] in network.margins
        or (family.spread.beside is not None and parents[family.spread.beside] in network.margins)
    ):
        return False
    for term in family.terms:
        number = [parents[p] in network.margins for p in term.parents]
        by_states = term.shape in _BY_STATES and not any(number)
        if not (
            by_states
            or (term.shape is TermShape.SCORE and number == [True])
            or (term.shape is TermShape.SLOPE and number == [False, True])
        ):
            return False
    return True


@dataclass(frozen=True, eq=False)
class Enumerated:
    """log P(observed cells) of some rows for each configuration of their missing states, and the Gaussians behind."""

    logs: Floats
    """(configurations, rows)"""
    states: list[dict[str, NDArray[np.int64]]]
    """The states of each configuration, by row."""


class GaussianByStates:
    """Exact answers for rows with holes: one pattern of holes at a time."""

    def __init__(self, network: Mixed) -> None:
        self.network = network
        self.numbers = [node for node in network.graph.order if node in network.margins]
        self.discrete = [node for node in network.graph.order if node in network.states]
        self._joints: dict[tuple[int, ...], tuple[Floats, Floats]] = {}

    def joint(self, configuration: Sequence[int]) -> tuple[Floats, Floats]:
        """Mean and covariance of the numbers where the states are these."""
        key = tuple(int(state) for state in configuration)
        if key not in self._joints:
            if len(self._joints) > MOST_CONFIGURATIONS:
                self._joints.clear()
            self._joints[key] = self._made(dict(zip(self.discrete, key, strict=True)))
        return self._joints[key]

    def _made(self, state: Mapping[str, int]) -> tuple[Floats, Floats]:
        at = {node: place for place, node in enumerate(self.numbers)}
        n = len(self.numbers)
        slopes, constants, deviations = np.zeros((n, n)), np.zeros(n), np.ones(n)
        for i, node in enumerate(self.numbers):
            family, parents = self.network.families[node], self.network.graph.parents(node)
            assert isinstance(family, NumberRegression)
            cells: list[Cells] = [np.array([state[p]]) if p in state else np.zeros(1) for p in parents]
            constants[i] = family.mean(cells, 1)[0]
            deviations[i] = family.spread.each(cells, np.zeros(1))[0]
            for j, parent in enumerate(parents):
                if parent in at:
                    cells[j] = np.ones(1)
                    slopes[i, at[parent]] = family.mean(cells, 1)[0] - constants[i]
                    cells[j] = np.zeros(1)
        return joint_gaussian(slopes, constants, deviations)

    def enumerated(self, cells: Mapping[str, Cells], free: Sequence[str]) -> Enumerated:
        """Rows of one pattern: the states in `free` are summed over, numbers that are NaN are integrated out."""
        n_rows = len(next(iter(cells.values())))
        seen = [node for node in self.numbers if not np.isnan(cells[node]).any()]
        mask = np.array([node in seen for node in self.numbers], dtype=np.bool_)
        x = np.stack([cells[node] for node in seen], axis=1) if seen else np.zeros((n_rows, 0))
        logs, states = [], []
        for values in itertools.product(*(range(len(self.network.states[node])) for node in free)):
            given = {node: np.asarray(cells[node], dtype=np.int64) for node in self.discrete}
            given.update({node: np.full(n_rows, value) for node, value in zip(free, values, strict=True)})
            logs.append(self._log_states(given, n_rows) + self._log_numbers(given, x, mask, n_rows))
            states.append(given)
        return Enumerated(np.stack(logs), states)

    def log_evidence(self, cells: Mapping[str, Cells], free: Sequence[str]) -> Floats:
        return np.logaddexp.reduce(self.enumerated(cells, free).logs, axis=0)

    def moments(self, cells: Mapping[str, Cells], free: Sequence[str], asked: str) -> tuple[Floats, Floats, Floats]:
        """Weights, means and deviations, (configurations, rows), of a number given the rest."""
        hidden = {**cells, asked: np.full(len(cells[asked]), np.nan)}
        table = self.enumerated(hidden, free)
        weights = np.exp(table.logs - np.logaddexp.reduce(table.logs, axis=0))
        seen = np.array([not np.isnan(hidden[node]).any() for node in self.numbers], dtype=np.bool_)
        x = np.stack([hidden[node] for node, s in zip(self.numbers, seen, strict=True) if s] or [np.zeros(0)], axis=-1)
        means, deviations = np.empty_like(weights), np.empty_like(weights)
        for k, states in enumerate(table.states):
            for rows, configuration in self._groups(states, weights.shape[1]):
                mean, covariance = self.joint(configuration)
                inside = x[rows] if seen.any() else np.zeros((len(rows), 0))
                means[k, rows], variance = conditioned(inside, mean, covariance, seen, self.numbers.index(asked))
                deviations[k, rows] = np.sqrt(variance)
        return weights, means, deviations

    def _log_states(self, states: Mapping[str, NDArray[np.int64]], n_rows: int) -> Floats:
        total = np.zeros(n_rows)
        for node in self.discrete:
            parents = self.network.graph.parents(node)
            total += self.network.families[node].log_density(states[node], [states[p] for p in parents])
        return total

    def _log_numbers(
        self, states: Mapping[str, NDArray[np.int64]], x: Floats, seen: NDArray[np.bool_], n_rows: int
    ) -> Floats:
        total = np.zeros(n_rows)
        if not self.numbers:
            return total
        for rows, configuration in self._groups(states, n_rows):
            mean, covariance = self.joint(configuration)
            total[rows] = log_marginal(x[rows], mean[seen], covariance[np.ix_(seen, seen)])
        return total

    def _groups(
        self, states: Mapping[str, NDArray[np.int64]], n_rows: int
    ) -> list[tuple[NDArray[np.int64], tuple[int, ...]]]:
        """The rows by configuration of the states."""
        if not self.discrete:
            return [(np.arange(n_rows), ())]
        codes = np.stack([states[node] for node in self.discrete])
        distinct, back = np.unique(codes, axis=1, return_inverse=True)
        return [(np.flatnonzero(back.ravel() == g), tuple(distinct[:, g].tolist())) for g in range(distinct.shape[1])]
