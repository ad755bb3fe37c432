"""The parts of the evidence, each against something that is not itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import leverrier as lv
from leverrier.counts.label_agreement import adjusted_rand
from leverrier.discovery.evidence.class_or_arcs import whole_class
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence, evidence_of
from leverrier.discovery.evidence.evidence import Evidence, Stopped
from leverrier.discovery.evidence.held_out import held_out_gain
from leverrier.discovery.evidence.null_test import Null, null_test, one_more
from leverrier.discovery.evidence.power import power
from leverrier.discovery.evidence.resamples import drawn, support
from leverrier.discovery.evidence.sequential_test import monte_carlo
from leverrier.discovery.meaning import explain
from leverrier.discovery.places.dependent_groups import dependent_groups, g_statistic, joint_counts
from leverrier.discovery.places.imputation import _conditional, filled
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.run.run import Run
from leverrier.run.stop import Stop
from tests.test_structural_em import star


@pytest.fixture(scope="module")
def hidden_star() -> lv.Table:
    return star(children=6, states=2, extra=0).sample(1500, seed=1).drop("h")


@pytest.fixture(scope="module")
def searched(hidden_star):
    search = begin(hidden_star, lv.BDe(), Plan(max_hidden=1, seed=3))
    assert next_hidden(search)
    return search


def punched(table: lv.Table, share: float, seed: int) -> lv.Table:
    codes = table.codes.copy()
    codes[np.random.default_rng(seed).random(codes.shape) < share] = table.missing
    return lv.Table(table.columns, codes)


def test_the_draw_of_a_hole_has_the_posterior_of_the_network():
    network = lv.datasets.network("asia")
    rows = network.sample(50, seed=4)
    place = {name: v for v, name in enumerate(rows.variables)}
    for name in rows.variables:
        logs = _conditional(network, name, rows.codes, place)
        shares = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
        assert shares == pytest.approx(network.posterior(rows.drop(name), name), abs=1e-12)


def test_a_gain_that_the_statistic_does_not_see_needs_no_draw(searched, monkeypatch):
    monkeypatch.setattr(searched, "light_gain", 0.0)
    told = null_test(searched, 99)
    assert (told.gain, told.draws, told.p_value, told.stopped) == (0.0, 0, 1.0, Stopped.UNSEEN)
    assert told.tested
    assert told.compressor
    assert not told.believed
    assert not told.provisional


def test_the_light_search_of_the_data_is_made_once_and_is_what_the_test_compares(searched, hidden_star):
    statistic = Null(searched.networks[0], hidden_star, lv.BDe(), searched.plan, None).statistic(hidden_star)
    assert searched.light_gain == statistic > 10
    assert null_test(searched, 1).gain == statistic


def test_one_more_is_looked_for_only_where_the_statistic_sees_one(hidden_star):
    again = begin(hidden_star, lv.BDe(), Plan(max_hidden=2, seed=3))
    assert next_hidden(again)
    sizes = again.found[-1].sizes
    assert Null(again.networks[-1], hidden_star, lv.BDe(), again.plan, sizes).statistic(hidden_star) <= 0
    assert not one_more(again)
    rng = np.random.default_rng(8)
    second = rng.integers(0, 2, 1500)
    codes = np.where(rng.random((5, 1500)) < 0.85, second, 1 - second)
    other = lv.Table.from_codes({f"z{i}": (0, 1) for i in range(5)}, codes)
    both = lv.Table((*hidden_star.columns, *other.columns), np.concatenate([hidden_star.codes, other.codes]))
    two = begin(both, lv.BDe(), Plan(max_hidden=2, seed=3))
    assert next_hidden(two)
    assert one_more(two)


def test_filling_changes_holes_only_and_fills_them_all():
    table = punched(lv.datasets.network("asia").sample(800, seed=5), 0.15, 6)
    full = filled(table, lv.BDe(), 4096, Plan(seed=0))
    seen = table.codes != table.missing
    assert full.n_missing == 0
    assert (full.codes[seen] == table.codes[seen]).all()
    assert (filled(table, lv.BDe(), 4096, Plan(seed=0)).codes == full.codes).all()


def test_filled_columns_keep_their_dependence():
    """Filled from each column alone, two columns that are nearly equal would seem to differ in every other hole."""
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2, 3000)
    b = a ^ (rng.random(3000) < 0.05)
    table = punched(lv.Table.from_codes({"a": (0, 1), "b": (0, 1)}, np.stack([a, b])), 0.2, 8)
    full = filled(table, lv.BDe(), 4096, Plan(seed=1))
    one_hole = (table.codes == table.missing).sum(axis=0) == 1
    assert (full.codes[0] != full.codes[1])[one_hole].mean() == pytest.approx(0.05, abs=0.025)


def test_the_g_statistic_is_scipys():
    table = lv.datasets.network("alarm").sample(500, seed=2).select(["HR", "CO", "BP"])
    counts = joint_counts(table, [0, 1])
    expected = chi2_contingency(counts, lambda_="log-likelihood", correction=False)
    g, freedom = g_statistic(counts)
    assert (g, freedom) == (pytest.approx(expected.statistic), expected.dof)
    strata = joint_counts(table, [2, 0, 1])
    parts = [g_statistic(part) for part in strata]
    assert g_statistic(strata) == (pytest.approx(sum(p[0] for p in parts)), sum(p[1] for p in parts))


def test_columns_of_a_hidden_cause_are_one_unexplained_group(hidden_star):
    groups = dependent_groups(hidden_star)
    assert frozenset(hidden_star.variables) in {group.members for group in groups}
    columns = {f"c{j}": (0, 1) for j in range(6)}
    apart = lv.Table.from_codes(columns, np.random.default_rng(0).integers(0, 2, (6, 2000)))
    assert not dependent_groups(apart)


def test_the_data_and_simulated_tables_are_judged_by_the_same_search(searched):
    """The tested gain is the statistic of the data themselves: as if they had been drawn."""
    tested = null_test(searched, 3)
    job = Null(searched.networks[0], searched.table, searched.score, searched.plan, None)
    assert tested.gain == job.statistic(searched.table)
    seeds = np.random.SeedSequence([searched.plan.seed, 7]).spawn(3)
    assert tested.null_gains == tuple(job.statistic(job.simulated(seed)) for seed in seeds)
    assert tested.gain == pytest.approx(searched.found[0].gain, rel=0.2), (
        "of a plain star the light search finds as much"
    )


def test_a_gain_is_believed_by_its_level():
    """With all draws that the level needs, p decides; with fewer, a gain that none reaches is believed for now."""
    full = evidence_of(20.0, [1.0] * 99, monte_carlo(20.0, [1.0] * 99, 99), 0.01)
    assert (full.p_value, full.accepted, full.provisional) == (0.01, True, False)
    assert full.p_interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 99)))
    once = [1.0] * 98 + [25.0]
    assert not evidence_of(20.0, once, monte_carlo(20.0, once, 99), 0.01).accepted
    assert evidence_of(20.0, once, monte_carlo(20.0, once, 99), 0.02).accepted
    few = evidence_of(20.0, [1.0] * 5, monte_carlo(20.0, [1.0] * 5, 5), 0.01)
    assert (few.accepted, few.provisional, few.needed, few.cut) == (True, True, 99, False)
    assert not evidence_of(20.0, [25.0], monte_carlo(20.0, [25.0], 1), 0.01).accepted
    cut = evidence_of(20.0, [1.0] * 18, None, 0.01)
    assert (cut.stopped, cut.cut, cut.believed) == (Stopped.BUDGET, True, False)
    assert evidence_of(20.0, [1.0] * 19, None, 0.01).believed
    assert not evidence_of(20.0, [], None, 0.01).tested
    assert Evidence(5.0, (9.0,), 1.0, accepted=False, tested=True).compressor


def test_draws_end_when_several_gain_as_much_and_those_after_a_cut_one_do_not_count():
    seeds = np.random.SeedSequence(0).spawn(99)
    keys = [("k", *seed.spawn_key) for seed in seeds]
    made: list[int] = []

    def draw(seed: np.random.SeedSequence) -> float:
        made.append(seed.spawn_key[-1])
        return 5.0

    alike = drawn_evidence(5.0, draw, seeds, keys, 0.01, Run())
    assert (alike.draws, alike.reached, alike.p_value, alike.stopped) == (3, 3, 1.0, Stopped.ALIKE)
    assert len(made) == 4
    cut = drawn_evidence(5.0, lambda seed: np.nan if seed.spawn_key[-1] == 2 else 1.0, seeds, keys, 0.01, Run())
    assert (cut.draws, cut.stopped) == (2, Stopped.BUDGET)


def test_the_null_test_accepts_a_hidden_cause_and_does_not_depend_on_the_workers(searched):
    evidence = null_test(searched, 4)
    assert evidence.accepted
    assert evidence.provisional
    assert evidence.p_value == pytest.approx(1 / 5)
    assert max(evidence.null_gains) < searched.found[0].gain
    assert null_test(replace(searched, run=Run.of(jobs=2)), 4) == evidence


def test_simulated_tables_have_the_shape_and_the_holes_of_the_data(searched, hidden_star):
    holed = punched(hidden_star, 0.1, 9)
    null = Null(searched.networks[0], holed, lv.BDe(), Plan(), None)
    drawn = null.simulated(np.random.SeedSequence(1))
    assert drawn.variables == holed.variables
    assert ((drawn.codes == drawn.missing) == (holed.codes == holed.missing)).all()


def test_a_stop_leaves_the_gain_untested(searched):
    stop = Stop()
    stop.ask()
    evidence = null_test(replace(searched, run=Run.of(stop=stop)), 19)
    assert len(evidence.null_gains) < 19
    assert evidence.stopped is Stopped.BUDGET


def test_held_out_gain_is_the_mean_over_folds_done_by_hand(searched, hidden_star):
    with_it, without = searched.networks[1], searched.networks[0]
    mean, (low, high) = held_out_gain(with_it, without, hidden_star, lv.BDe(), Plan(seed=5), folds=2)
    assert low < mean < high
    assert mean > 0
    fold = np.random.default_rng([5, 11]).permutation(hidden_star.n_rows) % 2
    total = 0.0
    for k in range(2):
        train, test = hidden_star.take(fold != k), hidden_star.take(fold == k)
        ours = lv.fit(
            with_it, train, hidden={"H1": with_it.cardinality("H1")}, initial=with_it, starts=1, prior=lv.BDe()
        ).network
        plain = lv.fit(without, train, prior=lv.BDe()).network
        total += ours.log_likelihood(test) - plain.log_likelihood(test)
    assert mean == pytest.approx(total / hidden_star.n_rows, abs=2e-4)


def test_states_are_explained_by_counting():
    truth = star(children=4, states=3)
    rows = truth.sample(1000, seed=3)
    data = rows.drop("h")
    certain = np.eye(3)[rows.column("h")]
    states = explain(truth, data, "h", certain)
    assert [state.prevalence for state in states] == pytest.approx((np.bincount(rows.column("h")) / 1000).tolist())
    for k, state in enumerate(states):
        inside = data.take(rows.column("h") == k)
        for column, shares in state.profile.items():
            counts = np.bincount(inside.column(column), minlength=len(shares)) / inside.n_rows
            assert list(shares.values()) == pytest.approx(counts.tolist())
        assert str(state.label) in str(state)


def test_a_hidden_cause_comes_back_in_resamples_and_its_links_with_it(searched, hidden_star):
    from leverrier.discovery.places.search import findings

    found = findings(searched)
    back = support(found, hidden_star, lv.BDe(), searched.plan, 2)["H1"]
    assert back.share == 1.0
    assert set(back.links) >= set(hidden_star.variables)
    assert min(back.links[name] for name in hidden_star.variables) >= 0.5


def test_a_resample_cut_short_by_time_says_nothing(searched, hidden_star):
    """A search that ended early found nothing for want of time: that is no sign against the variable."""
    from leverrier.discovery.places.search import findings

    for late in (Run(deadline=0.0), _LateInWorkers()):
        assert support(findings(searched), hidden_star, lv.BDe(), searched.plan, 2, late) == {}


class _LateInWorkers(Run):
    """Time here, none there."""

    def silent(self) -> Run:
        return Run(deadline=0.0)


def test_resamples_of_independent_columns_have_no_more_arcs_than_the_data():
    """Repeated rows double every statistic: counted as often as they are drawn they give dozens of arcs."""
    rng = np.random.default_rng(5)
    table = lv.Table.from_codes({f"c{i}": (0, 1, 2) for i in range(40)}, rng.integers(0, 3, (40, 1500)))
    repeated = table.take(rng.integers(0, 1500, 1500))
    arcs = [len(learn_structure(each, lv.BDe()).network.edges) for each in (table, drawn(table, rng), repeated)]
    assert max(arcs[:2]) <= 5
    assert arcs[2] > 20


@pytest.mark.parametrize("kind", ["plain", "counts", "fractions"])
def test_a_resample_holds_what_a_bootstrap_draw_holds(kind):
    rng = np.random.default_rng(0)
    weights = {"plain": None, "counts": np.full(2000, 5.0), "fractions": np.full(2000, 0.7)}[kind]
    table = replace(lv.Table.from_codes({"a": (0, 1)}, rng.integers(0, 2, (1, 2000))), weights=weights)
    shares = [drawn(table, np.random.default_rng(seed)).total / table.total for seed in range(20)]
    assert np.mean(shares) == pytest.approx(len(set(rng.integers(0, 10**5, 10**5).tolist())) / 10**5, abs=0.01)
    assert np.std(shares) > 0


def test_power_grows_with_rows_and_strength():
    network = learn_structure(lv.datasets.network("asia").sample(3000, seed=1)).network
    few = power(network, 150, lv.BDe(), Plan(seed=1))
    many = power(network, 6000, lv.BDe(), Plan(seed=1))
    assert few is not None
    assert many is not None
    assert list(many.shares.values()) == sorted(many.shares.values())
    assert sum(many.shares.values()) > sum(few.shares.values())
    assert "6,000 rows" in str(many)


@pytest.mark.parametrize("truth", ["classes", "arcs"])
def test_classes_are_told_from_arcs(truth):
    """Seven noisy copies of one class; or a chain of columns, each a copy of the one before."""
    rng = np.random.default_rng(11)
    if truth == "classes":
        h = rng.integers(0, 2, 400)
        codes = np.stack([h ^ (rng.random(400) < 0.12) for _ in range(7)])
    else:
        rows = [rng.integers(0, 2, 400)]
        for _ in range(6):
            rows.append(rows[-1] ^ (rng.random(400) < 0.12))
        codes = np.stack(rows)
    table = lv.Table.from_codes({f"v{i}": (0, 1) for i in range(7)}, codes)
    search = begin(table, lv.BDe(), Plan(max_hidden=1))
    found = whole_class(search, 19, level=0.05)
    assert (found is not None) == (truth == "classes")
    if found is not None:
        assert found.variable.states == 2
        assert found.evidence.p_value == pytest.approx(0.05)


def test_adjusted_rand_is_that_of_scikit_learn():
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(5)
    for rows, one, other in ((1, 1, 1), (2, 2, 1), (2, 2, 2), (30, 3, 5), (500, 4, 4), (500, 1, 3), (500, 1, 1)):
        for _ in range(20):
            a, b = rng.integers(0, one, rows), rng.integers(0, other, rows)
            mixed = np.where(rng.random(rows) < 0.7, a + 10, b)
            assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
            assert adjusted_rand(mixed, a) == pytest.approx(adjusted_rand_score(mixed, a), abs=1e-12)


@pytest.mark.parametrize("level", [0.0, 1.0, float("nan")])
def test_a_level_is_a_share(level):
    """A damaged file had 0: its words divided by it."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        Evidence(3.0, (0.0,), 0.5, level=level)
