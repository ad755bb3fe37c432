"""Laws of how long a state lasts, by their chance of ending at each age."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats

SMALLEST = 1e-9


def leaving(law: str, parameters: Floats, size: int) -> Floats:
    """By age 1…size: the chance to go on to the next step (negative binomial), or to end (Weibull).

    Discrete Weibull: P(longer than a) = exp(−(a / scale)^shape) [Nakagawa & Osaki 1975].
    """
    if law != "weibull":
        return np.full(size, float(parameters[1]))
    scale, shape = float(parameters[0]), float(parameters[1])
    age = np.arange(size + 1, dtype=np.float64)
    with np.errstate(over="ignore"):
        passed = np.minimum((age / scale) ** shape, 1e6)
    return np.clip(-np.expm1(passed[:-1] - passed[1:]), SMALLEST, 1 - SMALLEST)


def fitted_stay(left: Floats, stayed: Floats, begin: Floats) -> Floats:
    """Scale and shape of a discrete Weibull from how often a stay ended, or went on, at each age."""
    from scipy.optimize import minimize  # (late: it loads for a tenth of a second)

    def cost(at: Floats) -> float:
        chance = leaving("weibull", np.exp(np.clip(at, -5, 12)), len(left))
        return -float(left @ np.log(chance) + stayed @ np.log1p(-chance))

    at = np.log(begin)
    found = minimize(cost, at, method="Nelder-Mead", options={"maxiter": 60, "xatol": 1e-4, "fatol": 1e-6})
    return np.exp(np.clip(found.x, -5, 12)) if found.fun <= cost(at) else begin
