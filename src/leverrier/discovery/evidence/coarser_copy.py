"""Is a hidden variable only a coarser copy of one observed column?

A column with many states whose tables are dear can be "found" again with fewer states: the hidden variable then says
nothing that the column does not. How much of its entropy one column tells gives that away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from leverrier.data.table import Table

COPY = 0.8
"""Of the hidden variable's entropy, told by one column: from here on it is called a copy. Hidden variables that were
planted in networks had .54 at most, false ones in many-state networks .84 to 1."""


@dataclass(frozen=True)
class ToldBy:
    """The column that tells most of a hidden variable, and how much: I(H; column) / entropy of H."""

    column: str
    share: float

    @property
    def copy(self) -> bool:
        return self.share >= COPY


def told_by(shares: Mapping[str, float]) -> ToldBy | None:
    """Of all columns the one that tells most; None where there is nothing to tell."""
    if not shares:
        return None
    column = max(shares, key=lambda name: shares[name])
    return ToldBy(column, shares[column])


def told_shares(posterior: NDArray[np.float64], table: Table) -> dict[str, float]:
    """By column, the share of the hidden variable's entropy that it tells, from the rows' posteriors."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    whole = _entropy(weights @ posterior)
    if whole <= 0:
        return {}
    shares = {name: _shared(posterior, table, name, weights) / whole for name in table.variables}
    return {name: float(np.clip(share, 0.0, 1.0)) for name, share in shares.items()}


def _shared(posterior: NDArray[np.float64], table: Table, name: str, weights: NDArray[np.float64]) -> float:
    """Mutual information in nats of the hidden variable and one column, on the rows that show it."""
    codes = table.column(name).astype(np.int64)
    seen = codes != table.missing
    joint = np.zeros((len(table.states[name]), posterior.shape[1]))
    np.add.at(joint, codes[seen], posterior[seen] * weights[seen, None])
    total = joint.sum()
    if total <= 0:
        return 0.0
    return _entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)) - _entropy(joint.ravel())


def _entropy(counts: NDArray[np.float64]) -> float:
    """Of the shares that these counts are, in nats."""
    shares = counts / counts.sum()
    return float(-xlogy(shares, shares).sum())
