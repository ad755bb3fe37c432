"""Classes that describe a small table: simulated truths, and the tables of the literature where they are at hand."""

from dataclasses import replace

import numpy as np
import pytest

import leverrier as lv
from leverrier.api.saved import dump, load_result
from leverrier.discovery.evidence.one_trait import one_trait
from leverrier.discovery.evidence.simplest_description import needed, simplest_description
from leverrier.discovery.examine import examined_of
from leverrier.discovery.places.search import begin, findings, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.discovery.small_table import told_simply
from leverrier.discovery.verdict import HiddenKind, Reason, nothing
from leverrier.report.words.verdict_words import headline
from leverrier.report.words.verdict_words import verdict as told
from leverrier.run.run import Run


def classes(seed, rows=2000, columns=5):
    rng = np.random.default_rng(seed)
    hidden = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    share = np.array([[0.9] * columns, [0.15] * columns, [0.9, 0.9, 0.1, 0.1, 0.1][:columns]])
    return lv.Table.from_codes(
        {f"c{i}": (0, 1) for i in range(columns)}, (rng.random((columns, rows)) < share[hidden].T) * 1
    )


def test_three_classes_behind_five_columns_are_told():
    found = simplest_description(classes(0), seed=0)
    assert found is not None
    said = found.said
    assert said.classes == 3
    assert said.adequate
    assert said.clear(0.01)
    assert said.parameters < said.cells - 1


def test_the_adequacy_p_value_is_uniform_enough_under_the_truth():
    """Tables that three classes made are called inadequate about one time in twenty: of 6 at most 2 (p = .002)."""
    wrong = [not found.said.adequate for seed in range(6) if (found := simplest_description(classes(seed, 600), 0, 19))]
    assert len(wrong) == 6
    assert sum(wrong) <= 2


def test_a_chain_of_columns_is_not_described_by_classes():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 4000)]
    for _ in range(5):
        columns.append(np.where(rng.random(4000) < 0.9, columns[-1], 1 - columns[-1]))
    found = simplest_description(lv.Table.from_codes({f"c{i}": (0, 1) for i in range(6)}, np.array(columns)), seed=0)
    assert found is not None
    assert not found.said.simplest
    assert found.said.preferred < 0


def test_tables_that_cannot_be_told_are_left():
    table = classes(0, 200)
    assert simplest_description(table.select(table.variables[:2]), 0) is None
    codes = table.codes.astype(int)
    codes[0, 0] = -1
    assert simplest_description(lv.Table.from_codes(table.states, codes), 0) is None


@pytest.mark.parametrize(
    ("name", "classes", "verdict"),
    [("dentistry", 3, "found"), ("carcinoma", 3, "undecided"), ("lsat6", 0, "found"), ("gss82", 3, "nothing")],
)
def test_the_tables_of_the_literature(shared_data, name, classes, verdict):
    """Three classes of teeth and of slides, one trait behind the law school's five questions. Four questions of the
    general social survey fit three classes too, but a network takes 14 numbers for what they take 20 for."""
    table = lv.read_table(shared_data / "latent_class" / f"{name}.csv")
    search = begin(table, lv.BDe(), Plan())
    empty = examined_of(search, findings(search), (), (), [], asked=True)
    found = told_simply(replace(empty, verdict=nothing(Reason.NO_GAIN)), table, lv.BDe(), Plan(), 0.01, Run())
    said = found.simplest
    assert said is not None
    assert (said.classes, said.adequate, str(found.verdict)) == (classes, True, verdict)
    words = told(found)
    assert ("one trait" if not classes else "3 classes") in words
    assert f"with {said.parameters} numbers" in words
    if verdict == "found":
        assert headline(found).startswith("Simplest description: ")
        assert "at work" not in words
        assert load_result(dump(found)).simplest == said


def test_one_trait_is_that_of_the_literature(shared_data):
    """Rasch's model of LSAT 6 by marginal likelihood: −2466.938, slope 0.7551 (Rizopoulos 2006, J. Stat. Softw. 17,
    5, section 3.1)."""
    table = lv.read_table(shared_data / "latent_class" / "lsat6.csv")
    found = one_trait(table)
    assert found is not None
    assert found.log_likelihood == pytest.approx(-2466.938, abs=1e-3)
    assert found.slopes == pytest.approx(np.full(5, 0.7551), abs=1e-3)
    assert found.parameters == 6


def test_one_trait_is_told_and_turned_questions_with_it():
    rng = np.random.default_rng(3)
    theta, slopes = rng.normal(size=3000), np.array([1.5, 1.5, -1.5, 1.5, 1.5])
    codes = (rng.random((5, 3000)) < 1 / (1 + np.exp(-np.outer(slopes, theta)))).astype(int)
    table = lv.Table.from_codes({f"q{i}": (0, 1) for i in range(5)}, codes)
    found = one_trait(table)
    assert found is not None
    assert np.sign(found.slopes * found.slopes[0]) == pytest.approx(np.sign(slopes))
    assert abs(found.slopes) == pytest.approx(abs(slopes), abs=0.25)
    network = found.network(table, "H")
    grades = network.posterior(table, "H") @ np.arange(network.cardinality("H"))
    assert np.corrcoef(grades, theta * np.sign(found.slopes[0]))[0, 1] > 0.7
    said = simplest_description(table, seed=0)
    assert said is not None
    assert (said.said.classes, said.said.simplest) == (0, True)


