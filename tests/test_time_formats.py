"""Models of slices in files, and the same after reading: bits of every slice, posteriors, futures."""

import json

import numpy as np
import pytest

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import lag_features, memory_features
from leverrier.data.table import Table, Variable
from leverrier.errors import FormatError, OptionError
from leverrier.formats.dynamic_files import dumps_dynamic, loads_dynamic, read_dynamic, write_dynamic
from leverrier.learning.chains.chain_em import ChainSettings, fit_chains
from leverrier.learning.slices.column_fit import Smoothing
from leverrier.learning.slices.learn_dynamic import as_dynamic
from leverrier.learning.slices.slice_choice import bag_slices, choose, fit_slices
from leverrier.learning.slices.slice_design import make_design, make_folds
from leverrier.models.slices.slice_forecast import simulate

NAMES = ("tune", "key", 'a "column" &\nmore')


def played(seed=0, n=360):
    """A walk over ordered states in a key that seldom changes, both louder in one of two moods; some holes."""
    rng = np.random.default_rng(seed)
    mood = (np.cumsum(rng.random(n) < 0.03) % 2).astype(int)
    x, key = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    for t in range(1, n):
        key[t] = key[t - 1] if rng.random() < 0.95 else rng.integers(0, 4)
        x[t] = np.clip(x[t - 1] + rng.choice([-1, 0, 1, 2], p=[0.3, 0.2, 0.3, 0.2]), 0, 5)
    loud = (rng.random(n) < np.where(mood, 0.9, 0.1)).astype(int)
    codes = np.stack([x, key, loud]).astype(np.uint8)
    codes[:, rng.random(n) < 0.03] = 255
    columns = (
        Variable(NAMES[0], tuple(range(6)), "integer"),
        Variable(NAMES[1], ("a", 1, True, 2.5)),
        Variable(NAMES[2], (False, True), "boolean"),
    )
    return Sequences.from_table(Table(columns, codes), np.arange(0, n + 1, 40))


def models():
    data = played()
    features = (*lag_features(data.variables, 2), *memory_features(data.table))
    design = make_design(data, features, data.variables)
    choice = choose(design, make_folds(data, 3, 0))
    yield "memories", fit_slices(design, choice)
    yield "bagged", bag_slices(design, choice, 3, 0)
    plain = make_design(data, lag_features(data.variables, 1), data.variables)
    start = np.random.default_rng(1).dirichlet(np.ones(4), data.n_slices)
    settings = ChainSettings({NAMES[0]: "step", NAMES[1]: "same", NAMES[2]: "tree"}, Smoothing(4.0, 0.3), 0.2)
    yield "chains", fit_chains(plain, {"H1": 2, "H2": 2}, start, settings).model


MODELS = dict(models())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_slices_comes_back_as_it_was(name, tmp_path):
    model, fresh = MODELS[name], played(1)
    write_dynamic(model, tmp_path / "model.json.gz")
    back = read_dynamic(tmp_path / "model.json.gz")
    assert type(back) is type(model)
    assert back.variables == model.variables
    assert back.edges == model.edges
    assert np.array_equal(back.surprise(fresh), model.surprise(fresh))
    if name == "chains":
        one, other = model.posterior(fresh), back.posterior(fresh)
        assert all(np.array_equal(one[chain], other[chain]) for chain in one)


def test_shapes_and_memories_are_all_there():
    kinds = {type(cpd).__name__ for model in MODELS.values() for cpd in model.cpds.values()}
    assert {"StepCPD", "SameElseCPD", "TreeCPD", "AveragedCPD"} <= kinds
    assert MODELS["memories"].memories


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(version=9), "version 9"),
        (lambda c: c.pop("columns"), "columns"),
        (lambda c: c["cpds"].pop("key"), "distribution"),
        (lambda c: c["cpds"]["key"].update(shape="bush"), "bush"),
        (lambda c: c["cpds"]["key"]["parents"].append({"column": "nobody", "lag": 1}), "nobody"),
        (lambda c: c["cpds"]["key"]["trees"][0]["left"].__setitem__(0, 0), "nodes"),
        (lambda c: c["cpds"]["key"]["trees"][0]["probabilities"][0].__setitem__(0, 7.0), "sum to 1"),
        (lambda c: c["chains"][0].update(transition=[[1.0]]), "transition"),
    ],
)
def test_a_damaged_file_is_one_line(change, said):
    content = json.loads(dumps_dynamic(MODELS["chains"]))
    if said == "nodes" and len(content["cpds"]["key"]["trees"][0]["left"]) == 1:
        content["cpds"]["key"]["trees"][0]["feature"][0] = 0
    change(content)
    with pytest.raises(FormatError, match=said) as problem:
        loads_dynamic(json.dumps(content), "m.json")
    assert "\n" not in str(problem.value)


def test_what_two_slices_cannot_hold_is_said(tmp_path):
    with pytest.raises(OptionError, match=r"\.json"):
        write_dynamic(MODELS["chains"], tmp_path / "m.bif")
    write_dynamic(MODELS["chains"], tmp_path / "m.json")
    with pytest.raises(OptionError, match="hidden chains itself"):
        read_dynamic(tmp_path / "m.json", hidden=["H1"])


def test_a_simulated_future_is_that_of_the_network():
    """Of a model of one lag the exact forecast is known."""
    data = played()
    design = make_design(data, lag_features(data.variables, 1), data.variables)
    model = fit_slices(design, choose(design, make_folds(data, 3, 0), ("tree",)))
    ahead = as_dynamic(model, data.states).forecast(data[0], 3).probabilities
    drawn = simulate(model, data[0], 3, 4000, np.random.default_rng(0), data.variables)
    for name in data.variables:
        assert np.allclose(drawn[name], ahead[name][0], atol=0.03)  # (4 standard errors of 4,000 draws)


def test_the_hidden_part_of_a_future_is_exact():
    model, data = MODELS["chains"], played()
    now = {chain.name: model.posterior(data[2])[chain.name][-1] for chain in model.chains}
    drawn = simulate(model, data[2], 2, 10, np.random.default_rng(0), data.variables)
    for chain in model.chains:
        assert np.allclose(drawn[chain.name][1], now[chain.name] @ chain.transition @ chain.transition)
