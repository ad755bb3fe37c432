"""Every result that names a picture names one that can be drawn."""

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import leverrier as lv

ROOT = Path(lv.__file__).parent


DOORS = {"chart_of": "charts", "words_of": "words"}


def names():
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DOORS:
                assert isinstance(node.args[0], ast.Constant), f"{path.name}:{node.lineno}: name it in words"
                yield f"{DOORS[node.func.id]}.{node.args[0].value}"


NAMES = sorted(set(names()))


def test_results_name_pictures_and_words():
    assert {name.split(".")[0] for name in NAMES} == set(DOORS.values())


@pytest.mark.parametrize("name", NAMES)
def test_the_named_function_is_there(name):
    room, module, function = name.split(".")
    assert callable(getattr(import_module(f"leverrier.report.{room}.{module}"), function))


def marks(chart):
    """A chart's kinds of marks, however it is put together."""
    found = []
    waiting = [chart.to_dict()]
    while waiting:
        part = waiting.pop()
        mark = part.get("mark")
        if mark is not None:
            found.append(mark["type"] if isinstance(mark, dict) else mark)
        for key in ("layer", "hconcat", "vconcat", "concat"):
            waiting += part.get(key, [])
        if "spec" in part:
            waiting.append(part["spec"])
    return set(found)


def test_pictures_of_networks_and_fits():
    net = lv.datasets.network("asia")
    assert "line" in marks(net.plot_graph(hidden=["either"]))
    data = net.sample(300, seed=0).drop("either")
    fit = lv.fit(net, data, hidden={"either": 2}, starts=1)
    assert "line" in marks(fit.plot_trace())
    found = lv.cardinality(net, data, hidden="either")
    assert marks(found.plot_merges())
    assert marks(found.plot_scores())


def test_profiles_of_latent_classes_show_every_column():
    data = lv.datasets.network("asia").sample(400, seed=1)
    found = lv.latent_classes(data, states=2, starts=2)
    chart = found.plot_profiles().to_dict()
    values = chart.get("data", chart["layer"][0].get("data"))["values"]
    assert {each["row"].split(":")[0] for each in values} == set(data.variables)


def test_pictures_of_mixtures_and_causes():
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(size=(60, 2)), rng.normal(5, 1, size=(60, 2))])
    mixture = lv.fit_mixture(x, components=2, seed=0)
    assert marks(mixture.plot(x))
    assert "line" in marks(mixture.plot_trace())
    signs, _ = lv.datasets.hidden_causes(n_observed=4, n_causes=2, n_trials=60, seed=0)
    causes = lv.hidden_causes(signs, sweeps=20, chains=1, seed=0)
    for chart in (causes.plot_traces(), causes.plot_structure(), causes.plot_links()):
        assert marks(chart)


def test_pictures_in_time():
    sequences = lv.read_sequences(
        {"by": [0] * 40, "t": list(range(40)), "x": ["a", "b"] * 10 + ["a", "a"] * 10}, by="by", time="t"
    )
    fit = lv.hidden_markov(sequences, states=2, seed=0)
    network = fit.network
    for chart in (
        fit.plot_trace(),
        network.plot_graph(),
        network.plot_states(sequences),
        network.plot_dwell_times(sequences),
        network.plot_forecast(sequences, "x", 3),
    ):
        assert marks(chart)
