"""How many states: known answers, invariances, several variables, words and bad questions."""

from itertools import pairwise

import networkx
import numpy as np
import pytest

from experiments.elidan2001_states import FOUR, four_hidden
from leverrier import datasets
from leverrier.data.table import Table
from leverrier.discovery.states.alternating_merge import completed_score, round_robin
from leverrier.discovery.states.cardinality import cardinality
from leverrier.discovery.states.refinement import RefinementRule
from leverrier.errors import InputError
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import BIC, BDe, BDeu
from leverrier.models.graph import Graph
from leverrier.models.network import Network

ALARM_EXACT = {"LVEDVOLUME": 3, "ERRCAUTER": 2, "TPR": 3, "KINKEDTUBE": 2, "PVSAT": 3, "HR": 3}


@pytest.fixture(scope="module")
def alarm():
    network = datasets.network("alarm")
    return network, network.sample(10_000, seed=3)


def classes(k, n_columns, n_rows, seed=0, noise=0.1):
    """k classes, each with its own code word over binary columns, cells flipped with this probability.

    Any two words differ in at least three columns: of two that differ in one, that column alone would be noise.
    """
    rng = np.random.default_rng(seed)
    words = []
    for word in rng.permutation(2**n_columns).tolist():
        if len(words) < k and all((word ^ other).bit_count() >= 3 for other in words):
            words.append(word)
    bits = (np.array(words)[:, None] >> np.arange(n_columns)) & 1
    truth = rng.integers(0, k, n_rows)
    codes = bits[truth].T ^ (rng.random((n_columns, n_rows)) < noise)
    return Table.from_codes({f"c{i}": (0, 1) for i in range(n_columns)}, codes.astype(int)), truth


@pytest.mark.parametrize("name", ALARM_EXACT)
def test_alarm(alarm, name):
    """Six of the twenty; merging alone is wrong for four of these. benchmarks/cardinality.py runs all, ten times."""
    network, data = alarm
    found = cardinality(network, data.drop(name), hidden=name, starts=3, seed=0)
    assert found.states == ALARM_EXACT[name]
    assert found.path[-1][0] == 1
    assert found.path[0][0] == len(found.agglomeration.first)
    assert found.gain > 0


def test_a_variable_that_the_data_do_not_show(alarm):
    network, data = alarm
    found = cardinality(network, data.drop("SAO2"), hidden="SAO2")
    assert found.states == 1
    assert "collapses: the data do not show this variable" in str(found)


@pytest.mark.parametrize("refine", [True, False, "brief"])
@pytest.mark.parametrize("seed", range(5))
def test_no_effect_gets_one_state(refine, seed):
    rng = np.random.default_rng(seed)
    graph = Graph.from_parents({"p": (), "H": ("p",), **{f"c{i}": ("H",) for i in range(4)}})
    table = Table.from_codes({name: range(3) for name in graph if name != "H"}, rng.integers(0, 3, (5, 2000)))
    assert cardinality(graph, table, hidden="H", refine=refine).states == 1