@pytest.mark.parametrize(("rows", "open_"), [(1000, True), (4000, False)])
def test_where_few_rows_cannot_tell_two_classes_from_a_trait_both_are_said(rows, open_):
    rng = np.random.default_rng(0)
    chances = np.array([[0.1, 0.8], [0.3, 0.75], [0.1, 0.5], [0.5, 0.95], [0.35, 0.6]])
    codes = (rng.random((5, rows)) < chances[:, rng.integers(0, 2, rows)]) * 1
    table = lv.Table.from_codes({f"c{i}": (0, 1) for i in range(5)}, codes)
    search = begin(table, lv.BDe(), Plan())
    empty = examined_of(search, findings(search), (), (), [], asked=True)
    found = told_simply(replace(empty, verdict=nothing(Reason.NO_GAIN)), table, lv.BDe(), Plan(), 0.01, Run())
    assert found.simplest is not None
    assert (found.simplest.classes, found.simplest.open, str(found.verdict)) == (2, open_, "found")
    assert found.hidden[0].kind is (HiddenKind.UNDECIDED if open_ else HiddenKind.CLASS)
    assert ("2 classes or one trait" in told(found)) == open_
    assert load_result(dump(found)).simplest == found.simplest


def four_and_others(seed, rows=1500):
    """One thing behind four columns; a fifth that follows the first of them, and two beside."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, rows)
    four = [np.where(rng.random(rows) < 0.8, hidden, 1 - hidden) for _ in range(4)]
    follows = np.where(rng.random(rows) < 0.7, four[0], 1 - four[0])
    beside = rng.integers(0, 2, rows)
    columns = [*four, follows, beside, np.where(rng.random(rows) < 0.8, beside, 1 - beside)]
    return lv.Table.from_codes(dict.fromkeys("abcdefg", (0, 1)), np.array(columns)), hidden


def test_four_columns_of_a_wider_table_are_described_by_themselves():
    """Arcs between all four say the same for any number of rows: no simulated table tells, fewer numbers do."""
    table, hidden = four_and_others(3)
    search = begin(table, lv.BDe(), Plan(max_hidden=1))
    assert next_hidden(search)
    met = findings(search)
    failed = replace(examined_of(search, met, (), met.hidden, [], asked=True), verdict=nothing(Reason.COMPRESSOR))
    found = told_simply(failed, table, lv.BDe(), Plan(), 0.01, Run())
    assert found.verdict.reason is Reason.SIMPLEST
    (one,) = found.hidden
    assert one.neighbours == set("abcd")
    assert one.evidence is not None
    assert one.evidence.p_value == pytest.approx(len(met.attempts) * np.exp(-one.gain))  # (one of the places tried)
    assert not found.compressors
    assert "Simplest description: 2 classes behind a, b, c and d say" in told(found)
    assert load_result(dump(found)).simplest == found.simplest
    assert isinstance(found.network, lv.Network)
    said = found.network.posterior(table, one.name).argmax(axis=1)
    assert max(np.mean(said == hidden), np.mean(said != hidden)) > 0.85


def test_a_part_is_told_only_where_the_search_gained_there():
    """Seven columns whose arcs are all there is: no part of them is described by classes."""
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 2, 1500)]
    for _ in range(6):
        columns.append(np.where(rng.random(1500) < 0.8, columns[-1], 1 - columns[-1]))
    table = lv.Table.from_codes(dict.fromkeys("abcdefg", (0, 1)), np.array(columns))
    found = lv.discover(table, draws=19, level=0.05, resamples=0, seed=0, jobs=1)
    assert not found.verdict.found


def test_causes_do_not_take_the_place_of_a_trait_that_describes_the_table(shared_data):
    found = lv.discover(shared_data / "latent_class" / "lsat6.csv", resamples=0, jobs=1)
    assert found.verdict.reason is Reason.SIMPLEST
    assert "one trait behind all 5 columns" in str(found)


def test_noisy_ors_among_all_columns_are_no_classes():
    """Each column is a noisy-or of those before it: tables alone need more numbers for that than four classes do."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 1500)]
    for i in range(1, 7):
        left = 0.9 * np.prod(1 - np.array(columns) * rng.uniform(0.1, 0.6, i)[:, None], axis=0)
        columns.append((rng.random(1500) < 1 - left) * 1)
    table = lv.Table.from_codes({f"v{i}": (0, 1) for i in range(7)}, np.array(columns))
    found = simplest_description(table, seed=0, draws=19)
    assert found is not None
    assert found.said.over_kinds is not None
    assert found.said.preferred > 10  # (against tables)
    assert found.said.over_kinds < -10
    assert not found.said.simplest


def test_a_column_that_hardly_depends_on_the_classes_is_left_out_of_the_description():
    """Columns that one thing drives are needed, one drawn by itself is not, nor one that chance ties to it a little."""
    rng = np.random.default_rng(12)
    hidden = rng.integers(0, 2, 1000)
    driven = [np.where(rng.random(1000) < 0.8, hidden, 1 - hidden) for _ in range(5)]
    alone = rng.integers(0, 2, 1000)
    tied = alone.copy()
    tied[:60] = hidden[:60]
    for beside in (alone, tied):
        table = lv.Table.from_codes(dict.fromkeys("abcdef", (0, 1)), np.array([*driven, beside]))
        told = simplest_description(table, seed=0)
        assert told is not None
        assert told.said.clear(0.01)
        assert needed(told, table, seed=0) == tuple("abcde")
    search = begin(table, lv.BDe(), Plan())
    empty = examined_of(search, findings(search), (), (), [], asked=True)
    found = told_simply(replace(empty, verdict=nothing(Reason.NO_GAIN)), table, lv.BDe(), Plan(), 0.01, Run())
    (one,) = found.hidden
    assert one.neighbours == set("abcde")
    assert isinstance(found.network, lv.Network)
    assert "f" in found.network.variables
    assert "behind a, b, c, d and e say" in headline(found)
