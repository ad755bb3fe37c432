"""Would a learner that may use any function of the other columns do as well without the hidden variable?

Simulated tables come from the best network without it and share its misfit: where the columns follow from each other in
a way that no family of ours says cheaply, a hidden variable mends the misfit and simulated tables do not show it. So
each column next to it is foretold from all the others on rows not learned from, by the network with the hidden
variable, by the network without it and by learners that know no graphs (boosted trees, logits, a small neural network).
A true hidden variable says more than any function of the columns fitted on as many rows; a patch on a stiff family does
not.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.table import Table, Variable
from leverrier.discovery.evidence.held_out import learned_again
from leverrier.learning.families.state_column import state_column
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.codecs import Key
from leverrier.run.run import UNBOUNDED, Run

FOLDS = 3
MOST_ROWS = 6000
"""Of a larger table so many rows are drawn: the answer is clear by then, and learners are slow."""
MOST_COLUMNS = 9
"""The columns next to the hidden variable that are foretold, those it tells most about first."""
LEAST_ROWS = 60
SMALLEST = 1e-3
"""Spread over all states, so that a learner is not ruined by one it thought impossible."""
TREES = {
    "max_iter": 60,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "validation_fraction": 0.15,
    "random_state": 0,
}
LEARNERS = 4
MOST_CATEGORIES = 254
"""Of boosted trees; a column with more states is taken in their order."""
STRENGTHS = (0.5, 200.0)
"""What a logit's coefficients may be like: chances that lean, and rules with few exceptions."""
NEURONS: dict[str, Any] = {
    "hidden_layer_sizes": (16,),
    "alpha": 0.01,
    "learning_rate_init": 0.01,
    "max_iter": 60,
    "random_state": 0,
}
"""Says functions that go both ways, such as an item's share in a band of their sum."""
CLEAR, BEHIND = 2.0, 1.0
"""Standard errors by which the hidden variable must be better than any learner, and may be worse than the network
without it: simulated tables have shown already that chance does not gain so much over that one, and one column given
all others says little of what the two say of whole rows."""


@dataclass(frozen=True)
class FreeLearner:
    """How the columns next to a hidden variable are foretold with it, against any function of the other columns."""

    columns: Mapping[str, float]
    """By column, nats a row: the network with the hidden variable less the best learner."""
    advantage: float
    """The sum over the columns."""
    error: float
    """Its standard error."""
    over_rival: float | None = None
    """In standard errors, how much better the same columns are foretold than by the network without it."""

    @property
    def z(self) -> float:
        return self.advantage / self.error if self.error > 0 else 0.0

    @property
    def outdone(self) -> bool:
        """Whether the hidden variable is clearly better than any function of the columns."""
        return self.z >= CLEAR and not self.matched

    @property
    def matched(self) -> bool:
        """Whether the network without it foretells clearly better."""
        return self.over_rival is not None and self.over_rival < -BEHIND


def against_free_learner(
    network: Network,
    near: Sequence[str],
    table: Table,
    score: Score,
    seed: int,
    rival: Network | None = None,
    run: Run = UNBOUNDED,
) -> FreeLearner | None:
    """The network's hidden variables against learners without any, its rival among them; None where there are too few
    rows to tell, or too little time."""
    asked = foretelling(network, near, table, score, seed, rival, run.silent())
    if asked is None:
        return None
    calls, keys = asked
    found = [each for each in run.map(foretold, calls, keys) if each is not None]
    if len(found) < len(calls):
        return None
    said = {name: np.concatenate([each[name] for each in found], axis=1) for name in found[0]}
    gained = {name: each[0] - each[2 + int(each[2:].sum(axis=1).argmax())] for name, each in said.items()}
    advantage, error = _mean_and_error(list(gained.values()))
    ahead, spread = _mean_and_error([each[0] - each[1] for each in said.values()])
    over_rival = None if rival is None else ahead / spread if spread > 0 else 0.0
    return FreeLearner({name: float(each.mean()) for name, each in gained.items()}, advantage, error, over_rival)


def foretelling(
    network: Network,
    near: Sequence[str],
    table: Table,
    score: Score,
    seed: int,
    rival: Network | None = None,
    run: Run = UNBOUNDED,
) -> tuple[list[tuple[Any, ...]], list[Key]] | None:
    """The calls of `foretold`, with their keys, one for each part of the rows; None where there are too few of them."""
    rng = np.random.default_rng([seed, 53])
    table = _some_rows(table, rng)
    columns = [name for name in near if len(table.states[name]) > 1][:MOST_COLUMNS]
    if table.n_rows < LEAST_ROWS or not columns:
        return None
    fold = rng.permutation(table.n_rows) % FOLDS
    networks = (network, network if rival is None else rival)
    calls = [(networks, table.take(fold != k), table.take(fold == k), score, columns, run) for k in range(FOLDS)]
    about = (network.graph.parent_map, networks[1].graph.parent_map, tuple(columns))
    return calls, [("foretold", k, *about) for k in range(FOLDS)]


