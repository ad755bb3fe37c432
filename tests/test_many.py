"""Many hidden variables at once: groups of columns, shared simulated tables, layers; against slow twins and planted
tables."""

import itertools
import json
from dataclasses import replace

import networkx
import numpy as np
import pytest

import leverrier as lv
from benchmarks.many_tables import blocks, layers, nothing, stars
from leverrier.api.discovery import Discovery
from leverrier.api.saved import dump
from leverrier.discovery.diagnostics import described
from leverrier.discovery.evidence.evidence import KINDS_WORTH, Evidence
from leverrier.discovery.examine import shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.many import checks
from leverrier.discovery.many.first_sight import kept, outdone
from leverrier.discovery.many.many_route import at_once
from leverrier.discovery.many.rounds import Rounds, go_round
from leverrier.discovery.many.scene import Known, in_order, scene_of, with_states
from leverrier.discovery.many.shared_nulls import SharedNull, accepted_by_rate, groups_in, in_place
from leverrier.discovery.many.sibling_groups import Pairs, sibling_groups
from leverrier.discovery.many.spots import NEW, apart, merged, tried_spots
from leverrier.discovery.many.surroundings import CLEAR, surroundings
from leverrier.discovery.meaning import explain
from leverrier.discovery.places.dependent_groups import g_statistic, joint_counts
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import ModelKind, Reason, not_tested
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.report.parts.hidden_table import layers_of
from leverrier.run import checkpoint as checkpoints
from leverrier.run.run import UNBOUNDED

PLAN = Plan(kinds=False)
QUICK = {"draws": 9, "level": 0.1, "resamples": 1, "jobs": 1}


