"""`LatentClasses`: `latent_classes` as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from leverrier.arrays import Floats
from leverrier.data.reading.encoding import Bins
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.estimators.shell import Columns, Shell
from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.learning.classes.latent_classes import Criterion, latent_classes


@dataclass(eq=False, repr=False)
class LatentClasses(Shell):
    """One hidden class behind all columns, its number of states chosen by a criterion.

    states      numbers of classes to try, or one number
    starts      random starts for each
    criterion   what chooses: "bic", "aic", "sabic", "caic" or "score"
    prior       a pseudo-count in every cell, so that no new row is impossible; None for maximum likelihood
    types, bins what columns are, and how many bins numbers are cut into (as in `read_table`)

    Columns are categories. Numbers with fractions, or with more than 12 values, are cut into bins. Missing cells are
    summed out, and so is a label that `fit` did not see. Fitted: `result_`, `states_` (how many were chosen).
    """

    result_: LatentClassResult = field(init=False)
    states_: int = field(init=False)
    states: int | Iterable[int] = (1, 2, 3, 4, 5, 6)
    _: KW_ONLY
    starts: int = 20
    criterion: Criterion = "bic"
    prior: float | None = 0.01
    types: Mapping[str, Any] | None = None
    bins: Bins = 5
    tolerance: float = 1e-6
    max_iterations: int = 10_000
    jobs: int | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Fit every number of classes and keep the best; `y` is ignored, a row counts as often as its weight says."""
        columns = self._given(X, reset=True)
        weights = self._weights(sample_weight, columns)
        table = read_table(columns, types=self.types, bins=self.bins, weights=weights)
        self.result_ = latent_classes(table, **self._options_of(latent_classes))
        self.states_ = self.result_.states
        return self

    def sample(self, n_samples: int = 1, seed: int | None = None) -> tuple[Any, NDArray[np.int64]]:
        """New rows and their classes, rows in the kind of table that was fitted; numbers come as the names of bins."""
        check_is_fitted(self)
        drawn = self.result_.network.sample(n_samples, self._seed() if seed is None else seed)
        name = self.result_.variable
        return self._drawn(drawn.drop(name)), drawn.column(name).astype(np.int64)

    def _posterior(self, columns: Columns) -> Floats:
        return self.result_.network.posterior(self._table(columns), self.result_.variable)

    def _row_logs(self, columns: Columns) -> Floats:
        return self.result_.network.row_log_likelihood(self._table(columns))

    def _table(self, columns: Columns) -> Table:
        return read_table(columns, like=self.result_.fit.table, unseen="hole")

    def _names_out(self) -> list[str]:
        return [f"{self.result_.variable}_{k}" for k in range(self.states_)]
