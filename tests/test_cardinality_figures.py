"""The pictures say what the answer says."""

import numpy as np
import pytest

from experiments.truth_charts import deviation_chart
from leverrier import datasets
from leverrier.discovery.states.cardinality import cardinality
from leverrier.errors import OptionError
from leverrier.report.charts.cardinality_charts import merge_tree, score_by_states

pytest.importorskip("altair")


@pytest.fixture(scope="module")
def found():
    network = datasets.network("alarm")
    data = network.sample(1000, seed=1).drop("HYPOVOLEMIA")
    return cardinality(network, data, hidden="HYPOVOLEMIA", starts=2)


def layer(chart, kind):
    """The inline values of the first layer with this mark."""
    spec = chart.to_dict()
    each = next(part for part in spec["layer"] if part["mark"]["type"] == kind)
    return spec["datasets"][each["data"]["name"]] if "name" in each["data"] else each["data"]["values"]


def test_the_merge_tree(found):
    chart = merge_tree(found)
    marks = layer(chart, "point")
    n = found.agglomeration.n_first
    assert len(marks) == 2 * n - 1
    states = [mark for mark in marks if mark["state"]]
    assert len(states) == found.states
    assert sum(mark["rows"] for mark in states) == pytest.approx(1000)
    said = {mark["says"] for mark in marks if mark["x"]}
    assert said == {f"merged: {merge.gain:+,.1f} nats" for merge in found.merges}
    assert len(layer(chart, "rule")) == 3 * (n - 1)
    assert sorted(mark["y"] for mark in marks if not mark["x"]) == list(range(n))


def test_the_top_of_a_large_tree(found):
    marks = layer(merge_tree(found, most_leaves=5), "point")
    assert len(marks) == 9
    assert sum(mark["rows"] for mark in marks if not mark["x"]) == pytest.approx(1000)
    with pytest.raises(OptionError, match="most_leaves=1"):
        merge_tree(found, most_leaves=1)


def test_no_lines_of_the_tree_cross(found):
    """Whatever stands between two children of a node is merged before them."""
    tree = found.agglomeration
    marks = {(mark["x"], mark["y"]) for mark in layer(merge_tree(found), "point")}
    for line in layer(merge_tree(found), "rule"):
        if line["x"] == line["x2"]:
            low, high = sorted((line["y"], line["y2"]))
            assert all(x <= line["x"] for x, y in marks if low < y < high)
    assert len(marks) == 2 * tree.n_first - 1


def test_scores_by_number_of_states(found):
    values = layer(score_by_states(found), "line")
    path = dict(found.path)
    by_kind = {}
    for value in values:
        by_kind.setdefault(value["kind"], {})[value["states"]] = value["score"]
    assert set(by_kind) == {"merging (completed data)", "EM from the merge path", "EM from random starts", "evidence"}
    for k, score in by_kind["merging (completed data)"].items():
        assert score == path[k]
    best = max(by_kind["evidence"], key=by_kind["evidence"].get)
    assert best == max(found.scores, key=lambda k: found.scores[k].evidence)


def test_deviation_adds_up():
    answers = [(100, "a", 1, 3), (100, "b", 2, 3), (100, "c", 3, 3), (100, "d", 4, 3)]
    answers += [(1000, "a", 3, 3), (1000, "e", 3, 5)]
    spec = deviation_chart(answers).to_dict()
    values = spec["datasets"][spec["data"]["name"]] if "name" in spec["data"] else spec["data"]["values"]
    shares = {(value["rows"], value["kind"]): value["share"] for value in values}
    assert shares[100, "exact"] == shares[100, "more"] == shares[100, "one less"] == 0.25
    assert shares[100, "collapsed to one"] == 0.25
    assert shares[1000, "fewer still"] == 0.5
    for rows in (100, 1000):
        assert sum(share for (r, _), share in shares.items() if r == rows) == pytest.approx(1.0)


def test_pictures_can_be_written(found, tmp_path):
    for name, chart in (("tree", merge_tree(found)), ("scores", score_by_states(found))):
        chart.save(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    unrefined = cardinality(None, datasets.network("asia").sample(500, seed=0), refine=False)
    merge_tree(unrefined).to_dict()
    assert np.isfinite([value["score"] for value in layer(score_by_states(unrefined), "line")]).all()
