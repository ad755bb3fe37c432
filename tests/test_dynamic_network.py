"""Dynamic networks as values: made, checked, sampled, compared, written and read."""

import json
import pickle

import numpy as np
import pytest

from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.table import Table
from leverrier.errors import FormatError, NetworkError, OptionError, TableError
from leverrier.formats.dynamic_files import (
    dumps_dynamic,
    dumps_dynamic_bif,
    loads_dynamic,
    loads_dynamic_bif,
    read_dynamic,
    write_dynamic,
)
from leverrier.models.dynamic.cpd import GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from tests.naive.dynamic_models import random_network


def weather():
    """The umbrella world, with names for its states."""
    rain, umbrella = [[0.7, 0.3], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]]
    return DynamicNetwork.from_tables(
        {"rain": ("yes", "no"), "umbrella": ("up", "down")},
        {"rain": ((), [0.5, 0.5]), "umbrella": (("rain",), umbrella)},
        {"rain": ((("rain", 1),), rain), "umbrella": (("rain",), umbrella)},
        hidden=["rain"],
    )


def test_the_umbrella_world():
    """Russell and Norvig: P(rain on day 2 | umbrella twice) = .883 filtered, and .883 for day 1 smoothed."""
    network = weather()
    filtered = network.posterior({"umbrella": ["up", "up"]}, filtered=True)
    np.testing.assert_allclose(filtered[:, 0], [0.818, 0.883], atol=5e-4)
    assert abs(network.posterior({"umbrella": ["up", "up"]})[0, 0] - 0.883) < 5e-4
    following = network.filter()
    assert abs(following.step({"umbrella": "up"})["rain"][0] - 0.818) < 5e-4
    assert abs(following.step({"umbrella": "up"})["rain"][0] - 0.883) < 5e-4


def test_the_walk_shop_clean_model():
    """The figures of oracles.tsv: Viterbi probability .01344 and posteriors."""
    emission = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    network = DynamicNetwork.from_tables(
        {"H": ("rainy", "sunny"), "X": ("walk", "shop", "clean")},
        {"H": ((), [0.6, 0.4]), "X": (("H",), emission)},
        {"H": ((("H", 1),), [[0.7, 0.3], [0.4, 0.6]]), "X": (("H",), emission)},
        hidden=["H"],
    )
    data = {"X": ["walk", "shop", "clean"]}
    path = network.most_probable_path(data)
    assert path.table.column("H").tolist() == [1, 0, 0]
    complete = network.hiding()
    assert abs(np.exp(complete.log_likelihood(path)) - 0.01344) < 1e-6
    expected = [[0.23170303, 0.76829697], [0.62406281, 0.37593719], [0.86397706, 0.13602294]]
    np.testing.assert_allclose(network.posterior(data), expected, atol=1e-6)


def test_samples_follow_the_tables():
    network = weather()
    drawn = network.sample(60_000, seed=1)
    rain, umbrella = drawn.table.column("rain"), drawn.table.column("umbrella")
    stay = np.mean(rain[1:][rain[:-1] == 0] == 0)
    assert abs(stay - 0.7) < 0.01
    assert abs(np.mean(umbrella[rain == 0] == 0) - 0.9) < 0.01
    assert np.array_equal(drawn.table.codes, network.sample(60_000, seed=1).table.codes)
    many = network.sample(2, seed=0, sequences=20_000)
    assert len(many) == 20_000
    assert abs(np.mean(many.table.column("rain")[::2] == 0) - 0.5) < 0.015


def test_bits_per_slice_of_own_samples_approach_the_entropy_rate():
    """A fair coin each slice costs one bit; one that repeats for ever costs none after the first."""
    fair = DynamicNetwork.from_tables({"x": (0, 1)}, {"x": ((), [0.5, 0.5])}, {"x": ((), [0.5, 0.5])})
    assert fair.bits_per_slice(fair.sample(100, seed=0)) == 1.0
    stuck = DynamicNetwork.from_tables({"x": (0, 1)}, {"x": ((), [0.5, 0.5])}, {"x": ((("x", 1),), np.eye(2))})
    np.testing.assert_allclose(stuck.surprise(stuck.sample(5, seed=0)), [1, 0, 0, 0, 0])


def test_a_network_is_a_value():
    for seed in range(20):
        network = random_network(np.random.default_rng(seed))
        assert pickle.loads(pickle.dumps(network)) == network
        assert loads_dynamic(dumps_dynamic(network)) == network
        with pytest.raises(AttributeError):
            network.hidden = ()
        with pytest.raises(ValueError, match="read-only"):
            next(iter(network.transition.values())).table()[...] = 0


def test_the_prior_and_the_graph():
    network = weather()
    assert network.prior.parents("umbrella") == ("rain",)
    assert network.order == 1
    assert network.edges == ((("rain", 1), "rain"), (("rain", 0), "umbrella"))
    assert network.two_slices.parents("rain") == ("rain[-1]",)
    assert network.dimension == 1 + 2 + 2, "the umbrella's table serves both slices and counts once"


def test_two_slice_bif_round_trip():
    network = weather().hiding()
    assert loads_dynamic_bif(dumps_dynamic_bif(network)) == network
    begin = {"x": TableCPD((), [0.5, 0.5])}
    second = DynamicNetwork({"x": (0, 1)}, (begin, begin), {"x": TableCPD((("x", 2),), np.eye(2))})
    with pytest.raises(FormatError, match=r"write \.json"):
        dumps_dynamic_bif(second)