@pytest.fixture(scope="module", autouse=True)
def _without_free_learners():
    """They take seconds a variable, and have tests of their own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checks, "FREELY", 0)
        yield


@pytest.fixture(scope="module")
def planted():
    return stars(4, 31, 800, seed=3)


@pytest.fixture(scope="module")
def found(planted):
    return lv.discover(planted.table, **QUICK)


def test_pairs_share_what_the_g_statistic_says(planted):
    table = planted.table.select(planted.table.variables[:6])
    pairs = Pairs.of(table)
    for i, j in itertools.combinations(range(6), 2):
        g, freedom = g_statistic(joint_counts(table, [i, j]))
        assert pairs.nats[i, j] == pytest.approx(g / 2, abs=1e-2)
        assert pairs.freedom[i, j] == freedom
        assert pairs.nats[i, j] == pytest.approx(pairs.nats[j, i], abs=1e-6)
    assert not pairs.nats.diagonal().any()


def test_every_planted_star_is_a_branch_of_the_tree(planted):
    groups = sibling_groups(Pairs.of(planted.table))
    assert set(planted.columns.values()) <= {each.columns for each in groups}


def test_independent_columns_have_no_groups():
    assert sibling_groups(Pairs.of(nothing("independent", 60, 1000, seed=1).table)) == []


def test_places_that_do_not_overlap_are_taken_together(planted):
    scene = scene_of(in_order(planted.table), None, lv.BDe(), PLAN, UNBOUNDED, strong=False, seed=0)
    spots = tried_spots(scene, groups_in(scene), PLAN, UNBOUNDED)
    taken, waiting = apart(spots, scene.graph)
    near = [one.neighbours for one in taken]
    assert set(near) == set(planted.columns.values())
    assert sum(map(len, near)) == len(frozenset().union(*near))
    assert len(taken) + len(waiting) == len(spots)
    graph = merged(scene.graph, taken, ["A", "B", "C", "D"])
    assert graph is not None
    assert {graph.neighbours(name) for name in "ABCD"} == set(near)
    # what a place gains it gains whatever is done elsewhere: scores are sums over families
    for one in taken:
        own = one.found.tried.graph
        outside = [v for v in scene.table.variables if v not in one.neighbours]
        changed = [v for v in outside if own.parents(v) != scene.graph.parents(v)]
        assert not any(v in other for other in near if other != one.neighbours for v in changed)


def test_what_is_planted_is_found_with_its_states_and_nothing_else(planted, found):
    assert str(found.verdict) == "found"
    assert {each.neighbours for each in found.believed} == set(planted.columns.values())
    states = {planted.columns[name]: k for name, k in planted.states.items()}
    assert all(each.states == states[each.neighbours] for each in found.believed)
    assert all(each.evidence.p_value <= 0.1 for each in found.believed)
    # (held out beside the strongest network of the same columns, its graph found on all rows, which flatters it)
    assert not any(each.evidence.contradicted for each in found.believed)
    assert sum(each.evidence.held_out for each in found.believed) > 0
    assert all(each.evidence.over_kinds > 0 for each in found.believed)


def test_the_network_holds_all_of_them_and_answers_for_rows(planted, found):
    assert found.network.variables[: len(planted.table.variables)] == planted.table.variables
    for each in found.hidden:
        posterior = found.posterior(planted.table, each.name)
        assert posterior.shape == (planted.table.n_rows, each.states)
        assert np.allclose(posterior.sum(axis=1), 1.0)
    with_them = found.network.log_likelihood(planted.table)
    assert with_them > found.baseline.log_likelihood(planted.table) - 200  # with far fewer parameters
    assert found.network.dimension < found.baseline.dimension
    assert found.gain > 0


def test_the_order_of_columns_does_not_change_the_answer(planted, found):
    shuffled = planted.table.select(np.random.default_rng(5).permutation(planted.table.variables).tolist())
    again = lv.discover(shuffled, **QUICK)
    assert [(each.neighbours, each.states, each.gain) for each in again.hidden] == [
        (each.neighbours, each.states, each.gain) for each in found.hidden
    ]


def test_saved_read_back_and_put_on_a_page(found, tmp_path):
    found.save(tmp_path / "found.json")
    again = lv.load(tmp_path / "found.json")
    assert str(again) == str(found)
    assert "false discovery rate" in str(found)
    page = (tmp_path / "page.html", found.report(tmp_path / "page.html", live=False))[0].read_text()
    assert all(each.name in page for each in found.hidden)


def test_a_run_that_was_cut_goes_on_bit_for_bit(planted, found, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    cut = lv.discover(planted.table, work=7, checkpoint=tmp_path / "kept", **QUICK)
    assert not cut.finished
    whole = lv.discover(planted.table, checkpoint=tmp_path / "kept", resume=True, **QUICK)
    assert _digest(whole) == _digest(found)


def test_a_wide_run_that_was_cut_goes_on_bit_for_bit(tmp_path, monkeypatch):
    """Side by side there are several small tables, each with a best network of its own."""
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    table = stars(2, 62, 400, seed=1).table
    cut = lv.discover(table, work=4, checkpoint=tmp_path / "kept", **QUICK)
    assert not cut.finished
    whole = lv.discover(table, checkpoint=tmp_path / "kept", resume=True, **QUICK)
    assert len(whole.believed) == 2
    assert _digest(whole) == _digest(lv.discover(table, **QUICK))


def _digest(found):
    content = json.loads(dump(replace(found.result, seconds=0.0)))
    content["settings"].pop("work", None)
    return content


@pytest.mark.parametrize("kind", ["chain", "tree", "two parents"])
def test_nothing_is_found_where_nothing_is_hidden(kind):
    found = lv.discover(nothing(kind, 40, 800, seed=2).table, **QUICK)
    assert not found.believed


def test_small_tables_are_for_this_route_when_several_groups_show(planted):
    score = lv.BDe()
    names = sorted(frozenset().union(*planted.columns.values()))
    small = planted.table.select(names)
    assert at_once(small, score, Plan(max_hidden=len(names)))
    assert not at_once(small, score, Plan(max_hidden=1))  # a limit was asked for
    one = planted.table.select(sorted(planted.columns["S0"]))
    assert not at_once(one, score, Plan(max_hidden=5))


def test_the_rule_of_benjamini_and_hochberg_beside_its_definition():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.uniform(0, 1, 8) ** 3
        ordered, largest = sorted(p), 0
        for k in range(1, 9):
            if ordered[k - 1] <= 0.1 * k / 8:
                largest = k
        assert accepted_by_rate(p.tolist(), 0.1, 999) == [each in ordered[:largest] for each in p]


def test_p_values_of_shared_tables_are_uniform_where_nothing_more_is_hidden():
    """Tables from one network, each in turn taken for the data: its place among the others is a uniform rank."""
    planted = stars(1, 8, 250, seed=4)
    table = in_order(planted.table)
    scene = scene_of(table, None, lv.BDe(), PLAN, UNBOUNDED, strong=False, seed=0)
    null = SharedNull(scene.baseline.network, None, table, lv.BDe(), PLAN)
    tables = [null.gains(seed) or [] for seed in np.random.SeedSequence(1).spawn(60)]
    spot = tried_spots(scene, groups_in(scene), PLAN, UNBOUNDED)[0]
    gains = np.array(in_place(spot, tables))
    assert (gains > 0).any()  # arcs that mimic a class are mimicked by one
    p = np.array([(1 + (np.delete(gains, k) >= gains[k]).sum()) / 60 for k in range(60)])
    for level in (0.05, 0.1, 0.25, 0.5):
        assert (p <= level).mean() <= level + 1e-9


def test_looking_closely_only_where_a_claim_may_be_reached_settles_claims_alike():
    """Side by side, against the same tables looked at closely everywhere."""
    table = in_order(stars(3, 15, 300, seed=4).table)
    scene = scene_of(table, None, lv.BDe(), PLAN, UNBOUNDED, strong=False, seed=0)
    null = SharedNull(scene.baseline.network, None, table, lv.BDe(), PLAN, beside=True)
    columns, seeds = frozenset(table.variables), np.random.SeedSequence(5).spawn(12)
    closely = [null.gains(seed) or [] for seed in seeds]
    largest = [max((gain for _, gain in each), default=0.0) for each in closely]
    assert max(largest) > 1.0
    for least in (0.1, *np.quantile([each for each in largest if each > 0], [0.3, 0.7]) + 1e-6, 1e6):
        quickly = [null.gains(seed, [(columns, least)]) or [] for seed in seeds]
        assert [any(gain >= least for _, gain in each) for each in quickly] == [each >= least for each in largest]
        # places that share no two columns with any claim are left alone
        assert all(null.gains(seed, [(frozenset(["elsewhere"]), least)]) == [] for seed in seeds[:2])


def test_states_are_drawn_from_their_posteriors():
    graph = Graph.from_edges(["H", "a", "b", "c"], [("H", "a"), ("H", "b"), ("H", "c")])
    states = dict.fromkeys(graph, (0, 1))
    sharp = [[0.8, 0.2], [0.3, 0.7]]
    network = Network.build(graph, states, {"H": [0.4, 0.6], "a": sharp, "b": sharp, "c": sharp})
    rows = network.sample(20_000, seed=1).select(["a", "b", "c"])
    whole = with_states(rows, Known(network, {"H": 2}, {"H": 1}), np.random.default_rng(0))
    assert set(whole.variables) == {"H", "a", "b", "c"}
    own = whole.column("H")
    assert (own == 1).mean() == pytest.approx(0.6, abs=0.02)
    assert whole.column("a")[own == 1].mean() == pytest.approx(0.7, abs=0.02)


def test_states_of_linked_classes_are_drawn_together():
    """Averaged over rows of the network itself, posteriors drawn from give back its own joint law."""
    link = [[0.9, 0.1], [0.1, 0.9]]
    weak = [[0.65, 0.35], [0.35, 0.65]]
    arcs = [("A", "B"), ("A", "a"), ("A", "b"), ("B", "c"), ("B", "d")]
    graph = Graph.from_edges(["A", "B", "a", "b", "c", "d"], arcs)
    tables = {"A": [0.5, 0.5], "B": link, **dict.fromkeys("abcd", weak)}
    network = Network.build(graph, dict.fromkeys(graph, (0, 1)), tables)
    rows = network.sample(20_000, seed=2).select(list("abcd"))
    whole = with_states(rows, Known(network, {"A": 2, "B": 2}, {"A": 1, "B": 1}), np.random.default_rng(1))
    assert (whole.column("A") == whole.column("B")).mean() == pytest.approx(0.9, abs=0.01)


@pytest.fixture(scope="module")
def two_layers():
    planted = layers(2000, 0)
    search = Rounds(in_order(planted.table), lv.BDe(), replace(PLAN, max_hidden=45), UNBOUNDED, 0, 0.01)
    go_round(search)
    return planted, search


def test_nine_groups_under_three_are_found_in_layers(two_layers):
    planted, search = two_layers
    network, columns = search.network, set(planted.table.variables)
    first = [one.name for one in search.accepted if network.graph.neighbours(one.name) & columns]
    second = [one.name for one in search.accepted if one.name not in first]
    group = {name: frozenset(network.children(name)) & columns for name in first}
    named = {name: [own for own, some in planted.columns.items() if some <= group[name]] for name in first}
    assert sorted(own for each in named.values() for own in each) == sorted(planted.columns)
    assert sum(map(len, group.values())) <= len(columns) + 2  # F1 of columns above .9
    below = {frozenset(named[v][0] for v in network.children(name) if v in group) for name in second}
    assert below == set(planted.above.values())
    levels = search.known.levels
    assert {levels[name] for name in first} == {1}
    assert {levels[name] for name in second} == {2}


def test_layers_are_told_whatever_links_there_are_within_one():
    def one(name, *children):
        return HiddenVariable(name, 2, children, (), 1.0, "", "")

    hidden = (one("A", "a", "b"), one("B", "c", "d"), one("C", "e", "f"), one("M", "A", "B", "N"), one("N", "C"))
    assert layers_of(hidden) == {"A": 1, "B": 1, "C": 1, "M": 2, "N": 2}
    assert layers_of((*hidden, one("T", "M", "N")))["T"] == 3


def behind_all(table, states):
    """A class behind all columns of a table, in its surroundings."""
    graph = Graph.from_parents({**dict.fromkeys(table.variables, ("H",)), "H": ()})
    network = lv.fit(graph, table, hidden={"H": states}, prior=lv.BDe(), jobs=1).network
    each = HiddenVariable("H", states, table.variables, (), 1.0, "", "", Evidence(1.0))
    bare = Graph.from_edges(table.variables, ())
    posterior = network.posterior(table, "H")
    return surroundings(network.graph, posterior, each, table, bare, lv.BDe(), PLAN, UNBOUNDED)


def test_a_class_gains_over_families_of_every_kind_and_grades_of_a_chain_do_not():
    there = behind_all(stars(1, 5, 1000, seed=1).table, 2)
    assert there.gain > CLEAR
    by_hand = lv.learn_structure(there.table, lv.BDe(), method="best", families="auto", jobs=1)
    assert there.rival == by_hand.network
    assert behind_all(blocks("grades", 7, 1000, seed=1).table, 3).gain < 0


def test_the_answer_to_a_question_is_no_news_beside_its_indicators():
    """Six columns of yes and no for six answers: a class that is the answer says nothing that they do not say."""
    there = behind_all(blocks("one-hot", 7, 500, seed=2).table, 5)
    assert there.gain <= KINDS_WORTH
    assert not replace(Evidence(9.0, tested=True), over_kinds=there.gain).believed


@pytest.mark.parametrize(("table", "states", "refused"), [("grades", 3, True), ("star", 2, False)])
def test_what_families_of_other_kinds_outdo_is_refused_at_first_sight_and_a_class_is_not(table, states, refused):
    """Grades of a chain are told by ordered logits, which tables of states say only at length."""
    rows = (blocks("grades", 7, 1000, seed=1) if table == "grades" else stars(1, 5, 1000, seed=1)).table
    graph = Graph.from_parents({**dict.fromkeys(rows.variables, ("H",)), "H": ()})
    posterior = lv.fit(graph, rows, hidden={"H": states}, prior=lv.BDe(), jobs=1).network.posterior(rows, "H")
    each = HiddenVariable("H", states, rows.variables, (), 1.0, "", "")
    bare = Graph.from_edges(rows.variables, ())
    assert outdone(graph, posterior, each, rows, bare, lv.BDe(), PLAN, UNBOUNDED) is refused


def test_a_planted_place_goes_on_to_its_test():
    table, run, score = in_order(stars(1, 5, 1000, seed=1).table), UNBOUNDED, lv.BDe()
    scene = scene_of(table, None, score, PLAN, run, strong=True, seed=0)
    spots = tried_spots(scene, groups_in(scene), PLAN, run)
    assert spots
    assert kept(scene, spots[:1], score, PLAN, run, 1) == [True]


def test_candidates_refused_before_count_in_the_rate():
    """By the rule's definition: three at .01 of four pass at .01 only if the fourth does not count."""
    ps = [0.01, 0.01, 0.01]
    assert accepted_by_rate(ps, 0.01, 99) == [True] * 3
    assert accepted_by_rate([*ps, 1.0], 0.01, 99) == [False] * 4
    assert accepted_by_rate([0.0025, 1.0, 1.0, 1.0], 0.01, 399)[0]


