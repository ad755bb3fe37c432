"""Kinds of families: each against a slow twin, and the right kind on tables that were made by it."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise
from math import lgamma

import numpy as np
import pytest
from scipy.optimize import minimize

import leverrier as lv
from benchmarks.rival_tables import arithmetic, linear_chain, noisy_or, selected, totals
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.reading.read_table import as_table
from leverrier.discovery.network_codecs import read_network, write_network
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.errors import NetworkError, OptionError
from leverrier.kernels.families.expectations import count_beside, expect_beside
from leverrier.kernels.families.log_linear import fit_log_linear, predicted
from leverrier.kernels.families.noisy_max import fit_noisy_max, largest_of
from leverrier.learning.families.family_counts import FamilyCounts, Price, dirichlet
from leverrier.learning.families.function_fit import functions_of, offer_offsets
from leverrier.learning.families.kind_choice import CHOICE, best_kind
from leverrier.learning.families.logit_fit import offer_logits
from leverrier.learning.families.state_column import state_column
from leverrier.learning.slices.tree_growing import Splits, grown
from leverrier.learning.structure.kind_scores import KindScores
from leverrier.models.families.family_content import read_family
from leverrier.models.families.state_table import TableKind
from leverrier.report.words.family_words import family_words
from tests.naive.families import expected_beside, largest_by_enumeration, log_linear_rows

ROWS = 1500


def counted(parents: list[np.ndarray], child: np.ndarray) -> FamilyCounts:
    columns = {f"p{i}": cells for i, cells in enumerate(parents)} | {"y": child}
    return FamilyCounts.of_rows(as_table(columns), "y", [f"p{i}" for i in range(len(parents))])


def chosen(family: FamilyCounts):
    price = Price(0.5 * np.log(family.total), 1.0)
    return best_kind(family, price, dirichlet(family.counts, 1.0))


def uniform(rng: np.random.Generator, states: int, count: int) -> list[np.ndarray]:
    return [rng.integers(0, states, ROWS) for _ in range(count)]


def test_the_log_linear_fit_is_the_optimum_that_scipy_finds():
    rng = np.random.default_rng(0)
    for states, columns in ((2, 1), (4, 1), (4, 2), (3, 2)):
        design, basis = rng.normal(size=(12, 3)), rng.normal(size=(states, columns))
        counts = rng.integers(0, 9, (12, states)).astype(float)
        theta = np.zeros(states - 1 + 3 * columns)
        reached = fit_log_linear(counts, design, basis, theta, 1e-3, 50, 1e-10, -np.inf)
        rows = np.empty_like(counts)
        predicted(design, basis, theta, rows)
        assert rows == pytest.approx(log_linear_rows(design, basis, theta), abs=1e-12)
        assert reached == pytest.approx((counts * np.log(rows)).sum(), abs=1e-8)

        def loss(other, counts=counts, design=design, basis=basis):
            return 5e-4 * other @ other - (counts * np.log(log_linear_rows(design, basis, other))).sum()

        best = minimize(loss, np.zeros_like(theta), method="BFGS")
        assert loss(theta) <= best.fun + 1e-5


def test_the_largest_of_several_causes_is_what_enumeration_says_and_em_climbs_to_it():
    rng = np.random.default_rng(1)
    causes = rng.dirichlet(np.ones(3), 5)
    active = np.array([[0, -1, -1], [0, 1, -1], [0, 2, 3], [0, 1, 4], [0, -1, 3]])
    rows = np.empty((5, 3))
    largest_of(causes, active, rows)
    assert rows == pytest.approx(largest_by_enumeration(causes, active), abs=1e-12)
    counts = 1e5 * rows
    found = np.full((5, 3), 1 / 3)
    steps = [fit_noisy_max(counts, active, found, 1e-9, 1, 0.0, -np.inf) for _ in range(400)]
    assert all(b >= a - 1e-6 for a, b in pairwise(steps))
    assert steps[-1] == pytest.approx((counts * np.log(rows)).sum(), abs=1.0)


def test_what_is_expected_beside_every_column_is_a_sum_over_rows():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (4, 60)).astype(np.uint8)
    columns, index = np.array([1, 3]), rng.integers(0, 5, 60)
    shares, weights, starts = rng.dirichlet(np.ones(4), 5), rng.random(60), np.array([0, 3])
    out = np.zeros((6, 4))
    expect_beside(codes, columns, index, shares, weights, starts, out)
    wanted = expected_beside(codes, columns, index, shares, weights, starts, 6)
    assert out == pytest.approx(wanted)
    counts = np.zeros((6, 5))
    count_beside(codes, columns, index, weights, starts, counts)
    assert counts @ shares == pytest.approx(wanted)


def test_a_trees_score_is_that_of_its_leaves_less_the_ways_to_split():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, 300)
    y = (rng.random(300) < np.array([0.1, 0.8, 0.8])[x]).astype(np.int64)
    splits = Splits(x[None].astype(np.uint16), np.array([3]), np.array([True]))
    tree, score = grown(splits, y, 2, np.ones(300), leaf_count=1.0, price=np.log(2.0))

    def leaf(rows: np.ndarray) -> float:
        ones, total = int(y[rows].sum()), int(rows.sum())
        return lgamma(1 + ones) + lgamma(1 + total - ones) - lgamma(2 + total)

    # {0} against {1, 2}, {1} against the others, {2} against the others: three splits, one of which is taken.
    partitions = [leaf(x == k) + leaf(x != k) - np.log(3) - np.log(2) for k in range(3)]
    assert tree.n_leaves == 2
    assert score == pytest.approx(max(partitions))


def _made(kind: str, rng: np.random.Generator, p: list[np.ndarray]) -> np.ndarray:
    chance = rng.random(ROWS)
    match kind:
        case "noisy-or":
            return np.any([chance < 0.05, *[(x > 0) & (rng.random(ROWS) < 0.5) for x in p]], axis=0)
        case "sum":
            return p[0] + p[1] + p[2]
        case "difference":
            return p[0] - p[1] + 3
        case "product":
            return p[0] * p[1]
        case "largest":
            return np.maximum(p[0], p[1]) + (chance < 0.1)
        case "logit":
            eta = np.sum([(i - 1.5) * (x - 0.5) for i, x in enumerate(p)], axis=0)
            return chance < 1 / (1 + np.exp(-eta))
        case "ordered logit":
            return np.digitize(p[0] - 0.7 * p[1] + p[2] + rng.logistic(0, 0.8, ROWS), [-1, 0, 1, 2, 3, 4])
    return chance < np.where(p[0] == 1, 0.9, np.where(p[1] == 2, 0.15, np.where(p[2] == 0, 0.7, 0.1)))


PARENTS = {
    "noisy-or": (2, 4),
    "sum": (4, 3),
    "difference": (4, 2),
    "product": (4, 2),
    "largest": (5, 2),
    "logit": (2, 6),
    "ordered logit": (4, 3),
    "tree": (3, 4),
}


@pytest.mark.parametrize("kind", PARENTS)
def test_the_right_kind_wins_on_rows_that_it_made_and_says_what_it_is(kind):
    right = 0
    for seed in range(3):
        rng = np.random.default_rng([seed, 5])
        parents = uniform(rng, *PARENTS[kind])
        family = counted(parents, _made(kind, rng, parents).astype(np.int64))
        best = chosen(family)
        assert best is not None
        made = best.make()
        right += made.kind == kind
        shape = (*family.sizes, family.states)
        table = made.table(shape)
        assert table.sum(axis=-1) == pytest.approx(np.ones(shape[:-1]))
        assert table[tuple(family.codes)] == pytest.approx(made.rows(family.codes))
        again = read_family(json.loads(json.dumps(made.content())), shape)
        assert np.array_equal(again.table(shape), table)
        assert again == made
        assert "y" in family_words(made, "y", [f"p{i}" for i in range(len(family.parents))])
        drawn = made.draw([np.zeros(20_000, dtype=np.int64)] * len(parents), 20_000, rng)
        share = np.bincount(drawn, minlength=family.states) / 20_000
        assert share == pytest.approx(table[(0,) * len(parents)], abs=0.02)
        density = made.log_density(drawn[:5], [np.zeros(5, dtype=np.int64)] * len(parents))
        assert np.exp(density) == pytest.approx(table[(0,) * len(parents)][drawn[:5]])
    assert right >= 2


def test_a_table_that_is_the_truth_is_not_beaten_by_more_than_chance():
    beaten = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 6])
        parents = uniform(rng, 3, 2)
        shares = rng.dirichlet(np.ones(3), size=(3, 3))[parents[0], parents[1]]
        child = np.minimum((rng.random(ROWS)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1), 2)
        family = counted(parents, child)
        best = chosen(family)
        beaten.append(0.0 if best is None else best.score - dirichlet(family.counts, 1.0))
    assert np.mean(np.array(beaten) > 0) <= 0.25
    assert max(beaten) < 5.0


def test_a_tally_of_two_state_columns_is_asked_where_chances_rise_and_fall_and_not_where_a_class_makes_them_rise():
    rng = np.random.default_rng(9)
    parents = uniform(rng, 2, 6)
    tally = np.sum(parents, axis=0)
    wrong = rng.random(ROWS) < 0.05
    middle = chosen(counted(parents, ((tally == 2) | (tally == 3)) ^ wrong))
    assert middle is not None
    assert "p0 + p1 + p2" in family_words(middle.make(), "y", [f"p{i}" for i in range(6)])
    hidden = rng.integers(0, 2, ROWS)
    told = [np.where(rng.random(ROWS) < 0.75, hidden, 1 - hidden) for _ in range(7)]
    behind = chosen(counted(told[1:], told[0]))
    assert behind is None or behind.kind != "tree"


def test_kinds_fit_expected_counts_too():
    rng = np.random.default_rng(7)
    parents = uniform(rng, 4, 3)
    family = counted(parents, parents[0] + parents[1] + parents[2])
    half = FamilyCounts(family.codes, family.counts * 0.5, family.child, family.parents)
    best = chosen(half)
    assert best is not None
    assert best.make().kind == "sum"


def test_a_network_carries_its_kinds_and_keeps_them_when_pickled_and_in_checkpoints():
    table = as_table(arithmetic(1))
    found = lv.learn_structure(table, lv.BDe(), families="auto")
    network = found.network
    kinds = {node: network.kind(node) for node in network.variables}
    assert set(kinds.values()) > {"table"}
    special = next(node for node, kind in kinds.items() if kind != "table")
    assert special in network.explain(special)
    full = sum(t.size - t.size // t.shape[-1] for t in network.tables.values())
    assert network.dimension < full
    assert pickle.loads(pickle.dumps(network)) == network
    piece = write_network(network, table.states)
    assert read_network(piece, table.states) == network
    plain = network.with_tables({special: network.cpt(special)})
    assert plain != network
    assert plain.kind(special) == "table"
    assert network.relabelled({}).families == network.families


def test_scores_of_kinds_bound_those_of_tables_from_above_and_are_the_same_whatever_was_asked_before():
    table = as_table(totals(2))
    counts = ObservedCounts(table)
    scores = KindScores(counts, lv.BDe(), 4096)
    for child in range(3):
        tables = scores.tables.expand(child, 0b110000)
        ours = scores.expand(child, 0b110000)
        assert (ours >= tables - 1e-9).all()
    fresh = scores.afresh()
    assert fresh.family(0, 0b110000) == scores.family(0, 0b110000)
    assert fresh.expand(0, 0b110000) == pytest.approx(scores.expand(0, 0b110000))
    assert scores.surplus(0, 0b110000) >= 0
    assert CHOICE > 0


@pytest.mark.parametrize("score", [lv.BDe(), lv.BDeu(), lv.BIC()])
def test_auto_is_never_below_tables_in_score_or_on_new_rows(score):
    made = [noisy_or(seed) for seed in (0, 1)]
    for columns in made:
        table = as_table(columns)
        train, test = table.take(np.arange(table.n_rows) % 2 == 0), table.take(np.arange(table.n_rows) % 2 == 1)
        plain = lv.learn_structure(train, score)
        rich = lv.learn_structure(train, score, families="auto")
        assert rich.score >= plain.score - 1e-6
        assert rich.network.log_likelihood(test) >= plain.network.log_likelihood(test) - 10


def test_families_are_auto_or_tables():
    with pytest.raises(OptionError, match="families"):
        lv.learn_structure(as_table(noisy_or(0)), families="trees")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("made", "seed"), [(totals, 0), (selected, 1)], ids=["totals", "selected"])
def test_what_tables_call_hidden_the_rich_rival_explains(made, seed):
    table = as_table(made(seed))
    gains = []
    for kinds in (False, True):
        search = begin(table, lv.BDe(), Plan(max_hidden=1, kinds=kinds))
        gains.append(search.found[-1].gain if next_hidden(search) else 0.0)
    assert gains[0] > 10
    assert gains[1] < 10


def test_a_chain_in_bins_is_said_by_ordered_logits():
    columns = linear_chain(0)
    states = {name: tuple(range(cells.max() + 1)) for name, cells in columns.items()}
    table = lv.Table.from_codes(states, np.stack(list(columns.values())))
    network = lv.learn_structure(table, lv.BDe(), families="auto").network
    kinds = [network.kind(node) for node in network.variables]
    assert kinds.count("ordered logit") >= len(kinds) - 2


def test_values_of_states_are_their_numbers():
    table = as_table({"a": ["x10_20", "x20_30", "x5_10"] * 4, "b": [3, 1, 2] * 4, "c": ["u", "v", "w"] * 4})
    columns = [state_column(variable, np.ones(3)) for variable in table.columns]
    assert sorted(columns[0].values) == [5.0, 10.0, 20.0]
    assert columns[1].values == (1.0, 2.0, 3.0)
    assert columns[2].values == (0.0, 1.0, 2.0)
    assert not columns[2].ordered
    for column in columns:
        assert column.weights @ column.scores == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "magic"},
        {"kind": "tree"},
        {"kind": "logit", "terms": [], "pairs": [], "basis": [[0.0], [1.0]], "theta": [0.0, 1.0]},
        {"kind": "table", "probabilities": [0.4, 0.4]},
    ],
)
def test_a_family_that_does_not_fit_together_is_refused(content):
    with pytest.raises(NetworkError):
        read_family(content, (2,))
    assert TableKind(np.array([0.5, 0.5])).table((2,)).tolist() == [0.5, 0.5]


def test_what_few_rows_never_showed_stays_possible():
    rng = np.random.default_rng(3)
    parents = [rng.integers(0, 6, 12) for _ in range(2)]
    family = counted(parents, (parents[0] + parents[1]) // 2)
    for offered in offer_offsets(family, Price(1.2, 1.0), -np.inf, functions_of(family)):
        assert offered.make().table((*family.sizes, family.states)).min() > 0


def test_few_rows_make_no_sure_logit():
    """Twelve rows that a threshold tells apart: log-odds of a thousand to one would be more than they can say."""
    x = np.repeat(np.arange(4), 3)
    (best,) = offer_logits(counted([x], (x > 1).astype(np.int64)), Price(1.2, 1.0), -np.inf)
    assert 0.001 < best.make().table((4, 2)).min() < 0.1
