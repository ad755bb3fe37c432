"""`HiddenMarkov`: `hidden_markov` as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import Sequences, read_sequences
from leverrier.data.sequences.time_axis import Gaps
from leverrier.estimators.shell import Columns, Shell
from leverrier.learning.chains import hidden_markov as learner
from leverrier.learning.chains.hidden_markov_result import Criterion


@dataclass(eq=False, repr=False)
class HiddenMarkov(Shell):
    """A hidden Markov model: rows are moments, and the hidden state depends on the one before.

    states      how many; several numbers to choose among; or "auto"
    by, time    the columns that tell sequences apart and that order their rows. Without them, all rows are one
                sequence as they stand ("x1" is the first column of an array)
    gaps        what skipped times are: "fill", "split" or "ignore"
    types       what columns are (as in `read_table`); `numbers` are normal given the state, by default those
                that would be cut into bins
    prior       a pseudo-count in every cell, so that no new row is impossible
    The other options are those of `hidden_markov`.

    `predict_proba` gives each row's state from its whole sequence, `predict` the most probable path through all
    states. `score_samples` is log P(row | the rows before it). Fitted: `result_`, `states_` (how many were chosen).
    """

    result_: learner.HiddenMarkov = field(init=False)
    states_: int = field(init=False)
    states: int | str | Iterable[int] = "auto"
    _: KW_ONLY
    by: str | Sequence[str] | None = None
    time: str | None = None
    gaps: Gaps = "fill"
    numbers: Sequence[str] | None = None
    types: Mapping[str, Any] | None = None
    starts: int = 1
    criterion: Criterion = "bic"
    prior: float | None = 0.01
    max_iterations: int = 500
    tolerance: float = 0.01

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit the model; `y` is ignored."""
        columns = self._given(X, reset=True)
        sequences = read_sequences(columns, self.by, self.time, gaps=self.gaps, types=self.types)
        self.result_ = learner.hidden_markov(sequences, **self._options_of(learner.hidden_markov))
        self.states_ = self.result_.states
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable path: all rows' states together, numbered as the columns of `predict_proba`."""
        check_is_fitted(self)
        rows = self._sequences(self._given(X))
        path = self.result_.network.most_probable_path(rows).table.column(self.result_.name)
        return rows.by_row(path.astype(np.int64))

    def sample(self, n_samples: int = 1, seed: int | None = None) -> tuple[Any, NDArray[np.int64]]:
        """One new sequence of so many rows, and the states behind them."""
        check_is_fitted(self)
        drawn = self.result_.network.sample(n_samples, self._seed() if seed is None else seed)
        name = self.result_.name
        return self._drawn(drawn.table.drop(name), drawn.numbers), drawn.table.column(name).astype(np.int64)

    def _posterior(self, columns: Columns) -> Floats:
        rows = self._sequences(columns)
        return rows.by_row(self.result_.network.posterior(rows))

    def _row_logs(self, columns: Columns) -> Floats:
        rows = self._sequences(columns)
        return rows.by_row(self.result_.network.slice_log_likelihood(rows))

    def _sequences(self, columns: Columns) -> Sequences:
        return read_sequences(columns, self.by, self.time, gaps=self.gaps, like=self.result_.sequences, unseen="hole")

    def _names_out(self) -> list[str]:
        return [f"{self.result_.name}_{k}" for k in range(self.states_)]
