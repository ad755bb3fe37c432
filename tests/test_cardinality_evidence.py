"""EM with a number of states: the bound, the missing information and the evidence, against enumeration and calculus."""

import numpy as np
import pytest

from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.discovery.states.cardinality import cardinality
from leverrier.discovery.states.em_trial import Setting, merged_start
from leverrier.discovery.states.surroundings import cut_out, hangs_together
from leverrier.inference.exact.e_step import EStep
from leverrier.learning.em.cheeseman_stutz import cheeseman_stutz
from leverrier.learning.structure.score import BDe, family_score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from tests.naive.evidence import log_evidence

CLEAR = [
    ([(0, 0, 0), (1, 1, 1), (0, 0, 1), (1, 1, 0)], [14, 12, 3, 4]),
    ([(0, 0, 0), (1, 1, 1), (0, 1, 1), (1, 0, 0)], [6, 7, 5, 6]),
]


def star(n_children, states=2):
    return Graph.from_parents({"H": (), **{f"c{i}": ("H",) for i in range(n_children)}}), states


def rows_of(configurations, weights, states=2):
    codes = np.repeat(np.array(configurations), weights, axis=0).T
    return Table.from_codes({f"c{i}": range(states) for i in range(len(codes))}, codes)


@pytest.mark.parametrize(("configurations", "weights"), CLEAR)
def test_the_evidence_is_nearly_exact_and_the_bound_is_below_it(configurations, weights):
    graph, states = star(3)
    found = cardinality(graph, rows_of(configurations, weights), hidden="H", max_states=2)
    for k in (1, 2):
        exact = log_evidence(configurations, weights, [states] * 3, k, 1.0)
        assert found.scores[k].bound <= exact + 1e-9
        assert found.scores[k].evidence == pytest.approx(exact, abs=0.1)
        assert abs(found.scores[k].evidence - exact) <= abs(found.scores[k].bound - exact)


def test_the_bound_is_below_the_evidence_of_three_states():
    configurations, weights = [(0, 0), (1, 1), (2, 2), (0, 1)], [5, 4, 4, 2]
    graph, _ = star(2)
    found = cardinality(graph, rows_of(configurations, weights, 3), hidden="H", max_states=3)
    for k in (1, 2, 3):
        assert found.scores[k].bound <= log_evidence(configurations, weights, [3, 3], k, 1.0) + 1e-9


def test_one_state_needs_no_em():
    """With one state nothing is hidden: merging, EM and evidence say the same, and it is the score without H."""
    graph, _ = star(3)
    table = rows_of(*CLEAR[0])
    one = cardinality(graph, table, hidden="H").scores[1]
    counts = ObservedCounts(table)
    expected = sum(family_score(BDe(), each, 33.0) for each in counts.tables([Family(c) for c in table.variables]))
    for value in (one.agglomeration, one.path, one.bound, one.evidence):
        assert value == pytest.approx(expected, abs=1e-9)


def awkward(holes=0.0, seed=0, n_rows=80):
    """Two hidden variables that share a child, a spouse, a bystander, and holes: a graph with everything in it."""
    rng = np.random.default_rng(seed)
    parents = {"p": (), "A": ("p",), "B": (), "s": (), "x": ("A",), "y": ("A", "s"), "z": ("A", "B"), "w": ("B",)}
    graph = Graph.from_parents({**parents, "v": ("B",), "far": ("s",)})
    states = {name: (2 if name in "psw" else 3) for name in graph if name not in "AB"}
    codes = np.stack([rng.integers(0, k, n_rows) for k in states.values()])
    codes[rng.random(codes.shape) < holes] = -1
    table = Table.from_codes({name: range(k) for name, k in states.items()}, codes, rng.uniform(0.5, 2, n_rows))
    return graph, table


