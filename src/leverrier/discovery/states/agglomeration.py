"""Merging the states of one hidden variable, pair by pair, from the most that could matter to one.

The score of the completed data is Σ_states (own cells and the children's tables) + a part that depends on the number of
states alone. With the same prior count in every cell a pair's share of the first sum does not change when other states
merge, and the second part is the same for all pairs of a level. So pairs are ranked by gains that are computed once
[elidan2001 section 3, "locally decomposable"]; on a merge one row of them is new. Under BDeu the prior counts shrink
as states are added: there every gain is computed again at every level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from leverrier.arrays import Integers
from leverrier.discovery.states.first_states import MOST_STATES, NO_RISES, FirstStates, count_vectors
from leverrier.kernels.em.state_merging import fill_gains, fill_values, merge_down
from leverrier.learning.structure.score import Score


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
    rule: Score
    place: Integers = field(repr=False)
    """The first state of each configuration."""
    pairs: Integers = field(repr=False)
    """(merges, 2): the nodes that were merged; merge m made node n_first + m."""
    shares: tuple[float, ...] = field(repr=False)
    """What the states themselves add to the score, from the first to one."""
    decomposable: bool
    """Whether each pair's gain had to be computed only once."""

    @cached_property
    def path(self) -> tuple[tuple[int, float], ...]:
        """(states, score) from the first to 1: the Bayesian score of the families that hold the variable, completed."""
        levels = zip(range(self.n_first, 0, -1), self.shares, strict=True)
        return tuple((k, share + self.first.level(self.rule, k)) for k, share in levels)

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        steps = enumerate(zip(self.pairs.tolist(), pairwise(self.path), strict=True))
        return tuple(
            Merge(left, right, self.n_first + made, after[1] - before[1], after[0])
            for made, ((left, right), (before, after)) in steps
        )

    @property
    def n_first(self) -> int:
        return len(self.shares)

    def best(self, most: int | None = None) -> int:
        """The number of states that scores best, of those up to `most`; the fewest if several do."""
        allowed = [level for level in reversed(self.path) if most is None or level[0] <= most]
        return max(allowed, key=lambda level: level[1])[0]

    def score(self, states: int) -> float:
        return self.path[self.n_first - states][1]

    def nodes(self, states: int) -> tuple[int, ...]:
        """The nodes of the merge tree that are the states at this level, ascending."""
        done = self.pairs[: self.n_first - states]
        return tuple(sorted(set(range(self.n_first + len(done))).difference(done.ravel().tolist())))

    def labels(self, states: int) -> Integers:
        """The state of each configuration when so many are left; state 0 is the most frequent."""
        root = list(range(self.n_first + len(self.pairs)))
        done = self.pairs[: self.n_first - states].tolist()
        for made in reversed(range(len(done))):
            left, right = done[made]
            root[left] = root[right] = root[self.n_first + made]
        tops = np.array(root)[self.place]
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
    decomposable = first.alphas(score, 2) == first.alphas(score, 3)
    rises = first.rises(score) if decomposable else NO_RISES
    counts, place = count_vectors(first, score, rises, most)
    n = counts.shape[1]
    values, gains, best = np.empty_like(counts), np.empty((n, n)), np.zeros(n, dtype=np.int64)
    node, pairs, gained = np.arange(n), np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    priors = first.priors(score, n)
    share = float(fill_values(n, counts, priors, rises, values))
    if decomposable:  # (then the priors are the same at every level)
        fill_gains(n, counts, priors, rises, values, gains, best)
        merge_down(n, 1, counts, priors, rises, values, gains, best, node, pairs, gained)
        return Agglomeration(first, score, place, pairs, tuple(accumulate(gained.tolist(), initial=share)), True)
    shares = [share]
    for k in range(n, 1, -1):  # a merge is judged by the score of what it leaves: with k − 1 states' priors
        priors = first.priors(score, k - 1)
        before = float(fill_values(k, counts, priors, rises, values))
        fill_gains(k, counts, priors, rises, values, gains, best)
        merge_down(k, k - 1, counts, priors, rises, values, gains, best, node, pairs, gained)
        shares.append(before + float(gained[n - k]))
    return Agglomeration(first, score, place, pairs, tuple(shares), False)
