"""Exact answers of conditional-Gaussian networks against enumeration with quadrature; the others by sampling."""

import itertools

import numpy as np
import pytest

from leverrier.models.families.number_regression import Noise, NumberRegression, Spread
from leverrier.models.families.number_states import NumberTable
from leverrier.models.families.number_terms import Term, code_bounds
from leverrier.models.graph import Graph
from leverrier.models.margin import Margin
from leverrier.models.mixed_gaussian import GaussianByStates, conditional_gaussian
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.mixed_query import log_evidence

MARGIN = Margin((-3.0, 0.0, 3.0), (0.0, 0.5, 1.0), (0.0, 0.5, 1.0))
GRID = np.arange(-15, 15, 0.1)


def table(rng, parent_states, states):
    rows = rng.dirichlet(np.ones(states), int(np.prod(parent_states, dtype=int)))
    bounds = tuple(tuple(k + 0.5 for k in range(n - 1)) for n in parent_states)
    return NumberTable((), bounds, tuple(map(tuple, rows.tolist())), len(rows))


def line(rng, states_of, parents):
    """Coefficients, slopes and deviation that change with the states."""
    terms, numbers = [], [p for p, states in enumerate(states_of) if not states]
    for p, states in enumerate(states_of):
        if not states:
            terms.append(Term("score", (p,)))
            continue
        for k in range(1, states):
            low, high = code_bounds([j + 0.5 for j in range(states - 1)], k)
            terms.append(Term("code", (p,), low, high))
            terms += [Term("slope", (p, q), low, high) for q in numbers]
    coefficients = rng.normal(0, 0.7, len(terms) + 1)
    by = next((p for p, states in enumerate(states_of) if states), None)
    if by is None:
        spread = Spread((float(rng.uniform(0.4, 1.2)),))
    else:
        n = states_of[by]
        spread = Spread(tuple(rng.uniform(0.4, 1.2, n).tolist()), by, tuple(k + 0.5 for k in range(n - 1)))
    curves = (None,) * len(parents)
    return NumberRegression("linear", tuple(terms), tuple(coefficients.tolist()), spread, parent_curves=curves)


def random_network(rng, n_states=3, n_numbers=3):
    """States first, so that no state has a number above it."""
    names = [f"s{k}" for k in range(n_states)] + [f"x{k}" for k in range(n_numbers)]
    states = {f"s{k}": tuple(range(int(rng.integers(2, 4)))) for k in range(n_states)}
    parents, families = {}, {}
    for at, name in enumerate(names):
        above = [p for p in names[:at] if rng.random() < 0.5][:3]
        parents[name] = above
        sizes = [len(states[p]) if p in states else 0 for p in above]
        families[name] = table(rng, sizes, len(states[name])) if name in states else line(rng, sizes, above)
    margins = {name: MARGIN for name in names if name not in states}
    return MixedNetwork(Graph.from_parents(parents), states, margins, families)


def holed_row(rng, network, most_numbers=2):
    cells = network.draw_cells(1, rng)
    lost = [v for v in network.states if rng.random() < 0.4]
    lost_numbers = list(rng.permutation(list(network.margins))[: rng.integers(0, most_numbers + 1)])
    for v in lost:
        cells[v] = np.array([-1])
    for v in lost_numbers:
        cells[v] = np.array([np.nan])
    return cells, lost, lost_numbers


def by_quadrature(network, cells, lost, lost_numbers, fixed=None):
    """log Σ over states ∫ over numbers of the product of all families, by brute force."""
    total = 0.0
    grids = [g.ravel() for g in np.meshgrid(*(GRID for _ in lost_numbers))] if lost_numbers else []
    size = len(grids[0]) if grids else 1
    step = (GRID[1] - GRID[0]) ** len(lost_numbers)
    for values in itertools.product(*(range(len(network.states[v])) for v in lost)):
        full = {v: np.repeat(c, size) for v, c in cells.items()}
        full.update({v: np.full(size, k) for v, k in zip(lost, values, strict=True)})
        full.update(dict(zip(lost_numbers, grids, strict=True)))
        logs = sum(
            network.families[v].log_density(full[v], [full[p] for p in network.parents(v)]) for v in network.graph
        )
        weight = 1.0 if fixed is None else full[fixed]
        total += (np.exp(logs) * weight).sum() * step
    return total


def test_rows_with_holes_are_worth_what_enumeration_with_quadrature_says():
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(500):
        network = random_network(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        assert conditional_gaussian(network)
        cells, lost, lost_numbers = holed_row(rng, network, 2 if rng.random() < 0.2 else 1)
        expected = np.log(by_quadrature(network, cells, lost, lost_numbers))
        worst = max(worst, abs(log_evidence(network, cells)[0] - expected))
    assert worst < 1e-8


def test_a_missing_number_has_the_mean_that_quadrature_says():
    rng = np.random.default_rng(1)
    for _ in range(40):
        network = random_network(rng)
        cells, lost, _ = holed_row(rng, network, 0)
        asked = str(rng.choice(list(network.margins)))
        cells[asked] = np.array([np.nan])
        exact = GaussianByStates(network)
        weights, means, deviations = exact.moments(cells, lost, asked)
        mass = by_quadrature(network, cells, lost, [asked])
        assert (weights * means).sum() == pytest.approx(
            by_quadrature(network, cells, lost, [asked], asked) / mass, abs=1e-8
        )
        assert np.all(deviations > 0)


def test_many_rows_at_once_are_the_rows_one_by_one():
    rng = np.random.default_rng(2)
    network = random_network(rng)
    rows = [holed_row(rng, network)[0] for _ in range(30)]
    together = {v: np.concatenate([row[v] for row in rows]) for v in network.variables}
    np.testing.assert_allclose(log_evidence(network, together), [log_evidence(network, row)[0] for row in rows])


def test_what_is_not_gaussian_is_told_and_answered_by_weighted_draws():
    rng = np.random.default_rng(3)
    network = random_network(rng, 1, 2)
    noisy = NumberRegression("linear", (), (0.0,), noise=Noise((0.5, 0.5), (-1.0, 1.0), (0.5, 0.5)))
    child = NumberRegression("linear", (Term("score", (0,)),), (0.0, 0.8), parent_curves=(None,))
    graph = Graph.from_parents({"s0": (), "x0": (), "x1": ("x0",)})
    strange = MixedNetwork(
        graph,
        network.states,
        network.margins,
        {**network.families, "s0": network.families["s0"], "x0": noisy, "x1": child},
    )
    assert not conditional_gaussian(strange)
    cells = {"s0": np.zeros(1, int), "x0": np.array([np.nan]), "x1": np.array([0.4])}
    expected = np.log(by_quadrature(strange, cells, [], ["x0"]))
    assert log_evidence(strange, cells)[0] == pytest.approx(expected, abs=0.1)
    # a hole with nothing observed below it costs nothing, exactly
    barren = {**cells, "x0": np.array([0.3]), "x1": np.array([np.nan])}
    both = strange.families["s0"].log_density(barren["s0"], []) + noisy.log_density(barren["x0"], [])
    assert log_evidence(strange, barren)[0] == pytest.approx(both[0])
