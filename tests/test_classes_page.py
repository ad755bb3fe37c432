"""The page of latent classes: figures stand where figures belong, and long tables are folded."""

import re

import numpy as np
import pytest

import leverrier as lv
from leverrier.report.pages.classes_page import classes_page


@pytest.fixture(scope="module")
def shown():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 150)
    answers = {name: np.where(rng.random(150) < 0.1 + 0.8 * kind, "yes", "no").tolist() for name in "ABCD"}
    answers["E"] = np.where(kind == 1, "yes", "no").tolist()
    return classes_page(lv.latent_classes(answers, states=[1, 2], starts=3, seed=0), "Kinds of people", live=False)


def test_what_is_large_is_the_figure_and_what_is_small_its_name(shown):
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", shown))
    assert facts["classes"] == "2"
    assert re.fullmatch(r"[\d,.]+", facts["BIC"])
    assert re.fullmatch(r"\d+ of 3", facts["starts that ended best"])


def test_probabilities_at_their_bound_are_not_told_as_powers_of_ten(shown):
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown)
    assert "0" in cells
    assert not [cell for cell in cells if re.search(r"\de[−-]", cell)]


def test_every_estimate_is_there_and_folded(shown):
    assert re.search(r"<details[^>]*>\s*<summary>.{0,40}Every estimate with its standard error", shown, flags=re.S)
