"""Pictures and words of hidden causes: they show what the result holds, and they render."""

import numpy as np
import pytest

from experiments.accuracy import ErrorPath
from experiments.truth_charts import plot_errors
from leverrier.errors import OptionError
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as make
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.report.charts.causes_charts import plot_links, plot_structure, plot_traces


@pytest.fixture(scope="module")
def found():
    x, _ = make(n_observed=5, n_causes=3, n_trials=150, seed=1)
    return hidden_causes(x, sweeps=80, chains=2, seed=0)


def values_of(chart):
    """Every row of data in the chart, layers and panels included."""
    spec = chart.to_dict()
    waiting, rows = [spec], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if isinstance(part.get("values"), list):
                rows += [row for row in part["values"] if isinstance(row, dict)]
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return rows


def test_traces_hold_every_sweep_of_every_chain(found):
    rows = [row for row in values_of(plot_traces(found)) if "sweep" in row]
    assert len(rows) == 5 * 2 * 80
    shares = [row["share"] for row in values_of(plot_traces(found)) if "share" in row]
    assert sum(shares) == pytest.approx(5)


def test_the_graph_has_a_line_for_every_link(found):
    lines = [row for row in values_of(plot_structure(found)) if row.get("in") == "best"]
    assert len(lines) == found.best.sum()
    also = [row for row in values_of(plot_structure(found, least=0.0)) if "chance" in row]
    assert len(also) == found.best.size


def test_the_link_matrix_has_every_cell(found):
    cells = {(row["sign"], row["cause"]): row["chance"] for row in values_of(plot_links(found)) if "chance" in row}
    assert len(cells) == found.links.size
    assert sum(cells.values()) == pytest.approx(found.links.sum())


def test_errors_are_means_over_data_sets():
    paths = [ErrorPath(np.array([1, 10]), np.array([a, 0.0]), np.array([2.0, a])) for a in (1.0, 3.0)]
    rows = values_of(plot_errors({"ours": paths}))
    first = {row["error"] for row in rows if row.get("kind") == "in_degree" and row["sweep"] == 1}
    assert first == {2.0}
    short = ErrorPath(np.array([1]), np.array([1.0]), np.array([1.0]))
    with pytest.raises(OptionError, match="different sweeps"):
        plot_errors({"ours": [paths[0], short]})


@pytest.mark.parametrize("plot", [plot_traces, plot_structure, plot_links])
def test_pictures_render(plot, found, tmp_path):
    file = tmp_path / "picture.png"
    plot(found).save(str(file))
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_words_name_every_cause_and_its_signs(found):
    words = str(found)
    assert f"{found.expected_count:.1f} hidden causes expected" in words
    for k in range(found.best.shape[1]):
        assert f"cause {k + 1}:" in words or len(found.children(k)) == 1
        for name in found.children(k):
            assert name in words
    assert str(found.status) in words


def test_no_cause_at_all_is_an_answer():
    run = hidden_causes(np.zeros((200, 3)), sweeps=30, chains=1, seed=0)
    assert run.best.shape[1] == 0
    assert "no cause reaches x0, x1, x2" in str(run)
    for plot in (plot_traces, plot_structure, plot_links):
        plot(run).to_dict()
