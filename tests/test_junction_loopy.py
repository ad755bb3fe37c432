"""Loopy belief propagation: exact where the graph is a tree, near where cycles are weak, honest where it fails."""

import math

import numpy as np
import pytest

from leverrier.inference.approximate.loopy import loopy
from leverrier.inference.exact.factors import Factor
from leverrier.inference.exact.junction import JunctionTree
from tests.naive import enumeration


def random_polytree(rng):
    """Factors whose graph has no cycle: each new factor shares one variable with what is there, or none."""
    cardinalities = [int(rng.integers(1, 4))]
    factors = [Factor((0,), rng.random(cardinalities[0]))]
    for _ in range(int(rng.integers(1, 4))):
        old = (int(rng.integers(len(cardinalities))),) if rng.random() < 0.9 else ()
        new = tuple(range(len(cardinalities), len(cardinalities) + int(rng.integers(1, 3))))
        cardinalities += rng.integers(1, 4, len(new)).tolist()
        scope = tuple(rng.permutation((*new, *old)).tolist())
        values = rng.random([cardinalities[v] for v in scope])
        values[rng.random(values.shape) < 0.15] = 0.0
        factors.append(Factor(scope, values))
    return cardinalities, factors


def test_exact_on_trees():
    rng = np.random.default_rng(0)
    for _ in range(100):
        cardinalities, factors = random_polytree(rng)
        codes = np.array([rng.integers(0, c, 5) for c in cardinalities])
        evidence = np.where(rng.random(codes.shape) < 0.6, -1, codes)
        answer = loopy(cardinalities, factors, evidence, tolerance=1e-13)
        model = (cardinalities, factors, evidence)
        np.testing.assert_allclose(answer.log_evidence, enumeration.log_evidence(*model), rtol=0, atol=1e-8)
        for variable in range(len(cardinalities)):
            expected = enumeration.posterior(*model, (variable,))
            np.testing.assert_allclose(answer.marginals[variable], expected, rtol=0, atol=1e-8)
        assert answer.converged.all()


def test_rows_by_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    cardinalities, factors = random_polytree(rng)
    own = Factor((0,), rng.random((7, cardinalities[0])) + 0.1)
    codes = np.full((len(cardinalities), 7), -1)
    codes[-1, ::2] = 0
    whole = loopy(cardinalities, [*factors, own], codes)
    monkeypatch.setattr("leverrier.inference.approximate.loopy.CHUNK_CELLS", 1)
    parts = loopy(cardinalities, [*factors, own], codes)
    np.testing.assert_allclose(parts.log_evidence, whole.log_evidence, atol=1e-8)
    np.testing.assert_allclose(parts.marginals[0], whole.marginals[0], atol=1e-8)


def test_near_the_exact_answer_on_a_grid_of_weak_ties():
    k = 6
    rng = np.random.default_rng(2)
    scopes = [(i * k + j, i * k + j + 1) for i in range(k) for j in range(k - 1)]
    scopes += [(i * k + j, i * k + k + j) for i in range(k - 1) for j in range(k)]
    factors = [Factor(scope, np.exp(0.3 * rng.normal(size=(2, 2)))) for scope in scopes]
    exact = JunctionTree.build([2] * k * k, scopes).calibrate(factors)
    near = loopy([2] * k * k, factors)
    assert near.converged.all()
    assert near.log_evidence[0] == pytest.approx(exact.log_evidence[0], abs=0.01)
    for variable in range(k * k):
        np.testing.assert_allclose(near.marginals[variable], exact.marginal((variable,)), atol=0.01)


def test_impossible_evidence_and_no_rows():
    factors = [Factor((0, 1), np.eye(2)), Factor((0,), np.array([1.0, 0.0]))]
    answer = loopy([2, 2], factors, np.array([[-1, -1], [1, 0]]))
    assert answer.log_evidence.tolist() == [-math.inf, 0.0]
    assert answer.marginals[0].tolist() == [[0, 0], [1, 0]]
    assert loopy([2, 2], factors, np.zeros((2, 0), dtype=int)).marginals[1].shape == (0, 2)


def test_one_that_does_not_settle_says_so():
    """Three variables that each want to differ from the others, strongly: messages cannot settle in two rounds."""
    differ = np.array([[1e-6, 1.0], [1.0, 1e-6]])
    factors = [Factor(scope, differ) for scope in ((0, 1), (1, 2), (2, 0))] + [Factor((0,), np.array([0.6, 0.4]))]
    assert not loopy([2, 2, 2], factors, max_iterations=2).converged.any()
