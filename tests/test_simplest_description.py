"""Classes that describe a small table: simulated truths, and the tables of the literature where they are at hand."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.evidence.simplest_description import simplest_description


def classes(seed, rows=2000, columns=5):
    rng = np.random.default_rng(seed)
    hidden = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    share = np.array([[0.9] * columns, [0.15] * columns, [0.9, 0.9, 0.1, 0.1, 0.1][:columns]])
    return lv.Table.from_codes(
        {f"c{i}": (0, 1) for i in range(columns)}, (rng.random((columns, rows)) < share[hidden].T) * 1
    )


def test_three_classes_behind_five_columns_are_told():
    found = simplest_description(classes(0), seed=0)
    assert found is not None
    assert found.classes == 3
    assert found.adequate
    assert found.simplest
    assert found.parameters < found.cells - 1


def test_the_adequacy_p_value_is_uniform_enough_under_the_truth():
    """Tables that three classes made are called inadequate about one time in twenty: of 6 at most 2 (p = .002)."""
    wrong = [not found.adequate for seed in range(6) if (found := simplest_description(classes(seed, 600), 0, 19))]
    assert len(wrong) == 6
    assert sum(wrong) <= 2


def test_a_chain_of_columns_is_not_described_by_classes():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 4000)]
    for _ in range(5):
        columns.append(np.where(rng.random(4000) < 0.9, columns[-1], 1 - columns[-1]))
    found = simplest_description(lv.Table.from_codes({f"c{i}": (0, 1) for i in range(6)}, np.array(columns)), seed=0)
    assert found is not None
    assert not found.simplest
    assert found.preferred < 0


def test_tables_that_cannot_be_told_are_left():
    table = classes(0, 200)
    assert simplest_description(table.select(table.variables[:2]), 0) is None
    codes = table.codes.astype(int)
    codes[0, 0] = -1
    assert simplest_description(lv.Table.from_codes(table.states, codes), 0) is None


@pytest.mark.parametrize(("name", "states"), [("dentistry", 3), ("carcinoma", 3)])
def test_the_tables_of_the_literature(shared_data, name, states):
    found = simplest_description(lv.read_table(shared_data / "latent_class" / f"{name}.csv"), seed=0)
    assert found is not None
    assert found.classes == states
    assert found.simplest
