"""EM: the text's candy example, the naive twin, laws that every fit obeys, and what it says of bad input."""

import networkx
import numpy as np
import pytest

import leverrier as lv
from leverrier import datasets
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.errors import FallError, NetworkError, OptionError, TableError
from leverrier.inference.exact import e_step as expectation
from leverrier.inference.exact import groups
from leverrier.learning.em import network_em as em
from leverrier.learning.em.climb import Outcome, climb
from leverrier.learning.em.fit import fit
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.structure.score import BDe, BDeu
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.status import Status
from tests.naive.em import em_step, log_likelihood
from tests.naive.networks import random_network
from tests.test_expected_counts import random_case

CANDY = [
    ("cherry", "red", "yes", 273),
    ("cherry", "red", "no", 93),
    ("cherry", "green", "yes", 104),
    ("cherry", "green", "no", 90),
    ("lime", "red", "yes", 79),
    ("lime", "red", "no", 100),
    ("lime", "green", "yes", 94),
    ("lime", "green", "no", 167),
]
"""[aima 20.3.2] counts by flavour, wrapper and hole."""
FIRST = {"flavor": "cherry", "wrapper": "red", "hole": "yes"}


def candy_table():
    columns = {name: [row[k] for row in CANDY] for k, name in enumerate(FIRST)}
    return read_table({**columns, "n": [row[3] for row in CANDY]}, weights="n")


def candy_network(table, share, ones, twos):
    """The text's start: P(Bag=1), and in each bag the same probability of cherry, red and a hole."""
    graph = Graph.from_parents({"bag": [], **{name: ["bag"] for name in FIRST}})
    tables = {"bag": [share, 1 - share]}
    for name, first in FIRST.items():
        tables[name] = [[p if s == first else 1 - p for s in table.states[name]] for p in (ones, twos)]
    return Network.build(graph, {"bag": ("1", "2"), **table.states}, tables)


def test_candy_first_iteration_is_the_texts():
    table = candy_table()
    start = candy_network(table, 0.6, 0.6, 0.4)
    result = fit(start, table, initial=start, max_iterations=1)
    found = [result.network.cpt("bag")[0]]
    for bag in (0, 1):
        found += [result.network.cpt(n)[bag, table.states[n].index(first)] for n, first in FIRST.items()]
    np.testing.assert_allclose(found, [0.6124, 0.6684, 0.6483, 0.6558, 0.3887, 0.3817, 0.3827], atol=5e-5)
    assert result.trace[0] == pytest.approx(-2044, abs=1)
    assert result.trace[1] == pytest.approx(-2021, abs=1)
    assert result.iterations == 1
    assert result.status is Status.ITERATION_LIMIT


def test_candy_curve_passes_the_true_model():
    """Figure 20.12(b): by the tenth iteration the learned model is better than the one the data were drawn from."""
    table = candy_table()
    start = candy_network(table, 0.6, 0.6, 0.4)
    truth = candy_network(table, 0.5, 0.8, 0.3)
    result = fit(start, table, initial=start, accelerate=False)
    line = fit(truth, table, initial=truth, max_iterations=1).trace[0]
    assert result.status.converged
    assert result.trace[0] < line < result.trace[10]
    assert np.all(np.diff(result.trace) >= 0)
    assert result.log_likelihood == pytest.approx(fit(start, table, hidden={"bag": 2}, seed=3).log_likelihood, abs=1e-4)


def test_each_plain_step_equals_the_twins():
    rng = np.random.default_rng(0)
    for case in range(30):
        network, codes, weights, table = random_case(rng, 12, hole_share=float(rng.choice([0, 0.3])), max_nodes=5)
        for prior in (0.0, 0.5):
            steps = int(rng.integers(1, 4))
            result = fit(network, table, initial=network, accelerate=False, max_iterations=steps, prior=prior)
            twin = network
            for _ in range(steps):
                twin = em_step(twin, codes, weights, prior)
            assert result.log_likelihood == pytest.approx(log_likelihood(twin, codes, weights), abs=1e-8), case


