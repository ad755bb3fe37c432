"""The merge tree of a report: what the path says, without any rows."""

import json
from dataclasses import replace

import numpy as np
import pytest

from leverrier.api.saved import dump, load_result
from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.discovery.states.merge_tree import FEW, MergeTree, merge_tree
from leverrier.errors import FormatError
from leverrier.learning.structure.score import BDe
from leverrier.models.graph import Graph
from leverrier.report.charts.merge_chart import merge_chart
from tests.report_cases import found as case

STAR = Graph.from_parents({"H": (), **dict.fromkeys("abcd", ("H",))})


def rows(count=800, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, count)
    codes = np.where(rng.random((4, count)) < 0.8, hidden, rng.integers(0, 3, (4, count)))
    return Table.from_codes(dict.fromkeys("abcd", ("x", "y", "z")), codes)


def test_it_is_the_end_of_the_path():
    table = rows()
    tree = merge_tree(STAR, table, "H", 3, BDe())
    path = agglomerate(first_states(STAR, table, "H"), BDe(), 256)
    assert len(tree.leaves) == len(tree.rows) == len(tree.merges) + 1 == 8
    assert [gain for _, _, gain in tree.merges] == pytest.approx([merge.gain for merge in path.merges[-7:]])
    assert tree.configurations == len({tuple(column) for column in table.codes.T.tolist()})


@pytest.mark.parametrize("states", range(1, 9))
def test_states_are_the_rows_that_the_path_assigns(states):
    """Rows of the nodes at each level, counted by hand from the path's own labels."""
    table = rows(seed=1)
    tree = merge_tree(STAR, table, "H", 3, BDe())
    path = agglomerate(first_states(STAR, table, "H"), BDe(), 256)
    inside = {node: [node] for node in range(len(tree.leaves))}
    for number, (left, right, _) in enumerate(tree.merges):
        inside[len(tree.leaves) + number] = inside[left] + inside[right]
    whole = np.bincount(path.assignment(8))
    sizes = sorted(sum(tree.rows[leaf] for leaf in inside[node]) for node in tree.nodes(states))
    lost = int(whole[whole < FEW].sum())
    assert sum(sizes) == table.n_rows - lost
    expected = sorted(np.bincount(path.assignment(states)).tolist())
    assert all(0 <= true - told <= lost for true, told in zip(expected, sizes, strict=True))


def test_a_leaf_of_few_rows_tells_nothing():
    table = rows(count=60, seed=2)
    tree = merge_tree(STAR, table, "H", 3, BDe())
    few = [number for number, count in enumerate(tree.rows) if count == 0]
    assert few
    assert all(tree.leaves[number] == "rare" for number in few)
    assert all(count == 0 or count >= FEW for count in tree.rows)


def test_names_are_what_sets_a_leaf_apart():
    tree = merge_tree(STAR, rows(), "H", 3, BDe())
    large = [name for name, count in zip(tree.leaves, tree.rows, strict=True) if count > 100]
    assert sorted(name[2] for name in large) == ["x", "y", "z"]


@pytest.mark.parametrize("spoilt", ["hole", "hidden neighbour", "no children", "one configuration"])
def test_no_tree_where_there_is_none(spoilt):
    table, graph = rows(), STAR
    if spoilt == "hole":
        codes = table.codes.copy()
        codes[0, 0] = table.missing
        table = Table(table.columns, codes)
    elif spoilt == "hidden neighbour":
        table = table.drop("a")
    elif spoilt == "no children":
        graph = Graph.from_parents({"H": tuple("abcd"), **dict.fromkeys("abcd", ())})
    else:
        table = Table(table.columns, np.zeros_like(table.codes))
    assert merge_tree(graph, table, "H", 2, BDe()) is None


TREE = MergeTree(("a x", "b y", "c </script>"), (10.0, 20.0, 5.0), ((0, 2, 1.5), (1, 3, -40.0)), 12)


def test_drawn_with_the_states_in_orange():
    spec = json.loads(merge_chart(TREE, 2).to_json())
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")["data"]["values"]
    assert sorted(point["x"] for point in points if point["state"]) == [0.0, 1.0]  # leaf 1, and what 0 and 2 made
    said = [v["said"] for layer in spec["layer"] for v in layer["data"]["values"] if "said" in v]
    assert "−40" in said
    assert "c </script>" in said


def test_saved_and_loaded():
    found = replace(case(), merges={"H1": TREE})
    assert load_result(dump(found)).merges == {"H1": TREE}


@pytest.mark.parametrize(
    "broken",
    [
        {"merges": [[0, 2, 1.5], [1, 9, 2.0]]},
        {"merges": [[0, 3, 1.5], [1, 2, 2.0]]},
        {"merges": [[0, 2, 1.5]]},
        {"rows": [1.0]},
        {"leaves": ["a"]},
        {"merges": [[0, 0, 1.0], [1, 3, 2.0]]},
    ],
)
def test_a_damaged_tree_is_refused(broken):
    content = json.loads(dump(replace(case(), merges={"H1": TREE})))
    content["merges"]["H1"] |= broken
    with pytest.raises(FormatError, match="missing or damaged"):
        load_result(json.dumps(content))
