"""The one door, as a user meets it."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

import leverrier as lv
from leverrier.cli import run
from tests.test_structural_em import star


@pytest.fixture(scope="module")
def truth() -> lv.Table:
    return star(children=6, states=2, extra=0).sample(1200, seed=1)


@pytest.fixture(scope="module")
def found(truth) -> lv.Discovery:
    return lv.discover(truth.drop("h").to_pandas(), draws=3, resamples=2, jobs=1, seed=0)


def test_a_hidden_cause_is_found_and_said_in_words(found, truth):
    assert str(found.verdict) == "found"
    (h,) = found.hidden
    assert h.neighbours == set(truth.variables) - {"h"}
    assert h.states == 2
    assert h.gain > 20
    assert h.evidence.accepted
    assert h.evidence.p_value == pytest.approx(0.25)
    assert h.evidence.held_out > 0
    assert h.evidence.support == 1.0
    words = str(found)
    for part in ("One hidden variable", h.name, "simulated tables", "held-out", "resamples", "% of the rows"):
        assert part in words
    assert found.gain == pytest.approx(h.gain)
    assert h.name in found.network.variables
    assert h.name not in found.baseline.variables


def test_every_row_gets_its_state_in_the_order_it_came(found, truth):
    frame = truth.drop("h").to_pandas()
    shares = np.asarray(found.posterior(frame))
    assert shares.shape == (1200, 2)
    assert adjusted_rand_score(truth.column("h"), shares.argmax(axis=1)) > 0.6
    order = np.random.default_rng(0).permutation(1200)
    assert np.asarray(found.posterior(frame.iloc[order])) == pytest.approx(shares[order])


def test_states_are_added_to_the_users_own_kind_of_frame(found, truth):
    frame = truth.drop("h").to_pandas()
    frame.index = np.arange(5000, 6200)[::-1]
    added = found.add_to(frame)
    assert isinstance(added, pd.DataFrame)
    assert list(added.index) == list(frame.index)
    assert list(added.columns) == [*frame.columns, "H1", "H1_probability"]
    assert added["H1_probability"].to_numpy() == pytest.approx(np.asarray(found.posterior(frame)).max(axis=1))
    other = found.add_to(pl.from_pandas(frame))
    assert isinstance(other, pl.DataFrame)
    assert other["H1"].to_list() == added["H1"].to_list()


def test_new_rows_may_lack_columns_and_hold_values_never_seen(found, truth):
    frame = truth.drop("h").to_pandas().head(5).drop(columns="c0").astype(object)
    frame.iloc[0, 0] = "never seen"
    with pytest.raises(lv.TableError, match=r"'never seen' in row 1.*unseen=\"hole\""):
        found.posterior(frame)
    with pytest.warns(UserWarning, match="1 cell hold labels never seen before.*'never seen'"):
        shares = found.posterior(frame, unseen="hole")
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.ones(5))
    assert shares.index.equals(frame.index)
    assert list(shares.columns) == list(found.states_of("H1"))


def test_saved_and_loaded_it_is_the_same(found, truth, tmp_path):
    path = tmp_path / "found.json"
    found.save(path)
    again = lv.load(path)
    assert str(again) == str(found)
    frame = truth.drop("h").to_pandas()
    assert (np.asarray(again.posterior(frame)) == np.asarray(found.posterior(frame))).all()
    assert again.hidden[0].evidence == found.hidden[0].evidence
    for damage in ("", "{}", '{"format": "leverrier-discovery", "version": 99}', path.read_text()[:-40]):
        (tmp_path / "bad.json").write_text(damage)
        with pytest.raises(lv.FormatError):
            lv.load(tmp_path / "bad.json")


def test_the_report_is_written_whole(found, tmp_path):
    found.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "H1" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_nothing_hidden_is_said_with_what_would_have_been_missed():
    rng = np.random.default_rng(0)
    table = lv.Table.from_codes({f"v{i}": (0, 1, 2) for i in range(6)}, rng.integers(0, 3, (6, 600)))
    found = lv.discover(table, draws=3, jobs=1)
    assert found.hidden == ()
    assert str(found.verdict) == "nothing"
    assert "Nothing hidden was found" in str(found)
    assert "With 600 rows we would" in str(found)
    with pytest.raises(lv.OptionError, match="nothing hidden"):
        found.posterior(table)
    assert list(found.add_to(table.to_pandas()).columns) == list(table.variables)


def test_holes_are_taken_as_they_are(truth):
    frame = truth.drop("h").to_pandas().astype(object)
    frame = frame.mask(np.random.default_rng(2).random(frame.shape) < 0.1)
    found = lv.discover(frame, evidence=False, jobs=1)
    assert str(found.verdict) == "not tested"
    assert found.hidden[0].neighbours == set(frame.columns)
    assert np.asarray(found.posterior(frame)).shape == (1200, 2)
    assert "empty cells" in str(found)


def mixed(seed: int, classes: bool) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, 900)
    frame = pd.DataFrame({f"n{i}": rng.normal((1.4 + 0.2 * i) * z * (-1) ** i, 1) for i in range(4)})
    letters = np.array(list("abc"))
    for i in range(4):
        frame[f"k{i}"] = np.where(rng.random(900) < 0.75, letters[(z + i) % 3], letters[rng.integers(0, 3, 900)])
    if not classes:
        frame = pd.DataFrame({name: rng.permutation(frame[name].to_numpy()) for name in frame})
        for name in ("n0", "n1", "n2", "n3"):
            frame[name] = rng.normal(size=900)
    return frame, z


def test_a_class_behind_numbers_and_categories_is_found_and_its_absence_too(tmp_path):
    frame, z = mixed(1, classes=True)
    found = lv.discover(frame, draws=2, resamples=0, jobs=1)
    assert found.kind == "numbers"
    assert found.hidden[0].kind == "class"
    assert found.hidden[0].states == 3
    assert adjusted_rand_score(z, np.asarray(found.posterior(frame)).argmax(axis=1)) >= 0.9
    found.save(tmp_path / "classes.json")
    again = lv.load(tmp_path / "classes.json").posterior(frame)
    assert np.asarray(again) == pytest.approx(np.asarray(found.posterior(frame)), abs=1e-9)
    without, _ = mixed(2, classes=False)
    assert lv.discover(without, draws=3, jobs=1).hidden == ()


def test_overlapping_causes_are_preferred_where_they_explain_more(tmp_path):
    """Five causes of four signs each in a ring, each sign reached by two: no network of columns says it as well."""
    links = np.zeros((10, 5), np.uint8)
    for k in range(5):
        links[[(2 * k + j) % 10 for j in range(4)], k] = 1
    x, _ = lv.datasets.hidden_causes(links=links, n_trials=500, p=0.25, seed=1)
    frame = pd.DataFrame(x, columns=[f"sign{i}" for i in range(10)])
    found = lv.discover(frame, evidence=False, jobs=1)
    assert found.kind == "causes"
    reached = {frozenset(each.children) for each in found.hidden}
    assert reached == {frozenset(f"sign{i}" for i in np.flatnonzero(column)) for column in links.T}
    assert np.asarray(found.posterior(frame, found.hidden[0].name)).shape == (500, 2)
    found.save(tmp_path / "causes.json")
    again = lv.load(tmp_path / "causes.json")
    assert np.asarray(again.posterior(frame)) == pytest.approx(np.asarray(found.posterior(frame)), abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "magic"},
        {"draws": -1},
        {"budget": 0},
        {"jobs": 0},
        {"max_hidden": -1},
        {"method": "classes"},
        {"method": "causes"},
    ],
)
def test_wrong_options_are_one_line(options):
    table = lv.datasets.network("asia").sample(40, seed=0)
    with pytest.raises(lv.OptionError) as error:
        lv.discover(table, **options)
    assert "\n" not in str(error.value)


def test_the_command_writes_report_and_findings_and_gives_rows_their_states(truth, tmp_path, capsys):
    lv.write_table(truth.drop("h"), tmp_path / "survey.csv")
    arguments = ["discover", str(tmp_path / "survey.csv"), "--no-evidence", "--jobs", "1"]
    assert run(arguments) == 0
    assert "Not tested: one hidden variable was found" in capsys.readouterr().out
    assert {p.name for p in tmp_path.iterdir()} == {"survey.csv", "survey.leverrier.html", "survey.leverrier.json"}
    out = tmp_path / "out.csv"
    saved, table = str(tmp_path / "survey.leverrier.json"), str(tmp_path / "survey.csv")
    assert run(["posterior", saved, table, "-o", str(out)]) == 0
    with open(tmp_path / "survey.csv") as before, open(out) as after:
        rows, more = list(csv.reader(before)), list(csv.reader(after))
    assert [row[: len(rows[0])] for row in more] == rows
    assert more[0][-2:] == ["H1", "H1_probability"]
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "not tested"


def test_posteriors_of_nothing_are_one_line(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = lv.Table.from_codes({f"v{i}": (0, 1) for i in range(4)}, rng.integers(0, 2, (4, 200)))
    lv.write_table(table, tmp_path / "a.csv")
    lv.discover(table, evidence=False).save(tmp_path / "a.json")
    assert run(["posterior", str(tmp_path / "a.json"), str(tmp_path / "a.csv"), "-o", str(tmp_path / "o.csv")]) == 2
    error = capsys.readouterr().err
    assert "nothing hidden" in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "o.csv").exists()


def test_a_budget_ends_in_time_with_an_answer(truth):
    found = lv.discover(truth.drop("h"), budget=1.0, jobs=1)
    assert str(found.verdict) in ("found", "not tested", "undecided")
    assert str(found)
