"""Latent classes: the published figures, the table's arithmetic, labels, bootstrap, holes."""

import math

import numpy as np
import pytest

from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.errors import OptionError
from leverrier.learning.classes.class_bootstrap import aligned_states
from leverrier.learning.classes.latent_classes import latent_classes, star
from leverrier.learning.em.fit import fit
from leverrier.learning.em.state_order import reordered

PUBLISHED = [
    ("carcinoma", (), {2: -317.2568, 3: -293.705, 4: -289.2858}, 5e-4),
    ("stouffer_toby", (), {1: -543.6498, 2: -504.4677, 3: -503.3011}, 5e-4),
    ("cheating", ("GPA",), {2: -440.0271}, 5e-4),
    ("gss82", (), {1: -2872.23, 2: -2783.268, 3: -2754.545, 4: -2746.621}, 1e-3),
]


@pytest.mark.parametrize(("name", "ignore", "figures", "within"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_published_log_likelihoods(shared_data, name, ignore, figures, within):
    table = read_table(shared_data / "latent_class" / f"{name}.csv", ignore=ignore)
    result = latent_classes(table, states=figures, starts=30)
    for states, wanted in figures.items():
        assert result.table.row(states).log_likelihood == pytest.approx(wanted, abs=within)


def test_carcinoma_table_is_the_published_one(shared_data):
    result = latent_classes(shared_data / "latent_class" / "carcinoma.csv", states=range(1, 5))
    three = result.table.row(3)
    assert (three.parameters, result.states) == (23, 3)
    assert three.aic == pytest.approx(633.41, abs=5e-3)
    assert three.bic == pytest.approx(697.1357, abs=1e-3)
    assert three.g2 == pytest.approx(15.26171, abs=1e-3)
    assert three.x2 == pytest.approx(20.50336, abs=1e-3)
    assert "3 classes: the lowest BIC" in result.why
    assert all(word in str(result) for word in ("log-likelihood", "SABIC", "best reached", "share"))


def test_gss82_has_exactly_the_five_published_maxima(shared_data):
    """poLCA's manual, table 1: where 500 random starts of three classes end. Ours may end nowhere else."""
    result = latent_classes(shared_data / "latent_class" / "gss82.csv", states=3, starts=300)
    ends = {round(start.log_likelihood, 3) for start in result.fit.starts}
    assert ends == {-2754.545, -2755.617, -2755.739, -2762.005, -2762.231}
    assert all(start.status.converged for start in result.fit.starts)


def three_classes(n=1500, holes=0.0, seed=0):
    """Rows of a known model with three well-separated classes of shares .5, .3, .2 over nine columns."""
    rng = np.random.default_rng(seed)
    z = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    high = np.where(np.repeat(np.eye(3), 3, axis=1) == 1, 0.85, 0.15)
    codes = (rng.random((9, n)) < high[z].T).astype(int)
    codes[rng.random(codes.shape) < holes] = -1
    return Table.from_codes({f"x{j}": ("no", "yes") for j in range(9)}, codes), z, high


@pytest.mark.parametrize("holes", [0.0, 0.25])
def test_a_known_model_is_recovered(holes):
    table, z, high = three_classes(holes=holes)
    result = latent_classes(table, states=range(1, 5), starts=10)
    assert result.states == 3
    np.testing.assert_allclose(result.shares, [0.5, 0.3, 0.2], atol=0.06)
    for k in range(3):
        found = [result.profiles[str(k)][f"x{j}"]["yes"] for j in range(9)]
        np.testing.assert_allclose(found, high[k], atol=0.09)
    assert result.posterior.shape == (1500, 3)
    assert np.mean(result.posterior.argmax(axis=1) == z) > (0.9 if holes else 0.95)


def test_the_tables_arithmetic():
    table, _, _ = three_classes(n=200)
    result = latent_classes(table, states=[1, 2, 3], starts=5)
    for row in result.table:
        assert row.parameters == (row.states - 1) + row.states * 9
        assert row.aic == pytest.approx(-2 * row.log_likelihood + 2 * row.parameters)
        assert row.bic == pytest.approx(-2 * row.log_likelihood + math.log(200) * row.parameters)
        assert row.sabic == pytest.approx(-2 * row.log_likelihood + math.log(202 / 24) * row.parameters)
        assert row.caic == pytest.approx(row.bic + row.parameters)
        assert row.degrees_of_freedom == 512 - 1 - row.parameters
        network, posterior = result.fits[row.states].network, result.fits[row.states].posterior("class")
        logs = np.log(np.where(posterior > 0, posterior, 1))
        if row.states > 1:
            assert row.entropy == pytest.approx(1 + (posterior * logs).sum() / (200 * math.log(row.states)))
        assert row.smallest_class == network.cpt("class").min()
    # one class is independence: the log-likelihood is that of the margins
    margins = [np.bincount(column, minlength=2) for column in table.codes]
    assert result.table.row(1).log_likelihood == pytest.approx(sum(m @ np.log(m / 200) for m in margins))


def test_holes_leave_out_cell_statistics_but_no_row():
    table, _, _ = three_classes(n=200, holes=0.2)
    result = latent_classes(table, states=[2], starts=3)
    assert result.table[0].g2 is None
    assert len(result.posterior) == 200


def test_bootstrap_tells_a_needed_class_from_a_needless_one():
    table, _, _ = three_classes(n=300, seed=3)
    result = latent_classes(table, states=[1, 2, 3, 4], starts=4, bootstrap=12, seed=1)
    p = {row.states: row.bootstrap_p for row in result.table}
    assert p[1] is None
    assert p[2] == p[3] == 1 / 13
    assert p[4] > 1 / 13


def test_standard_errors_by_bootstrap_are_near_the_binomial_ones():
    table, _, _ = three_classes(n=2000)
    result = latent_classes(table, states=3, starts=4, errors=60)
    assert result.standard_errors is not None
    shares = result.shares
    np.testing.assert_allclose(result.standard_errors["class"], np.sqrt(shares * (1 - shares) / 2000), rtol=0.6)
    p = result.network.cpt("x0")[:, 1]
    np.testing.assert_allclose(result.standard_errors["x0"][:, 1], np.sqrt(p * (1 - p) / (2000 * shares)), rtol=0.8)


def test_alignment_undoes_a_permutation():
    table, _, _ = three_classes()
    network = fit(star(table, "class"), table, {"class": 3}).network
    order = np.array([2, 0, 1])
    turned = network.with_tables(reordered(network.graph, network.tables, {"class": order}))
    np.testing.assert_array_equal(order[aligned_states(network, turned, "class")], [0, 1, 2])


def test_a_column_named_class_and_bad_options():
    table = Table.from_codes({"class": ("a", "b"), "x": ("c", "d")}, np.random.default_rng(0).integers(0, 2, (2, 50)))
    assert latent_classes(table, states=2, starts=2).variable == "class_"
    with pytest.raises(OptionError, match="each at least 1"):
        latent_classes(table, states=[0, 1])
    with pytest.raises(OptionError, match="criterion='icl'"):
        latent_classes(table, criterion="icl")
    with pytest.raises(OptionError, match="were not tried"):
        latent_classes(table, states=2, starts=1).table.row(5)
