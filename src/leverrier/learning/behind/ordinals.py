"""Logits of a column of states with weights, by Newton's method with halved steps: the likelihood never falls.

A case is a place of the hidden variable and a row, or a cell of like rows; `share` (places, cases) says how much it
counts. Features are the place's basis and the case's terms, without a constant; cells with the same terms stand
together, and `begins` says where each group of them begins. A little ridge keeps separated states
finite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.mixed.logit_climbs import climb_theta

RIDGE = 1e-3
STEPS, CLOSE = 25, 1e-7


def start_theta(counts: Floats, q: int, ordered: bool) -> Floats:
    """No slopes: the margin's own logits."""
    share = counts + 0.5
    share = share / share.sum()
    states = len(share)
    if not ordered:
        return np.concatenate([np.log(share[1:] / share[0]), np.zeros(q * (states - 1))])
    below = np.cumsum(share)[:-1]
    tau = np.log(below / (1 - below))
    return np.concatenate([tau[:1], np.log(np.maximum(np.diff(tau), 1e-3)), np.zeros(q)])


def climb_logit(
    theta: Floats,
    basis: Floats,
    terms: Floats,
    codes: NDArray[np.int64],
    begins: NDArray[np.int64],
    share: Floats,
    states: int,
    ordered: bool,
    steps: int = STEPS,
) -> tuple[Floats, float, Floats]:
    """Parameters at least as good as those given, Σ share · log P, and log P by place and case."""
    better, logs = theta.copy(), np.empty(share.shape)
    value = climb_theta(better, basis, terms, codes, begins, share, states, ordered, steps, RIDGE, CLOSE, logs)
    return better, float(value), logs
