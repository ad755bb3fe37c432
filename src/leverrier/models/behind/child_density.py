"""log P(a child's cell | place, observed parents), and so each row's place."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.logit_passes import logit_logs
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Fit, Latent, Link, NumberFit, TableFit, configurations
from leverrier.models.behind.logit_chances import probabilities

LOG_2_PI = float(np.log(2 * np.pi))


def log_density(block: Block, latent: Latent, link: Link, fit: Fit) -> Floats:
    """log P(cell | place, parents) in nats of z: (rows, places)."""
    seen = block.columns[link.column]
    if isinstance(fit, NumberFit):
        face = seen.faces[link.face]
        y = block.design[:, face.at]
        if fit.shared:
            away = (y - block.design[:, fit.terms] @ fit.slopes)[:, None] - fit.constants
        else:
            away = y[:, None] - block.design[:, fit.terms] @ fit.slopes.T - fit.constants
        return face.slope[:, None] - 0.5 * (away**2 / fit.variances + np.log(fit.variances) + LOG_2_PI)
    assert seen.codes is not None
    if isinstance(fit, TableFit):
        place, _ = configurations(block, link.parents)
        return np.log(fit.table[:, place, seen.codes]).T
    if not len(fit.terms):
        return np.log(probabilities(fit.theta, latent.basis, fit.states, fit.ordered))[:, seen.codes].T
    logs = np.zeros((latent.places, block.rows))
    each = np.arange(block.rows + 1)
    logit_logs(fit.theta, latent.basis, block.across[fit.terms], seen.codes, each, fit.states, fit.ordered, logs)
    return logs.T


def row_logs(block: Block, latent: Latent, links: tuple[Link, ...], fits: tuple[Fit, ...]) -> Floats:
    """log P(place) P(children | place, parents): (rows, places)."""
    with np.errstate(divide="ignore"):
        total = np.repeat(np.log(latent.shares)[None, :], block.rows, axis=0)
    for link, fit in zip(links, fits, strict=True):
        own, holes = log_density(block, latent, link, fit), block.columns[link.column].holes
        total += own if holes is None else np.where(holes[:, None], 0.0, own)
    return total


def posterior_of(logs: Floats) -> tuple[Floats, Floats]:
    """P(place | row), and log P(row)."""
    top = logs.max(axis=1, keepdims=True)
    share = np.exp(logs - top)
    total = share.sum(axis=1, keepdims=True)
    return share / total, (top + np.log(total))[:, 0]
