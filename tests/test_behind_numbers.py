"""Hidden classes and continua behind numbers and states: EM, the factor on its Gram matrix, the rule, the route."""

import time

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis
from sklearn.mixture import GaussianMixture

import leverrier as lv
from leverrier.data.reading.read_table import as_table
from leverrier.discovery.numbers.number_filling import filled
from leverrier.discovery.numbers.number_rule import Ruling, weigh, weigh_more
from leverrier.discovery.verdict import Reason
from leverrier.errors import OptionError
from leverrier.kernels.mixed.logit_passes import ordered_pass, unordered_pass
from leverrier.kernels.mixed.place_steps import to_shares
from leverrier.learning.behind.ascent import ascend
from leverrier.learning.behind.child_fits import fitted
from leverrier.learning.behind.every_child import EveryChild
from leverrier.learning.behind.factor_ascent import ascend_factor, by_itself, on_nodes, row_scores, score_weights
from leverrier.learning.behind.ordinals import climb_logit, start_theta
from leverrier.learning.mixed.learn_mixed import space_of
from leverrier.models.behind.block import Block, add_number, add_states
from leverrier.models.behind.child_density import posterior_of, row_logs
from leverrier.models.behind.links import Link, classes, continuum
from leverrier.models.behind.logit_chances import probabilities


def block(numbers, states=()):
    """Numbers as columns, states as (codes, how many, ordered)."""
    rows = len(numbers)
    design = [np.ones(rows)]
    seen = {f"x{j}": add_number(design, f"x{j}", x, None, None) for j, x in enumerate(numbers.T)}
    for j, (codes, count, ordered) in enumerate(states):
        scores = codes - codes.mean() if ordered else None
        seen[f"s{j}"] = add_states(design, f"s{j}", codes, count, scores)
    return Block(np.column_stack(design), seen)


def halves(values):
    return np.where((values > np.median(values))[:, None], [0.1, 0.9], [0.9, 0.1])


@pytest.fixture(scope="module")
def factor_rows():
    rng = np.random.default_rng(0)
    f = rng.normal(size=1000)
    x = np.column_stack([a * f + rng.normal(size=1000) for a in (0.9, 0.7, 1.1, -0.8, 0.5)])
    return (x - x.mean(axis=0)) / x.std(axis=0), f


def test_one_factor_has_the_likelihood_of_factor_analysis(factor_rows):
    x, _ = factor_rows
    links = tuple(Link(f"x{j}") for j in range(5))
    found = ascend_factor(block(x), links, floor=False, close=1e-10, most=5000)
    other = FactorAnalysis(1, tol=1e-12, max_iter=5000).fit(x)
    assert found.log_likelihood == pytest.approx(other.score(x) * len(x), abs=1e-6)
    assert np.diff(found.trace).min() > -1e-8
    assert np.abs(found.loadings) == pytest.approx(np.abs(other.components_[0]), abs=1e-4)


def test_row_scores_are_those_of_fine_nodes_and_know_their_error(factor_rows):
    x, f = factor_rows
    rows = block(x)
    found = ascend_factor(rows, tuple(Link(f"x{j}") for j in range(5)))
    mean, error = row_scores(rows, found)
    nodes = on_nodes(found)
    share, logs = posterior_of(row_logs(rows, nodes.latent, nodes.links, nodes.fits))
    at = nodes.latent.basis[:, 0]
    near = np.abs(mean) < 2.5  # (beyond, the nodes' end is felt)
    assert (share @ at)[near] == pytest.approx(mean[near], abs=2e-3)
    assert logs.sum() == pytest.approx(found.log_likelihood, abs=0.05)
    side = np.sign(np.corrcoef(mean, f)[0, 1])
    assert np.mean(np.abs(side * mean - f) < 1.96 * error) == pytest.approx(0.95, abs=0.03)


def test_a_class_behind_numbers_is_the_mixture_with_diagonal_covariances():
    rng = np.random.default_rng(1)
    h = rng.integers(0, 2, 800)
    x = np.column_stack([2.0 * h * s + (1 + 0.5 * h) * rng.normal(size=800) for s in (1, -1, 1)])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    links = tuple(Link(f"x{j}", mode="all") for j in range(3))
    found = ascend(block(x), classes(np.full(2, 0.5)), links, halves(x[:, 0]), close=1e-7, most=2000)
    other = GaussianMixture(2, covariance_type="diag", tol=1e-10, max_iter=5000, n_init=3, random_state=0).fit(x)
    # (ours has four more residuals of 0.3 in each variance, which costs a little)
    assert other.score(x) * 800 - 1.0 < found.log_likelihood <= other.score(x) * 800 + 1e-6


