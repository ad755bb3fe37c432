"""The scikit-learn estimators: scikit-learn's own checks, and agreement with the functions inside."""

import inspect
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import leverrier as lv
import leverrier.estimators
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.estimators import GaussianMixtures, HiddenCauses, HiddenMarkov, HiddenVariables, LatentClasses
from leverrier.learning.chains.hidden_markov import hidden_markov
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as simulated_causes

CHECKED = [
    LatentClasses(states=(1, 2), starts=2),
    HiddenVariables(max_hidden=1, max_parents=2, jobs=1),
    HiddenCauses(sweeps=20, chains=1, binarize=0.5, jobs=1),
    GaussianMixtures(components=(1, 2), starts=2),
    HiddenMarkov(states=2),
]
NOT_ROWS = "rows are moments of a sequence: what is said of one depends on those before and after it"
STAYS = "a row of weight 0 stays in the table: its labels and numbers still are states and bins"
EXCEPTIONS = {
    "LatentClasses": {"check_sample_weight_equivalence_on_dense_data": STAYS},
    "HiddenMarkov": {"check_methods_subset_invariance": NOT_ROWS, "check_methods_sample_order_invariance": NOT_ROWS},
}
"""The checks that do not apply, with the reasons. There are no others."""


STRICT = {"xfail_strict": True} if "xfail_strict" in inspect.signature(parametrize_with_checks).parameters else {}


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda each: EXCEPTIONS.get(type(each).__name__, {}), **STRICT)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def survey(n_rows=400, seed=0):
    """Six questions that a hidden group answers differently, some left blank, and the group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n_rows)
    words = [("no", "yes"), ("low", "high"), ("red", "blue")]
    columns = {}
    for place in range(6):
        answer = rng.random(n_rows) < np.where(group, 0.85, 0.15)
        cells = np.array(words[place % 3], dtype=object)[answer.astype(int)]
        cells[rng.random(n_rows) < 0.05] = None
        columns[f"q{place}"] = cells.tolist()
    return columns, group


def points(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 2)) + 5 * rng.integers(0, 2, (n_rows, 1))
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


def diary(seed=0):
    """Six people, fifty days each, and a mood that lasts."""
    rng = np.random.default_rng(seed)
    mood = np.repeat(rng.integers(0, 2, 60), 5)
    talk = np.where(rng.random(300) < 0.2 + 0.6 * mood, "no", "yes")
    days = np.tile(np.arange(50), 6)
    who = np.repeat([f"person {k}" for k in range(6)], 50)
    return pd.DataFrame({"who": who, "day": days, "sleep": 7 - 2 * mood + rng.normal(size=300), "talk": talk})


def agree(labels, truth):
    """The share of rows on which two labellings into two groups agree, whichever way round."""
    share = np.mean(np.asarray(labels) == np.asarray(truth))
    return max(share, 1 - share)


# Agreement with the functions inside


def test_latent_classes_is_the_function_of_that_name():
    columns, group = survey()
    frame = pd.DataFrame(columns)
    shell = LatentClasses(states=(1, 2, 3), starts=3, seed=4).fit(frame)
    result = lv.latent_classes(frame, (1, 2, 3), starts=3, prior=0.01, seed=4)
    assert shell.states_ == result.states == 2
    assert shell.score(frame) * 400 == pytest.approx(result.log_likelihood, abs=1e-8)
    assert shell.predict_proba(frame) == pytest.approx(result.posterior, abs=1e-12)
    assert np.array_equal(shell.transform(frame), shell.predict_proba(frame))
    assert agree(shell.predict(frame), group) > 0.9


def test_gaussian_mixtures_is_fit_mixture():
    x = points()
    shell = GaussianMixtures(components=(1, 2, 3), seed=3).fit(x)
    result = lv.fit_mixture(x, (1, 2, 3), seed=3)
    assert shell.components_ == result.components == 2
    assert shell.result_.mixture == result.mixture
    assert shell.score(x) * len(x) == pytest.approx(result.log_likelihood, abs=1e-8)
    assert np.array_equal(shell.predict(x), result.mixture.assign(x))


def test_hidden_causes_is_the_function_of_that_name():
    x, truth = simulated_causes(6, 2, 200, 0)
    shell = HiddenCauses(sweeps=60, seed=2).fit(x)
    result = lv.hidden_causes(x, sweeps=60, seed=2)
    assert np.array_equal(shell.result_.links, result.links)
    assert np.array_equal(shell.predict_proba(x), result.posterior_of(x))
    assert shell.score(x) == result.row_log_likelihoods(x).mean()
    found = {tuple(column) for column in shell.result_.model.links.T}
    assert {tuple(column) for column in truth.links.T} <= found


def test_hidden_markov_is_the_function_of_that_name():
    frame = diary()
    shell = HiddenMarkov(states=2, by="who", time="day", seed=5).fit(frame)
    result = hidden_markov(read_sequences(frame, "who", "day"), 2, seed=5, prior=0.01)
    assert shell.score(frame) * 300 == pytest.approx(result.log_likelihood, abs=1e-6)
    assert np.array_equal(shell.predict_proba(frame), result.posterior)  # the rows are in order already


def test_hidden_variables_is_discover_without_its_tests():
    columns, group = survey()
    frame = pl.DataFrame(columns)
    shell = HiddenVariables(max_hidden=1, seed=1).fit(frame)
    result = lv.discover(frame, method="network", evidence=False, max_hidden=1, seed=1)
    assert str(shell.result_.verdict) == str(result.verdict) == "not tested"
    assert shell.hidden_ == ("H1",)
    assert np.array_equal(shell.transform(frame), result.posterior(frame))
    assert shell.score(frame) * 400 == pytest.approx(result.network.log_likelihood(frame), abs=1e-8)
    assert agree(shell.predict(frame), group) > 0.9


# Tables in, tables out


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_kind_of_table_that_came_comes_back(library, kind):
    columns, _ = survey(60)
    shell = LatentClasses(states=2, starts=2).set_output(transform=library)
    out = shell.fit_transform(kind(columns))
    assert isinstance(out, kind)
    assert list(out.columns) == ["class_0", "class_1"] == shell.get_feature_names_out().tolist()
    assert list(shell.feature_names_in_) == list(columns)
    assert shell.n_features_in_ == 6
    rows, labels = shell.sample(20, seed=1)
    assert isinstance(rows, kind)
    assert list(rows.columns) == list(columns)
    assert len(rows) == len(labels) == 20
    assert shell.score(rows) < 0  # what was drawn can be read again


def test_a_pandas_index_is_kept():
    columns, _ = survey(60)
    frame = pd.DataFrame(columns, index=[f"row {k}" for k in range(60)])
    out = LatentClasses(states=2, starts=2).set_output(transform="pandas").fit_transform(frame)
    assert out.index.equals(frame.index)


def test_pandas_polars_and_arrays_give_the_same():
    columns, _ = survey(60)
    array = pd.DataFrame(columns).to_numpy(dtype=object, na_value=None)
    shell = LatentClasses(states=2, starts=2)
    by_kind = [clone(shell).fit_transform(x) for x in (pd.DataFrame(columns), pl.DataFrame(columns), array)]
    for one, other in pairwise(by_kind):
        assert np.array_equal(one, other)
    fitted = clone(shell).fit(pd.DataFrame(columns))
    assert np.array_equal(fitted.transform(pl.DataFrame(columns)), by_kind[0])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(fitted.transform(array), by_kind[0])


def test_names_of_columns_out():
    columns, _ = survey()
    found = HiddenVariables(max_hidden=1).set_output(transform="polars").fit(pl.DataFrame(columns))
    assert found.transform(pl.DataFrame(columns)).columns == ["H1_0", "H1_1"]
    x, _ = simulated_causes(6, 2, 200, 0)
    causes = HiddenCauses(sweeps=60).fit(x)
    count = causes.result_.model.n_causes
    assert causes.get_feature_names_out().tolist() == [f"cause_{k}" for k in range(count)]
    assert causes.predict(x).shape == (200, count)


def test_nothing_hidden_gives_one_column_of_ones():
    noise = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (300, 4)), columns=list("abcd"))
    shell = HiddenVariables().set_output(transform="pandas").fit(noise)
    assert shell.hidden_ == ()
    assert not shell.found_
    assert shell.transform(noise).to_dict("list") == {"nothing_hidden": [1.0] * 300}
    assert shell.predict_proba(noise).tolist() == [[1.0]] * 300
    assert shell.predict(noise).tolist() == [0] * 300


def test_causes_from_a_table_of_words():
    x, _ = simulated_causes(6, 2, 200, 0)
    words = pl.DataFrame({f"s{k}": np.where(column, "present", "absent") for k, column in enumerate(x.T)})
    from_words = HiddenCauses(sweeps=60).fit(words)
    assert np.array_equal(from_words.predict_proba(words), HiddenCauses(sweeps=60).fit(x).predict_proba(x))
    rows, active = from_words.sample(10)
    assert rows.columns == words.columns
    assert active.shape == (10, from_words.result_.model.n_causes)


def test_binarize_is_cutting_by_hand():
    rng = np.random.default_rng(0)
    x, _ = simulated_causes(6, 2, 200, 0)
    soft = np.where(x, rng.uniform(0.51, 1, x.shape), rng.uniform(0, 0.5, x.shape))
    soft[rng.random(x.shape) < 0.05] = np.nan
    hard = np.where(np.isnan(soft), np.nan, x)
    cut = HiddenCauses(sweeps=30, binarize=0.5).fit(soft)
    assert np.array_equal(cut.predict_proba(soft), HiddenCauses(sweeps=30).fit(hard).predict_proba(hard))


# Pipelines and cross-validation


def test_in_a_pipeline_the_class_stands_for_the_columns():
    columns, group = survey()
    frame = pd.DataFrame(columns)
    pipeline = make_pipeline(LatentClasses(states=2, starts=2), LogisticRegression())
    assert cross_val_score(pipeline, frame, group, cv=3).min() > 0.85


@pytest.mark.parametrize("shell", [LatentClasses(starts=2), HiddenMarkov(by="who", time="day")])
def test_held_out_rows_prefer_two_states_to_one(shell):
    if isinstance(shell, LatentClasses):
        data, groups, cv = pl.DataFrame(survey()[0]), None, 3
    else:
        data, groups, cv = diary(), diary()["who"], GroupKFold(3)
    one, two = (
        cross_val_score(clone(shell).set_params(states=k), data, groups=groups, cv=cv, error_score="raise")
        for k in (1, 2)
    )
    assert np.all(two > one + 0.05)


@pytest.mark.parametrize(
    "shell",
    [HiddenVariables(max_hidden=1, max_parents=2), GaussianMixtures(components=2), HiddenCauses(sweeps=20, chains=1)],
    ids=lambda shell: type(shell).__name__,
)
def test_cross_validation_gives_finite_scores(shell):
    data = {
        HiddenVariables: lambda: pd.DataFrame(survey(200)[0]),
        GaussianMixtures: points,
        HiddenCauses: lambda: simulated_causes(6, 2, 200, 0)[0],
    }[type(shell)]()
    scores = cross_val_score(shell, data, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


# Holes, order, seeds


def test_a_row_of_holes_has_the_shares_of_the_classes():
    columns, _ = survey(100)
    classes = LatentClasses(states=2, starts=2).fit(pd.DataFrame(columns))
    empty = pd.DataFrame({name: [None] for name in columns})
    assert classes.predict_proba(empty)[0] == pytest.approx(classes.result_.shares)
    assert classes.score(empty) == pytest.approx(0.0, abs=1e-12)
    mixture = GaussianMixtures(components=2).fit(points())
    assert mixture.predict_proba([[np.nan, np.nan]])[0] == pytest.approx(mixture.result_.mixture.weights)


def test_a_label_never_seen_is_a_hole():
    columns, _ = survey(100)
    frame = pd.DataFrame(columns)
    classes = LatentClasses(states=2, starts=2).fit(frame)
    odd, blank = frame.head(5).copy(), frame.head(5).copy()
    odd["q2"], blank["q2"] = "green", None
    assert np.array_equal(classes.predict_proba(odd), classes.predict_proba(blank))


def test_rows_of_sequences_come_back_as_they_came():
    frame = diary()
    chain = HiddenMarkov(states=2, by="who", time="day").fit(frame)
    order = np.random.default_rng(1).permutation(300)
    shuffled = frame.iloc[order]
    assert chain.predict_proba(shuffled) == pytest.approx(chain.predict_proba(frame)[order])
    assert np.array_equal(chain.predict(shuffled), chain.predict(frame)[order])
    rows, states = chain.sample(25, seed=3)
    assert list(rows.columns) == ["sleep", "talk"]
    assert len(states) == 25
    assert agree(chain.predict(frame), np.repeat(np.random.default_rng(0).integers(0, 2, 60), 5)) > 0.9


@pytest.mark.parametrize("shell", CHECKED, ids=lambda shell: type(shell).__name__)
def test_the_same_seed_gives_the_same_answer(shell):
    x = np.round(np.nan_to_num(points(80)))
    first, again = clone(shell).fit(x), clone(shell).fit(x)
    assert np.array_equal(first.transform(x), again.transform(x))
    assert first.score(x) == again.score(x)
    if hasattr(first, "sample"):
        for one, other in zip(first.sample(5), again.sample(5), strict=True):
            assert np.array_equal(one, other)


def test_threads_do_not_change_the_answer():
    columns, _ = survey(100)
    one, two = (LatentClasses(states=2, starts=4, jobs=jobs).fit(pd.DataFrame(columns)) for jobs in (1, 2))
    assert one.result_.network == two.result_.network


# What cannot be used


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda: LatentClasses().fit(pd.DataFrame({"a": ["x"], "b": ["y"]})), "1 sample"),
        (lambda: LatentClasses().fit(pd.DataFrame({"a": ["x"] * 9})), "no usable column"),
        (lambda: LatentClasses().fit("survey.csv"), "X is a str"),
        (lambda: LatentClasses().fit(survey()[0]), "X is a dict"),
        (lambda: LatentClasses().fit(pl.LazyFrame(survey()[0])), "collected"),
        (lambda: LatentClasses(states=0).fit([[0, 1], [1, 0]]), "at least 1"),
        (lambda: HiddenCauses().fit([[0.3, 1.0], [0.0, 1.0]]), "0.3"),
        (lambda: HiddenCauses(binarize=0.5).fit(pd.DataFrame({"a": ["x", "y"]})), "no number"),
        (lambda: GaussianMixtures().fit(pd.DataFrame({"a": ["x", "y"]})), "no number"),
        (lambda: HiddenMarkov(by="nobody").fit(diary()), "no column 'nobody'"),
        (lambda: HiddenVariables(method="auto").fit([[0, 1], [1, 0], [1, 1], [0, 0]]).score([[0, 1]]), "network"),
        (lambda: LatentClasses().fit(pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"])), "named 'a'"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(fit, words):
    with pytest.raises(lv.InputError, match=re.escape(words)) as caught:
        fit()
    assert "\n" not in str(caught.value)


# Names, and the page


def test_the_names_are_these_and_load_when_used():
    names = ["GaussianMixtures", "HiddenCauses", "HiddenMarkov", "HiddenVariables", "LatentClasses"]
    assert dir(leverrier.estimators) == leverrier.estimators.__all__ == names
    code = "import sys, leverrier, leverrier.estimators; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_documented_snippets_run():
    text = (Path(__file__).parents[1] / "docs" / "estimators.md").read_text(encoding="utf-8")
    names: dict = {}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        exec(compile(block, f"docs/estimators.md, block {number}", "exec"), names)
    assert names["classes"].get_feature_names_out().tolist() == ["class_0", "class_1"]
    one, *more = names["search"].cv_results_["mean_test_score"]
    assert min(more) > one + 0.05  # (the bags are two: one class must lose on held-out rows, and clearly)
    assert names["search"].best_params_["states"] > 1
    assert names["found"].hidden_ == ("H1",)
    assert names["mixture"].components_ == 2
