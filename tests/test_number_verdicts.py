"""What is said of tables with numbers and grades: kinds told apart, three views kept apart, unwished tables."""

import warnings

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.done import GroupsSeen, HiddenWeighed
from leverrier.discovery.numbers.grades import may_be_graded
from leverrier.discovery.numbers.number_rule import weigh
from leverrier.kernels.mixed.added_terms import add_scores
from leverrier.learning.mixed.learn_mixed import space_of


def direct_score(y, x, weight, added, floor):
    """The regression on the rows themselves, by least squares."""
    root = np.sqrt(weight)
    rest = (y - x @ np.linalg.lstsq(x * root[:, None], y * root, rcond=None)[0]) * root
    squares, rows = rest @ rest, weight.sum()
    variance = (squares + added * floor) / (rows + added)
    return -0.5 * (rows * np.log(2 * np.pi * variance) + squares / variance)


@pytest.mark.parametrize("seed", range(4))
def test_scores_on_products_are_those_of_regressions_on_rows(seed):
    rng = np.random.default_rng(seed)
    rows = np.column_stack([np.ones(80), rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6))])
    weight = rng.random(80)
    gram = (rows * weight[:, None]).T @ rows
    base, new, starts = np.array([0, 2]), np.array([3, 4, 5]), np.array([0, 1, 3])
    found = np.zeros(3)
    add_scores(gram, base, 1, new, starts, weight.sum(), 4.0, 0.3, found)
    wanted = [direct_score(rows[:, 1], rows[:, some], weight, 4.0, 0.3) for some in ([0, 2], [0, 2, 3], [0, 2, 4, 5])]
    assert found == pytest.approx(wanted, abs=1e-4)


def test_a_term_that_repeats_the_others_gains_nothing():
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    rows = np.column_stack([np.ones(50), x + rng.normal(size=50), x, 2 * x])
    found = np.zeros(2)
    add_scores(rows.T @ rows, np.array([0, 2]), 1, np.array([3]), np.array([0, 1]), 50.0, 4.0, 0.3, found)
    assert found[1] == pytest.approx(found[0], abs=1e-6)


def apart(rng, of_class, rows=1000, columns=5):
    """Two classes 1.2 deviations apart, or a continuum with the same covariances."""
    h = rng.integers(0, 2, rows) if of_class else rng.normal(0, 0.5, rows)
    return {f"x{j}": 1.2 * h + rng.normal(size=rows) for j in range(columns)}


@pytest.mark.parametrize("seed", range(5))
def test_a_class_is_told_from_a_continuum_with_the_same_covariances(seed):
    rng = np.random.default_rng([seed, 11])
    assert weigh(space_of(lv.read_table(apart(rng, True))), 0).told == "class"
    assert weigh(space_of(lv.read_table(apart(rng, False))), 0).told == "continuum"


def test_three_columns_are_kept_apart_where_arcs_beside_the_class_gain_more():
    rng = np.random.default_rng(3)
    h = rng.integers(0, 2, 600)
    a = 3 * h + rng.normal(size=600)
    b = -3 * h + 0.35 * a + rng.normal(size=600)
    c = 3 * h - 0.35 * a + 0.35 * b + rng.normal(size=600)
    found = weigh(space_of(lv.read_table({"a": a, "b": b, "c": c})), 0)
    assert found.bare_gain >= found.class_gain
    shown = found.hunted.of_class
    assert shown is not None
    assert shown.views() == 3
    assert found.told == "class"


def items(rng, rows=600, slope=1.4):
    f = rng.normal(size=rows)
    return {f"q{j}": np.searchsorted([-2.0, -0.7, 0.7, 2.0], slope * f + rng.logistic(size=rows)) + 1 for j in range(6)}


def test_grades_with_one_continuum_behind_are_told_so():
    table = items(np.random.default_rng(2))
    found = lv.discover(table, evidence=False, jobs=1)
    assert [(h.kind, set(h.children)) for h in found.hidden] == [("continuum", set(table))]
    scores, _ = found.scores(table)
    assert abs(np.corrcoef(scores, np.sum(list(table.values()), axis=0))[0, 1]) > 0.95


