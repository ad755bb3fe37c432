"""Several continua at once: points against a grid, steps against differences, EM against quadrature, the route."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import leverrier as lv
from leverrier.data.reading.read_table import read_table
from leverrier.discovery.examine import Tests as Asked
from leverrier.discovery.plan import Plan
from leverrier.discovery.traits.first_traits import minimum_partial, standard_scores
from leverrier.discovery.traits.graded_columns import following_items, in_grades, several_scales, whole_rows
from leverrier.discovery.traits.traits_route import examine_traits
from leverrier.kernels.traits.item_steps import item_pass, item_pulls
from leverrier.kernels.traits.strips import exps, logs
from leverrier.learning.behind.ascent import ascend
from leverrier.learning.mixed.learn_mixed import space_of
from leverrier.learning.traits.item_block import item_block
from leverrier.learning.traits.trait_arcs import _owned, structured
from leverrier.learning.traits.trait_ascent import ascend_traits, drawn_points, fresh_item, placed
from leverrier.models.behind.links import Link, Mode, continuum
from leverrier.models.behind.traits import Item, Traits
from leverrier.run.run import UNBOUNDED
from tests.naive.traits import slow_item_pass, slow_item_pulls, slow_row_weights


def questionnaire(rows=600, scales=2, per=4, seed=0, correlation=0.4):
    """Continua that go together behind items in four grades, and two columns beside."""
    rng = np.random.default_rng(seed)
    together = correlation + (1 - correlation) * np.eye(scales)
    places = rng.normal(size=(rows, scales)) @ np.linalg.cholesky(together).T
    found = {}
    for v in range(scales):
        for i in range(per):
            eta = (1.5 + 0.3 * i) * places[:, v]
            found[f"s{v}{i}"] = 1 + np.searchsorted([-1.8, 0.0, 1.6], eta + rng.logistic(size=rows))
    found["sex"] = rng.integers(0, 2, rows)
    found["age"] = np.round(rng.normal(40, 9, rows), 1)
    return pd.DataFrame(found)


@pytest.fixture(scope="module")
def space():
    return space_of(read_table(questionnaire()))


@pytest.fixture(scope="module")
def block(space):
    return item_block(space)


def two_traits():
    """Some model: one item hangs on both traits, one on a column, sex moves the first trait."""
    tau = np.array([-1.5, 0.2, 1.7])
    names = [f"s{v}{i}" for v in range(2) for i in range(4)]
    items = [Item(name, (int(name[1]),), (), tau, np.array([1.6])) for name in names]
    items[3] = Item("s03", (0, 1), (), tau, np.array([1.2, -0.7]))
    items[5] = Item("s11", (1,), ("s00",), tau, np.array([1.4, 0.5]))
    return Traits(tuple(items), np.array([[1.0, 0.35], [0.35, 1.0]]), (("sex",), ()), (np.array([0.6]), np.empty(0)))


def grid_logs(block, traits, reach=6.0, nodes=121):
    """log P(items of each row) by a grid over both traits."""
    t = np.linspace(-reach, reach, nodes)
    first, second = (each.ravel() for each in np.meshgrid(t, t, indexing="ij"))
    places = np.stack([first, second])
    moved = traits.effects[0] @ block.terms(("sex",))
    found = []
    precision = np.linalg.inv(traits.correlation)
    for r in range(40):
        away = places - np.array([[moved[r]], [0.0]])
        logs = -0.5 * np.einsum("iq,ij,jq->q", away, precision, away)
        logs -= np.log(2 * np.pi) + 0.5 * np.linalg.slogdet(traits.correlation)[1]
        for each in traits.items:
            eta = each.slopes[: len(each.on)] @ places[list(each.on)]
            eta = eta + each.slopes[len(each.on) :] @ block.terms(each.parents)[:, r]
            upto = 1 / (1 + np.exp(eta[:, None] - each.tau))
            cut = np.diff(np.column_stack([np.zeros(len(eta)), upto, np.ones(len(eta))]), axis=1)
            logs += np.log(cut[:, block.codes(each.column)[r]])
        found.append(np.log(np.exp(logs).sum() * (t[1] - t[0]) ** 2))
    return np.array(found)


def test_points_give_what_a_grid_over_all_traits_gives(block):
    traits = two_traits()
    by_points = placed(block, traits, 1024).logs[:40]
    assert by_points == pytest.approx(grid_logs(block, traits), abs=0.03)
    assert abs((by_points - grid_logs(block, traits)).mean()) < 0.004


def test_the_modes_are_where_a_general_climb_ends(block):
    traits = two_traits()
    modes = placed(block, traits, 2).modes
    precision = np.linalg.inv(traits.correlation)
    moved = traits.effects[0] @ block.terms(("sex",))
    for r in (0, 7, 23):

        def minus(theta, r=r):
            away = theta - np.array([moved[r], 0.0])
            value = 0.5 * away @ precision @ away
            for each in traits.items:
                eta = each.slopes[: len(each.on)] @ theta[list(each.on)]
                eta += each.slopes[len(each.on) :] @ block.terms(each.parents)[:, r]
                upto = np.concatenate([[0.0], 1 / (1 + np.exp(eta - each.tau)), [1.0]])
                code = block.codes(each.column)[r]
                value -= np.log(upto[code + 1] - upto[code])
            return value

        assert modes[r] == pytest.approx(minimize(minus, np.zeros(2)).x, abs=1e-3)


def test_gradient_and_information_of_an_item_are_its_differences(block):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2, block.rows, 3))
    weights = rng.dirichlet(np.ones(3), block.rows)
    on, terms, codes = np.array([0, 1]), block.terms(("s01", "sex")), block.codes("s00").copy()
    codes[:5] = -1
    theta = np.array([-1.4, 0.1, 1.5, 0.8, -0.5, 0.3, 0.2])

    def derived(theta):
        gradient, information = np.empty(7), np.empty((7, 7))
        value = item_pass(theta[:3], theta[3:], on, points, weights, terms, codes, gradient, information)
        return value, gradient, information

    _, gradient, information = derived(theta)
    steps = 1e-5 * np.eye(7)
    by_value = [(derived(theta + h)[0] - derived(theta - h)[0]) / 2e-5 for h in steps]
    by_gradient = [(derived(theta + h)[1] - derived(theta - h)[1]) / 2e-5 for h in steps]
    assert gradient == pytest.approx(np.array(by_value), rel=1e-5, abs=1e-4)
    assert information == pytest.approx(-np.array(by_gradient), rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("many", [8, 64, 1000])
def test_an_items_sums_are_those_of_its_slow_twin(block, many):
    """Strips end anywhere: within a code, within the points of a row, at a hole."""
    rng, rows = np.random.default_rng(many), 24_000 // many if many > 8 else 600
    points, weights = 2 * rng.normal(size=(3, rows, many)), rng.dirichlet(np.ones(many), rows)
    on, terms, codes = np.array([2, 0]), block.terms(("s01", "sex"))[:, :rows].copy(), block.codes("s00")[:rows].copy()
    codes[rng.integers(0, rows, 3)] = -1
    tau, slopes = np.array([-1.4, 0.1, 1.5]), np.array([1.8, -0.5, 0.3, 0.2])
    gradient, information = np.empty(7), np.empty((7, 7))
    value = item_pass(tau, slopes, on, points, weights, terms, codes, gradient, information)
    theirs = slow_item_pass(tau, slopes, on, points, weights, terms, codes)
    assert value == pytest.approx(theirs[0], rel=1e-11)
    assert gradient == pytest.approx(theirs[1], rel=1e-9, abs=1e-9)
    assert information == pytest.approx(theirs[2], rel=1e-9, abs=1e-9)
    pull, hold, by_trait = np.empty(rows), np.empty(rows), np.empty((2, 3))
    item_pulls(tau, slopes, on, points, weights, terms, codes, pull, hold, by_trait)
    theirs = slow_item_pulls(tau, slopes, on, points, weights, terms, codes)
    for ours, slow in zip((pull, hold, by_trait), theirs, strict=True):
        assert ours == pytest.approx(slow, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("many", [8, 64, 1000])
def test_points_weigh_what_the_slow_twin_says(block, many):
    traits = two_traits()
    codes = np.column_stack([block.codes(each.column) for each in traits.items])
    now = placed(block, traits, many)
    moved = np.column_stack([traits.effects[0] @ block.terms(("sex",)), np.zeros(block.rows)])
    offset = np.column_stack([each.slopes[len(each.on) :] @ block.terms(each.parents) for each in traits.items])
    drawn = drawn_points(many, 2)
    precision = np.linalg.inv(traits.correlation)
    tau = [each.tau for each in traits.items]
    for r in (0, 1, 63, 64, 300, block.rows - 1):
        own = drawn[r % len(drawn)]
        weights, log = slow_row_weights(
            codes[r], tau, traits.loads, offset[r], moved[r], precision, now.points[:, r].T, own
        )
        assert now.weights[r] == pytest.approx(weights, rel=1e-8, abs=1e-12)
        assert now.logs[r] == pytest.approx(log, abs=1e-8)


def test_exponentials_and_logarithms_of_strips_are_those_of_a_library():
    x = np.concatenate([np.linspace(-199, 199, 401), [0.0, 1e-9, -1e-9]])
    given, powers, room = x.copy(), np.empty(len(x)), np.empty(len(x))
    exps(given, powers, room, len(x))
    assert powers == pytest.approx(np.exp(x), rel=1e-13)
    assert given.tolist() == x.tolist()
    logs(powers, room, len(x))
    assert powers == pytest.approx(x, rel=1e-13, abs=1e-14)
    far = np.array([-1e4, 1e4])
    exps(far, powers, room, 2)
    assert powers[:2] == pytest.approx(np.exp([-200, 200]), rel=1e-13)


def test_score_tests_pull_at_the_likelihood_slope(block):
    """The pull of a column left out is the slope of the likelihood where it is let in with 0."""
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(2, block.rows, 4)), rng.dirichlet(np.ones(4), block.rows)
    tau, codes = np.array([-1.4, 0.1, 1.5]), block.codes("s00")
    pull, hold, by_trait = np.empty(block.rows), np.empty(block.rows), np.empty((2, 2))
    none, own = np.empty((0, block.rows)), np.array([0])
    item_pulls(tau, np.array([0.9]), own, points, weights, none, codes, pull, hold, by_trait)
    x = block.terms(("s01",))
    gradient, information = np.empty(5), np.empty((5, 5))
    item_pass(tau, np.array([0.9, 0.0]), own, points, weights, x, codes, gradient, information)
    assert x[0] @ pull == pytest.approx(gradient[4], rel=1e-9)
    assert x[0] ** 2 @ hold == pytest.approx(information[4, 4], rel=1e-9)
    item_pass(tau, np.array([0.9, 0.0]), np.array([0, 1]), points, weights, none, codes, gradient, information)
    assert by_trait[0, 1] == pytest.approx(gradient[4], rel=1e-9)
    assert by_trait[1, 1] == pytest.approx(information[4, 4], rel=1e-9)


def test_one_trait_ends_where_exact_quadrature_ends(space, block):
    items = [f"s0{i}" for i in range(4)]
    begun = Traits(tuple(fresh_item(block, name, (0,)) for name in items), np.eye(1), ((),), (np.empty(0),))
    found = ascend_traits(block, begun, many=32, close=1e-3, most=200)
    latent = continuum()
    links = tuple(Link(name, (), 0, Mode.LOGIT) for name in items)
    z = standard_scores(space, items).mean(axis=1)
    share = np.exp(-0.5 * ((latent.basis[:, 0] - z[:, None]) / 0.5) ** 2)
    exact = ascend(block.block, latent, links, share / share.sum(axis=1, keepdims=True), close=1e-4, most=500)
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=1.0)
    assert found.traits.dimension == exact.dimension
    slopes = [each.slopes[0] for each in found.traits.items]
    theirs = [fit.theta[3] for fit in exact.fits]
    assert np.abs(slopes) == pytest.approx(np.abs(theirs), rel=0.08)


def test_em_rises_and_structure_never_scores_less(block):
    items = [f"s{v}{i}" for v in range(2) for i in range(4)]
    begun = Traits(
        tuple(fresh_item(block, name, (int(name[1]),)) for name in items), np.eye(2), ((), ()), (np.empty(0),) * 2
    )
    first = ascend_traits(block, begun)
    assert min(np.diff(first.trace)) > -1.0
    assert structured(block, first, tuple(block.block.columns)).score(block) >= first.score(block)
    assert 0.2 < abs(first.traits.correlation[0, 1]) < 0.6


def test_another_unit_of_a_trait_is_the_same_model(block):
    traits = two_traits()
    sizes = np.array([2.0, 0.5])
    other = traits.scaled(sizes)
    whole = replace(other, correlation=other.correlation / np.outer(sizes, sizes))
    assert placed(block, whole, 64).logs == pytest.approx(placed(block, traits, 64).logs, abs=1e-6)


@pytest.mark.parametrize("scales", [2, 3])
def test_a_glance_counts_the_scales(scales):
    table = read_table(questionnaire(scales=scales, seed=3))
    laid = whole_rows(table)
    assert laid is not None
    items = several_scales(*laid)
    assert set(items) == {f"s{v}{i}" for v in range(scales) for i in range(4)}
    assert minimum_partial(standard_scores(space_of(laid[0]), items)) == scales


def test_columns_that_share_nothing_are_no_scales():
    rng = np.random.default_rng(4)
    laid = whole_rows(read_table(pd.DataFrame({f"q{i}": rng.integers(1, 6, 500) for i in range(8)})))
    assert laid is not None
    assert several_scales(*laid) == ()


def test_items_that_follow_from_each_other_are_no_scales():
    """Numbers of things and what was paid for them, shares that add up: they go together because they must."""
    rng = np.random.default_rng(8)
    number = rng.integers(0, 5, (3, 500))
    parts = {f"n{i}": number[i] for i in range(3)} | {f"paid{i}": 2 * number[i] + (number[i] > 2) for i in range(3)}
    parts |= {"yes": rng.integers(0, 6, 500)}
    parts |= {"no": 5 - parts["yes"]}
    table = read_table(questionnaire(rows=500).assign(**parts))
    laid = whole_rows(table)
    assert laid is not None
    assert following_items(*laid) == frozenset(parts)
    assert set(several_scales(*laid)) == {f"s{v}{i}" for v in range(2) for i in range(4)}


def test_an_items_own_trait_is_the_one_it_goes_with_most():
    """By drawn places: the trait whose places correlate most with what moves the item."""
    tau = np.array([0.0, 1.0])
    for slopes, between, own in (([1.0, -1.2], 0.2, 1), ([1.0, 0.9], 0.5, 0), ([-1.3, 1.2, 1.2], 0.0, 0)):
        d = len(slopes)
        item = Item("a", tuple(range(d)), (), tau, np.array(slopes))
        correlation = np.full((d, d), between) + (1 - between) * np.eye(d)
        if d == 3:
            correlation[1, 2] = correlation[2, 1] = -0.5
        traits = _owned(Traits((item,), correlation, ((),) * d, (np.empty(0),) * d))
        places = np.random.default_rng(0).multivariate_normal(np.zeros(d), correlation, 200_000)
        shared = [abs(np.corrcoef(places @ slopes, places[:, v])[0, 1]) for v in range(d)]
        assert traits.items[0].own == int(np.argmax(shared)) == own


def test_answers_that_begin_with_numbers_have_their_order():
    words = ["10 never", "2 often", "1 always"]
    table = in_grades(read_table(pd.DataFrame({"q": [words[i % 3] for i in range(30)], "kind": ["b", "a", "c"] * 10})))
    assert table.columns[0].states == ("1 always", "2 often", "10 never")
    assert table.columns[0].ordered
    assert not table.columns[1].ordered
    assert table.codes[0, :3].tolist() == [2, 1, 0]


@pytest.fixture(scope="module")
def found():
    table = read_table(questionnaire(rows=500, seed=5))
    return examine_traits(table, Plan(max_hidden=99), Asked(0, 0), UNBOUNDED)


def test_two_scales_are_told_with_their_items(found):
    assert found is not None
    told = sorted(sorted(each.children) for each in found.hidden)
    assert told == [[f"s{v}{i}" for i in range(4)] for v in range(2)]
    assert {str(each.kind) for each in found.hidden} <= {"continuum", "undecided"}
    assert found.score > found.baseline_score


def test_its_model_draws_scales_that_go_together_and_reads_rows_with_holes(found):
    assert found is not None
    table = read_table(questionnaire(rows=500, seed=5))
    drawn = found.other.sample(4000, table, np.random.default_rng(6))
    sums = [sum(drawn.column(f"s{v}{i}").astype(float) for i in range(4)) for v in range(2)]
    theirs = [questionnaire(rows=500, seed=5)[[f"s{v}{i}" for i in range(4)]].sum(axis=1) for v in range(2)]
    assert np.corrcoef(sums)[0, 1] == pytest.approx(np.corrcoef(theirs)[0, 1], abs=0.12)
    rows = questionnaire(rows=500, seed=5).astype(float)
    rows.loc[0, ["s00", "s10"]] = np.nan
    place, error = found.other.scores(rows, found.hidden[0].name)
    assert place.shape == (500,)
    assert error[0] > np.median(error)


def test_a_scale_that_an_observed_column_drives_hides_nothing():
    rng = np.random.default_rng(7)
    driver = {f"x{v}": np.round(rng.normal(size=600), 2) for v in range(2)}
    items = {
        f"s{v}{i}": 1 + np.searchsorted([-1.5, 0.0, 1.5], 2 * driver[f"x{v}"] + rng.logistic(size=600))
        for v in range(2)
        for i in range(4)
    }
    table = read_table(pd.DataFrame(items | driver))
    assert examine_traits(table, Plan(max_hidden=99), Asked(0, 0), UNBOUNDED) is None


def test_discover_says_so_and_keeps_it(tmp_path):
    said = lv.discover(questionnaire(rows=500, seed=5), draws=2, resamples=0, seed=1, progress=False)
    assert str(said.verdict) == "found"
    assert len(said.hidden) == 2
    said.save(tmp_path / "said.json")
    again = lv.load(tmp_path / "said.json")
    assert [each.children for each in again.hidden] == [each.children for each in said.hidden]
    assert str(again) == str(said)