def test_a_pruned_leaf_changes_the_path_but_not_the_end():
    """A row's unobserved leaf says nothing: leaving it out is EM on fewer unobserved values, with the same maxima."""
    rng = np.random.default_rng(1)
    graph = Graph.from_parents({"a": [], "b": ["a"], "c": ["b"], "d": ["b"]})
    network = random_network(rng, 4, graph=graph, min_states=2, max_states=2)
    codes = network.sample(40, seed=1).codes.astype(int)
    codes[rng.random(codes.shape) < 0.3] = -1
    table = Table.from_codes(dict(network.states), codes)
    ours = fit(network, table, initial=network, tolerance=1e-9)
    twin = network
    for _ in range(150):
        twin = em_step(twin, codes, np.ones(40), prune=False)
    assert ours.log_likelihood == pytest.approx(log_likelihood(twin, codes, np.ones(40)), abs=1e-5)


def test_random_fits_never_fall_and_never_give_nan():
    """Holes, duplicate columns, constant columns, weights; a fall beyond rounding would raise in `fit`."""
    rng = np.random.default_rng(2)
    for case in range(150):
        network, _, _, table = random_case(rng, int(rng.integers(1, 40)), max_nodes=6)
        if case % 3 == 0 and len(table.variables) > 1:  # a duplicate and a constant column
            changed = table.codes.copy()
            changed[1] = changed[0] if table.cardinalities[1] >= table.cardinalities[0] else 0
            table = Table(table.columns, changed, table.weights)
        method = "vb" if case % 5 == 0 else "em"
        prior = [None, 0.3, BDeu(1.0)][case % 3]
        result = fit(network, table, starts=2, method=method, prior=prior, seed=case, max_iterations=200)
        trace = np.array(result.trace)
        assert np.all(np.isfinite(trace))
        assert np.all(np.diff(trace) >= -1e-9)
        assert all(np.all(np.isfinite(result.network.cpt(name))) for name in network.variables)
        assert np.isfinite(result.log_likelihood)


def test_result_and_trace_belong_to_the_network_given_back():
    rng = np.random.default_rng(3)
    for case in range(25):
        network, codes, weights, table = random_case(rng, 15, max_nodes=5)
        for prior in (None, 1.0):
            limit = int(rng.choice([1, 2, 3, 7, 2000]))
            result = fit(network, table, starts=2, prior=prior, seed=case, max_iterations=limit)
            value = log_likelihood(result.network, codes, weights)
            assert result.log_likelihood == pytest.approx(value, abs=1e-8)
            if prior is None:
                assert result.trace[-1] == pytest.approx(value, abs=1e-8)
            else:
                logs = sum(np.log(result.network.cpt(name)).sum() for name in network.variables)
                assert result.trace[-1] == pytest.approx(value + logs, abs=1e-7)


def test_bic_has_the_sign_of_published_tables_and_is_minus_two_structure_scores():
    """On whole rows the maximum is the table of counts, which lv.BIC scores without EM."""
    table = datasets.network("asia").sample(400, seed=3)
    graph = datasets.network("asia").graph
    found = fit(graph, table)
    by_hand = -2 * found.log_likelihood + np.log(400) * found.network.dimension
    assert found.bic == pytest.approx(by_hand, rel=1e-12)
    assert found.bic == pytest.approx(-2 * lv.score(graph, table, score=lv.BIC()), rel=1e-9)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    network = random_network(rng, 4, min_states=2)
    table = network.sample(30, seed=0).drop(network.variables[1])
    weights = rng.integers(0, 4, 30)
    heavy = Table(table.columns, table.codes, weights.astype(float))
    long = table.take(np.repeat(np.arange(30), weights))
    a, b = (fit(network, each, starts=3, seed=1) for each in (heavy, long))
    assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=1e-7)
    assert a.score == pytest.approx(b.score, abs=1e-5)


def test_the_same_seed_gives_the_same_network_on_any_number_of_threads(monkeypatch):
    table = random_network(np.random.default_rng(5), 6, min_states=2).sample(500, seed=0)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    one, two = (fit(graph, table, {"h": 3}, starts=4, seed=9, jobs=jobs) for jobs in (1, 3))
    assert one.network == two.network
    assert [s.value for s in one.starts] == [s.value for s in two.starts]
    assert fit(graph, table, {"h": 3}, starts=4, seed=10).trace != one.trace
    monkeypatch.setattr(expectation, "BLOCK", 10)  # many blocks of rows, shared out
    monkeypatch.setattr(em, "LONG", 0.0)
    shared = [fit(graph, table, {"h": 3}, starts=2, seed=9, jobs=jobs) for jobs in (1, 3)]
    assert shared[0].network == shared[1].network
    monkeypatch.undo()
    plain = fit(graph, table, {"h": 3}, starts=2, seed=9)
    assert shared[0].trace[:5] == pytest.approx(plain.trace[:5], abs=1e-8)


