"""The runner of experiments: what is done is kept, what breaks or is missing is said, and a resumed run is the same."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import experiments, showing
from experiments.command import reproduce
from experiments.experiment import Claim, Experiment, Section, Shown, Unit, not_run
from experiments.runner import Settings, kept, run
from experiments.store import Store
from leverrier.cli import run as command
from leverrier.errors import FormatError
from leverrier.report.parts.page_parts import Grid
from leverrier.run.stop import Stop

CALLS = []


def draw(seed, n):
    CALLS.append(seed)
    return np.random.default_rng(seed).standard_normal(n).tolist()


def broken(seed):
    raise ZeroDivisionError(f"unit {seed}")


def not_json():
    return float("nan")


def reading(name, data):
    return (data / name).read_text()


def interrupted(seed):
    os.kill(os.getpid(), signal.SIGINT)
    return seed


def units(quick, seed):
    return [Unit(f"draw {k}", draw, {"seed": seed + k, "n": 2 if quick else 4}, cost=9 - k) for k in range(4)]


def show(results, quick):
    del quick
    rows = tuple((key, f"{sum(values):.17g}") for key, values in results.items() if key.startswith("draw"))
    first = results.get("draw 0")
    claim = not_run("sum", "0") if first is None else Claim("sum", "0", f"{sum(first):.3f}", abs(sum(first)) < 1e-6)
    return Shown((Section("Draws", grids=(Grid(("unit", "sum"), rows),)),), (claim,))


TINY = Experiment("tiny", "A tiny experiment", "Random numbers stand for the source's.", units, show)


def settings(folder, **changes):
    return replace(Settings(folder), **changes)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def test_a_resumed_run_is_bit_for_bit_the_whole_one(tmp_path):
    whole = run(TINY, settings(tmp_path / "whole"), Stop())
    part = run(TINY, settings(tmp_path / "parts", only="draw 2"), Stop())
    assert list(part.kept) == ["draw 2"]
    CALLS.clear()
    rest = run(TINY, settings(tmp_path / "parts", jobs=2), Stop())
    assert rest.results == whole.results
    assert showing.as_text(rest, TINY.show(rest.results, False)) == showing.as_text(whole, show(whole.results, False))
    again = run(TINY, settings(tmp_path / "parts"), Stop())
    assert CALLS == []
    assert again.results == whole.results
    run(TINY, settings(tmp_path / "parts", resume=False, only="draw 3"), Stop())
    assert CALLS == [3]


def test_other_settings_are_other_work_and_stay_beside(tmp_path):
    full = run(TINY, settings(tmp_path), Stop())
    quick = run(TINY, settings(tmp_path, quick=True), Stop())
    assert [len(each) for each in quick.results.values()] == [2, 2, 2, 2]
    assert kept(TINY, settings(tmp_path)).results == full.results
    assert kept(TINY, settings(tmp_path, seed=1)).results == {}


def test_two_runs_in_one_folder_keep_each_others_results(tmp_path):
    first, second = (Store(tmp_path / "x.jsonl", "1") for _ in range(2))
    one, two = units(True, 0)[:2]
    first.keep(one, [1.0], 0.1, "2026-01-01", "")
    second.keep(two, [2.0], 0.1, "2026-01-01", "")
    third = Store(tmp_path / "x.jsonl", "1")
    assert [third.get(unit).result for unit in (one, two)] == [[1.0], [2.0]]
    assert Store(tmp_path / "x.jsonl", "2").get(one) is None


def test_a_unit_that_breaks_costs_none_of_the_others(tmp_path):
    bad = replace(
        TINY, units=lambda q, s: [Unit("bad", broken, {"seed": 5}, cost=100), *units(q, s), Unit("nan", not_json)]
    )
    for jobs in (1, 2):
        found = run(bad, settings(tmp_path / str(jobs), jobs=jobs), Stop())
        assert list(found.kept) == ["draw 0", "draw 1", "draw 2", "draw 3"]
        assert found.failed["bad"] == "ZeroDivisionError: unit 5"
        assert found.failed["nan"].startswith("ValueError")
        assert "unit 5" in showing.missing_words(found)


def test_an_interruption_keeps_what_was_done_and_not_the_unit_it_hit(tmp_path):
    stop = Stop()
    before = signal.signal(signal.SIGINT, lambda *_: stop.ask())
    try:
        hit = replace(TINY, units=lambda q, s: [*units(q, s), Unit("hit", interrupted, {"seed": 1}, cost=7.5)])
        found = run(hit, settings(tmp_path), stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped
    assert list(found.kept) == ["draw 0", "draw 1"]
    assert list(kept(TINY, settings(tmp_path)).results) == ["draw 0", "draw 1"]
    assert run(TINY, settings(tmp_path), Stop()).results == run(TINY, settings(tmp_path / "new"), Stop()).results


def test_units_without_their_data_are_left_out_and_named(tmp_path):
    needing = replace(TINY, units=lambda q, s: [*units(q, s), Unit("real", reading, {"name": "x.csv"}, ("x.csv",))])
    for data in (None, tmp_path):
        found = run(needing, settings(tmp_path / "out", data=data), Stop())
        assert found.left_out == {"real": ("x.csv",)}
        assert len(found.kept) == 4
        assert "x.csv" in showing.missing_words(found)
        assert "--data" in showing.missing_words(found)
    (tmp_path / "x.csv").write_text("a\n1\n")
    found = run(needing, settings(tmp_path / "out", data=tmp_path), Stop())
    assert found.results["real"] == "a\n1\n"
    assert not found.left_out


def test_claims_are_decided_or_not_run():
    assert not_run("a", "b").verdict == "not run"
    assert Claim("a", "b", "c", True).verdict == "holds"
    assert Claim("a", "b", "c", False).verdict == "does not hold"
    assert show({}, True).claims[0].holds is None
    assert show({"draw 0": [1.0, -1.0]}, True).claims[0].holds is True
    assert show({"draw 0": [1.0, 1.0]}, True).claims[0].holds is False


def test_a_file_that_is_not_ours_is_one_clear_line(tmp_path):
    (tmp_path / "tiny.results.jsonl").write_text('{"key": 1}\n')
    with pytest.raises(FormatError, match=r"tiny.results.jsonl.*--output"):
        run(TINY, settings(tmp_path), Stop())


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """The command line with the tiny experiment in the place of one of ours."""
    monkeypatch.setattr(experiments, "experiment", lambda name: replace(TINY, name=name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEVERRIER_DATA", raising=False)
    return tmp_path


@pytest.mark.usefixtures("tiny")
def test_the_verb_writes_a_page_json_and_docs(capsys):
    assert command(["em", "--jobs", "1", "--write-docs", "docs"], reproduce) == 0
    out, err = capsys.readouterr()
    assert "[does not hold] sum" in out
    assert "left out" in err
    assert "<html" in Path("leverrier-reproduce/em.html").read_text()
    found = json.loads(Path("leverrier-reproduce/em.json").read_text())
    assert found["claims"][0]["verdict"] == "does not hold"
    assert set(found["results"]) == {f"draw {k}" for k in range(4)}
    page = Path("docs/reproduced.md").read_text()
    assert "`scripts/reproduce em --data DATA`" in page
    assert "does not hold" in page
    assert command(["em", "--shown-only", "--json"], reproduce) == 0
    assert json.loads(capsys.readouterr().out)[0]["results"] == found["results"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "name a source"), (["freud1899"], "freud1899"), (["em", "--data", "nowhere"], "nowhere")],
)
def test_a_wrong_name_is_one_clear_line(arguments, words, capsys):
    assert command([*arguments], reproduce) == 2
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("tiny")
def test_an_interrupted_verb_ends_with_130_and_goes_on_later(monkeypatch, capsys):
    hit = replace(TINY, units=lambda q, s: [*units(q, s), Unit("hit", interrupted, {"seed": 1}, cost=7.5)])
    monkeypatch.setattr(experiments, "experiment", lambda name: replace(hit, name=name))
    assert command(["em", "elidan2001", "--jobs", "1"], reproduce) == 130
    assert "kept" in capsys.readouterr().err
    monkeypatch.setattr(experiments, "experiment", lambda name: replace(TINY, name=name))
    CALLS.clear()
    assert command(["em", "--jobs", "1"], reproduce) == 0
    assert CALLS == [2, 3]