def test_what_does_not_look_like_grades_is_a_table_of_states():
    rng = np.random.default_rng(2)
    graded = items(rng)
    assert may_be_graded(lv.read_table(graded))
    assert not may_be_graded(lv.read_table(items(rng, slope=0.0)))
    named = {name: np.array(list("vwxyz"))[each - 1] for name, each in graded.items()}
    assert not may_be_graded(lv.read_table(named))


def test_what_the_best_class_gained_is_told_even_where_it_is_nothing():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    found = lv.discover({"a": a, "b": a + rng.normal(size=300), "c": a - rng.normal(size=300)}, jobs=1)
    step = next(step for step in found.result.did if isinstance(step, HiddenWeighed))
    assert str(found.verdict) == "nothing"
    assert max(each for each in (step.of_class, step.of_continuum, -1.0) if each is not None) < 3


def test_groups_that_the_columns_show_are_told_and_are_not_hidden():
    rng = np.random.default_rng(0)
    h = rng.random(300) < 0.3
    a = np.where(h, 8.0, 0.0) + rng.normal(size=300)
    table = {"a": a, "b": (a > 4) * 3 + rng.normal(size=300), "c": rng.normal(size=300)}
    found = lv.discover(table, jobs=1)
    step = next(step for step in found.result.did if isinstance(step, GroupsSeen))
    assert (step.rows, step.columns) == ((int((~h).sum()), int(h.sum())), ("a", "b"))
    assert not found.hidden
    assert "fall into 2 groups" in str(found)
    one_hump = lv.discover({**table, "a": rng.normal(size=300)}, jobs=1)
    assert not any(isinstance(step, GroupsSeen) for step in one_hump.result.did)


def plain(rng, rows=200):
    a = rng.normal(size=rows)
    return {"a": a, "b": a + rng.normal(size=rows), "c": rng.normal(size=rows)}


def unwished():
    rng = np.random.default_rng(0)
    few = np.zeros(200)
    few[:2] = 1.5, 2.5
    table = plain(rng)
    sums = {**table, "s": table["a"] + table["b"], "t": table["a"] + table["b"] - table["c"]}
    return {
        "constant": {**table, "k": np.ones(200)},
        "duplicate": {**table, "again": table["a"].copy()},
        "turned": {**table, "again": 2 - 3 * table["a"]},
        "bent": {**table, "again": np.exp(table["a"])},
        "all but a few": {**table, "few": few},
        "collinear": {**sums, "u": 2 * sums["t"] + table["a"]},
        "more columns than rows": {f"x{j}": rng.normal(size=12) for j in range(20)},
        "three rows": {name: each[:3] for name, each in table.items()},
        "an empty column": {**table, "none": np.full(200, np.nan)},
        "huge": {**table, "a": table["a"] * 1e150},
        "far off": {**table, "a": 1e9 + 1e-6 * table["a"]},
    }


@pytest.mark.parametrize("name", unwished())
def test_tables_nobody_wishes_for_have_finite_answers(name):
    table = unwished()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lv.discover(table, draws=3, resamples=0, jobs=1)
        network = lv.learn_structure(table, families="auto", seed=0)
    assert str(found.verdict) == "nothing"
    assert np.isfinite(found.result.score)
    assert np.isfinite(network.score)
    drawn = network.network.sample(20, seed=1)
    assert all(np.isfinite(each).all() for each in drawn.raw.values())


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused_in_one_line(value):
    table = plain(np.random.default_rng(0))
    table["a"][3] = value
    for ask in (lv.discover, lambda rows: lv.learn_structure(rows, families="auto")):
        with pytest.raises(lv.LeverrierError, match="'a' is infinite in row 4") as told:
            ask(table)
        assert "\n" not in str(told.value)