@pytest.mark.parametrize("modes", [("shift", "table", "logit"), ("all", "table", "table"), ("shift", "logit", "logit")])
def test_em_never_falls_whatever_hangs_on_it(modes):
    rng = np.random.default_rng(2)
    h = rng.integers(0, 2, 500)
    x = np.column_stack([1.5 * h + rng.normal(size=500) for _ in range(3)])
    yes = (rng.random(500) < np.where(h, 0.8, 0.3)).astype(np.int64)
    steps = np.searchsorted([-1.0, 0.0, 1.5], 1.5 * h + rng.logistic(size=500))
    rows = block(x, [(yes, 2, False), (steps, 4, True)])
    links = (
        *(Link(f"x{j}", ("s0",) if j == 1 else (), 0, modes[0]) for j in range(3)),
        Link("s0", ("x0",) if modes[1] == "logit" else (), 0, modes[1]),
        Link("s1", (), 0, modes[2]),
    )
    found = ascend(rows, classes(np.full(2, 0.5)), links, halves(x.sum(axis=1)), close=1e-6, most=200)
    assert np.diff(found.trace).min() > -1e-5
    assert (found.posterior.argmax(axis=1) == h).mean() > 0.85


def test_a_continuum_on_nodes_reaches_the_exact_one(factor_rows):
    x, _ = factor_rows
    rows, latent = block(x), continuum()
    links = tuple(Link(f"x{j}") for j in range(5))
    begun = np.exp(-0.5 * ((latent.basis[:, 0] - x[:, 0][:, None]) / 0.6) ** 2)
    found = ascend(rows, latent, links, begun / begun.sum(axis=1, keepdims=True), close=1e-4, most=500)
    exact = ascend_factor(rows, links, close=1e-6, most=5000)
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=0.1)


@pytest.mark.parametrize("ordered", [True, False])
def test_logits_stand_where_their_slope_is_none(ordered):
    rng = np.random.default_rng(3)
    features, weights = rng.normal(size=(60, 2)), rng.uniform(0, 3, (60, 4))
    none, states = np.empty((0, 4)), np.arange(4)
    begun = start_theta(weights.sum(axis=0), 2, ordered)
    theta, reached, logs = climb_logit(begun, features, none, states, np.array([0, 4]), weights, 4, ordered, 100)

    def value(at):
        return (weights * np.log(probabilities(at, features, 4, ordered))).sum() - 0.5e-3 * at @ at

    assert reached - 0.5e-3 * theta @ theta == pytest.approx(value(theta), abs=1e-9)
    assert logs == pytest.approx(np.log(probabilities(theta, features, 4, ordered)))
    few = [climb_logit(begun, features, none, states, np.array([0, 4]), weights, 4, ordered, n) for n in (1, 2, 3)]
    for some, own, told in few:  # (however many steps: what is told is of where they end)
        assert told == pytest.approx(np.log(probabilities(some, features, 4, ordered)))
        assert own == pytest.approx((weights * told).sum())
    each = np.eye(len(theta)) * 1e-5
    slopes = [(value(theta + step) - value(theta - step)) / 2e-5 for step in each]
    assert np.abs(slopes).max() < 0.02
    assert all(value(theta) >= value(theta + 0.05 * rng.normal(size=len(theta))) for _ in range(20))


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("ordered", [True, False])
def test_a_pass_over_cases_has_the_slopes_of_its_value(ordered, alike):
    """Against differences of the readable densities, terms beside the places; rows alone, and some with like terms."""
    rng = np.random.default_rng(4)
    basis, terms = rng.normal(size=(3, 2)), rng.normal(size=(2, 40))
    begins = np.arange(41)
    if alike:
        begins = np.array([0, 1, 5, 6, 20, 40])
        terms = np.repeat(terms[:, :5], np.diff(begins), axis=1)
    codes, share = rng.integers(0, 4, 40), rng.random((3, 40))
    theta = 0.3 * rng.normal(size=3 + (4 if ordered else 12))
    features = np.concatenate([np.repeat(basis, 40, axis=0), np.tile(terms.T, (3, 1))], axis=1)

    def value(at):
        chances = probabilities(at, features, 4, ordered).reshape(3, 40, 4)[:, np.arange(40), codes]
        return (share * np.log(chances)).sum()

    slope, bend = np.empty(len(theta)), np.empty((len(theta), len(theta)))
    reached = (ordered_pass if ordered else unordered_pass)(theta, basis, terms, codes, begins, share, 4, slope, bend)
    each = np.eye(len(theta)) * 1e-6
    assert reached == pytest.approx(value(theta), abs=1e-9)
    assert slope == pytest.approx([(value(theta + e) - value(theta - e)) / 2e-6 for e in each], abs=1e-6)
    assert np.linalg.eigvalsh(bend).min() > 0
    if ordered:  # (the expected information is the sum over states of P′ P′ᵀ / P)
        wanted = np.zeros((len(theta), len(theta)))
        for k in range(len(basis)):
            for row in range(len(codes)):
                case = np.concatenate([basis[k], terms[:, row]])[None]
                now, up, down = (
                    np.array([probabilities(at, case, 4, True)[0] for at in where])
                    for where in ([theta], theta + each, theta - each)
                )
                by = (up - down) / 2e-6
                wanted += share[k, row] * (by / now[0]) @ by.T
        assert bend == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    if not ordered:  # (of a multinomial logit the expected information is minus the second derivative)

        def slopes(at):
            found = np.empty(len(theta))
            unordered_pass(at, basis, terms, codes, begins, share, 4, found, np.empty_like(bend))
            return found

        second = np.array([(slopes(theta + e) - slopes(theta - e)) / 2e-6 for e in each])
        assert bend == pytest.approx(-second, abs=1e-5)