@pytest.mark.parametrize("refine", [True, False, "brief"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_function_of_the_blanket_gets_its_true_number(k, refine):
    """Each child is the state under other names, and so is the parent, but for some noise."""
    rng = np.random.default_rng(k)
    h = rng.integers(0, k, 3000)
    p = np.where(rng.random(3000) < 0.2, rng.integers(0, k, 3000), h)
    codes = np.stack([p, *(rng.permutation(k)[h] for _ in range(3))])
    graph = Graph.from_parents({"p": (), "H": ("p",), "a": ("H",), "b": ("H",), "c": ("H",)})
    found = cardinality(graph, Table.from_codes({name: range(k) for name in "pabc"}, codes), hidden="H", refine=refine)
    assert found.states == k
    assert len(found.agglomeration.first) <= k * k


@pytest.mark.parametrize("name", ["LVEDVOLUME", "HYPOVOLEMIA", "TPR"])
def test_a_few_steps_of_em_put_merging_right(alarm, name):
    """Of these merging alone sees too many states (overlapping ones) or none (weak ones)."""
    network, data = alarm
    merged = cardinality(network, data.drop(name), hidden=name, refine=False)
    brief = cardinality(network, data.drop(name), hidden=name, refine="brief")
    assert merged.states != network.cardinality(name)
    assert brief.states == network.cardinality(name)
    assert "a few steps of EM" in str(brief)
    assert all(np.isnan(each.random) and np.isnan(each.merged) for each in brief.scores.values())


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_how_many_classes_in_a_plain_table(k):
    table, truth = classes(k, 7, 3000, seed=10 + k)
    found = cardinality(None, table)
    assert found.states == k
    assert found.hidden == "class"
    if k > 1:
        states = found.network.posterior(table, "class").argmax(axis=1)
        together = np.zeros((k, k))
        np.add.at(together, (states, truth), 1)
        assert together.max(axis=0).sum() > 0.85 * table.n_rows


def test_published_classes(shared_data):
    """Carcinoma and GSS 82: three classes each, as their published BICs say (-697.1, -5658.7 at three)."""
    for name in ("carcinoma", "gss82"):
        assert cardinality(None, shared_data / "latent_class" / f"{name}.csv").states == 3


def test_holes_do_not_change_the_answer():
    table, _ = classes(3, 7, 4000, seed=5)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(table.codes.shape) < 0.1, -1, table.codes.astype(int))
    holed = Table.from_codes(table.states, codes)
    graph = Graph.from_parents({"H": (), **dict.fromkeys(table.variables, ("H",))})
    found = cardinality(graph, holed, hidden="H", starts=2)
    assert found.states == 3
    assert found.network.log_likelihood(holed) == pytest.approx(
        fit(graph, holed, hidden={"H": 3}, starts=3, prior=BDe()).log_likelihood, abs=0.05
    )


def test_holes_in_parents_and_spouses():
    rng = np.random.default_rng(1)
    n = 4000
    p, s = rng.integers(0, 3, n), rng.integers(0, 2, n)
    h = (p + (rng.random(n) < 0.1)) % 3
    noisy = [np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), h) for _ in range(3)]
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), (h + s) % 3)
    codes = np.stack([p, s, *noisy, y])
    codes[rng.random(codes.shape) < 0.08] = -1
    names = {"p": range(3), "s": range(2), "a": range(3), "b": range(3), "c": range(3), "y": range(3)}
    graph = Graph.from_parents({"p": (), "s": (), "H": ("p",), "a": ("H",), "b": ("H",), "c": ("H",), "y": ("H", "s")})
    assert cardinality(graph, Table.from_codes(names, codes), hidden="H", starts=2).states == 3


def test_weights_are_repeated_rows_and_order_does_not_matter():
    table, _ = classes(3, 6, 400, seed=2)
    times = np.random.default_rng(1).integers(0, 4, 400)
    weighted = Table(table.columns, table.codes, times.astype(float))
    repeated = table.take(np.random.default_rng(2).permutation(np.repeat(np.arange(400), times)))
    one, other = cardinality(None, weighted), cardinality(None, repeated)
    assert one.states == other.states
    for k in one.scores:
        assert one.scores[k].agglomeration == pytest.approx(other.scores[k].agglomeration, abs=1e-8)
        assert one.scores[k].evidence == pytest.approx(other.scores[k].evidence, abs=1e-6)


def test_the_answer_does_not_depend_on_threads_and_repeats_with_the_seed():
    table, _ = classes(4, 6, 1500, seed=4)
    one, two, again = (cardinality(None, table, seed=7, jobs=jobs) for jobs in (1, 2, 1))
    assert one.scores == two.scores == again.scores
    assert one.network == again.network


def test_columns_and_names_do_not_matter():
    table, _ = classes(3, 6, 1500, seed=6)
    turned = table.select(reversed(table.variables))
    one, other = cardinality(None, table), cardinality(None, turned)
    assert one.states == other.states
    assert one.path[-1][1] == pytest.approx(other.path[-1][1], abs=1e-8)
    assert one.scores[3].evidence == pytest.approx(other.scores[3].evidence, abs=0.1)


