"""Logits of a column of states with weights, by Newton's method with halved steps: the likelihood never falls.

A case is a place of the hidden variable and a row; `share` (places, rows) says how much it counts. Features are the
place's basis and the row's terms, without a constant. A little ridge keeps separated states finite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.mixed.logit_passes import ordered_pass, unordered_pass

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
    share: Floats,
    states: int,
    ordered: bool,
    steps: int = STEPS,
) -> Floats:
    """Parameters at least as good as those given."""
    derive = ordered_pass if ordered else unordered_pass

    def at(where: Floats) -> tuple[float, Floats, Floats]:
        slope, bend = np.empty(len(where)), np.empty((len(where), len(where)))
        value = float(derive(where, basis, terms, codes, share, states, slope, bend))
        return value - 0.5 * RIDGE * float(where @ where), slope - RIDGE * where, bend

    now, (value, slope, bend) = theta, at(theta)
    for _ in range(steps):
        move = np.linalg.solve(bend + RIDGE * np.eye(len(now)), slope)
        size = 1.0
        while size > 1e-4:
            trial = np.clip(now + size * move, -30, 30)
            better = at(trial)
            if better[0] >= value:
                break
            size /= 2
        else:
            return now
        gained, now, (value, slope, bend) = better[0] - value, trial, better
        if gained < CLOSE * (1 + abs(value)):
            break
    return now
