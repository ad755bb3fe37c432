"""Where hidden variables sit: simulated truths, and tables in which nothing is hidden."""

from dataclasses import replace

import numpy as np
import pytest

from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.datasets import network
from leverrier.discovery.places.baseline import thinned
from leverrier.discovery.places.candidate import candidates, put_in, put_in_elidan2000
from leverrier.discovery.places.find_hidden import find_hidden
from leverrier.discovery.places.search import run_search
from leverrier.discovery.plan import Plan
from leverrier.discovery.verdict import Reason
from leverrier.errors import OptionError
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.score import BDe
from leverrier.models.graph import Graph
from tests.test_structural_em import star


def test_a_star_with_its_centre_hidden_is_found_whole():
    truth = star(children=6, states=2)
    found = find_hidden(truth.sample(2000, seed=1).drop("h"), max_hidden=2)
    assert len(found.hidden) == 1
    (hidden,) = found.hidden
    assert hidden.neighbours == {f"c{i}" for i in range(6)}
    assert hidden.states == 2
    assert hidden.gain > 20
    assert found.score == pytest.approx(found.baseline.score + hidden.gain, abs=1e-6)
    assert hidden.name in found.network.variables


def test_independent_columns_hide_nothing():
    rng = np.random.default_rng(0)
    table = Table.from_codes({f"v{i}": (0, 1) for i in range(8)}, rng.integers(0, 2, (8, 1000)))
    found = find_hidden(table)
    assert found.hidden == ()
    assert found.reason in (Reason.NO_CANDIDATES, Reason.NO_GAIN)
    assert found.network == found.baseline.network


def test_a_star_with_its_centre_observed_hides_nothing():
    found = find_hidden(star(children=6, states=2).sample(2000, seed=2))
    assert sum(variable.gain for variable in found.hidden) < 8


def test_candidates_are_small_sets_with_a_reason():
    graph = Graph.from_edges("abcde", [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")])
    found = candidates(graph)
    assert frozenset("abc") in {one.members for one in found}
    assert all(3 <= len(one.members) <= 9 and one.signature for one in found)
    assert [one.members for one in found if one.whole] == [frozenset("abcde")]
    assert len({one.members for one in found}) == len(found)


def test_the_new_variable_takes_the_place_of_arcs_among_its_members():
    graph = Graph.from_edges("abcde", [("a", "b"), ("a", "c"), ("b", "c"), ("e", "c"), ("c", "d")])
    placed = put_in(graph, "abc", "H").graph
    assert set(placed.edges) == {("H", "a"), ("H", "b"), ("H", "c"), ("e", "c"), ("c", "d")}
    hub = put_in(graph, "abc", "H", hub="a").graph
    assert set(hub.edges) == set(placed.edges) | {("a", "b"), ("a", "c")}


def test_the_sources_construction_obeys_its_cycle_rule():
    """Former parents of members become parents of H, unless they lie below it [elidan2000 section 3]."""
    graph = Graph.from_edges("abcdef", [("a", "b"), ("a", "c"), ("b", "c"), ("e", "c"), ("a", "f"), ("f", "b")])
    placed = put_in_elidan2000(graph, "abc", "H").graph
    assert placed.parents("H") == ("e",)  # f is below a, which is below H
    assert all(placed.parents(member) == ("H",) for member in "abc")
    assert placed.parents("f") == ("a",)


def test_wrong_options_are_one_clear_line():
    table = star().sample(50, seed=0)
    with pytest.raises(OptionError, match="fixed"):
        find_hidden(table, method="everywhere")
    with pytest.raises(OptionError, match="elidan2000"):
        find_hidden(table, construction="other")
    with pytest.raises(OptionError, match="families"):
        find_hidden(table, families="any")  # type: ignore[arg-type]


def test_without_a_variable_that_drove_many_columns_the_search_begins_from_families_that_fit():
    """Marginalised out, the centre of a star of twelve leaves a clique of twelve: 3^12 cells."""
    truth = star(children=12, states=2)
    rows = truth.sample(500, seed=3).drop("h")
    scores = FamilyScores(counts_of(rows), BDe(), max_cells=64)
    clique = truth.graph.without("h")
    thin = thinned(clique, scores)
    place = {name: at for at, name in enumerate(scores.names)}
    sets = {node: sum(1 << place[p] for p in above) for node, above in thin.families}
    assert all(scores.fits(place[node], above) for node, above in sets.items())
    assert all(set(thin.parents(node)) <= set(clique.parents(node)) for node in clique)
    small = [node for node in clique if scores.fits(place[node], sum(1 << place[p] for p in clique.parents(node)))]
    assert small
    assert all(thin.parents(node) == clique.parents(node) for node in small)
    for node in set(clique) - set(small):  # what was kept helps, and no single parent more would fit and help
        score = scores.family(place[node], sets[node])
        assert score > scores.family(place[node], 0)
        left = [sets[node] | 1 << place[p] for p in clique.parents(node) if p not in thin.parents(node)]
        assert all(not scores.fits(place[node], more) or scores.family(place[node], more) <= score for more in left)


def test_candidates_of_yes_or_no_columns_alone_are_first_tried_with_two_states():
    """A third state of a weak variable behind yes/no columns costs more than it tells: news20 lost 140 nats by it."""
    binary = find_hidden(star(children=6, states=2).sample(500, seed=5).drop("h"), max_hidden=1)
    assert {attempt.states for attempt in binary.attempts} == {2}
    around = ["CATECHOL", "CO", "HRBP", "HREKG", "HRSAT"]  # of two and three states
    other = find_hidden(network("alarm").sample(500, seed=5).select(around), max_hidden=1)
    assert {attempt.states for attempt in other.attempts} == {3}
    assert binary.hidden[0].states == 2


@pytest.mark.parametrize("seed", [1, 3, 5, 9])
def test_a_new_variable_may_stand_between_the_first_and_its_columns(seed):
    """Without the second, the first then had no column left: the search broke off."""
    rows = star(seed=seed, children=6, states=4).sample(500, seed=seed).drop("h")
    found = find_hidden(rows, max_hidden=3)
    assert found.hidden
    assert all(len(hidden.neighbours) >= 3 for hidden in found.hidden)
    assert found.score > found.baseline.score


def test_the_light_search_and_every_seed_of_the_whole_see_the_same_on_insurance():
    """What drew the table had one thing behind airbag, antilock, the car's value and ruggedness: its place is not among
    the first three when candidates are ranked with three states."""
    table = network("insurance").sample(5000, seed=0).drop("VehicleYear")
    plan = Plan(kinds=False, max_hidden=1)
    ends = [run_search(table, BDe(), each) for each in (plan.light(), plan, replace(plan, seed=2))]
    for end in ends:
        (one,) = end.hidden
        assert {"Airbag", "Antilock", "CarValue", "RuggedAuto"} <= set(one.neighbours)
    gains = [end.gain for end in ends]
    assert min(gains) > 74
    assert max(gains) - min(gains) < 3