def test_whatever_a_network_is_given_as(alarm):
    network, data = alarm
    rows = data.take(slice(0, 2000))
    digraph = networkx.DiGraph(list(network.edges))
    found = [
        cardinality(given, shown, hidden=hidden, refine=False)
        for given, shown, hidden in (
            (network, rows.drop("HR"), "HR"),
            (network.graph, rows.drop("HR"), None),
            (digraph, rows, "HR"),
        )
    ]
    assert found[0].path == found[1].path
    assert found[0].path[-1][1] == pytest.approx(found[2].path[-1][1], abs=1e-8)
    assert "set aside" in str(found[2])


def test_a_smaller_prior_or_bdeu_or_bic_may_be_asked_for():
    table, _ = classes(3, 6, 2000, seed=8)
    assert cardinality(None, table, score=BDe(0.5)).states == 3
    assert cardinality(None, table, score=BDeu(1.0)).states == 3
    assert cardinality(None, table, score=BIC(), refine=False).states >= 3
    assert not cardinality(None, table, score=BDeu(1.0), refine=False).agglomeration.decomposable


def test_at_most_and_in_time():
    table, _ = classes(4, 6, 2000, seed=9)
    capped = cardinality(None, table, max_states=2)
    assert capped.states == 2
    assert max(capped.scores) == 2
    hurried = cardinality(None, table, budget=1e-9)
    assert not hurried.status.converged
    assert hurried.states >= 1
    assert "budget" in str(hurried)


def test_progress_is_told():
    table, _ = classes(2, 5, 300, seed=9)
    lines = []
    cardinality(None, table, progress=lambda line, _: lines.append(line))
    assert [line.split(":")[0] for line in lines][:2] == ["class with 1 states", "class with 2 states"]