def foretold(
    networks: Sequence[Network], train: Table, test: Table, score: Score, columns: Sequence[str], run: Run = UNBOUNDED
) -> dict[str, Floats] | None:
    """By column, (networks and learners, rows): what each, learned from some rows, says of the others' cells. None if
    time runs out."""
    fitted = [learned_again(each, train, score) for each in networks]
    said = {}
    for name in columns:
        # (guarded as the learners' are: a column that follows from the others is foretold by all alike)
        ours = [each.posterior(test, name) for each in fitted]
        guarded = [_spread(each, np.arange(each.shape[1]), each.shape[1]) for each in ours]
        learned = _learned(train, test, name, run)
        if learned is None:
            return None
        said[name] = _of_cells([*guarded, *learned], test, name)
    return said


def _mean_and_error(gained: Sequence[Floats]) -> tuple[float, float]:
    """Of the sum over columns, by row."""
    total = np.sum(gained, axis=0)
    return float(total.mean()), float(total.std(ddof=1) / np.sqrt(len(total)))


def _some_rows(table: Table, rng: np.random.Generator) -> Table:
    """Rows one by one, at most MOST_ROWS of them; those that stand for several are drawn as often."""
    if table.weights is not None:
        rows = min(MOST_ROWS, max(round(table.total), 1))
        chosen = table.take(rng.choice(table.n_rows, rows, p=table.weights / table.weights.sum()))
        return Table(chosen.columns, chosen.codes)
    if table.n_rows <= MOST_ROWS:
        return table
    return table.take(np.sort(rng.choice(table.n_rows, MOST_ROWS, replace=False)))


def _of_cells(said: Sequence[Floats], test: Table, name: str) -> Floats:
    """What each said of the cells that came, 0 where a cell is empty."""
    cells = test.column(name).astype(np.int64)
    seen = cells != test.missing
    rows = np.flatnonzero(seen)
    found = np.zeros((len(said), test.n_rows))
    for place, each in enumerate(said):
        found[place, rows] = each[rows, cells[rows]]
    return found


def _learned(train: Table, test: Table, name: str, run: Run) -> list[Floats] | None:
    """(rows, states): log-probabilities by boosted trees, two logits and a small neural network; None if time runs out
    before all have learned."""
    # (imported here: a second that only a found variable waits for)
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    others = [other for other in train.variables if other != name]
    cells = train.column(name).astype(np.int64)
    seen = cells != train.missing
    states, kept = len(train.states[name]), cells[seen]
    if len(np.unique(kept)) < 2 or not others:
        shares = np.bincount(kept, minlength=states)[None, :] / max(len(kept), 1)
        return [_spread(np.repeat(shares, test.n_rows, axis=0), np.arange(states), states)] * LEARNERS
    given, asked = _features(train, others)[seen], _features(test, others)
    how: dict[str, Any] = {
        **TREES,
        "early_stopping": bool(np.bincount(kept)[np.unique(kept)].min() > 1),
        "categorical_features": [not _in_order(train.columns[train.index(other)]) for other in others],
    }
    kinds = [np.unique(each) for each in given.T]
    coded, to_tell = _indicators(given, kinds), _indicators(asked, kinds)
    learners: list[Any] = [LogisticRegression(C=strength, max_iter=300, tol=1e-3) for strength in STRENGTHS]
    learners.append(MLPClassifier(**NEURONS))
    with threadpool_limits(1), warnings.catch_warnings():  # (threads that wait for each other cost more than they give)
        warnings.simplefilter("ignore", ConvergenceWarning)  # (as far as it comes, it is a learner)
        trees = HistGradientBoostingClassifier(**how).fit(given, kept)
        found = [_spread(trees.predict_proba(asked), trees.classes_, states)]
        for learner in learners:
            if run.spent:
                return None
            learner.fit(coded, kept)
            found.append(_spread(learner.predict_proba(to_tell), learner.classes_, states))
    return found


def _indicators(cells: Floats, kinds: Sequence[Floats]) -> Floats:
    """1 where a column has the value, 0 elsewhere; nothing of values that were not learned from."""
    each = [own[:, None] == values[None, :] for own, values in zip(cells.T, kinds, strict=True)]
    return np.concatenate(each, axis=1).astype(np.float64)


def _in_order(variable: Variable) -> bool:
    """Whether trees split on an order of the states; of too many they must."""
    weights = np.ones(variable.cardinality)
    return variable.cardinality > MOST_CATEGORIES or (
        variable.cardinality > 2 and state_column(variable, weights).ordered
    )


def _features(table: Table, names: Sequence[str]) -> Floats:
    """Codes in the order of what they stand for; a hole is a state of its own for logits, and one more category, or one
    more place, for the trees."""
    found = []
    for name in names:
        variable = table.columns[table.index(name)]
        ranks = state_column(variable, np.ones(variable.cardinality)).ranks
        codes = table.column(name).astype(np.int64)
        holes = codes == table.missing
        found.append(np.where(holes, variable.cardinality, ranks[np.where(holes, 0, codes)]))
    return np.stack(found, axis=1).astype(np.float64)


def _spread(found: Floats, classes: NDArray[np.integer], states: int) -> Floats:
    """Log-probabilities of all states, with a little for those never seen."""
    whole = np.full((len(found), states), SMALLEST / states)
    whole[:, classes.astype(np.int64)] += (1 - SMALLEST) * found
    return np.log(whole)
