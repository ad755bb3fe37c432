"""`HiddenCauses`: `hidden_causes` as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from leverrier.arrays import Floats
from leverrier.data.matrix import as_matrix
from leverrier.data.reading.read_table import read_table
from leverrier.estimators.shell import Columns, Shell
from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.noisy_or.hidden_causes import Prior, hidden_causes
from leverrier.noisy_or.sampler_state import Method


@dataclass(eq=False, repr=False)
class HiddenCauses(Shell):
    """Overlapping hidden causes behind yes/no columns; several may be at work in one row.

    method      "gibbs": unboundedly many causes; "rjmcmc": finitely many
    binarize    numbers above this are a yes; None where the columns are yes/no already (0 and 1, or labels)
    The other options are those of `hidden_causes`.

    `predict_proba` and `transform` give P(cause active | row), (rows, causes), whose rows need not sum to one;
    `predict` says 1 where that is above one half. Fitted: `result_`.
    """

    result_: HiddenCausesResult = field(init=False)
    _: KW_ONLY
    method: Method = "gibbs"
    sweeps: int = 500
    chains: int = 2
    warmup: int | None = None
    binarize: float | None = None
    epsilon: Prior = None
    lam: Prior = None
    p: Prior = None
    alpha: Prior = None
    budget: float | None = None
    jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Sample the causes behind the rows; `y` is ignored."""
        signs = self._signs(self._given(X, reset=True))
        # Of an array of numbers every column counts, even one that is always 0.
        arrays = {name: cells for name, cells in signs.items() if isinstance(cells, np.ndarray)}
        types = {name: (0, 1) for name, cells in arrays.items() if cells.dtype.kind in "bifu"}
        self.result_ = hidden_causes(read_table(signs, types=types), **self._options_of(hidden_causes))
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(rows, causes): 1 where a cause is more probably active than not."""
        return (self.predict_proba(X) > 0.5).astype(np.int64)

    def sample(self, n_samples: int = 1, seed: int | None = None) -> tuple[Any, NDArray[np.int64]]:
        """New rows of 0 and 1, and the causes active in them."""
        check_is_fitted(self)
        x, active = self.result_.model.sample(n_samples, self._seed() if seed is None else seed)
        columns = dict(zip(self.result_.names, x.T.astype(np.int64), strict=True))
        return self._as_fitted(columns), active.astype(np.int64)

    def _signs(self, columns: Columns) -> Columns:
        if self.binarize is None:
            return columns
        values = as_matrix(columns).values
        yes = np.where(np.isnan(values), np.nan, values > self.binarize)
        return dict(zip(columns, yes.T, strict=True))

    def _posterior(self, columns: Columns) -> Floats:
        return self.result_.posterior_of(self._signs(columns))

    def _row_logs(self, columns: Columns) -> Floats:
        return self.result_.row_log_likelihoods(self._signs(columns))

    def _names_out(self) -> list[str]:
        return [f"cause_{k}" for k in range(self.result_.model.n_causes)]
