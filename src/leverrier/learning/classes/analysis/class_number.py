"""Is one class more needed? The test of Vuong, Lo, Mendell and Rubin, and the parametric bootstrap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.classes.analysis.drawn_rows import drawn_like
from leverrier.learning.classes.class_tables import TestRow
from leverrier.learning.classes.fitting.class_climb import ClassFitted
from leverrier.learning.classes.fitting.class_covariance import ClassCovariance
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.run.one_thread import one_thread

PIECES, WAVES, NODES = 60, 80, 16
"""Of Imhof's integral: pieces of its first half wave, half waves, points of Gauss and Legendre in each."""
ENOUGH = 20
"""Drawn tables that gain as much: more of them would not change what is said of p."""


@one_thread
def vlmr(smaller: ClassFitted, larger: ClassFitted) -> tuple[TestRow, TestRow]:
    """Vuong's likelihood-ratio test, and its adjusted form [lo2001 eq. 15]. Its theory is disputed for mixtures
    [jeffries2003]: read it beside the bootstrap."""
    statistic = max(0.0, 2 * (larger.log_likelihood - smaller.log_likelihood))
    weights = _mixing_weights(smaller, larger)
    more = larger.likelihood.size - smaller.likelihood.size
    adjusted = statistic / (1 + 1 / (more * np.log(max(smaller.likelihood.total, 3.0))))
    about = f"{larger.classes} classes"
    what = f"against {smaller.classes}"
    return (
        TestRow(about, what, "VLMR", statistic, more, weighted_chi2(weights, statistic)),
        TestRow(about, what, "LMR adjusted", adjusted, more, weighted_chi2(weights, adjusted)),
    )


def _mixing_weights(smaller: ClassFitted, larger: ClassFitted) -> Floats:
    """Eigenvalues of the matrix in [vuong1989 eq. 3.6]."""
    own = np.nan_to_num(larger.by_row(larger.likelihood.scores(larger.theta)))[:, ~larger.edge]
    other = np.nan_to_num(smaller.by_row(smaller.likelihood.scores(smaller.theta)))[:, ~smaller.edge]
    weights = larger.spec.row_weights[:, None]
    bread = ClassCovariance(larger).bread[np.ix_(~larger.edge, ~larger.edge)]
    bread_other = ClassCovariance(smaller).bread[np.ix_(~smaller.edge, ~smaller.edge)]
    inner, outer = (own * weights).T @ own, (other * weights).T @ other
    cross = (own * weights).T @ other
    whole = np.block([[inner @ bread, cross @ bread_other], [-cross.T @ bread, -outer @ bread_other]])
    return np.real(np.linalg.eigvals(whole)).astype(np.float64)


def weighted_chi2(weights: Floats, at: float) -> float:
    """P(Σ weights · χ²_1 > at) [imhof1961]: a wave that falls slowly, integrated from one of its zeros to the next; the
    alternating sum of those parts is averaged to its limit (Euler)."""
    used = weights[np.abs(weights) > 1e-8 * max(float(np.abs(weights).max(initial=0.0)), 1e-12)]
    if not len(used):
        return 1.0
    if at <= 0 and used.min() > 0:
        return 1.0
    half = 2 * np.pi / max(at, 1e-9 * float(np.abs(used).max()))
    near = np.geomspace(1e-7 / float(np.abs(used).max()), half, PIECES)
    ends = np.concatenate([[0.0], near[near < half], half * np.arange(1, WAVES + 1)])
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    wide = np.diff(ends)[:, None] / 2
    u = ends[:-1, None] + wide * (1 + nodes)
    turned = used[:, None, None] * u
    angle = 0.5 * np.arctan(turned).sum(axis=0) - 0.5 * at * u
    size = 0.25 * np.log1p(turned**2).sum(axis=0)
    sums = np.cumsum((np.sin(angle) * np.exp(-size) / u * wide * shares).sum(axis=1))[-WAVES // 2 :]
    while len(sums) > 1:
        sums = (sums[1:] + sums[:-1]) / 2
    return float(np.clip(0.5 + sums[0] / np.pi, 0.0, 1.0))


def bootstrap_ratio(
    smaller: ClassFitted, larger: ClassFitted, draws: int, seed: int, refit: Callable[[ClassSpec, int, int], float]
) -> float:
    """How often rows drawn from the smaller model gain as much by one class more: (1 + m) / (1 + draws). Once ENOUGH
    have done so the rest is not drawn: p is their share then [besag1991]."""
    gain = larger.log_likelihood - smaller.log_likelihood
    as_large = 0
    for i, rng in enumerate(np.random.default_rng(seed).spawn(draws)):
        drawn = drawn_like(smaller, rng)
        as_large += refit(drawn, larger.classes, seed + i) - refit(drawn, smaller.classes, seed + i) >= gain
        if as_large == ENOUGH:
            return ENOUGH / (i + 1)
    return (1 + as_large) / (1 + draws)
