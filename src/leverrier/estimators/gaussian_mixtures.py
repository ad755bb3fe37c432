"""`GaussianMixtures`: `fit_mixture` as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from leverrier.arrays import Floats
from leverrier.data.matrix import as_matrix
from leverrier.estimators.shell import Columns, Shell
from leverrier.learning.mixtures.fit_mixture import MixtureResult, fit_mixture
from leverrier.learning.mixtures.mixture_choice import Criterion
from leverrier.learning.mixtures.mixture_prior import NormalInverseWishart
from leverrier.models.mixture import Covariance


@dataclass(eq=False, repr=False)
class GaussianMixtures(Shell):
    """A mixture of Gaussians over columns of numbers; missing cells are summed out exactly.

    components  how many; several numbers, or "auto", to have the best by `criterion` ("bic", "icl", "aic")
    covariance  "full", "tied", "diagonal" or "spherical"
    The other options are those of `fit_mixture`. Fitted: `result_`, `components_` (how many were chosen).
    """

    _cells = np.float64
    result_: MixtureResult = field(init=False)
    components_: int = field(init=False)
    components: int | Literal["auto"] | Iterable[int] = "auto"
    covariance: Covariance = "full"
    _: KW_ONLY
    starts: int | None = None
    init: Any = "k-means++"
    prior: Literal["weak"] | NormalInverseWishart | None = "weak"
    criterion: Criterion = "bic"
    tolerance: float = 1e-6
    max_iterations: int = 10_000
    jobs: int | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Fit the mixture; `y` is ignored, a row counts as often as its weight says."""
        columns = self._given(X, reset=True)
        weights = self._weights(sample_weight, columns)
        self.result_ = fit_mixture(as_matrix(columns), weights=weights, **self._options_of(fit_mixture))
        self.components_ = self.result_.components
        return self

    def sample(self, n_samples: int = 1, seed: int | None = None) -> tuple[Any, NDArray[np.int64]]:
        """New rows and the components they came from."""
        check_is_fitted(self)
        x, labels = self.result_.mixture.sample_labelled(n_samples, self._seed() if seed is None else seed)
        return self._as_fitted(dict(zip(self._names_in, x.T, strict=True))), labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags

    def _posterior(self, columns: Columns) -> Floats:
        return self.result_.mixture.posterior(columns)

    def _row_logs(self, columns: Columns) -> Floats:
        return self.result_.mixture.row_log_likelihood(columns)

    def _names_out(self) -> list[str]:
        return [f"component_{k}" for k in range(self.components_)]