@pytest.mark.parametrize("holes", [0.0, 0.1], ids=["complete", "holes"])
def test_missing_information_is_the_derivative_of_an_em_step(holes):
    graph, table = awkward(holes)
    setting = Setting(cut_out(graph, table, ["A", "B"]), {"A": 2, "B": 3}, BDe(0.7))
    trial = setting.run(setting.at_random(np.random.default_rng(1)))
    seen, plan, prior = setting.seen, setting.plan, setting.task.objective.prior
    size, runs = seen.layout.size, seen.layout.runs
    shown = setting.task.objective.fixed - prior

    def normalised(a):
        theta = np.ones(seen.layout.room)
        for begin, rows, states in runs:
            block = np.exp(a[begin : begin + rows * states]).reshape(rows, states)
            theta[begin : begin + rows * states] = (block / block.sum(axis=1, keepdims=True)).ravel()
        return theta

    def step(a):
        counts = np.zeros(seen.layout.room)
        EStep(plan)(normalised(a), counts)
        return np.log((counts + shown + prior)[:size])

    at = np.log(trial.theta[:size])
    for _ in range(3000):  # all the way to the fixed point
        at = step(at)
    tables = {
        node: (np.exp(a) - prior[0])
        for node, a in zip(
            seen.open_nodes, seen.layout.unpack(np.concatenate([at, np.zeros(seen.layout.room - size)])), strict=True
        )
    }
    settled = type(trial)(trial.states, 0.0, tables, normalised(at), trial.status, 0)
    h = 1e-5
    jacobian = np.stack([(step(at + h * e) - step(at - h * e)) / (2 * h) for e in np.eye(size)], axis=1)
    _, expected = np.linalg.slogdet(np.eye(size) - jacobian)
    assert setting.missing_information(settled) == pytest.approx(-0.5 * expected, abs=1e-5)
    assert -0.5 * expected > 1.0, "there must be something missing, or the test shows nothing"


def test_the_bound_is_the_cheeseman_stutz_score_of_the_families_around():
    graph, table = awkward()
    around = cut_out(graph, table, ["A", "B"])
    setting = Setting(around, {"A": 2, "B": 2}, BDe())
    trial = setting.run(setting.at_random(np.random.default_rng(0)))
    small = setting.network(trial)
    counts = ObservedCounts(table)
    outside = [Family(node, graph.parents(node)) for node in ("p", "s", "far")]
    given = dict(zip(("p", "s", "far"), counts.tables(outside), strict=True))
    tables = {node: small.tables[node] for node in small.graph}
    tables |= {node: (n + 1) / (n + 1).sum(axis=-1, keepdims=True) for node, n in given.items()}
    whole = Network.build(graph, {**table.states, **dict.fromkeys("AB", ("0", "1"))}, tables)
    rest = sum(family_score(BDe(), n, counts.total) for n in given.values())
    assert trial.bound == pytest.approx(cheeseman_stutz(whole, table, BDe()) - rest, abs=1e-8)


def test_only_what_hangs_together_is_cut_out():
    graph, table = awkward()
    assert hangs_together(graph, table, ["A"]) == {"A", "B"}
    around = cut_out(graph, table, ["A", "B"])
    assert set(around.graph.nodes) == set(graph.nodes) - {"far"}
    assert set(around.roots) == {"p", "s"}
    assert around.table.total == pytest.approx(table.total)
    holed = Table.from_codes(
        table.states, np.where(table.codes == table.missing, -1, table.codes.astype(int)), table.weights
    )
    codes = holed.codes.astype(int).copy()
    codes[holed.index("s"), 0] = -1
    with_hole = Table.from_codes(holed.states, codes, holed.weights)
    wider = cut_out(graph, with_hole, ["A", "B"])
    assert "far" in wider.graph, "a hole in the spouse ties its other child to what is hidden"
    assert wider.graph.parents("far") == ("s",)


def test_merging_two_equal_states_changes_nothing():
    graph, table = awkward()
    around = cut_out(graph, table, ["A", "B"])
    small, large = (Setting(around, {"A": k, "B": 2}, BDe(1e-9)) for k in (2, 3))
    end = small.run(small.at_random(np.random.default_rng(3)))
    split = {}
    for node, counts in end.counts.items():  # state 1 of A halved into states 1 and 2
        scope = (*around.graph.parents(node), node)
        if "A" in scope:
            by_state = np.moveaxis(counts, scope.index("A"), 0)
            counts = np.moveaxis(np.stack([by_state[0], by_state[1] / 2, by_state[1] / 2]), 0, scope.index("A"))
        split[node] = counts
    doubled = type(end)({"A": 3, "B": 2}, 0.0, split, large.at_counts(split), end.status, 0)
    assert small.value(merged_start(small, doubled, "A")) == pytest.approx(small.value(small.at_counts(end.counts)))