@pytest.fixture(scope="module")
def two_factor_rows():
    """Two traits that go together, four columns each."""
    rng = np.random.default_rng(12)
    first = rng.normal(size=1500)
    second = 0.45 * first + np.sqrt(1 - 0.45**2) * rng.normal(size=1500)
    loads = np.array([0.8, 0.75, 0.7, 0.8])
    noise = np.sqrt(1 - loads**2)
    x = np.hstack([f[:, None] * loads + noise * rng.normal(size=(1500, 4)) for f in (first, second)])
    return (x - x.mean(axis=0)) / x.std(axis=0)


def test_a_continuum_below_another_is_a_model_of_two_factors_that_go_together(two_factor_rows):
    """The first one's columns, then the second's given them, have the density of both factors with a correlation."""
    x = two_factor_rows
    rows = block(x)
    tight = {"floor": False, "close": 1e-10, "most": 5000}
    upper = ascend_factor(rows, tuple(Link(f"x{j}") for j in range(4)), **tight)
    weights, left = score_weights(rows, upper)
    below = ascend_factor(rows, tuple(Link(f"x{j}") for j in range(4, 8)), above=weights[None], **tight)
    assert np.diff(below.trace).min() > -1e-8
    slope = float(below.slopes[0])
    width = np.sqrt(1 + slope**2 * (1 - left))
    loadings = np.zeros((8, 2))
    loadings[:4, 0], loadings[4:, 1] = upper.loadings, below.loadings * width
    together = slope / width
    covariance = loadings @ np.array([[1, together], [together, 1]]) @ loadings.T
    covariance += np.diag(np.concatenate([upper.variances, below.variances]))
    exact = multivariate_normal(np.zeros(8), covariance).logpdf(x).sum()
    assert upper.log_likelihood + below.log_likelihood == pytest.approx(exact, abs=1e-6)
    assert abs(together) == pytest.approx(0.45, abs=0.07)
    assert by_itself(rows, below).loadings == pytest.approx(loadings[4:, 1], rel=1e-3)


def test_two_continua_that_go_together_are_both_told(two_factor_rows):
    columns = {f"x{j}": column for j, column in enumerate(two_factor_rows[:1000].T)}
    found = lv.discover(columns, draws=0, resamples=0, jobs=1)
    assert {frozenset(each.children) for each in found.hidden} == {
        frozenset(f"x{j}" for j in range(4)),
        frozenset(f"x{j}" for j in range(4, 8)),
    }
    assert all(str(each.kind) == "continuum" for each in found.hidden)


