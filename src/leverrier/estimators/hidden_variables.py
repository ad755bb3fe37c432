"""`HiddenVariables`: `discover` as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from leverrier.api.discover import Method, discover
from leverrier.api.discovery import Discovery
from leverrier.arrays import Floats
from leverrier.discovery.hidden_model import like_columns
from leverrier.errors import OptionError
from leverrier.estimators.shell import Columns, Shell
from leverrier.models.network import as_network

NOTHING = "nothing_hidden"
"""The one column of `transform` where nothing was found."""


@dataclass(eq=False, repr=False)
class HiddenVariables(Shell):
    """Hidden variables in a network over the columns, looked for one after another.

    method      as in `discover`; "network" (columns are categories, numbers cut into bins) is the one that can `score`
    evidence    test what is found before it is believed: `draws` simulated tables, `resamples` of the rows. Off
                here, because it takes many times as long; what is found is then "not tested"
    max_hidden  so many at most
    types       what columns are (as in `read_table`)
    budget      seconds for the search

    `transform` gives the posteriors of all hidden variables side by side; where nothing was found one column of ones,
    named "nothing_hidden".
    `predict_proba` and `predict` are about the first one; where there is none, every row is in state 0. Fitted:
    `result_` (print it for the verdict), `hidden_` (names), `found_` (whether there are any).
    """

    result_: Discovery = field(init=False)
    hidden_: tuple[str, ...] = field(init=False)
    found_: bool = field(init=False)
    _: KW_ONLY
    method: Method = "network"
    evidence: bool = False
    draws: int = 19
    resamples: int = 6
    max_hidden: int = 3
    max_parents: int | None = None
    types: Mapping[str, Any] | None = None
    budget: float | None = None
    jobs: int | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Look for hidden variables; `y` is ignored, a row counts as often as its weight says."""
        columns = self._given(X, reset=True)
        self.result_ = discover(columns, weights=self._weights(sample_weight, columns), **self._options_of(discover))
        self.hidden_ = tuple(each.name for each in self.result_.hidden)
        self.found_ = bool(self.hidden_)
        return self

    def transform(self, X: Any) -> Any:
        """(rows, states of all hidden variables): their posteriors side by side; one column of ones where nothing was
        found, so that whatever comes next in a pipeline can go on."""
        check_is_fitted(self)
        columns = self._given(X)
        found = [self.result_.posterior(columns, name, unseen="hole") for name in self.hidden_]
        return np.hstack(found) if found else np.ones((_rows(columns), 1))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable state of the first hidden variable."""
        return super().predict(X)

    def _posterior(self, columns: Columns) -> Floats:
        return self.result_.posterior(columns, unseen="hole") if self.hidden_ else np.ones((_rows(columns), 1))

    def _row_logs(self, columns: Columns) -> Floats:
        if self.method != "network":
            raise OptionError(f'method={self.method!r} has no score that could be compared: use method="network"')
        network = as_network(self.result_.network)  # (by method="network" no other is found)
        return network.row_log_likelihood(like_columns(columns, self.result_.result.shape.variables))

    def _names_out(self) -> list[str]:
        names = [f"{each.name}_{k}" for each in self.result_.hidden for k in range(each.states)]
        return names or [NOTHING]


def _rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))