def test_one_above_others_stands_on_those_that_are_believed():
    def one(name, children, gain):
        evidence = Evidence(9.0, tested=True, over_kinds=gain)
        return HiddenVariable(name, 2, children, (), 9.0, "", "", evidence)

    below = [one("A", ("a", "b", "c"), 15.0), one("B", ("d", "e", "f"), 15.0), one("C", ("g", "h", "i"), -5.0)]
    for chosen, believed in ((("A", "B"), True), (("A", "C"), False), (("A", "B", "C"), True)):
        found = checks._upper([*below, one("M", chosen, None)], set("abcdefghi"))
        assert found[-1].believed is believed
        assert [each.believed for each in found[:3]] == [True, True, False]


def layered():
    """A class over three classes over three columns each."""
    rng = np.random.default_rng(2)
    arcs = [("T", "A"), ("T", "B"), ("T", "C"), *((h, f"{h}{i}") for h in "ABC" for i in range(3))]
    nodes = [*(f"{h}{i}" for h in "ABC" for i in range(3)), "T", *"ABC"]
    graph = Graph.from_edges(nodes, arcs)
    tables = {node: rng.dirichlet([1, 1], [2] * len(graph.parents(node)) or None) for node in nodes}
    network = Network.build(graph, dict.fromkeys(nodes, (0, 1)), tables)
    return network, network.sample(200, seed=3).select(nodes[:9])


