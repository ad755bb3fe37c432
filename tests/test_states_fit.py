"""The fit table of every number of states, against sums by hand; and files that have the scores alone."""

import json
import math

import numpy as np
import pytest

import leverrier as lv
from leverrier.api.saved import dump, load_result
from leverrier.discovery.states.states_fit import StatesFit, states_fit
from leverrier.models.graph import Graph
from leverrier.report.parts.paper_tables import paper_tables
from leverrier.report.parts.states_part import FIT, how_many_part
from tests import report_cases as cases

GRAPH = Graph.from_parents({"H": (), "a": ("H",), "b": ("H",), "c": ("H",)})


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 200)
    rows = {name: np.where(rng.random(200) < 0.2 + 0.6 * hidden, "y", "n").tolist() for name in "abc"}
    return lv.fit(GRAPH, lv.read_table(rows), hidden={"H": 2}, starts=2, seed=0, jobs=1)


def test_figures_are_those_of_the_posteriors_by_bayes_rule(fitted):
    network, table = fitted.network, fitted.table
    joint = np.tile(network.cpt("H"), (table.n_rows, 1))
    for name in table.variables:
        joint *= network.cpt(name)[:, table.column(name)].T
    log_likelihood = float(np.log(joint.sum(axis=1)).sum())
    posterior = joint / joint.sum(axis=1, keepdims=True)
    doubt = -(posterior * np.log(posterior)).sum(axis=1).mean()
    one = states_fit(fitted, "H")
    assert one.states == 2
    assert one.parameters == 1 + 3 * 2
    assert one.log_likelihood == pytest.approx(log_likelihood, abs=1e-6)
    assert one.aic == pytest.approx(-2 * log_likelihood + 2 * 7, abs=1e-5)
    assert one.bic == pytest.approx(-2 * log_likelihood + math.log(200) * 7, abs=1e-5)
    assert one.entropy == pytest.approx(1 - doubt / math.log(2), abs=1e-9)
    assert one.smallest == pytest.approx(posterior.mean(axis=0).min(), abs=1e-9)
    assert one.score == pytest.approx(lv.cheeseman_stutz(network, table, fitted.rule))


def test_the_page_and_the_papers_have_every_number_of_states():
    found = cases.found()
    grid = next(block for block in how_many_part(found).blocks if hasattr(block, "head"))
    assert grid.head == tuple(FIT.values())
    assert [row[0] for row in grid.rows] == ["2", "3", "4"]
    table = paper_tables(found)["fit"]
    assert [row[1] for row in table.rows] == [2, 3, 4]
    assert [row[table.head.index("BIC")] for row in table.rows] == [one.bic for one in found.scores["H1"]]


def test_files_that_have_scores_alone_are_read():
    found = cases.found()
    content = json.loads(dump(found))
    assert load_result(json.dumps(content)).scores == found.scores
    content["scores"] = {"H1": [[2, -1003.0], [3, -1000.0]]}
    assert load_result(json.dumps(content)).scores == {"H1": (StatesFit(2, -1003.0), StatesFit(3, -1000.0))}
    assert how_many_part(load_result(json.dumps(content))).blocks