def test_one_more_is_weighed_against_all_that_arcs_can_say_beside_the_first():
    """Arcs between the children of the first are not for the second to bring back (they gained it 279 nats)."""
    rng = np.random.default_rng(5)
    h, columns = rng.integers(0, 2, 600), {}
    for i in range(5):
        columns[f"a{i}"] = np.where(rng.random(600) < 0.85, h, 1 - h)
    before = rng.integers(0, 3, 600)
    for i in range(4):
        before = np.where(rng.random(600) < 0.6, before, rng.integers(0, 3, 600))
        columns[f"b{i}"] = before
    found = weigh(space_of(as_table(columns), 0), 0)
    assert found.chosen is not None
    assert set(found.chosen.children) == {f"a{i}" for i in range(5)}
    more = weigh_more(found, [found.chosen], 0)
    assert more.told is Ruling.NOTHING
    of_class = more.hunted.of_class
    for child in found.chosen.children:
        assert of_class is None or of_class.parents[child] == more.rival.parents[child] == found.chosen.parents[child]


def test_all_children_together_are_fitted_as_one_by_one():
    rng = np.random.default_rng(6)
    states = [(rng.integers(0, 3, 300), 3, True), (rng.integers(0, 2, 300), 2, False)]
    rows = block(rng.normal(size=(300, 4)), states)
    links = (
        Link("x0", ("x3",), 0, "shift"),
        Link("x1", ("x3", "s1"), 0, "all"),
        Link("s0", ("x3",), 0, "logit"),
        Link("s1", (), 0, "table"),
    )
    posterior = rng.dirichlet(np.ones(3), 300)
    latent = classes(np.array([0.5, 0.2, 0.3]))
    together = EveryChild(rows, 3, links)
    logs = together.step(latent, np.ascontiguousarray(posterior.T))
    one_by_one = tuple(fitted(rows, latent, link, posterior) for link in links)
    expected = row_logs(rows, latent, links, one_by_one)
    assert logs.T + together.slope_total / 300 == pytest.approx(expected, abs=1e-9)
    assert row_logs(rows, latent, links, together.fits()) == pytest.approx(expected, abs=1e-9)
    share, each = posterior_of(expected)
    assert to_shares(logs) + together.slope_total == pytest.approx(each.sum(), abs=1e-8)
    assert np.abs(logs.T - share).max() < 1e-12