def test_late_extrapolation_ends_where_plain_em_does():
    """While steps gain much both take the same ones; then they climb the same hill, one of them faster."""
    columns = [f"x{j}" for j in range(8)]
    graph = Graph.from_parents({"h": (), **dict.fromkeys(columns, ("h",))})
    weak = {"h": [0.6, 0.4], **{name: [[0.7, 0.3], [0.3, 0.7]] for name in columns}}
    table = Network.build(graph, dict.fromkeys(graph, ("a", "b")), weak).sample(1000, seed=1).drop("h")
    steps = np.zeros(2)
    for seed in range(8):
        options = {"hidden": {"h": 3}, "starts": 1, "seed": seed, "prior": 0.1, "tolerance": 1e-4}
        plain = fit(graph, table, **options, accelerate=False)
        late = fit(graph, table, **options, accelerate=1.0)
        small = int(np.argmax(np.diff(plain.trace) < 1.0))  # the first step that gains little: extrapolated from there
        np.testing.assert_allclose(late.trace[: small + 2], plain.trace[: small + 2], rtol=1e-12)
        assert np.all(np.diff(late.trace) >= -1e-9)
        assert late.trace[-1] == pytest.approx(plain.trace[-1], abs=0.01)
        steps += plain.iterations, late.iterations
    assert steps[1] < 0.6 * steps[0]


@pytest.mark.parametrize("accelerate", [-1.0, np.nan])
def test_an_acceleration_that_is_none_is_refused(accelerate):
    table = candy_table()
    with pytest.raises(OptionError, match="accelerate"):
        fit(candy_network(table, 0.6, 0.6, 0.4), table, accelerate=accelerate)


def test_packs_and_plain_location_agree(monkeypatch):
    """Hundreds of rows of a star fall into several packs; the other way of locating evidence must see the same."""
    rng = np.random.default_rng(6)
    codes = np.where(rng.random((12, 900)) < 0.1, -1, rng.integers(0, 3, (12, 900)))
    table = Table.from_codes({f"x{j}": tuple(range(3)) for j in range(12)}, codes)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    traces = []
    for few_rows in (0, 10**6):
        monkeypatch.setattr(groups, "FEW_ROWS", few_rows)
        traces.append(fit(graph, table, {"h": 3}, starts=1, max_iterations=5, accelerate=False).trace)
    np.testing.assert_allclose(traces[0], traces[1], atol=1e-8)
    assert len(traces[0]) == 6


def test_hundreds_of_columns_do_not_underflow():
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 9, (900, 40))
    table = Table.from_codes({f"x{j}": tuple(range(9)) for j in range(900)}, codes)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    result = fit(graph, table, {"h": 2}, starts=1, max_iterations=3, prior=1.0)
    assert np.isfinite(result.log_likelihood)
    assert np.all(np.diff(result.trace) >= 0)


def test_short_runs_first_and_the_best_continued():
    table = random_network(np.random.default_rng(8), 6, min_states=2).sample(300, seed=0)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    everyone = fit(graph, table, {"h": 4}, starts=8, seed=0)
    chosen = fit(graph, table, {"h": 4}, starts=8, keep=2, seed=0)
    assert len(chosen.starts) == 8
    assert sum(start.iterations > 20 for start in chosen.starts) <= 2
    assert chosen.log_likelihood <= everyone.log_likelihood + 1e-6
    assert np.all(np.diff(chosen.trace) >= -1e-9)
    ends = [start.value for start in everyone.starts]
    assert everyone.starts.best_count == sum(end >= max(ends) - 1e-4 for end in ends)


def test_an_assignment_or_a_network_may_be_the_start():
    network = random_network(
        np.random.default_rng(9),
        5,
        min_states=2,
        graph=Graph.from_parents({"h": [], "a": ["h"], "b": ["h"], "c": ["h", "a"], "d": ["h"]}),
    )
    table = network.sample(2000, seed=0)
    states = [network.states["h"][code] for code in table.column("h")]
    truth = np.eye(network.cardinality("h"))[table.column("h")]
    shown = table.drop("h")
    by_state, by_posterior = (fit(network, shown, initial={"h": given}, max_iterations=1) for given in (states, truth))
    assert by_state.trace == by_posterior.trace
    assert by_state.trace[0] > fit(network, shown, starts=1, max_iterations=1).trace[0]
    np.testing.assert_allclose(by_state.network.cpt("h"), truth.mean(axis=0), atol=0.1)  # the states kept their meaning
    refit = fit(network, shown, initial=by_state.network, max_iterations=1)
    assert refit.trace[0] == pytest.approx(by_state.trace[1], abs=1e-9)


