"""EM for one hidden variable, a class or a continuum on nodes, behind numbers and states with parents beside."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.child_fits import fitted, log_prior
from leverrier.models.behind.block import Block
from leverrier.models.behind.child_density import posterior_of, row_logs
from leverrier.models.behind.links import Fit, Latent, Link, dimension_of

CLOSE, MOST = 0.02, 150


@dataclass(frozen=True, eq=False)
class Behind:
    """A hidden variable behind columns: its places, its children with their fits, and what it is worth."""

    latent: Latent
    links: tuple[Link, ...]
    fits: tuple[Fit, ...]
    log_likelihood: float
    """Of the children given their observed parents, in nats of z."""
    dimension: int
    posterior: Floats
    trace: tuple[float, ...] = ()
    """The penalised log-likelihood by iteration: it never falls."""

    def score(self, block: Block) -> float:
        return self.log_likelihood - self.dimension * block.price

    @property
    def children(self) -> tuple[str, ...]:
        return tuple(link.column for link in self.links)


def ascend(
    block: Block,
    latent: Latent,
    links: tuple[Link, ...],
    posterior: Floats,
    *,
    close: float = CLOSE,
    most: int = MOST,
    before: tuple[Fit, ...] | None = None,
) -> Behind:
    """EM from the posterior of a start, until an iteration gains less than `close` nats."""
    trace: list[float] = []
    fits: tuple[Fit | None, ...] = before or (None,) * len(links)
    value, made = -np.inf, ()
    for _ in range(most):
        if not latent.fixed:
            latent = replace(latent, shares=(posterior.sum(axis=0) + 1e-9) / (block.rows + 1e-9 * latent.places))
        made = tuple(fitted(block, latent, link, posterior, fit) for link, fit in zip(links, fits, strict=True))
        posterior, rows = posterior_of(row_logs(block, latent, links, made))
        value = float(rows.sum())
        fits = made
        trace.append(value + sum(log_prior(fit, link.mode == "shift") for fit, link in zip(made, links, strict=True)))
        if len(trace) > 1 and trace[-1] - trace[-2] < close:
            break
    dimension = latent.dimension + sum(dimension_of(block, latent, link) for link in links)
    return Behind(latent, links, made, value, dimension, posterior, tuple(trace))