def test_a_layered_network_is_inferred_exactly():
    """Two layers of hidden variables against all combinations written out."""
    network, rows = layered()
    codes = dict(zip(rows.variables, rows.codes.astype(int), strict=True))
    slow = np.zeros((200, 2))
    for t, a, b, c in itertools.product((0, 1), repeat=4):
        joint = network.cpt("T")[t] * np.ones(200)
        for h, state in zip("ABC", (a, b, c), strict=True):
            joint = joint * network.cpt(h)[t, state]
            for i in range(3):
                joint = joint * network.cpt(f"{h}{i}")[state, codes[f"{h}{i}"]]
        slow[:, t] += joint
    assert np.allclose(network.posterior(rows, "T"), slow / slow.sum(axis=1, keepdims=True))
    assert np.allclose(network.row_log_likelihood(rows), np.log(slow.sum(axis=1)))


def test_layers_are_described_saved_and_put_on_a_page(tmp_path):
    network, rows = layered()
    graph = network.graph
    hidden = tuple(
        HiddenVariable(h, 2, graph.children(h), graph.parents(h), 10.0, "", "", Evidence(10.0)) for h in "TABC"
    )
    bare = lv.learn_structure(rows).network
    meanings = {h: explain(network, rows, h, network.posterior(rows, h)) for h in "TABC"}
    verdict, kind = not_tested(Reason.NOT_ASKED), ModelKind.NETWORK
    plain = Result(verdict, kind, hidden, (), network, bare, 1.0, 0.0, 0.0, 0.0, shape_of(rows), meanings)
    told = Discovery(described(plain, rows, rows, lv.BDe(), Plan(max_hidden=4)))
    assert set(told.result.scores) == {"A", "B", "C"}  # by number of states, of those that drive columns
    told.save(tmp_path / "told.json")
    assert str(lv.load(tmp_path / "told.json")) == str(told)
    told.report(tmp_path / "page.html", live=False)
    assert "Layer 1 drives columns" in (tmp_path / "page.html").read_text()