def chain_of_two(n_rows, seed=0):
    """A (3 states) → B (2 states), five and four binary columns below them, and C (2) far away, all observed around."""
    rng = np.random.default_rng(seed)
    parents = {"A": (), "B": ("A",), "C": ()}
    parents |= {f"{h.lower()}{i}": (h,) for h, n in (("A", 5), ("B", 4), ("C", 4)) for i in range(n)}
    graph = Graph.from_parents(parents)
    sizes = {name: {"A": 3}.get(name, 2) for name in graph}
    tables = {"A": np.full(3, 1 / 3), "B": np.array([[0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]), "C": np.array([0.4, 0.6])}
    for name in graph:
        if name not in tables:
            k = sizes[parents[name][0]]
            p = rng.permutation(np.linspace(0.1, 0.9, k))
            tables[name] = np.stack([1 - p, p], axis=1)
    network = Network.build(graph, {name: range(k) for name, k in sizes.items()}, tables)
    return network, network.sample(n_rows, seed=seed).drop("A", "B", "C")


def test_several_hidden_variables_together():
    network, data = chain_of_two(6000)
    found = cardinality(network.graph, data, hidden=["A", "B", "C"], starts=2)
    assert found.states == {"A": 3, "B": 2, "C": 2}
    alone = cardinality(network.graph, data, hidden=["C", "B", "A"], starts=2)["C"]
    assert found.scores["C"] == alone.scores
    assert found.network.variables == network.variables
    held_out = network.sample(6000, seed=99).drop("A", "B", "C")
    binary = fit(network.graph, data, hidden=dict.fromkeys("ABC", 2), starts=5, prior=BDe()).network
    assert found.network.log_likelihood(held_out) >= binary.log_likelihood(held_out)
    assert found.network.log_likelihood(held_out) > network.log_likelihood(held_out) - 50
    for name in "ABC":
        assert f"{name} has" in str(found)
        assert found[name].lead > 0
        assert found[name].together is None or found[name].together[found.states[name]] == 0
    assert found["C"].together is None, "it was counted alone"
    assert set(found["B"].together) == {1, 2, 3}


def test_round_robin_never_falls_and_stops():
    network, data = chain_of_two(1500, seed=2)
    found = round_robin(network.graph, data, ["A", "B", "C"], BDe(), RefinementRule())
    before = completed_score(network.graph, data, {name: np.zeros(1500, dtype=int) for name in "ABC"}, BDe())
    values = [before, *(score for _, _, score in found.trace)]
    assert all(b >= a for a, b in pairwise(values))
    assert [name for name, _, _ in found.trace].count("C") == 1, "its blanket is all observed: one look is enough"
    assert [name for name, _, _ in found.trace].count("A") > 1, "B, in its blanket, changed after the first look"
    assert found.status.converged
    assert completed_score(network.graph, data, found.assigned, BDe()) == pytest.approx(values[-1], abs=1e-6)
    asked = cardinality(network.graph, data, hidden=["A", "B", "C"], refine=False)
    assert asked.states == found.states
    assert asked.network.variables == network.variables


def test_words():
    table, _ = classes(3, 6, 2000, seed=8)
    text = str(cardinality(None, table))
    assert text.startswith("class has 3 states, ")
    assert "evidence" in text
    assert "→      3" in text
    assert "without EM" in str(cardinality(None, table, refine=False))


def test_one_child_says_no_more_than_the_parents(alarm):
    """VENTMACH has four states, one child and a parent with three: the fourth cannot be seen in any data."""
    network, data = alarm
    found = cardinality(network, data.drop("VENTMACH"), hidden="VENTMACH")
    assert found.states == 3
    assert "could never be told apart" in str(found)
    assert max(found.scores) == 3


BAD = [
    ({"hidden": "NOBODY"}, "NOBODY"),
    ({"hidden": []}, "which variable is hidden"),
    ({"hidden": ["H", "H"]}, "twice"),
    ({"max_states": 0}, "max_states=0"),
    ({"starts": 0}, "starts=0"),
    ({"budget": -1}, "budget=-1"),
    ({"jobs": 0}, "jobs=0"),
    ({"score": BIC()}, "refine=False"),
    ({"refine": "fully"}, "True, False or 'brief'"),
]


@pytest.mark.parametrize(("options", "said"), BAD, ids=[said for _, said in BAD])
def test_bad_questions_get_one_clear_line(options, said):
    table = Table.from_codes({"H": (0, 1), "a": (0, 1), "b": (0, 1)}, np.array([[0, 1, 1], [0, 1, 0], [0, 0, 1]]))
    graph = Graph.from_parents({"H": (), "a": ("H",), "b": ("H",)})
    with pytest.raises(InputError) as caught:
        cardinality(graph, table, **{"hidden": "H", **options})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_bad_questions():
    table = Table.from_codes({"a": (0, 1), "b": (0, 1)}, np.zeros((2, 0), dtype=int))
    graph = Graph.from_parents({"H": (), "K": (), "a": ("H",), "b": ("H", "K")})
    with pytest.raises(InputError, match="no rows"):
        cardinality(None, table)
    shown = Table.from_codes({"a": (0, 1), "b": (0, 1)}, np.array([[0, 1], [1, 1]]))
    with pytest.raises(InputError, match="'K'"):
        cardinality(graph, shown, hidden="H")
    with pytest.raises(InputError, match="one hidden variable"):
        cardinality(None, shown, hidden=["x", "y"])


def test_four_interacting_hidden_variables():
    """3, 2, 4 and 3 states over binary columns [elidan2001 figure 5]; the benchmark has ten samples of 10,000 rows."""
    network = four_hidden()
    data = network.sample(4000, seed=0).drop(*FOUR)
    found = cardinality(network.graph, data, hidden=list(FOUR), starts=1)
    assert all(abs(found.states[name] - k) <= 1 for name, k in FOUR.items())
    held_out = network.sample(4000, seed=1).drop(*FOUR)
    binary = fit(network.graph, data, hidden=dict.fromkeys(FOUR, 2), starts=3, prior=BDe()).network
    assert found.network.log_likelihood(held_out) >= binary.log_likelihood(held_out)
