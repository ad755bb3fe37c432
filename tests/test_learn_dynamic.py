"""`learn_dynamic`: against exhaustive search, a known network, and the model of slices it came from."""

from itertools import chain, combinations

import numpy as np
import pytest

from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.sequences.read_sequences import lagged
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import lag_features
from leverrier.data.table import Table
from leverrier.errors import OptionError
from leverrier.learning.slices.learn_dynamic import as_dynamic, learn_dynamic, slice_order
from leverrier.learning.slices.slice_choice import choose, fit_slices
from leverrier.learning.slices.slice_design import make_design, make_folds
from leverrier.learning.structure.score import BIC, BDeu, family_score
from leverrier.models.dynamic.cpd import TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

YES_NO = ("no", "yes")


def truth():
    """Second order: A looks two slices back, B at A now, C at B before and at itself."""
    strong = np.array([[0.9, 0.1], [0.15, 0.85]])
    both = np.array([[[0.95, 0.05], [0.4, 0.6]], [[0.3, 0.7], [0.05, 0.95]]])
    first = {"A": ((), [0.5, 0.5]), "B": (("A",), strong), "C": ((), [0.5, 0.5])}
    then = {"A": ((("A", 2),), strong), "B": (("A",), strong), "C": ((("B", 1), ("C", 1)), both)}
    states = dict.fromkeys("ABC", YES_NO)
    prior = DynamicNetwork.from_tables(states, first, {k: (p, t) for k, (p, t) in first.items()})
    later = DynamicNetwork.from_tables(states, first, {"A": ((), [0.5, 0.5]), "B": (("A",), strong), "C": then["C"]})
    transition = {
        name: TableCPD(tuple((p, 0) if isinstance(p, str) else p for p in parents), np.array(table))
        for name, (parents, table) in then.items()
    }
    return DynamicNetwork(states, (prior.stages[0], later.transition), transition)


@pytest.mark.parametrize("score", [BDeu(), BIC()])
def test_a_known_network_comes_back(score):
    network = truth()
    found = learn_dynamic(network.sample(3000, seed=1), lags=2, score=score)
    assert set(found.network.edges) == {(("A", 2), "A"), (("A", 0), "B"), (("B", 1), "C"), (("C", 1), "C")}
    fresh = network.sample(3000, seed=2)
    assert found.network.bits_per_slice(fresh) == pytest.approx(network.bits_per_slice(fresh), abs=0.02)
    assert found.status.converged


def test_no_transition_of_two_variables_scores_higher():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2, 200))
    codes[1, 1:] = np.where(rng.random(199) < 0.8, codes[0, :-1], codes[1, 1:])
    codes[0, 2:] = np.where(rng.random(198) < 0.7, codes[1, 1:-1], codes[0, 2:])
    sequences = Sequences.from_table(Table.from_codes(dict.fromkeys("AB", YES_NO), codes))
    found = learn_dynamic(sequences, lags=2, max_parents=5)
    counts = ObservedCounts(sequences.windows(2))
    back = [lagged(name, lag) for lag in (1, 2) for name in "AB"]
    sets = list(chain.from_iterable(combinations(back, size) for size in range(5)))

    def best(child, within):
        return max(
            family_score(BDeu(), counts.tables([Family(child, (*within, *past))])[0], counts.total) for past in sets
        )

    expected = max(best("A", a) + best("B", b) for a, b in (((), ()), (("B",), ()), ((), ("A",))))
    assert found.score == pytest.approx(expected, abs=1e-8)


def test_arcs_can_be_forbidden_within_a_slice_and_by_name():
    sequences = truth().sample(1000, seed=3)
    apart = learn_dynamic(sequences, lags=2, within=False)
    assert all(lag > 0 for (_, lag), _ in apart.network.edges)
    kept = learn_dynamic(sequences, lags=2, forbidden=[(("A", 2), "A")], required=[(("C", 2), "B")])
    assert (("A", 2), "A") not in kept.network.edges
    assert (("C", 2), "B") in kept.network.edges


def test_trees_as_a_network_are_the_model_of_slices():
    """Early slices, which see less, included: two ways to the same numbers."""
    sequences = Sequences.from_table(truth().sample(600, seed=4).table, np.arange(0, 601, 30))
    order = slice_order(sequences)
    design = make_design(sequences, lag_features(sequences.variables, 3), order)
    model = fit_slices(design, choose(design, make_folds(sequences, 5, 0)))
    network = as_dynamic(model, sequences.states)
    fresh = Sequences.from_table(truth().sample(90, seed=5).table, [0, 1, 3, 40, 90])
    assert np.allclose(network.surprise(fresh), model.surprise(fresh), atol=1e-10)


def test_trees_find_what_tables_find():
    network = truth()
    found = learn_dynamic(network.sample(3000, seed=6), lags=2, cpds="tree")
    fresh = network.sample(3000, seed=7)
    assert found.network.bits_per_slice(fresh) == pytest.approx(network.bits_per_slice(fresh), abs=0.02)
    assert found.choice is not None
    assert found.choice.bits == pytest.approx(network.bits_per_slice(fresh), abs=0.1)


def test_lags_of_zero_and_sequences_of_one_slice():
    table = truth().sample(200, seed=8).table
    alone = Sequences.from_table(table, np.arange(201))
    found = learn_dynamic(alone, lags=0)
    assert all(lag == 0 for (_, lag), _ in found.network.edges)
    assert np.isfinite(found.log_likelihood)


@pytest.mark.parametrize(("options", "message"), [({"lags": -1}, "lags=-1"), ({"cpds": "forest"}, "cpds='forest'")])
def test_bad_options_are_one_line(options, message):
    with pytest.raises(OptionError, match=message):
        learn_dynamic(truth().sample(50), **options)


def test_columns_hardly_ever_seen_are_no_parents():
    """Counted only where they show, they would seem to explain everything."""
    sequences = truth().sample(400, seed=9)
    codes = np.concatenate([sequences.table.codes, sequences.table.codes[:1], sequences.table.codes[:1]])
    codes[3, :390] = codes[4] = 255
    states = {**sequences.states, "late": YES_NO, "never": YES_NO}
    table = Table.from_codes(states, np.where(codes == 255, -1, codes.astype(np.int64)))
    found = learn_dynamic(Sequences.from_table(table), lags=1)
    assert not [edge for edge in found.network.edges if edge[0][0] in ("late", "never") or edge[1] == "never"]
    assert np.isfinite(found.log_likelihood)
