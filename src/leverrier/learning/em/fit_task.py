"""What all starts of a fit share: the objective, and what the fully observed families add to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.family import Family, Statistics
from leverrier.counts.observation import Pairing
from leverrier.counts.parted_expectation import step_of
from leverrier.errors import OptionError
from leverrier.kernels.em.iteration import MAXIMUM, maximise
from leverrier.learning.em.cheeseman_stutz import total_score
from leverrier.learning.em.maximise import table_from_counts
from leverrier.learning.em.network_em import Objective, ParameterClimb
from leverrier.learning.structure.score import Score

_Closed = dict[tuple[Family, float], tuple[Floats, float, float]]
"""By closed family and pseudo-count: its table, its log-likelihood, and that with the prior's counts."""
_CLOSED: WeakKeyDictionary[Statistics, _Closed] = WeakKeyDictionary()
"""Who fits many graphs to one table meets the same closed families again and again."""


@dataclass(frozen=True, eq=False)
class Task:
    """An observation made ready to climb. Fully observed (closed) families are counted here, once."""

    seen: Pairing
    objective: Objective
    closed: dict[str, Floats]
    """The closed families' tables: they are final."""
    constant: float
    """What the closed families add to the objective."""
    likelihood: float
    """What they add to the log-likelihood."""

    def final_parameters(self, climber: ParameterClimb) -> Floats:
        """The parameters to give back: θ itself, or the posterior means if θ stands for exp E[ln θ]."""
        if not self.objective.variational:
            return climber.theta
        theta = np.ones(self.seen.layout.room)
        maximise(self.seen.layout.runs, climber.counts, theta, MAXIMUM)
        return theta

    def entropy(self, climber: ParameterClimb, log_likelihood: float) -> float:
        """Of the posteriors of what is unobserved, over all rows: ln P(rows) − Σ E[N] ln θ. In nats."""
        expected = climber.counts - self.objective.prior
        return log_likelihood - self.likelihood - log_sum(expected, climber.theta)

    def log_likelihood(self, climber: ParameterClimb, value: float) -> float:
        """Of the observed cells under the final parameters; `value` is the climber's objective."""
        o = self.objective
        if not o.variational:
            return value - log_sum(o.prior, climber.theta) + self.likelihood
        theta = self.final_parameters(climber)
        explained = step_of(o.plan)(theta, np.zeros(len(theta)))
        return explained + log_sum(o.fixed - o.prior, theta) + self.likelihood


def make_task(seen: Pairing, prior: float | Score | None, variational: bool) -> Task:
    """Plan the E-step and count what is observed. With `variational`, `prior` is the score that is bounded."""
    layout = seen.layout
    fixed, alphas = np.zeros(layout.room), np.zeros(layout.room)
    for begin, counts in zip(layout.begins.tolist(), seen.open_counts, strict=False):
        alphas[begin : begin + counts.size] = pseudo_count(prior, counts.shape)
        fixed[begin : begin + counts.size] = counts.ravel()
    closed: dict[str, Floats] = {}
    constant = likelihood = 0.0
    known = _CLOSED.setdefault(seen.counts, {})
    for node, counts in zip(seen.closed_nodes, seen.closed_counts, strict=True):
        alpha = pseudo_count(prior, counts.shape)
        key = (Family(node, seen.graph.parents(node)), alpha)
        if key not in known:
            table = table_from_counts(counts, alpha)
            known[key] = (table, log_sum(counts, table), log_sum(counts + alpha, table))
        closed[node], own_likelihood, own_constant = known[key]
        likelihood += own_likelihood
        constant += own_constant
    if variational:
        assert not isinstance(prior, int | float | None)
        constant = total_score(seen.closed_counts, prior, seen.total)
    plan = seen.plan(prune=not variational)
    return Task(seen, Objective(plan, fixed + alphas, alphas, variational), closed, constant, likelihood)


def pseudo_count(prior: float | Score | None, shape: tuple[int, ...]) -> float:
    """The prior's count in each cell of a table of this shape."""
    if prior is None:
        return 0.0
    if isinstance(prior, int | float):
        if not (np.isfinite(prior) and prior >= 0):
            raise OptionError(f"prior={prior!r}: expected a pseudo-count of at least 0, or a score such as BDe(1)")
        return float(prior)
    return prior.alphas(shape[-1], math.prod(shape[:-1], start=1.0))[0]


def log_sum(counts: Floats, table: Floats) -> float:
    """Σ N ln θ with 0 ln 0 = 0."""
    used = counts > 0
    return float(counts[used] @ np.log(table[used]))
