"""The networks that come with the package."""

from importlib.resources import files

import numpy as np
import pytest
from scipy import stats

from leverrier import datasets
from leverrier.errors import OptionError
from leverrier.formats.network_files import read_network
from tests.naive.networks import joint

COUNTS = {  # variables, arrows, parameters: the sources' own, except candy's, which can be counted on fingers
    "alarm": (37, 46, 509),
    "asia": (8, 8, 18),
    "child": (20, 25, 230),
    "hailfinder": (56, 66, 2656),
    "insurance": (27, 52, 1008),
    "win95pts": (76, 112, 574),
    "candy": (4, 3, 7),
    "heart": (7, 6, 78),
}


def test_the_names_are_those_of_the_files():
    folder = files("leverrier") / "bundled"
    found = {file.name for file in folder.iterdir()} - {"ORIGIN.md"}
    assert found == {f"{name}.json" for name in datasets.networks()}
    assert set(datasets.networks()) == set(COUNTS)


@pytest.mark.parametrize("name", datasets.networks())
def test_a_bundled_network_has_the_published_size_and_says_where_it_came_from(name):
    network = datasets.network(name)
    assert (len(network.variables), len(network.edges), network.dimension) == COUNTS[name]
    assert network.notes["name"] == name
    assert network.notes["origin"]
    assert "MIT" in network.notes["licence"]
    assert f"| {name} |" in (files("leverrier") / "bundled" / "ORIGIN.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["alarm", "asia", "child", "hailfinder", "insurance", "win95pts"])
def test_a_bundled_network_is_the_published_file_bit_for_bit(name, shared_data):
    assert datasets.network(name) == read_network(shared_data / "networks" / f"{name}.bif")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(OptionError, match="no bundled network 'alram'; there are alarm, insurance, asia, child"):
        datasets.network("alram")


def test_the_thousand_candies_of_the_book_may_well_come_from_the_bundled_bags():
    candy = datasets.network("candy")
    assert candy.variables == ("bag", "flavor", "wrapper", "hole")
    expected = joint(candy).sum(axis=0).ravel() * 1000
    counts = [273, 93, 104, 90, 79, 100, 94, 167]  # [aima 20.3.2] cherry first, then red, then a hole
    assert stats.chisquare(counts, expected).pvalue > 0.01


def test_the_heart_network_is_plausible():
    heart = datasets.network("heart")
    assert all(len(labels) == 3 for labels in heart.states.values())
    severe = heart.cpt("HeartDisease")[..., 2]
    for axis in range(3):  # more smoking, worse food, less exercise: never less disease
        assert np.all(np.diff(severe, axis=axis) > 0)


def test_bundled_networks_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert datasets.network("asia").dimension == 18