def test_a_parent_with_more_values_than_codes_is_read_row_by_row():
    """A count of many values has few codes: rows of one code are not alike in its score, and a logit of it must not
    take the first row's for all of them (which let a child choose its parent's value)."""
    rng = np.random.default_rng(8)
    fine = rng.integers(0, 15, 400)
    child = np.digitize(0.4 * fine + rng.logistic(size=400), [2.0, 4.0])
    design = [np.ones(400)]
    seen = {
        "fine": add_states(design, "fine", fine // 5, 3, (fine - 7.0) / 4),
        "child": add_states(design, "child", child, 3, child - 1.0),
    }
    rows = Block(np.column_stack(design), seen)
    links = (Link("child", ("fine",), 0, "logit"),)
    found = ascend(rows, classes(np.array([0.4, 0.6])), links, rng.dirichlet(np.ones(2), 400))
    logs = row_logs(rows, found.latent, found.links, found.fits)
    assert found.log_likelihood == pytest.approx(posterior_of(logs)[1].sum(), abs=1e-9)


def body(rng, rows=600):
    sex = rng.integers(0, 2, rows)
    age, height = rng.uniform(20, 80, rows), 164 + 12 * sex + 6.5 * rng.normal(size=rows)
    weight = 0.9 * (height - 100) + 11 * rng.normal(size=rows)
    pressure = 90 + 0.4 * age + 0.3 * (weight - 70) + 9 * rng.normal(size=rows)
    return {"sex": np.array(["f", "m"])[sex], "age": age, "height": height, "weight": weight, "bp": pressure}


def lognormal_chain(rng, rows=600):
    x = [rng.normal(size=rows)]
    for _ in range(3):
        x.append(0.8 * x[-1] + 0.6 * rng.normal(size=rows))
    return {f"x{j}": np.exp(each) for j, each in enumerate(x)}


def independent_t(rng, rows=600):
    return {f"x{j}": rng.standard_t(3, rows) for j in range(5)}


def planted_class(rng, rows=600, apart=1.5):
    h = rng.integers(0, 2, rows)
    return {f"x{j}": np.exp(0.5 * (apart * h + rng.normal(size=rows))) for j in range(5)}, h


@pytest.mark.parametrize("make", [body, lognormal_chain, independent_t])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_all_observed_is_nothing_hidden(make, seed):
    found = weigh(space_of(lv.read_table(make(np.random.default_rng(seed)))), 0)
    assert found.told == "nothing"


def test_holes_do_not_make_something_hidden():
    rng = np.random.default_rng(4)
    table = {k: np.where(rng.random(300) < 0.2, np.nan, v) for k, v in lognormal_chain(rng, 300).items()}
    space = space_of(lv.read_table(table))
    whole = filled(space, 0)
    assert all(column.complete for column in whole.columns)
    first, again = space.columns[0], whole.columns[0]
    assert np.array_equal(first.scores[~first.holes], again.scores[~first.holes])
    assert weigh(whole, 0).told == "nothing"


def test_a_planted_class_is_found_with_its_rows_and_kept(tmp_path):
    table, h = planted_class(np.random.default_rng(5), 400, 2.0)
    found = lv.discover(table, draws=1, resamples=0, jobs=1)
    one = found.hidden[0]
    assert str(found.verdict) == "found"
    assert (one.kind, one.states, set(one.children)) == ("class", 2, set(table))
    assert one.evidence.held_out_interval[0] > 0
    right = (found.posterior(table).argmax(axis=1) == h).mean()
    assert max(right, 1 - right) > 0.9
    path = tmp_path / "found.json"
    found.save(path)
    again = lv.load(path)
    assert str(again) == str(found)
    assert again.posterior(table) == pytest.approx(found.posterior(table), abs=1e-12)
    found.report(tmp_path / "found.html", live=False)
    assert "H1" in (tmp_path / "found.html").read_text()


def test_a_planted_continuum_is_told_from_a_class_and_has_scores():
    rng = np.random.default_rng(6)
    f = rng.normal(size=1000)
    table = {f"x{j}": a * f + rng.normal(size=1000) for j, a in enumerate((0.9, 1.1, 0.8, 1.2, 1.0))}
    found = lv.discover(table, evidence=False)
    one = found.hidden[0]
    assert str(found.verdict) == "not tested"
    assert (one.kind, one.states) == ("continuum", 0)
    scores, errors = found.scores(table)
    assert abs(np.corrcoef(scores, f)[0, 1]) > 0.85
    assert errors == pytest.approx(np.sqrt(np.mean((np.sign(scores @ f) * scores - f) ** 2)), rel=0.1)
    assert set(found.states_of(table)) == {"H1", "H1_error"}
    with pytest.raises(OptionError, match="continuum"):
        found.posterior(table)


def test_two_columns_cannot_tell_a_class_from_an_arc():
    rng = np.random.default_rng(2)
    h = rng.integers(0, 2, 300)
    found = lv.discover({"a": 3 * h + rng.normal(size=300), "b": 4 * h + rng.normal(size=300)}, jobs=1)
    assert str(found.verdict) == "undecided"
    assert found.verdict.reason is Reason.FEW_VIEWS
    apart = lv.discover({"a": rng.normal(size=300), "b": rng.normal(size=300)}, jobs=1)
    assert str(apart.verdict) == "nothing"


def test_a_budget_cuts_the_search_itself():
    rng = np.random.default_rng(3)
    f = rng.normal(size=2000)
    table = {f"x{j}": f * (j % 3) + rng.normal(size=2000) + (0.5 * f**2 if j % 2 else 0) for j in range(20)}
    begun = time.monotonic()
    found = lv.discover(table, budget=1.0, jobs=1)
    assert time.monotonic() - begun < 10  # (whole it takes many times this; what is begun is ended)
    assert str(found.verdict) in ("undecided", "not tested")


def test_two_continua_are_both_found():
    rng = np.random.default_rng(4)
    f, g = rng.normal(size=(2, 1500))
    table = {f"x{j}": (f if j < 5 else g) * 0.9 + rng.normal(size=1500) for j in range(10)}
    found = lv.discover(table, jobs=1, evidence=False)
    assert [h.kind for h in found.hidden] == ["continuum", "continuum"]
    assert {frozenset(h.children) for h in found.hidden} == {
        frozenset(f"x{j}" for j in range(5)),
        frozenset(f"x{j}" for j in range(5, 10)),
    }


def test_any_number_of_workers_gives_the_same_answer():
    rng = np.random.default_rng(5)
    h = rng.integers(0, 2, 400)
    table = {f"x{j}": 2 * h + rng.normal(size=400) for j in range(4)}
    one, two = (lv.discover(table, jobs=jobs, draws=5, resamples=1) for jobs in (1, 2))
    assert one.hidden[0].evidence == two.hidden[0].evidence
    assert one.hidden[0].gain == two.hidden[0].gain
