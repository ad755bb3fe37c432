"""From the Cheeseman–Stutz bound to the evidence: what not having seen the states costs the parameters in sharpness.

Laplace's approximation around the mode, in the softmax basis [MacKay 1998, "Choice of basis for Laplace
approximation"], has the determinant of the *observed* information where the score of the completed counts has that of
the *complete* one. They differ by the rate of EM: I_observed = (I − J) I_complete, where J is the derivative of one EM
step at its fixed point [Dempster, Laird & Rubin 1977; Meng & Rubin 1991]. So
    log evidence ≈ Cheeseman–Stutz − ½ ln det(I − J).
J follows from the posteriors: with a_u the 0/1 vector of cells that a row falls in when the unobserved variables are in
joint state u, the derivative of the expected counts by ln θ is Σ_rows w Cov(a).
"""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.inference.exact.e_step import EStep
from leverrier.inference.exact.groups import Plan
from leverrier.kernels.counts.soft_counts import joint_posteriors
from leverrier.kernels.em.cell_covariance import add_covariance
from leverrier.kernels.em.plan_columns import GROUP_FIRST_PACK, GROUP_ROWS, GROUP_STATES, PACK_FACTORS

MOST_CELLS = 1500
"""Cells with anything in them: the determinant is of a square of so many rows."""
MOST_WORK = 1e9
"""Additions that the covariance may take."""


def missing_information(plan: Plan, theta: Floats, counts: Floats, prior: Floats) -> float | None:
    """−½ ln det(I − J) at the end of an EM run, or None if the problem is too large for it.

    `counts` are the expected counts at θ without the prior's; θ must be what the counts and the prior give.
    """
    live = np.flatnonzero(counts[: plan.layout.size] > 1e-9)
    if len(plan.trees) or len(plan.products) or len(live) > MOST_CELLS or _work(plan) > MOST_WORK:
        return None
    moved = _covariance(plan, theta, live) / (counts + prior)[live][:, None]  # d ln(N + α) by d ln θ
    row_of = _rows(plan)[live]
    by_row = np.zeros((len(live), row_of.max(initial=-1) + 1))
    np.add.at(by_row.T, row_of, moved.T)
    jacobian = moved - by_row[:, row_of] * theta[live]  # ln θ = a − ln Σ exp a over the row of a table
    sign, log_determinant = np.linalg.slogdet(np.eye(len(live)) - jacobian)
    return -0.5 * float(log_determinant) if sign > 0 else 0.0


def _work(plan: Plan) -> float:
    """Roughly the additions that the covariance takes."""
    groups = plan.groups
    if not len(groups):
        return 0.0
    factors = np.add.reduceat(plan.packs[:, PACK_FACTORS], groups[:, GROUP_FIRST_PACK]).astype(np.float64)
    return float((groups[:, GROUP_ROWS] * groups[:, GROUP_STATES] * factors**2).sum())


def _covariance(plan: Plan, theta: Floats, live: Integers) -> Floats:
    """Σ_rows w Cov(a) over live cells, from every group's joint posterior."""
    place = np.full(plan.layout.room, -1, dtype=np.int64)
    place[live] = np.arange(len(live))
    step = EStep(plan)
    step(theta, np.zeros(plan.layout.room))
    upper = np.zeros((len(live), len(live)))
    for group in plan.groups:
        posterior = np.empty((int(group[GROUP_ROWS]), int(group[GROUP_STATES])))
        joint_posteriors(group, plan.packs, plan.ids, step.cells, posterior)
        add_covariance(group, plan.packs, plan.bases, plan.offsets, plan.ids, plan.weights, posterior, place, upper)
    return upper + np.triu(upper, 1).T


def _rows(plan: Plan) -> Integers:
    """The row of its table that each entry of θ lies in, numbered over all tables."""
    lengths = [np.full(int(rows), int(states)) for _, rows, states in plan.layout.runs]
    sizes = np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64)
    return np.repeat(np.arange(len(sizes)), sizes)
