"""The two steps of EM for one child: its log density by row and place, and its fit to rows with shares of places."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.state_children import fit_states
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Fit, Latent, Link, Mode, NumberFit, TableFit, terms_of

FLOOR_ROWS, FLOOR = 4.0, 0.3
"""Every variance has seen four more residuals of 0.3: no class shrinks to a point."""


def fitted(block: Block, latent: Latent, link: Link, posterior: Floats, before: Fit | None = None) -> Fit:
    """The fit to rows whose places are known by `posterior` (rows, places); a logit takes a few steps from before."""
    if link.mode is Mode.SHIFT:
        return _shift(block, latent, link, posterior)
    if link.mode is Mode.ALL:
        return _all(block, link, posterior)
    return fit_states(block, latent, link, np.ascontiguousarray(posterior.T), before).fit


def _shift(block: Block, latent: Latent, link: Link, posterior: Floats) -> NumberFit:
    """One regression on the terms and the expected basis."""
    at, terms = block.columns[link.column].faces[link.face].at, terms_of(block, link)
    own = np.concatenate([[0], terms, [at]]).astype(np.intp)
    q = latent.basis.shape[1]
    cross = block.design[:, own].T @ (posterior @ latent.basis)
    inner = (latent.basis * posterior.sum(axis=0)[:, None]).T @ latent.basis
    p = len(terms) + 1
    gram = np.empty((p + q, p + q))
    gram[:p, :p], gram[:p, p:], gram[p:, :p], gram[p:, p:] = (
        block.gram[np.ix_(own[:p], own[:p])],
        cross[:p],
        cross[:p].T,
        inner,
    )
    right = np.concatenate([block.gram[own[:p], at], cross[p]])
    solution = solved(gram, right)
    ssr = block.gram[at, at] - 2 * right @ solution + solution @ gram @ solution
    constants = solution[0] + latent.basis @ solution[p:]
    return NumberFit(terms, constants, solution[1:p], np.full(latent.places, floored(ssr, block.rows)))


def _all(block: Block, link: Link, posterior: Floats) -> NumberFit:
    """A regression for each place."""
    at, terms = block.columns[link.column].faces[link.face].at, terms_of(block, link)
    x = block.design[:, np.concatenate([[0], terms, [at]]).astype(np.intp)]
    constants, slopes, variances = [], [], []
    for share in posterior.T:
        gram = (x * share[:, None]).T @ x
        solution = solved(gram[:-1, :-1], gram[:-1, -1])
        ssr = gram[-1, -1] - 2 * gram[:-1, -1] @ solution + solution @ gram[:-1, :-1] @ solution
        constants.append(solution[0])
        slopes.append(solution[1:])
        variances.append(floored(ssr, share.sum()))
    return NumberFit(terms, np.array(constants), np.array(slopes), np.array(variances))


def solved(gram: Floats, right: Floats) -> Floats:
    """The regression's solution; a whisper of ridge where columns repeat each other."""
    ridge = 1e-9 * float(np.trace(gram)) / len(gram) + 1e-12
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), right), dtype=np.float64)


def floored(ssr: float, rows: float) -> float:
    return (max(float(ssr), 0.0) + FLOOR_ROWS * FLOOR) / (float(rows) + FLOOR_ROWS)


def log_prior(fit: Fit, shared: bool) -> float:
    """What EM maximises beside the likelihood: the variances' floor and the tables' pseudo-counts."""
    if isinstance(fit, NumberFit):
        variances = fit.variances[:1] if shared else fit.variances
        return float(-(FLOOR_ROWS / 2) * (np.log(variances) + FLOOR / variances).sum())
    if isinstance(fit, TableFit):
        return float(np.log(fit.table).sum() / fit.table.shape[2])
    return -0.5e-3 * float(fit.theta @ fit.theta)
