"""Findings that version 0.1 saved, of every kind, are read, told, drawn and saved anew."""

import json
from pathlib import Path

import numpy as np
import pytest

import leverrier as lv
from leverrier.api.saved import dump, load_result

OLD = Path(__file__).parent / "saved_0_1"
SAID = {
    "network": ("found", "network", ["H1"]),
    "numbers": ("not tested", "classes", ["H1"]),
    "causes": ("found", "causes", None),
    "diary": ("found", "sequences", ["H1"]),
    "memories": ("nothing", "sequences", None),
}


@pytest.mark.parametrize("name", SAID)
def test_what_was_saved_before_is_read(name, tmp_path):
    found = lv.load(OLD / f"{name}.json")
    was = json.loads((OLD / f"{name}.json").read_text())
    answer, kind, names = SAID[name]
    assert (str(found.verdict), found.kind) == (answer, kind)
    assert [each.name for each in found.hidden] == [each["name"] for each in was["hidden"]]
    assert names is None or [each.name for each in found.hidden] == names
    assert str(found).splitlines()[0] == found.headline
    now = json.loads(dump(found.result))
    assert set(was) <= set(now)
    again = load_result(json.dumps(now))
    assert dump(again) == dump(found.result)
    found.report(tmp_path / "page.html", live=False)


def test_its_rows_get_the_states_that_its_own_model_gives():
    causes = lv.load(OLD / "causes.json")
    model = causes.result.model.causes
    x, _ = model.sample(50, seed=1)
    frame = {name: x[:, i].tolist() for i, name in enumerate(model.names)}
    present = model.posterior(x)
    for k, each in enumerate(causes.hidden):
        assert np.allclose(causes.posterior(frame, each.name)[:, 1], present[:, k])
    network = lv.load(OLD / "network.json")
    rows = network.network.sample(40, seed=2)
    assert np.allclose(network.posterior(rows.drop("H1")), network.network.posterior(rows.drop("H1"), "H1"))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("network", {"verdict": "perhaps"}),
        ("network", {"hidden": 3}),
        ("network", {"score": "much"}),
        ("network", {"shape": None}),
        ("causes", {"model": {"causes": {}}}),
        ("diary", {"folds": [{"slices": "x"}]}),
        ("diary", {"model": None}),
        ("diary", {"summary": []}),
        ("diary", {"version": 3}),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(name, damage, tmp_path):
    content = {**json.loads((OLD / f"{name}.json").read_text()), **damage}
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(lv.FormatError) as error:
        lv.load(tmp_path / "bad.json")
    assert "\n" not in str(error.value)
