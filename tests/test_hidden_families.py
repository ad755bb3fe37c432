"""Families of any kind behind hidden variables: slopes, the bound, EM that never falls, and what it is good for."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, xlogy

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.reading.read_table import as_table
from leverrier.discovery.evidence.held_out import learned_again
from leverrier.discovery.places.dressing import region_of
from leverrier.discovery.places.search import begin, findings, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.learning.families.family_counts import FamilyCounts, Price
from leverrier.learning.families.function_fit import functions_of, offer_lookups, offer_offsets, offer_trees, tabled
from leverrier.learning.families.logit_fit import offer_logits
from leverrier.learning.families.max_fit import offer_maxima
from leverrier.learning.families.state_column import StateColumn
from leverrier.learning.hidden_families.completed_rows import CompletedRows
from leverrier.learning.hidden_families.families_em import FamiliesClimb
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.models.graph import Graph
from tests.naive.families import counts_of_table

PRICE = Price(0.5 * np.log(300), 1.0)


def column(states: int) -> StateColumn:
    return StateColumn(tuple(float(k) for k in range(states)), True, np.ones(states))


def some_counts(rng: np.random.Generator, states: int, sizes: tuple[int, ...]) -> FamilyCounts:
    table = rng.gamma(1.0, 8.0, (*sizes, states))
    return counts_of_table(table, column(states), [column(size) for size in sizes])


def every_offer(family: FamilyCounts):
    yield tabled(family, 1.0)
    yield tabled(family, 1 / family.states)
    for offers in (
        offer_lookups(family, PRICE, -np.inf),
        offer_offsets(family, PRICE, -np.inf, functions_of(family)),
        offer_trees(family, PRICE, -np.inf, functions_of(family)),
        offer_logits(family, PRICE, -np.inf),
        offer_maxima(family, PRICE, -np.inf),
    ):
        yield from offers


def test_slopes_are_what_one_more_row_adds():
    family = some_counts(np.random.default_rng(1), 4, (3, 3))
    tried = set()
    for offered in every_offer(family):
        slopes = offered.slopes()
        for j, k in ((0, 0), (4, 3), (8, 1)):
            more = family.counts.copy()
            more[j, k] += 1e-3
            moved = FamilyCounts(family.codes, more, family.child, family.parents)
            if offered.kind in ("table", "tree", "lookup", "offset"):
                added = (offered.again(moved).score - offered.score) / 1e-3
            else:  # a likelihood: the fitted probabilities themselves
                added = np.log(offered.make().rows(family.codes)[j, k])
            assert slopes[j, k] == pytest.approx(added, abs=2e-3), offered.kind
        tried.add(offered.kind)
    assert {"table", "tree", "lookup", "offset", "noisy-max"} <= tried
    assert tried & {"logit", "ordered logit"}


def test_a_score_lies_above_its_tangent():
    rng = np.random.default_rng(2)
    family = some_counts(rng, 3, (2, 3))
    for offered in every_offer(family):
        for _ in range(5):
            other = FamilyCounts(family.codes, rng.gamma(1.0, 8.0, family.counts.shape), family.child, family.parents)
            tangent = offered.score + float((offered.slopes() * (other.counts - family.counts)).sum())
            if offered.kind != "lookup":  # (whose values are chosen anew)
                assert offered.again(other).score >= tangent - 0.1, offered.kind


def small_star(rng: np.random.Generator, rows: int, columns: int = 3):
    state = rng.integers(0, 2, rows)
    codes = np.array([np.where(rng.random(rows) < 0.8, state, 1 - state) for _ in range(columns)])
    table = lv.Table.from_codes({f"c{i}": (0, 1) for i in range(columns)}, codes)
    graph = Graph.from_parents({**{f"c{i}": ("H",) for i in range(columns)}, "H": ()})
    return table, graph


def climb_of(table: lv.Table, hidden: dict[str, int], kinds: bool = True) -> FamiliesClimb:
    observed = FamilyScores(ObservedCounts(table), lv.BDe(), 4096)
    return FamiliesClimb(CompletedRows(table, hidden), lv.BDe(), 4096, observed, kinds)


def evidence(counts: np.ndarray) -> float:
    """ln P of a table of counts with one pseudo-count a cell, state by state."""
    states = counts.shape[-1]
    return float((gammaln(counts + 1).sum(-1) + gammaln(states) - gammaln(counts.sum(-1) + states)).sum())


def test_with_tables_alone_it_is_the_bound_by_hand():
    rng = np.random.default_rng(3)
    table, graph = small_star(rng, 40)
    posterior = rng.dirichlet([1.0, 1.0], 40)
    standing = climb_of(table, {"H": 2}, kinds=False).begin(graph, posterior)
    by_hand = -xlogy(posterior, posterior).sum() + evidence(posterior.sum(axis=0))
    for own in table.codes:
        by_hand += evidence(np.array([[posterior[own == k, h].sum() for k in (0, 1)] for h in (0, 1)]))
    assert standing.score == pytest.approx(by_hand, abs=1e-6)


def test_the_bound_is_below_the_evidence_of_every_completion():
    rng = np.random.default_rng(4)
    table, graph = small_star(rng, 9)
    standing = (climb := climb_of(table, {"H": 2}, kinds=False)).begin(graph, rng.dirichlet([1.0, 1.0], 9))
    every = []
    for states in product((0, 1), repeat=9):
        hidden = np.array(states)
        total = evidence(np.bincount(hidden, minlength=2).astype(float))
        for own in table.codes:
            total += evidence(np.histogram2d(hidden, own, bins=[[0, 1, 2], [0, 1, 2]])[0])
        every.append(total)
    assert standing.score < climb.settle(standing).score < logsumexp(every)


def ordered_star(seed: int, rows: int = 800, children: int = 6, states: int = 10):
    """Children with many states in order, each shifted by a hidden class."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, rows)
    cells = {}
    for i in range(children):
        x = 2.4 * hidden + rng.logistic(size=rows)
        cells[f"c{i}"] = np.searchsorted(np.quantile(x, np.arange(1, states) / states), x).tolist()
    return as_table(cells), hidden