def test_files(tmp_path):
    network = weather()
    for suffix in (".json", ".json.gz"):
        write_dynamic(network, tmp_path / f"m{suffix}")
        assert read_dynamic(tmp_path / f"m{suffix}") == network
    write_dynamic(network, tmp_path / "m.bif")
    assert read_dynamic(tmp_path / "m.bif", hidden=["rain"]) == network
    with pytest.raises(OptionError, match="names no format"):
        read_dynamic(tmp_path / "m.xml")
    with pytest.raises(FormatError, match="cannot be read"):
        read_dynamic(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(version=2), "version 2"),
        (lambda c: c.update(format="x"), "not a dynamic network"),
        (lambda c: c.update(extra=1), "the key 'extra'"),
        (lambda c: c.update(slices=c["slices"][:1]), "at least two"),
        (lambda c: c.update(hidden=["nobody"]), "'nobody'"),
        (lambda c: c["slices"][0]["variables"][1].update(name="umbrella"), "is no node of a slice"),
        (lambda c: c["slices"][0]["variables"].pop(), "'umbrella' has no distribution"),
        (lambda c: c.update(numbers={"p": {"parents": ["rain"]}}), "need parents, means"),
        (lambda c: c.update(numbers={"p": {"parents": [], "means": 0.0, "deviations": -1.0}}), "positive"),
    ],
)
def test_bad_json_is_one_clear_line(change, said):
    content = json.loads(dumps_dynamic(weather()))
    change(content)
    with pytest.raises((FormatError, NetworkError)) as problem:
        loads_dynamic(json.dumps(content), "m.json")
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variable X { type discrete [ 2 ] { a, b }; } probability ( X ) { table 0.5, 0.5; }", "belongs to no slice"),
        ("variable X_0 { type discrete [ 2 ] { a, b }; } probability ( X_0 ) { table 0.5, 0.5; }", "next slice"),
    ],
)
def test_bad_two_slice_bif(text, said):
    with pytest.raises(FormatError) as problem:
        loads_dynamic_bif(f"network n {{ }} {text}")
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: DynamicNetwork({}, ({},), {}), "at least one variable"),
        (lambda: DynamicNetwork({"x": (0, 1)}, (), {"x": TableCPD((), [0.5, 0.5])}), "needs a prior"),
        (
            lambda: DynamicNetwork(
                {"x": (0, 1)}, ({"x": TableCPD((), [0.5, 0.5])},), {"x": TableCPD((("x", 2),), np.eye(2))}
            ),
            "2 stages are needed",
        ),
        (
            lambda: DynamicNetwork(
                {"x": (0, 1)}, ({"x": TableCPD((("x", 1),), np.eye(2))},), {"x": TableCPD((), [0.5, 0.5])}
            ),
            "beyond the beginning",
        ),
        (
            lambda: DynamicNetwork(
                {"x": (0, 1)}, ({"x": TableCPD((), [0.5, 0.5])},), {"x": TableCPD((("x", 0),), np.eye(2))}
            ),
            "cycle",
        ),
        (lambda: TableCPD((), [0.5, 0.6]), "sum to 1"),
        (lambda: GaussianCPD((), np.array(0.0), np.array(0.0)), "positive"),
    ],
)
def test_bad_networks(make, said):
    with pytest.raises(NetworkError, match=said):
        make()


def test_absent_columns_are_summed_out_and_wrong_ones_are_said():
    network = weather().hiding()
    both = network.sample(30, seed=0)
    seen = both.select(["umbrella"])
    assert abs(network.log_likelihood(seen) - weather().log_likelihood(both)) < 1e-12
    with pytest.raises(TableError, match="none of the columns"):
        network.log_likelihood({"something": ["a", "b"]})
    with pytest.raises(OptionError, match="name the variable"):
        network.posterior(both)
    with pytest.raises(OptionError, match="no variable 'snow'"):
        network.posterior(both, "snow")
    with pytest.raises(OptionError, match="inference='magic'"):
        network.log_likelihood(both, "magic")


def test_one_slice_and_rows_of_holes():
    network = weather()
    one = Sequences.from_table(Table.from_codes({"umbrella": ("up", "down")}, np.array([[0]])))
    assert abs(network.log_likelihood(one) - np.log(0.55)) < 1e-12
    nothing = Sequences.from_table(Table.from_codes({"umbrella": ("up", "down")}, np.full((1, 4), -1)))
    np.testing.assert_allclose(network.slice_log_likelihood(nothing), 0, atol=1e-15)
    np.testing.assert_allclose(network.posterior(nothing), 0.5)
    assert network.forecast(nothing, 2).most_probable("rain")[0][0] in ("yes", "no")
    mixed = Sequences.from_table(Table.from_codes({"umbrella": ("up", "down")}, np.array([[0, -1, -1, 0]])))
    steps = np.linalg.matrix_power(np.array([[0.7, 0.3], [0.3, 0.7]]), 3)
    shown = np.array([0.9, 0.2])
    expected = np.log((0.5 * shown) @ steps @ shown)
    assert abs(network.log_likelihood(mixed) - expected) < 1e-12


def test_the_filter_says_what_it_cannot_read():
    with pytest.raises(TableError, match="none of its states"):
        weather().filter().step({"umbrella": "sideways"})
    with pytest.raises(OptionError, match="steps=0"):
        weather().forecast({"umbrella": ["up"]}, 0)
