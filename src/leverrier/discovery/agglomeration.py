"""Merging the states of one hidden variable, pair by pair, from the most that could matter to one.

The score of the completed data is Σ_states (own cells and the children's tables) + a part that depends on the number of
states alone. With the same prior count in every cell a pair's share of the first sum does not change when other states
merge, and the second part is the same for all pairs of a level. So pairs are ranked by gains that are computed once
[elidan2001 section 3, "locally decomposable"]; on a merge one row of them is new. Under BDeu the prior counts shrink
as states are added: there every gain is computed again at every level.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leverrier.discovery.first_states import MOST_STATES, FirstStates, count_vectors
from leverrier.kernels.state_merging import fill_gains, fill_values, merge, top_state
from leverrier.learning.score import Score

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Merge:
    """Two nodes of the merge tree become one; nodes 0…k₀−1 are the first states, then one for each merge in order."""

    left: int
    right: int
    node: int
    gain: float
    """Change of the score, in nats."""
    states: int
    """How many states are left."""


@dataclass(frozen=True, eq=False)
class Agglomeration:
    """The whole way from the first states to one."""

    first: FirstStates = field(repr=False)
    place: Integers = field(repr=False)
    """The first state of each configuration."""
    path: tuple[tuple[int, float], ...]
    """(states, score) from the first to 1: the Bayesian score of the families that hold the variable, completed."""
    merges: tuple[Merge, ...]
    decomposable: bool
    """Whether each pair's gain had to be computed only once."""

    @property
    def n_first(self) -> int:
        return self.path[0][0]

    def best(self, most: int | None = None) -> int:
        """The number of states that scores best, of those up to `most`; the fewest if several do."""
        allowed = [level for level in reversed(self.path) if most is None or level[0] <= most]
        return max(allowed, key=lambda level: level[1])[0]

    def score(self, states: int) -> float:
        return self.path[self.n_first - states][1]

    def nodes(self, states: int) -> tuple[int, ...]:
        """The nodes of the merge tree that are the states at this level, ascending."""
        alive = set(range(self.n_first))
        for step in self.merges[: self.n_first - states]:
            alive -= {step.left, step.right}
            alive.add(step.node)
        return tuple(sorted(alive))

    def labels(self, states: int) -> Integers:
        """The state of each configuration when so many are left; state 0 is the most frequent."""
        root = np.arange(self.n_first + len(self.merges))
        for step in reversed(self.merges[: self.n_first - states]):
            root[step.left] = root[step.right] = root[step.node]
        tops = root[self.place]
        present, labels = np.unique(tops, return_inverse=True)
        sizes = np.bincount(labels, self.first.weights, len(present))
        rank = np.empty(len(present), dtype=np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(present))
        return rank[labels]

    def assignment(self, states: int) -> Integers:
        """The state of each row when so many are left."""
        return self.labels(states)[self.first.index]


def agglomerate(first: FirstStates, score: Score, most: int = MOST_STATES) -> Agglomeration:
    """Merge greedily until one state is left. `most` bounds the states to begin with."""
    counts, place = count_vectors(first, score, most)
    n = len(counts)
    values, gains, best = np.empty_like(counts), np.empty((n, n)), np.zeros(n, dtype=np.int64)
    decomposable = np.array_equal(first.priors(score, n), first.priors(score, n + 1))
    states = fill_values(n, counts, first.priors(score, n), values)
    path = [(n, states + first.level(score, n))]
    merges: list[Merge] = []
    node = list(range(n))
    priors = first.priors(score, n)
    for k in range(n, 1, -1):
        if k == n or not decomposable:  # a merge is judged by the score of what it leaves: with k − 1 states' priors
            priors = first.priors(score, k - 1)
            states = fill_values(k, counts, priors, values)
            fill_gains(k, counts, priors, values, gains, best)
        i = int(top_state(k, gains, best))
        i, j = sorted((i, int(best[i])))
        states += float(gains[i, j])
        merge(i, j, k, counts, priors, values, gains, best)
        value = states + first.level(score, k - 1)
        made = n + len(merges)
        left, right = sorted((node[i], node[j]))
        merges.append(Merge(left, right, made, value - path[-1][1], k - 1))
        path.append((k - 1, value))
        node[i], node[j] = made, node[k - 1]
    return Agglomeration(first, place, tuple(path), tuple(merges), decomposable)