def test_hidden_states_are_ordered_by_frequency():
    rng = np.random.default_rng(10)
    for seed in range(5):
        table = random_network(rng, 5, min_states=2).sample(300, seed=seed)
        graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
        result = fit(graph, table, {"h": ["low", "mid", "high"]}, seed=seed)
        assert result.network.states["h"] == ("low", "mid", "high")
        assert np.all(np.diff(result.network.cpt("h")) <= 1e-9)
        np.testing.assert_allclose(result.posterior("h").mean(axis=0), result.network.cpt("h"), atol=1e-3)


def test_graphs_of_every_kind_are_taken():
    table = random_network(np.random.default_rng(11), 3, min_states=2).sample(50, seed=0)
    edges = [("h", name) for name in table.variables]
    graph = Graph.from_edges(("h", *table.variables), edges)
    a = fit(graph, table, {"h": 2}, seed=1)
    b = fit(networkx.DiGraph(edges), table, {"h": 2}, seed=1)
    c = fit(a.network, table, seed=1)
    assert a.log_likelihood == b.log_likelihood == c.log_likelihood
    zeros = np.vstack([table.codes, np.zeros((1, 50))]).astype(int)
    with_column = Table.from_codes({**table.states, "h": ("0", "1")}, zeros)
    assert fit(graph, with_column, {"h": 2}, seed=1).log_likelihood == a.log_likelihood  # asked to be hidden: not read


def test_bad_input_is_one_clear_line():
    table = random_network(np.random.default_rng(12), 3, min_states=2).sample(20, seed=0)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    with pytest.raises(NetworkError, match="'h' is no column of the data: say how many states"):
        fit(graph, table)
    with pytest.raises(OptionError, match="'g' is no node of the graph"):
        fit(graph, table, {"h": 2, "g": 2})
    with pytest.raises(OptionError, match="at least one state"):
        fit(graph, table, {"h": 0})
    with pytest.raises(OptionError, match="labels must be distinct"):
        fit(graph, table, {"h": ["x", "x"]})
    with pytest.raises(OptionError, match="starts=0"):
        fit(graph, table, {"h": 2}, starts=0)
    with pytest.raises(OptionError, match='expected "em" or "vb"'):
        fit(graph, table, {"h": 2}, method="gibbs")
    with pytest.raises(OptionError, match="prior=-1"):
        fit(graph, table, {"h": 2}, prior=-1)
    with pytest.raises(OptionError, match="one prior"):
        fit(graph, table, {"h": 2}, prior=1.0, score=BDe(2.0), method="vb")
    with pytest.raises(OptionError, match="expected \\(20,\\) states"):
        fit(graph, table, {"h": 2}, initial={"h": [0, 1]})
    with pytest.raises(TableError, match="no rows"):
        fit(graph, table.take(slice(0)), {"h": 2})
    with pytest.raises(NetworkError, match="the names must agree"):
        fit(Graph.from_parents({"h": [], "q": ["h"]}), table, {"h": 2})


def test_an_impossible_start_is_said():
    graph = Graph.from_parents({"h": [], "x": ["h"]})
    network = Network.build(graph, {"h": "ab", "x": "cd"}, {"h": [0.5, 0.5], "x": [[1.0, 0.0], [1.0, 0.0]]})
    table = Table.from_codes({"x": ("c", "d")}, np.array([[0, 0, 1]]))
    with pytest.raises(OptionError, match="some row probability zero"):
        fit(network, table, initial=network)


def test_a_fall_is_never_hidden():
    class Falling:
        def climb(self, evaluations):  # noqa: ARG002
            return np.array([-2.0, -3.0]), Outcome.FELL

        def settle(self):
            return -3.0

    with pytest.raises(FallError, match="fell from"):
        climb(Falling(), max_iterations=10)

    class FallsAtTheEnd(Falling):
        def climb(self, evaluations):
            return np.full(evaluations, -2.0), Outcome.RUNNING

    with pytest.raises(FallError, match="at the last step"):
        climb(FallsAtTheEnd(), max_iterations=10)


