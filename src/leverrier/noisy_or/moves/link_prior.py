"""The prior of the links as the moves need it: of columns in a given order, every order alike.

For the unbounded model that is the class's probability [wood2006 section 3.2] spread evenly over the K! orders
(repeated columns take care of themselves); for the finite one it is [wood2006 eq. 5] times P(K). A move's
acceptance is then the ratio of these times the ratio of proposals, with the new column's place counted among
the K + 1 possible ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.noisy_or.hyper_slices import log_columns
from leverrier.noisy_or.sampler_state import Settings


def log_structure(degree: NDArray[np.int64], n_observed: int, alpha: float, settings: Settings) -> float:
    """log P of columns with these numbers of links, in this order."""
    return log_columns(degree, n_observed, alpha, settings.decay, settings.unbounded)


def pseudo_links(n_causes: int, alpha: float, settings: Settings) -> float:
    """What the prior adds to a column's other links m: log P(z = 1)/P(z = 0) = log (m + α/K)/(N − m).

    [wood2006 eq. 10] prints P(z = 1) = (m + α/K)/N; from its eq. 5 it is (m + α/K)/(N + α/K), which is what we use.
    For the unbounded model both are m/N, and m = 0 is the births' affair.
    """
    return 0.0 if settings.unbounded else alpha / max(n_causes, 1)
