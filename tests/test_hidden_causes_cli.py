"""`leverrier causes` as typed: words, JSON, pictures, and one line for what cannot be."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from leverrier.cli.hidden_verbs import causes
from leverrier.errors import LeverrierError
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as make
from leverrier.noisy_or import chain as chain_module


@pytest.fixture(scope="module")
def signs(tmp_path_factory):
    x, truth = make(n_observed=5, n_causes=2, n_trials=150, seed=2)
    frame = pd.DataFrame(x, columns=["cough", "fever", "rash", "ache", "chill"]).assign(ward=["a", "b", "c"] * 50)
    file = tmp_path_factory.mktemp("signs") / "signs.csv"
    frame.to_csv(file, index=False)
    return file, truth


def asked(*words):
    return CliRunner().invoke(causes, [str(word) for word in words], catch_exceptions=False)


def test_words_name_the_causes_and_what_was_set_aside(signs, tmp_path):
    answer = asked(signs[0], "--sweeps", 40, "--chains", 1, "--pictures", tmp_path / "drawn")
    assert answer.exit_code == 0
    assert "hidden causes expected" in answer.output
    assert "set aside, not yes/no: ward" in answer.output
    assert sorted(file.name for file in (tmp_path / "drawn").iterdir()) == ["graph.png", "links.png", "traces.png"]


def test_json_holds_each_causes_signs(signs):
    answer = asked(signs[0], "--sweeps", 150, "--alike", "--ignore", "ward", "--json")
    found = json.loads(answer.output)
    names = ["cough", "fever", "rash", "ache", "chill"]
    truth = {frozenset(name for name, on in zip(names, column, strict=True) if on) for column in signs[1].links.T}
    assert {frozenset(cause["children"]) for cause in found["causes"]} == truth


@pytest.fixture
def sweeps(monkeypatch):
    """How many were made."""
    made, genuine = [], chain_module._sweep

    def counted(*about):
        made.append(1)
        time.sleep(0.001)  # (twelve sweeps may take less than the shortest budget)
        return genuine(*about)

    monkeypatch.setattr(chain_module, "_sweep", counted)
    return made


def test_a_chain_goes_on_from_its_checkpoint(signs, tmp_path, sweeps):
    words = (signs[0], "--sweeps", 12, "--chains", 1, "--checkpoint", tmp_path / "kept")
    whole = asked(*words, "--json").output
    assert not (tmp_path / "kept").exists()
    sweeps.clear()
    cut = asked(*words, "--budget", "0.001s")
    begun = len(sweeps)
    assert 0 < begun < 12
    assert "with --resume goes on from" in cut.output
    assert asked(*words, "--json", "--resume").output == whole
    assert len(sweeps) == 12
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("agreed", [np.inf, -np.inf])
def test_chains_that_ended_leave_nothing_to_go_on_from(signs, tmp_path, monkeypatch, agreed):
    """Whether they agree by then (converged) or not."""
    monkeypatch.setattr("leverrier.noisy_or.chain_summary.AGREED", agreed)
    answer = asked(signs[0], "--sweeps", 12, "--chains", 2, "--checkpoint", tmp_path / "kept")
    assert "--resume" not in answer.output
    assert not (tmp_path / "kept").exists()


def test_a_column_that_is_not_there_is_named(signs):
    with pytest.raises(LeverrierError, match="'wrad', which is not there"):
        asked(signs[0], "--ignore", "wrad")
