"""Items in grades: fits by cells of like rows against fits by rows, EM, and the light hunt of simulated tables."""

import numpy as np
import pytest
from scipy.optimize import minimize

import leverrier as lv
from leverrier.discovery.numbers.number_rule import excess_within, light_gain, weigh
from leverrier.discovery.numbers.number_tests import number_null
from leverrier.discovery.numbers.numbers_route import numbered
from leverrier.learning.behind.ascent import ascend
from leverrier.learning.behind.state_children import fit_states, like_rows
from leverrier.learning.behind.state_links import expected_score
from leverrier.learning.mixed.learn_mixed import expanded, mixed_network, space_of
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.score_logits import RIDGE, multinomial, ordered
from leverrier.models.behind.block import Block, add_number, add_states
from leverrier.models.behind.child_density import log_density
from leverrier.models.behind.links import Link, classes, dimension_of
from leverrier.run.run import UNBOUNDED


def answers(rng, rows=400, items=6, apart=2.0, grades=4):
    """Two classes behind items in grades."""
    h = rng.integers(0, 2, rows)
    edges = np.linspace(-1.5, 1.5, grades - 1)
    return {f"q{j}": np.searchsorted(edges, apart * (h - 0.5) + rng.logistic(size=rows)) + 1 for j in range(items)}


def chain(rng, rows=400, items=6):
    values = [rng.integers(1, 5, rows)]
    while len(values) < items:
        values.append(np.searchsorted([-1.5, 0.0, 1.5], 1.2 * (values[-1] - 2.5) + rng.logistic(size=rows)) + 1)
    return {f"q{j}": each for j, each in enumerate(values)}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    design = [np.ones(300)]
    seen = {"x": add_number(design, "x", rng.normal(size=300), None, None)}
    for name, states in (("a", 4), ("b", 3), ("c", 5)):
        codes = rng.integers(0, states, 300)
        seen[name] = add_states(design, name, codes, states, codes - codes.mean())
    return Block(np.column_stack(design), seen)


CELLS = [(mode, parents) for mode in ("table", "logit") for parents in ((), ("a",), ("a", "b"))]


@pytest.mark.parametrize(("mode", "parents"), [*CELLS, ("logit", ("x",)), ("logit", ("x", "b"))])
def test_what_cells_are_worth_is_what_rows_are_worth(rows, mode, parents):
    link, latent = Link("c", parents, 0, mode), classes(np.array([0.6, 0.4]))
    share = np.random.default_rng(1).dirichlet(np.ones(2), 300).T.copy()
    found = fit_states(rows, latent, link, share)
    by_row = log_density(rows, latent, link, found.fit).T
    assert found.by_cell[:, like_rows(rows, link).of_row] == pytest.approx(by_row, abs=1e-9)
    assert found.value == pytest.approx((share * by_row).sum(), abs=1e-8)
    paid = dimension_of(rows, latent, link) * rows.price
    assert expected_score(rows, latent, share, link) == pytest.approx((share * by_row).sum() - paid, abs=1e-8)


@pytest.mark.parametrize("fit", [ordered, multinomial])
def test_a_logit_of_cells_is_that_of_their_rows(fit):
    rng = np.random.default_rng(2)
    x = np.stack([np.ones(500), *rng.integers(0, 3, (2, 500)).astype(float)])
    codes = np.minimum(rng.poisson(0.4 + 0.4 * x[1]), 3)
    cells, first, counts = np.unique(np.vstack([x[1:], codes]), axis=1, return_index=True, return_counts=True)
    assert cells.shape[1] < 40
    own = x[1:] if fit is ordered else x
    by_row = fit(own, codes, 4)
    by_cell = fit(own[:, first], codes[first], 4, weights=counts.astype(float))
    for one, other in zip(by_row[:-1], by_cell[:-1], strict=True):
        assert one == pytest.approx(other, abs=1e-7)
    assert by_row[-1][..., first] == pytest.approx(by_cell[-1], abs=1e-8)


def test_an_ordered_logit_is_where_a_general_climb_ends():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 400))
    codes = np.searchsorted([-1.0, 0.2, 1.4], 0.9 * x[0] - 0.5 * x[1] + rng.logistic(size=400))

    def minus(theta):
        upto = 1 / (1 + np.exp(theta[3:] @ x - theta[:3, None]))
        shares = np.diff(upto, axis=0, prepend=0.0, append=1.0)[codes, np.arange(400)]
        return -np.log(np.maximum(shares, 1e-12)).sum() + 0.5 * RIDGE * (theta[3:] ** 2).sum()

    best = minimize(minus, [-1.0, 0.0, 1.0, 0.0, 0.0], method="BFGS")
    tau, beta, logs, _ = ordered(x, codes, 4)
    assert -logs + 0.5 * RIDGE * beta @ beta == pytest.approx(best.fun, abs=2e-3)
    assert np.concatenate([tau, beta]) == pytest.approx(best.x, abs=0.02)


def test_em_never_falls_under_grades_with_grades_above_them(rows):
    links = (Link("a", (), 0, "logit"), Link("b", ("a",), 0, "logit"), Link("c", ("a", "b"), 0, "logit"))
    begun = np.random.default_rng(4).dirichlet(np.ones(2), 300)
    found = ascend(rows, classes(np.full(2, 0.5)), links, begun, close=1e-9, most=60)
    assert len(found.trace) > 5
    assert np.diff(found.trace).min() > -1e-8


def test_grades_are_scored_alike_as_states_and_as_numbers_of_few_values():
    """Cells of like rows serve both: an atomic number with a code for every value is told by its codes."""
    space = space_of(expanded(lv.read_table(chain(np.random.default_rng(5)))))
    scores = MixedScores(space)
    assert all(column.told_by_codes for column in space.columns)
    family = scores.fitted(2, (0, 1))
    cells = [column.cells for column in space.columns]
    assert family.log_likelihood == pytest.approx(family.family.log_density(cells[2], cells[:2]).sum(), abs=1e-6)


def test_the_light_hunt_is_asked_where_it_sees_as_much_and_then_of_data_and_draws_alike():
    table = expanded(lv.read_table(answers(np.random.default_rng(6))))
    space = space_of(table)
    found = weigh(space, 0)
    assert found.told == "class"
    job = number_null(mixed_network(found.rival.scores, numbered(found)), table, space, found, 0, UNBOUNDED)
    assert job.light == (light_gain(space, 0) >= found.excess)
    assert job.aim == found.excess
    # (the data as one more draw: no smaller than itself, whichever way it is asked)
    for light in (False, job.light):
        assert excess_within(space, 0, found.excess - 1e-6, light) >= found.excess - 1e-6
    assert max(job.gain(seed) for seed in np.random.SeedSequence(7).spawn(3)) < found.excess
