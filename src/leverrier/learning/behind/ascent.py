"""EM for one hidden variable, a class or a continuum on nodes, behind numbers and states with parents beside."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.place_steps import to_shares
from leverrier.learning.behind.every_child import EveryChild
from leverrier.models.behind.block import Block
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
    children = EveryChild(block, latent.places, links, before)
    share = np.ascontiguousarray(posterior.T)
    value = -np.inf
    for _ in range(most):
        if not latent.fixed:
            latent = replace(latent, shares=(share.sum(axis=1) + 1e-9) / (block.rows + 1e-9 * latent.places))
        share = children.step(latent, share)
        value = float(to_shares(share)) + children.slope_total
        trace.append(value + children.prior())
        if len(trace) > 1 and trace[-1] - trace[-2] < close:
            break
    dimension = latent.dimension + sum(dimension_of(block, latent, link) for link in links)
    return Behind(latent, links, children.fits(), value, dimension, np.ascontiguousarray(share.T), tuple(trace))