def test_new_is_no_name_of_a_column(planted):
    assert NEW not in planted.table.variables
    assert len(layers(10, 0).table.variables) == 45


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_graphs_are_written_for_drawing_with_their_layers(suffix, tmp_path):
    arcs = [("T", "A"), ("T", "B"), ("A", "a"), ("A", "b"), ("B", "c")]
    graph = Graph.from_edges(["T", "A", "B", "a", "b", "c"], arcs)
    states = dict.fromkeys(graph, ("no", "yes"))
    tables = {node: np.full([2] * (1 + len(graph.parents(node))), 0.5) for node in graph}
    path = tmp_path / f"network.{suffix}"
    lv.write_network(Network.build(graph, states, tables), path, ["T", "A", "B"])
    again = (networkx.read_graphml if suffix == "graphml" else networkx.read_gexf)(path)
    assert set(again.edges) == set(arcs)
    assert {node: said["layer"] for node, said in again.nodes(data=True)} == {
        "T": 2,
        "A": 1,
        "B": 1,
        "a": 0,
        "b": 0,
        "c": 0,
    }
    assert again.nodes["a"]["labels"] == "no, yes"
    with pytest.raises(lv.OptionError, match="graph alone"):
        lv.read_network(path)


def test_layers_of_a_table_of_hidden_variables():
    one = HiddenVariable("A", 2, ("a", "b"), ("T",), 1.0, "", "")
    other = HiddenVariable("B", 2, ("c", "A"), ("T",), 1.0, "", "")  # drives columns too: of the first layer
    top = HiddenVariable("T", 2, ("A", "B"), ("U",), 1.0, "", "")
    highest = HiddenVariable("U", 2, ("T",), (), 1.0, "", "")
    assert layers_of((one, other, top, highest)) == {"A": 1, "B": 1, "T": 2, "U": 3}
