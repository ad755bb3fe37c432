"""Quasi-Newton steps of EM in time: slopes against differences, directions against Newton's, ends against plain EM."""

from __future__ import annotations

import numpy as np
import pytest

import leverrier as lv
from leverrier.learning.chains.chain_networks import chain_network
from leverrier.learning.chains.curvature import PAIRS, Curvature
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.chains.exact_climb import ExactClimb
from leverrier.learning.em.climb import climb
from leverrier.models.dynamic.dynamic_unrolled import lay
from leverrier.status import Status


def climber(prior: float, tolerance: float = 1e-4, states: int = 2, length: int = 400, accelerate: bool = True):
    rng = np.random.default_rng(3)
    state = (np.cumsum(rng.random(length) < 0.1) % 2).astype(int)
    frame = {
        "a": np.where(rng.random(length) < 0.3 + 0.3 * state, "x", "y"),
        "b": np.where(rng.random(length) < 0.1, np.nan, rng.normal(1.2 * state)),
    }
    data = lv.read_sequences(frame)
    start = chain_network(data, ["H"], [states], ["a"], ["b"], rng=np.random.default_rng(3))
    steps = DynamicSteps(lay(start, start.read(data)), start, prior=prior)
    return ExactClimb(steps, tolerance, accelerate)


@pytest.mark.parametrize("prior", [0.0, 0.7])
def test_slopes_are_those_of_the_objective(prior):
    one = climber(prior)
    found = one.evaluate(one.model)
    slope, known = one.slopes(one.model, one.maximise(one.model, found.sums), found.sums)
    here = one.coordinates(one.model)
    assert np.all(known > 0)
    # (square roots of a row are put back to length one, so only changes along the sphere are the slope's)
    rng = np.random.default_rng(0)
    for _ in range(6):
        way = rng.normal(size=len(here))
        step = 1e-5
        ends = [one.evaluate(one.from_coordinates(here + sign * step * way, one.model)).value for sign in (1, -1)]
        assert float(slope @ way) == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-4)


def test_coordinates_go_there_and_back():
    one = climber(0.0)
    again = one.from_coordinates(one.coordinates(one.model), one.model)
    np.testing.assert_allclose(again.theta, one.model.theta, rtol=1e-12)


def test_directions_on_a_bowl_become_newtons():
    rng = np.random.default_rng(1)
    size = PAIRS // 2
    root = rng.normal(size=(size, size))
    bowl = root @ root.T + np.eye(size)
    top = rng.normal(size=size)
    told, point = Curvature(), np.zeros(size)
    assert told.direction(-bowl @ (point - top), np.ones(size)) is None
    for axis in np.linalg.eigh(bowl)[1].T:  # (steps along conjugate directions: then the pairs tell all)
        told.reached(point, -bowl @ (point - top))
        point = point + axis
    told.reached(point, -bowl @ (point - top))
    way = told.direction(-bowl @ (point - top), np.full(size, 0.3))
    assert way is not None
    np.testing.assert_allclose(point + way, top, atol=1e-8)


@pytest.mark.parametrize(("prior", "states", "times"), [(0.0, 3, 3), (0.5, 3, 5)])
def test_same_end_as_em_in_far_fewer_steps_and_never_a_fall(prior, states, times):
    fast = climb(climber(prior, states=states), max_iterations=20000)
    plain = climb(climber(prior, states=states, accelerate=False), max_iterations=20000)
    assert fast.status is plain.status is Status.CONVERGED
    assert fast.value >= plain.value - 2e-3
    assert np.all(np.diff(fast.trace) >= -1e-6)
    assert fast.iterations < plain.iterations / times


def test_a_zero_stays_a_zero():
    rng = np.random.default_rng(0)
    network = lv.DynamicNetwork.from_tables(
        {"H": ("a", "b", "c"), "x": ("u", "v")},
        prior={"H": ((), [1.0, 0.0, 0.0]), "x": (("H",), [[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]])},
        transition={
            "H": ((("H", 1),), [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]]),
            "x": (("H",), [[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]]),
        },
        hidden=["H"],
    )
    seen = network.sample(600, seed=int(rng.integers(100)))
    end = lv.fit_dynamic(network, seen, tolerance=1e-6, max_iterations=3000)
    moves = end.network.transition["H"].table()
    assert moves[0, 2] == moves[1, 0] == moves[2, 1] == 0.0
    assert end.status is Status.CONVERGED
