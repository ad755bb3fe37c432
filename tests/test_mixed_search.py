"""The search over mixed columns, and the network it gives: graph, units, files, holes, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import leverrier as lv
from leverrier.errors import OptionError
from leverrier.learning.mixed.learn_mixed import learn_mixed, space_of
from leverrier.learning.mixed.mixed_scores import EachAlone, MixedScores
from leverrier.learning.mixed.mixed_search import Limits, climb, mixed_search
from leverrier.models.graph import Graph


def body(n=1500, seed=0):
    """Sex drives height, height weight, age and weight blood pressure, pressure illness; nothing hidden."""
    r = np.random.default_rng(seed)
    sex = r.integers(0, 2, n)
    height = 165 + 13 * sex + 6 * r.standard_normal(n)
    age = r.gamma(4, 10, n)
    weight = 0.9 * (height - 100) * np.exp(0.12 * r.standard_normal(n))
    pressure = 90 + 0.5 * age + 0.4 * weight + 7 * r.standard_normal(n)
    ill = np.where(r.random(n) < stats.logistic.cdf((pressure - 135) / 6), "yes", "no")
    columns = {"sex": np.where(sex == 1, "m", "f"), "height": height.round(1), "age": age, "weight": weight}
    return pd.DataFrame({**columns, "pressure": pressure, "ill": ill})


@pytest.fixture(scope="module")
def found():
    return lv.learn_structure(body(), families="auto")


def links(network):
    return {frozenset(edge) for edge in network.edges}


def test_the_arcs_that_made_the_table_are_found(found):
    wanted = [("sex", "height"), ("height", "weight"), ("age", "pressure"), ("weight", "pressure"), ("pressure", "ill")]
    assert links(found.network) == {frozenset(edge) for edge in wanted}
    assert found.network.kind("pressure") in ("linear", "hinges", "squares")
    assert found.network.explain("pressure").startswith("pressure")
    assert found.status.converged


def test_samples_are_in_the_users_units(found):
    drawn, given = found.network.sample(1500, seed=1).to_pandas(), body()
    assert list(drawn.columns) == list(given.columns)
    for name in ("height", "age", "weight", "pressure"):
        assert stats.ks_2samp(drawn[name], given[name]).pvalue > 1e-4
    assert set(drawn["sex"]) == {"f", "m"}
    assert (drawn["height"].round(1) == drawn["height"]).all()
    ours, theirs = (f[["height", "weight", "age", "pressure"]].corr("spearman").to_numpy() for f in (drawn, given))
    assert np.abs(ours - theirs).max() < 0.08
    assert found.network.sample(0).n_rows == 0


def test_the_score_is_the_log_likelihood_less_what_was_paid(found):
    space = space_of(lv.read_table(body()))
    scores = MixedScores(space, 0.5 * np.log(len(space)))
    place = {name: at for at, name in enumerate(space.names)}
    parents = [frozenset(place[p] for p in found.network.parents(name)) for name in space.names]
    assert scores.total(parents) == pytest.approx(found.score)
    fitted = [scores.fitted(c, above) for c, above in enumerate(parents)]
    arcs = sum(map(len, parents))
    assert found.score == pytest.approx(sum(f.log_likelihood - f.paid for f in fitted) - arcs * scores.arc_price)
    # the table's own rows, by way of the margins: the same but for ties
    assert found.network.log_likelihood(body()) == pytest.approx(sum(f.log_likelihood for f in fitted), rel=2e-3)


def test_densities_in_the_users_units_follow_a_change_of_units(found):
    rows = body()
    tall = rows.assign(age=rows["age"] * 12)
    other = lv.learn_structure(tall, families="auto").network
    assert other.log_likelihood(tall) == pytest.approx(found.network.log_likelihood(rows))
    moved = other.log_likelihood(tall, units="own") - found.network.log_likelihood(rows, units="own")
    assert moved == pytest.approx(-len(rows) * np.log(12), rel=1e-6)


def test_posteriors_and_predictions_tell_the_rows(found):
    rows = body(seed=5, n=400)
    shares = found.network.posterior(rows, "sex")
    assert shares.sum(axis=1) == pytest.approx(1)
    assert ((shares[:, 1] > 0.5) == (rows["sex"] == "m")).mean() > 0.8
    told = found.network.predict(rows.head(120), "pressure")
    inside = (rows["pressure"].head(120) >= told["low"]) & (rows["pressure"].head(120) <= told["high"])
    assert 0.8 < inside.mean() <= 1
    with pytest.raises(lv.OptionError, match="is a number"):
        found.network.posterior(rows, "age")
    with pytest.raises(lv.OptionError, match="has states"):
        found.network.predict(rows, "sex")


def test_the_network_comes_back_from_json_and_pickle_and_bif_is_refused(found, tmp_path):
    network = found.network
    lv.write_network(network, tmp_path / "m.json")
    again = lv.read_mixed_network(tmp_path / "m.json")
    assert again == network
    assert again.log_likelihood(body()) == network.log_likelihood(body())
    assert pickle.loads(pickle.dumps(network)) == network
    assert again.dimension == network.dimension
    for suffix in ("bif", "xml"):
        with pytest.raises(lv.FormatError, match=r"cannot say numbers.*\.json"):
            lv.write_network(network, tmp_path / f"m.{suffix}")
    with pytest.raises(lv.FormatError, match="read_mixed_network"):
        lv.read_network(tmp_path / "m.json")
    lv.write_network(lv.datasets.network("asia"), tmp_path / "a.json")
    with pytest.raises(lv.FormatError, match="read_network"):
        lv.read_mixed_network(tmp_path / "a.json")


@pytest.mark.parametrize("spoilt", ['"kind": "linear"', '"coefficients"', '"margin"', '"values"', '"parents"'])
def test_a_spoilt_file_is_refused_in_one_line(found, tmp_path, spoilt):
    lv.write_network(found.network, tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    assert spoilt in text or spoilt == '"kind": "linear"'
    (tmp_path / "m.json").write_text(
        text.replace(spoilt, '"x"' if spoilt != '"kind": "linear"' else '"kind": "odd"', 1)
    )
    if text != (tmp_path / "m.json").read_text():
        with pytest.raises(lv.FormatError) as raised:
            lv.read_mixed_network(tmp_path / "m.json")
        assert "\n" not in str(raised.value)


def test_the_same_seed_gives_the_same_network():
    one, two = (learn_mixed(lv.read_table(body(600)), seed=3) for _ in range(2))
    assert one.network == two.network
    assert one.score == two.score


def test_the_climb_ends_where_no_single_change_gains():
    scores = MixedScores(space_of(lv.read_table(body(500))))
    best = climb(scores, (frozenset(),) * 6)
    for child, above in enumerate(best):
        for p in above:
            assert scores.family(child, above - {p}) <= scores.family(child, above) + 1e-6


def test_starts_are_climbed_from_and_limits_hold():
    table = lv.read_table(body(500))
    start = Graph.from_edges(table.variables, [("height", "sex"), ("weight", "height"), ("sex", "age")])
    free = learn_mixed(table)
    begun = learn_mixed(table, starts=[start])
    assert begun.score >= free.score - 1e-6
    bound = learn_mixed(
        table, required=[("age", "sex")], forbidden=[("height", "weight"), ("weight", "height")], max_parents=2
    )
    assert ("age", "sex") in bound.network.edges
    assert frozenset(("height", "weight")) not in links(bound.network)
    assert max(len(bound.network.parents(v)) for v in table.variables) <= 2
    with pytest.raises(lv.OptionError, match="no column that varies"):
        learn_mixed(table, required=[("age", "nobody")])


def test_columns_of_very_many_states_that_no_family_joins_stay_apart():
    """Forty countries by thirty jobs are too many cells for a table and too many slopes for a logit."""
    r = np.random.default_rng(0)
    country, job = r.integers(0, 40, 1500), r.integers(0, 30, 1500)
    told = {"country": [f"c{k}" for k in country], "job": [f"j{k}" for k in job], "age": r.normal(40, 10, 1500)}
    scores = MixedScores(space_of(lv.read_table(pd.DataFrame(told))))
    assert scores.family(0, {1}) == -np.inf
    assert scores.family(0, ()) == pytest.approx(scores.fitted(0, ()).score)
    network = learn_mixed(lv.read_table(pd.DataFrame(told))).network
    assert not {("country", "job"), ("job", "country")} & set(network.edges)


def test_search_stops_when_told():
    scores = MixedScores(space_of(lv.read_table(body(300))))
    assert mixed_search(scores, limits=Limits(stop=lambda: True)) == (frozenset(),) * 6


def test_holes_leave_the_arcs_where_they_are():
    rows = body(2000, seed=2)
    r = np.random.default_rng(0)
    for name in rows.columns:
        rows.loc[r.random(len(rows)) < 0.15, name] = None
    found = lv.learn_structure(rows, families="auto")
    wanted = [("sex", "height"), ("height", "weight"), ("age", "pressure"), ("weight", "pressure"), ("pressure", "ill")]
    assert {frozenset(edge) for edge in wanted} <= links(found.network)
    assert any("missing" in note for note in found.notes)
    assert np.isfinite(found.network.log_likelihood(rows.head(50)))


def test_a_table_of_states_alone_is_what_it_was():
    data = lv.datasets.network("asia").sample(1000, seed=0)
    plain, auto = lv.learn_structure(data), lv.learn_structure(data, families="auto")
    assert type(auto.network) is lv.Network
    assert plain.network == lv.learn_structure(data, families="tables").network


NASTY = {
    "constant": {"x": np.ones(200), "y": np.arange(200.0) ** 1.5},
    "twice": {"x": np.random.default_rng(0).standard_normal(200), "y": np.random.default_rng(0).standard_normal(200)},
    "nearly constant": {"x": np.r_[np.zeros(198), 1.5, 2.5], "y": np.random.default_rng(1).standard_normal(200)},
    "huge": {
        "x": np.random.default_rng(2).standard_normal(200) * 1e120,
        "y": np.random.default_rng(3).standard_normal(200),
    },
    "tiny": {
        "x": 1 + np.random.default_rng(2).standard_normal(200) * 1e-13,
        "y": np.random.default_rng(3).standard_normal(200),
    },
    "collinear": (lambda z: {"a": z[0], "b": z[1], "c": z[0] + z[1], "d": z[0] - z[1], "e": 2 * z[0]})(
        np.random.default_rng(4).standard_normal((2, 200))
    ),
    "wide": {f"x{j}": np.random.default_rng(j).standard_normal(15) for j in range(30)},
    "few rows": {"x": np.array([0.5, 1.5, 2.25, 1.0, 0.1, 9.0]), "y": np.array([1.1, 0.2, 0.7, 4.0, 2.0, 1.0])},
}


@pytest.mark.parametrize("case", NASTY)
def test_bad_input_has_a_finite_answer(case):
    columns = NASTY[case]
    table = lv.read_table(pd.DataFrame(columns), types={v: "number" for v in columns if len(set(columns[v])) > 1})
    found = learn_mixed(table)
    assert np.isfinite(found.score)
    assert np.isfinite(found.network.log_likelihood(table))
    assert np.all(np.isfinite(np.column_stack([*found.network.sample(20).numbers.values()])))


def test_a_table_in_which_nothing_varies_is_refused_in_one_line():
    with pytest.raises(lv.TableError, match="no column of the table varies"):
        learn_mixed(lv.Table.from_codes({"a": ("x", "y")}, np.zeros((1, 9), int)))


def test_families_fitted_alone_are_those_fitted_together():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=400), rng.integers(0, 3, 400)
    x = np.exp(0.5 * a**2 + 0.3 * b + 0.4 * rng.normal(size=400))
    table = {"x": x, "a": a, "b": np.array(list("pqr"))[b], "c": np.where(rng.random(400) < 0.2, np.nan, a + x)}
    space = space_of(lv.read_table(table))
    together, alone = MixedScores(space, 0.7), EachAlone(space, 0.7)
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, (0, 1)), (3, (0, 1)), (0, ())]:
        assert alone.family(child, parents) == pytest.approx(together.family(child, parents), abs=1e-6)
        assert alone.fitted(child, parents).family.kind == together.fitted(child, parents).family.kind


@pytest.mark.parametrize("option", [{"method": "ges"}, {"tabu": 5}, {"max_moves": 3}, {"work": 10}, {"region": ["a"]}])
def test_options_of_tables_alone_are_refused_with_numbers(option):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=60), "b": rng.normal(size=60)}
    with pytest.raises(OptionError, match=rf"^{next(iter(option))}= is for tables of states alone"):
        lv.learn_structure(table, families="auto", **option)


def test_restarts_are_searches_begun_anew():
    rng = np.random.default_rng(1)
    a = rng.normal(size=200)
    table = {"a": a, "b": a + rng.normal(size=200), "c": a**2 + rng.normal(size=200)}
    few, many = (lv.learn_structure(table, families="auto", restarts=r) for r in (1, 6))
    assert many.score >= few.score - 1e-9
