"""What a report says beside the verdict, against slow readable twins and tables whose truth is known."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

import leverrier as lv
from leverrier.data.table import Table
from leverrier.discovery.evidence.certainty import AMBIGUOUS, BINS, certainty
from leverrier.discovery.evidence.residual import _most_unusual, pair_information, remaining
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.report.charts.graph_layout import GAP, HEIGHT, layered


def random_table(rng, rows=200, holes=0.1, weighted=False):
    sizes = [2, 3, 4, 2]
    codes = np.stack([rng.integers(0, size, rows) for size in sizes])
    codes[1] = np.where(rng.random(rows) < 0.6, codes[0], codes[1])
    codes[rng.random(codes.shape) < holes] = -1
    states = {f"v{i}": tuple(range(size)) for i, size in enumerate(sizes)}
    return Table.from_codes(states, codes, rng.integers(1, 4, rows).astype(float) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
def test_mutual_information_of_pairs_is_scikit_learns(weighted):
    table = random_table(np.random.default_rng(0), weighted=weighted)
    found = pair_information(table.codes, table.missing, table.cardinalities, table.weights)
    repeats = np.ones(table.n_rows, int) if table.weights is None else table.weights.astype(int)
    codes = np.repeat(table.codes, repeats, axis=1)
    for i in range(4):
        for j in range(i):
            both = (codes[i] != table.missing) & (codes[j] != table.missing)
            assert found[i, j] == pytest.approx(mutual_info_score(codes[i][both], codes[j][both]), abs=1e-6)
            assert found[i, j] == pytest.approx(found[j, i])


def test_holes_given_apart_are_holes():
    table = random_table(np.random.default_rng(1), holes=0.0)
    holes = np.random.default_rng(2).random(table.codes.shape) < 0.2
    codes = np.where(holes, table.missing, table.codes).astype(table.codes.dtype)
    apart = pair_information(table.codes, table.missing, table.cardinalities, None, holes)
    assert apart == pytest.approx(pair_information(codes, table.missing, table.cardinalities))


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_pairs_counted_from_rows_are_those_of_indicators(holes, monkeypatch):
    table = random_table(np.random.default_rng(3), holes=holes)
    by_rows = pair_information(table.codes, table.missing, table.cardinalities)
    monkeypatch.setattr("leverrier.discovery.evidence.residual.FEW_COLUMNS", 0)
    assert by_rows == pytest.approx(pair_information(table.codes, table.missing, table.cardinalities), abs=1e-12)


def star(extra: tuple[str, str] | None = None):
    """Five columns driven by a hidden one; two of them may depend on each other as well."""
    parents = {"H": (), **dict.fromkeys("abcde", ("H",))}
    if extra:
        parents[extra[1]] = ("H", extra[0])
    tables = {"H": [0.5, 0.5], **{name: [[0.8, 0.2], [0.2, 0.8]] for name in "abcde"}}
    if extra:
        tables[extra[1]] = [[[0.95, 0.05], [0.5, 0.5]], [[0.5, 0.5], [0.05, 0.95]]]
    return Network.build(Graph.from_parents(parents), dict.fromkeys(parents, (0, 1)), tables)


def left_by(model, table, seed=0):
    return remaining(table, lambda rows, rng: model.sample(rows, rng).select(table.variables), seed)


def test_a_true_model_leaves_nothing_and_a_missing_arc_is_named():
    model = star()
    clear = [len(left_by(model, model.sample(800, seed=s).drop("H"), s).clear) for s in range(10)]
    assert sum(count > 0 for count in clear) <= 2  # one in twenty by chance
    left = left_by(model, star(("b", "d")).sample(800, seed=0).drop("H"))
    assert {left.pairs[0].first, left.pairs[0].second} == {"b", "d"}
    assert left.pairs[0].p_value <= 0.05
    assert left.pairs[0].z > left.chance
    assert left.n_pairs == 10


def test_each_drawn_table_is_judged_by_the_others():
    drawn, least = np.random.default_rng(0).gamma(0.5, size=(20, 7)), np.full(7, 0.1)
    by_hand = []
    for i, one in enumerate(drawn):
        others = np.delete(drawn, i, axis=0)
        by_hand.append(max((one - others.mean(axis=0)) / np.maximum(others.std(axis=0, ddof=1), least)))
    assert _most_unusual(drawn - drawn.mean(axis=0), least) == pytest.approx(by_hand)


def test_many_columns_do_not_make_chance_look_like_more():
    """With thousands of pairs and few draws a table judged by itself would seem usual, and every other one unusual."""
    names = [f"v{i}" for i in range(60)]
    model = Network.build(
        Graph.from_parents(dict.fromkeys(names, ())), dict.fromkeys(names, (0, 1)), {name: [0.9, 0.1] for name in names}
    )
    clear = [bool(left_by(model, model.sample(150, seed=s), s).clear) for s in range(4)]
    assert sum(clear) <= 1


def test_larger_tables_are_measured_on_some_of_their_rows(monkeypatch):
    monkeypatch.setattr("leverrier.discovery.evidence.residual.MOST_CELLS", 1500)
    model = star()
    table = model.sample(2000, seed=0).drop("H")
    assert left_by(model, table).rows == 300
    weighted = Table(table.columns, table.codes, np.full(2000, 2.0))
    assert left_by(model, weighted).rows == 300


def test_certainty_is_what_counting_by_hand_gives():
    rng = np.random.default_rng(3)
    posterior, weights = rng.dirichlet([0.5, 0.5, 0.5], 300), rng.integers(1, 3, 300).astype(float)
    known = certainty(posterior, weights)
    counts, doubt, right, worth = [0.0] * BINS, 0.0, 0.0, [0.0] * 3
    for row, weight in zip(posterior.tolist(), weights.tolist(), strict=True):
        best = max(row)
        counts[min(int(best * BINS), BINS - 1)] += weight
        doubt += weight if best < AMBIGUOUS else 0.0
        right += weight * best
        worth = [w + weight * p * p for w, p in zip(worth, row, strict=True)]
    assert known.counts == pytest.approx(counts)
    assert known.ambiguous == doubt
    assert known.mean == pytest.approx(right / weights.sum())
    assert known.worth == pytest.approx(worth)
    assert 0 < known.sharpness < 1


def test_sharpness_is_one_for_certain_rows_and_zero_for_rows_that_say_nothing():
    certain = np.eye(2)[np.arange(10) % 2]
    assert certainty(certain, np.ones(10)).sharpness == pytest.approx(1)
    assert certainty(np.full((10, 2), 0.5), np.ones(10)).sharpness == pytest.approx(0)


def test_discover_fills_all_of_it_and_no_row():
    table = star().sample(600, seed=0).drop("H")
    found = lv.discover(table, method="network", draws=1, resamples=0, max_hidden=1, jobs=1)
    examined = found.result
    assert examined.rows is not None
    assert examined.rows.total == 600
    assert examined.remaining is not None
    assert set(examined.rows.certainty) == {each.name for each in found.hidden}
    for each in found.hidden:
        known = examined.rows.certainty[each.name]
        assert sum(known.counts) == pytest.approx(600)
        assert known.mean == pytest.approx(found.posterior(table, each.name).max(axis=1).mean())
        tried = examined.scores[each.name]
        assert [one.states for one in tried] == list(range(2, 2 + len(tried)))
        own = next(one for one in tried if one.states == each.states)
        assert own.smallest == pytest.approx(found.posterior(table, each.name).mean(axis=0).min(), abs=0.02)
        for one in tried:
            assert one.bic - one.aic == pytest.approx((np.log(600) - 2) * one.parameters)
            assert one.aic == pytest.approx(2 * one.parameters - 2 * one.log_likelihood)
            assert 0 <= one.entropy <= 1


def test_layers_go_down_and_nodes_do_not_touch():
    for name in ("alarm", "win95pts"):
        graph = lv.datasets.network(name).graph
        widths = {node: 40.0 + 6 * len(node) for node in graph}
        layout = layered(widths, graph.edges, graph.order)
        for parent, child in graph.edges:
            assert layout.places[parent][1] < layout.places[child][1]
            first, *_, last = layout.routes[parent, child]
            assert first[0] == layout.places[parent][0]
            assert last[0] == layout.places[child][0]
        by_layer: dict[float, list[str]] = {}
        for node, (_, y) in layout.places.items():
            by_layer.setdefault(y, []).append(node)
        for nodes in by_layer.values():
            nodes.sort(key=lambda n: layout.places[n][0])
            for left, right in pairwise(nodes):
                room = layout.places[right][0] - layout.places[left][0] - (widths[left] + widths[right]) / 2
                assert room >= GAP / 2 - 1e-6
        assert all(0 <= x <= layout.width and HEIGHT / 2 <= y <= layout.height for x, y in layout.places.values())
