"""What the estimators share: rows checked as scikit-learn checks them, named outputs, tags. No mathematics here."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.errors import TableError

Columns = dict[str, Any]
LEAST_ROWS = 2
"""One row depends on nothing: there is nothing to learn from it."""


@dataclass(eq=False, repr=False)
class Shell(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, BaseEstimator, metaclass=ABCMeta):
    """An estimator whose answer is a probability of hidden states for each row. Its fields are its options, which are
    the learner's where the learner has them."""

    seed: int = field(default=0, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)
    """As in scikit-learn: a number or a generator, used instead of `seed` where it is given."""
    _cells: ClassVar[Any] = None
    """The type that an array's cells are turned into; None leaves them."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows; `y` is ignored."""

    @abstractmethod
    def _posterior(self, columns: Columns) -> Floats:
        """(rows, outputs), rows as they came."""

    @abstractmethod
    def _row_logs(self, columns: Columns) -> Floats:
        """The log-likelihood of each row, in nats."""

    @abstractmethod
    def _names_out(self) -> list[str]:
        """A name for each output."""

    def predict_proba(self, X: Any) -> Floats:
        """(rows, states): how probable each hidden state is, given the row."""
        check_is_fitted(self)
        return self._posterior(self._given(X))

    def transform(self, X: Any) -> Any:
        """The same as `predict_proba`, as features: `set_output` chooses the kind of table."""
        check_is_fitted(self)
        return self._posterior(self._given(X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable hidden state of each row, numbered as the columns of `predict_proba`."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """`fit`, then `predict` of the same rows."""
        return self.fit(X, y).predict(X)

    def score_samples(self, X: Any) -> Floats:
        """The log-likelihood of each row, in nats; what is missing is summed out."""
        check_is_fitted(self)
        return self._row_logs(self._given(X))

    def score(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002  (scikit-learn passes it)
        """The mean log-likelihood of a row, in nats: what cross-validation compares."""
        return float(self.score_samples(X).mean())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of `transform`."""
        check_is_fitted(self)
        super().get_feature_names_out(input_features)  # checks what was given
        return np.array(self._names_out(), dtype=object)

    @property
    def _n_features_out(self) -> int:
        return len(self._names_out())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _options_of(self, learner: Callable[..., Any]) -> dict[str, Any]:
        """What this estimator was given of the options that a learner has."""
        known = signature(learner).parameters
        given = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        return {**given, "seed": self._seed()}

    def _seed(self) -> int:
        """The number that all chance comes from."""
        if self.random_state is None:
            return self.seed
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        if isinstance(self.random_state, np.random.Generator):
            return int(self.random_state.integers(2**31))
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _weights(self, sample_weight: Any, columns: Columns) -> Floats | None:
        """How often each row counts, checked as scikit-learn checks it."""
        if sample_weight is None:
            return None
        rows = len(next(iter(columns.values())))
        each = np.asarray(sample_weight, dtype=np.float64)
        each = np.full(rows, float(each)) if each.ndim == 0 else each
        if each.shape != (rows,):
            raise TableError(f"sample_weight has shape {each.shape}, expected one weight for each of {rows} rows")
        if not each.any():
            raise TableError("all sample weights are zero: at least one row must count")
        return each

    def _given(self, X: Any, *, reset: bool = False) -> Columns:
        """The columns under the names they were fitted with; in `fit` (`reset`) these are remembered."""
        _check_kind(X)
        least = LEAST_ROWS if reset else 1
        if nw.dependencies.is_into_dataframe(X):
            try:  # (which of the two complains depends on the versions of scikit-learn and narwhals)
                validate_data(self, X, reset=reset, skip_check_array=True)
                names, cells, library = _of_frame(X, least)
            except DuplicateError as problem:
                twice = str(problem).partition("- ")[2].partition(" ")[0]
                raise TableError(f"two columns are named {twice}: column names must differ; rename one") from None
        else:
            X = validate_data(
                self, X, reset=reset, dtype=self._cells, ensure_all_finite="allow-nan", ensure_min_samples=least
            )
            names, cells, library = [f"x{place}" for place in range(1, X.shape[1] + 1)], list(X.T), "numpy"
        if reset:
            self._names_in, self._library = tuple(names), library
        return dict(zip(self._names_in, cells, strict=True))

    def _drawn(self, table: Table, numbers: Mapping[str, Floats] | None = None) -> Any:
        """Rows that were drawn, in the kind of table that was fitted; an array holds labels."""
        if self._library in ("pandas", "polars", "pyarrow") and not numbers:
            return getattr(table, f"to_{self._library}")()
        cells = {
            name: np.array(variable.states)[codes] if variable and codes.dtype.kind == "i" else codes
            for name, (variable, codes) in table.labelled().items()
        }
        return self._as_fitted({**cells, **(numbers or {})})

    def _as_fitted(self, cells: Mapping[str, NDArray[Any]]) -> Any:
        """Columns as an array, or as the kind of dataframe that was fitted; in the order they were fitted."""
        ordered = {name: cells[name] for name in self._names_in if name in cells}
        if self._library == "numpy":
            same = len({column.dtype.kind for column in ordered.values()}) == 1
            return np.column_stack([column if same else column.astype(object) for column in ordered.values()])
        backend: Any = self._library
        return nw.from_dict(ordered, backend=backend).to_native()


def _check_kind(X: Any) -> None:
    """The functions inside read files and dicts; rows that are split for cross-validation must be a table."""
    other = isinstance(X, str | os.PathLike | Mapping | Table) or nw.dependencies.is_polars_lazyframe(X)
    if other and not issparse(X):  # some sparse matrices are dicts; scikit-learn has its own words for them
        raise TableError(f"X is a {type(X).__name__}: expected a dataframe (read or collected) or an array")


def _of_frame(frame: Any, least: int) -> tuple[list[str], list[Any], str]:
    """Names, columns and library of a dataframe."""
    eager = nw.from_native(frame, eager_only=True)
    if len(eager) < least:
        raise TableError(f"the dataframe has {len(eager)} sample(s): at least {least} rows are needed")
    names = [str(name) for name in eager.columns]
    return names, [series.to_native() for series in eager.iter_columns()], nw.get_native_namespace(eager).__name__
