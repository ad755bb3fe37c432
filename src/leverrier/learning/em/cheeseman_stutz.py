"""The Cheeseman–Stutz score of a network with hidden variables or holes.

log P(D̂|G) + log P(D|θ,G) − log P(D̂|θ,G)   with D̂ the expected completed counts   [elidan2000 section 2.2]
The last two terms together are the entropy of the posteriors of what is unobserved, so the score is the Bayesian
score of the expected counts plus that entropy: a lower bound of the log evidence, whatever θ is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.observation import Pairing
from leverrier.counts.parted_expectation import AnyPlan, step_of
from leverrier.errors import OptionError
from leverrier.learning.em.pairing import observation_of
from leverrier.learning.structure.score import BDe, Score, family_score
from leverrier.models.network import Network


def cheeseman_stutz(network: Network, data: Any, score: Score | None = None) -> float:
    """The score of a network with parameters, on data that leave some of its variables unobserved, in nats."""
    return observed_score(network, observation_of(network, data), score or BDe())


def observed_score(network: Network, seen: Pairing, score: Score) -> float:
    """The same for data that have been paired with the network's graph already."""
    theta = seen.layout.pack([network.cpt(node) for node in seen.open_nodes])
    bound, _ = completed_score(seen, seen.plan(prune=False), theta, score)
    return bound


def completed_score(seen: Pairing, plan: AnyPlan, theta: Floats, score: Score) -> tuple[float, Floats]:
    """The score with posteriors taken at θ (or at exp E[ln θ]), and the expected counts. The plan must be unpruned."""
    require_bayesian(score)
    counts = np.zeros(plan.layout.room)
    explained = step_of(plan)(theta, counts)
    if explained == -np.inf:
        raise OptionError("the network gives some row probability zero, so it has no score: fit it with prior=")
    used = counts > 0
    entropy = explained - float(counts[used] @ np.log(theta[used]))
    for begin, table in zip(plan.layout.begins, seen.open_counts, strict=False):
        counts[begin : begin + table.size] += table.ravel()
    opened = plan.layout.unpack(counts)
    return entropy + total_score([*opened, *seen.closed_counts], score, seen.total), counts


def total_score(tables: Iterable[Floats], score: Score, total: float) -> float:
    return float(sum(family_score(score, table, total) for table in tables))


def require_bayesian(score: Score) -> None:
    """Only a score with a prior has an evidence to bound."""
    if score.alphas(2, 1.0)[0] <= 0:
        raise OptionError(f"{score.name} has no prior: the Cheeseman–Stutz score needs BDe or BDeu")
