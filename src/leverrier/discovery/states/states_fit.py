"""How well a hidden variable with so many states fits: a line of the table that papers ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leverrier.learning.criteria import aic, bic
from leverrier.learning.em.fit import FitResult


@dataclass(frozen=True)
class StatesFit:
    """One number of states, the arcs being those that were found. Files saved before have the score alone.

    Where every column is complete, the figures are of the families that hold the variable: the rest of the network is
    the same for every number of states, so that differences are those of the whole.
    """

    states: int
    score: float
    """Cheeseman–Stutz, nats: larger is better."""
    log_likelihood: float | None = None
    parameters: int | None = None
    aic: float | None = None
    """−2 log-likelihood plus a penalty, as `bic`: smaller is better."""
    bic: float | None = None
    entropy: float | None = None
    """1 − mean entropy of the rows' posteriors / ln states: 1 when every row is surely in one state."""
    smallest: float | None = None
    """The share of rows in the smallest state."""
    best_count: int | None = None
    """How many of the starts reached the best end…"""
    starts: int | None = None
    """…and how many there were."""


def states_fit(fitted: FitResult, name: str) -> StatesFit:
    """The figures of one fit in which the hidden variable of this name has so many states."""
    value, size, states = fitted.log_likelihood, fitted.network.dimension, fitted.network.cardinality(name)
    posterior, weights = fitted.posterior(name), fitted.table.weights
    shares = np.average(posterior, axis=0, weights=weights)
    doubt = -(posterior * np.log(np.where(posterior > 0, posterior, 1.0))).sum(axis=1)
    return StatesFit(
        states=states,
        score=fitted.score,
        log_likelihood=value,
        parameters=size,
        aic=aic(value, size),
        bic=bic(value, size, fitted.total),
        entropy=1 - float(np.average(doubt, weights=weights)) / math.log(states) if states > 1 else 1.0,
        smallest=float(shares.min()),
        best_count=fitted.starts.best_count,
        starts=len(fitted.starts),
    )