def test_em_with_kinds_never_falls():
    for seed in range(3):
        table, hidden = ordered_star(seed, rows=300, children=4)
        graph = Graph.from_parents({"c0": ("H",), "c1": ("H", "c0"), "c2": ("H",), "c3": ("c2", "H"), "H": ()})
        soft = np.where(np.eye(3)[hidden] > 0, 0.5, 0.25)
        for kinds in (False, True):
            standing = (climb := climb_of(table, {"H": 3}, kinds)).begin(graph, soft)
            end = climb.settle(standing)
            assert len(end.trace) > 3
            assert np.diff(end.trace).min() >= -1e-9
            assert end.score == pytest.approx(end.trace[-1])


@pytest.fixture(scope="module")
def found():
    table, hidden = ordered_star(7, rows=600, children=5)
    search = begin(table, lv.BDe(), Plan(max_hidden=1))
    assert next_hidden(search)
    return search, hidden


def test_many_state_children_cost_a_few_numbers(found):
    search, hidden = found
    one = search.found[-1]
    assert one.undressed.gain < 0 < 10 < one.gain  # (with tables it would not even have been looked at)
    network = findings(search).network
    assert set(network.children(one.name)) | set(network.parents(one.name)) == set(search.table.variables)
    kinds = [network.kind(v) for v in network.variables if v != one.name]
    assert sum("logit" in kind for kind in kinds) >= 3
    told = network.posterior(search.table, one.name).argmax(axis=1)
    assert max(np.mean(told == hidden), np.mean(told != hidden)) > 0.9


def test_the_score_is_that_of_the_compiled_climb_where_tables_say_all(found):
    search, _ = found
    one = search.found[-1].undressed
    region = region_of(search.ground, one, kinds=False)
    assert region is not None
    assert region.worth(region.climb.begin(region.cut.sub, region.posterior)) == pytest.approx(
        one.tried.score, abs=0.02
    )


def test_a_network_with_such_families_does_all_that_networks_do(found, tmp_path):
    search, _ = found
    network, name = findings(search).network, search.found[-1].name
    row = search.table.take(np.arange(1))
    logs = np.zeros(network.cardinality(name))
    for h in range(len(logs)):
        codes = {**{v: int(row.column(v)[0]) for v in row.variables}, name: h}
        for v in network.variables:
            logs[h] += np.log(network.cpt(v)[tuple(codes[p] for p in network.parents(v))][codes[v]])
    assert network.posterior(row, name)[0] == pytest.approx(np.exp(logs - logsumexp(logs)))
    assert network.log_likelihood(row) == pytest.approx(logsumexp(logs))
    drawn = network.sample(4000, seed=1)
    for v in list(search.table.variables)[:2]:
        shares = [np.bincount(t.column(v), minlength=10) / t.n_rows for t in (drawn, search.table)]
        assert np.abs(shares[0] - shares[1]).max() < 0.05
    lv.write_network(network, path := tmp_path / "network.json")
    assert lv.read_network(path) == network
    again = learned_again(network, search.table.take(np.arange(400)), lv.BDe())
    assert {v for v in again.families if name in again.parents(v)}
    assert again.log_likelihood(search.table) > network.log_likelihood(search.table) - 250


def test_nothing_is_gained_where_observed_columns_say_it_all():
    rng = np.random.default_rng(11)
    x, cells = rng.normal(size=800), {}
    for i in range(6):
        cells[f"c{i}"] = np.searchsorted(np.quantile(x, np.arange(1, 9) / 9), x).tolist()
        x = np.array(cells[f"c{i}"]) / 3 + rng.logistic(size=800)
    search = begin(as_table(cells), lv.BDe(), Plan(max_hidden=1))
    assert not next_hidden(search) or search.found[-1].gain < 1


def test_a_resumed_search_says_the_same(tmp_path):
    table, _ = ordered_star(9, rows=300, children=4, states=6)
    first = lv.find_hidden(table, families="auto", max_hidden=1, checkpoint=tmp_path / "kept")
    again = lv.find_hidden(table, families="auto", max_hidden=1, checkpoint=tmp_path / "kept", resume=True)
    assert first.network == again.network
    assert first.score == again.score


def test_states_come_by_falling_frequency():
    rng = np.random.default_rng(4)
    hidden = rng.choice(3, 800, p=[0.15, 0.3, 0.55])
    codes = np.where(rng.random((6, 800)) < 0.7, hidden, rng.integers(0, 3, (6, 800)))
    table = lv.Table.from_codes({f"c{i}": (0, 1, 2) for i in range(6)}, codes)
    found = lv.find_hidden(table, families="auto", max_hidden=1, seed=0)
    shares = found.network.posterior(table, found.hidden[0].name).mean(axis=0)
    assert len(shares) > 1
    assert list(shares) == sorted(shares, reverse=True)