def test_a_budget_stops_and_says_so():
    table = random_network(np.random.default_rng(13), 6, min_states=2).sample(300, seed=0)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    result = fit(graph, table, {"h": 5}, tolerance=0.0, budget=0.0, starts=1)
    assert result.status is Status.BUDGET
    assert np.isfinite(result.log_likelihood)
    told = []
    fit(graph, table, {"h": 2}, starts=3, jobs=1, progress=lambda line, share: told.append((line, share)))
    assert [share for _, share in told] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert [line.split(":")[0] for line, _ in told] == ["start 1 of 3", "start 2 of 3", "start 3 of 3"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_gives_what_there_is_and_says_so(jobs, monkeypatch):
    table = random_network(np.random.default_rng(14), 6, min_states=2).sample(300, seed=0)
    graph = Graph.from_edges(("h", *table.variables), (("h", name) for name in table.variables))
    calls = []

    def interrupted(self, evaluations):
        calls.append(evaluations)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self, evaluations)

    plain = em.ParameterClimb.climb
    monkeypatch.setattr(em.ParameterClimb, "climb", interrupted)
    result = fit(graph, table, {"h": 5}, tolerance=0.0, starts=4, jobs=jobs, max_iterations=10**6)
    assert result.status is Status.INTERRUPTED
    assert len(calls) < 20
    assert np.isfinite(result.log_likelihood)


def test_holes_in_alarm_cost_little_and_complete_rows_alone_cost_much():
    network = datasets.network("alarm")
    full, test = network.sample(1000, seed=1), network.sample(1000, seed=2)
    codes = np.where(np.random.default_rng(3).random(full.codes.shape) < 0.2, -1, full.codes.astype(int))
    table = Table.from_codes(full.states, codes)
    result = fit(network, table, prior=0.1)
    assert result.status.converged
    without_holes = network_from_counts(network.graph, full.states, ObservedCounts(full), BDe(0.1))
    available = network_from_counts(network.graph, full.states, ObservedCounts(table), BDe(0.1))
    complete = table.take(~(table.codes == table.missing).any(axis=0))
    uniform = network.with_tables({n: np.full(network.shape(n), 1 / network.cardinality(n)) for n in network.variables})
    on_complete = fit(network, complete, prior=0.1).network if complete.n_rows else uniform
    models = {"EM": result.network, "full": without_holes, "available": available, "complete": on_complete}
    loss = {name: -model.log_likelihood(test) / 1000 for name, model in models.items()}
    assert loss["EM"] < loss["full"] + 0.15
    assert loss["EM"] < loss["available"]
    assert loss["EM"] < loss["complete"] - 5


def test_columns_with_more_than_255_states():
    rng = np.random.default_rng(15)
    codes = np.vstack([rng.integers(0, 300, 400), rng.integers(0, 2, (3, 400))])
    codes[rng.random(codes.shape) < 0.1] = -1
    states = {"wide": tuple(range(300)), "a": (0, 1), "b": (0, 1), "c": (0, 1)}
    table = Table.from_codes(states, codes)
    graph = Graph.from_parents({"h": [], "wide": ["h"], "a": ["h"], "b": ["h", "a"], "c": ["h"]})
    result = fit(graph, table, {"h": 2}, starts=1, max_iterations=3, accelerate=False)
    full = np.vstack([np.full((1, 400), -1), codes])
    assert result.log_likelihood == pytest.approx(log_likelihood(result.network, full[:, :400], np.ones(400)), abs=1e-7)


def test_unobserved_variables_too_entangled_for_exact_inference_are_approximated_and_said_to_be():
    causes = [f"h{i}" for i in range(26)]
    pairs = {f"x{a}_{b}": (a, b) for i, a in enumerate(causes) for b in causes[i + 1 :]}
    graph = Graph.from_parents({**dict.fromkeys(causes, ()), **pairs})
    codes = np.random.default_rng(16).integers(0, 2, (len(pairs), 40))
    table = Table.from_codes(dict.fromkeys(pairs, (0, 1)), codes)
    result = fit(graph, table, dict.fromkeys(causes, 2), starts=2, max_iterations=20)
    assert result.approximate
    assert "approximate" in repr(result)
    assert any("26 unobserved variables hang together" in note for note in result.notes)
    assert np.all(np.diff(result.trace) >= -1e-9)
    counts = result.expected_counts()
    assert counts.approximate
    pair = counts.tables([Family("h0", ("h1",))])[0]
    assert pair.sum() == pytest.approx(40)
    np.testing.assert_allclose(counts.posterior("h0").sum(axis=1), 1.0)
