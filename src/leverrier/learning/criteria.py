"""What weighs a fit against its size, with one sign everywhere: −2 log-likelihood plus a penalty, smaller is better.

This is the scale of published tables of classes and mixtures, and of every attribute called `bic`, `aic`, `sabic`,
`caic` or `icl`. `lv.BIC` and `lv.AIC` are scores of a structure beside BDeu, which are larger when better: −½ of these.
"""

from __future__ import annotations

import numpy as np


def bic(log_likelihood: float, parameters: float, rows: float) -> float:
    """−2 log-likelihood + ln(rows) for each free parameter [Schwarz 1978]: smaller is better."""
    return -2 * log_likelihood + float(np.log(rows)) * parameters


def aic(log_likelihood: float, parameters: float) -> float:
    """−2 log-likelihood + 2 for each free parameter: smaller is better."""
    return -2 * log_likelihood + 2 * parameters
