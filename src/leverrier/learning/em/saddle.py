"""Points that EM leaves so slowly that it seems to have converged there.

At a maximum every deviation shrinks under an EM step: no eigenvalue of the step's derivative is above one. At a saddle
one is. The derivative is cheap where an E-step costs microseconds, so small problems are checked, and left uphill.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.em.iteration import MAXIMUM, maximise
from leverrier.learning.em.network_em import ParameterClimb

AFFORDABLE = 5e6
"""Check where all E-steps needed take fewer nanoseconds than this."""
MOST_ENTRIES = 250
"""The eigenvalues of more take longer than a tenth of a second, often more than the whole climb."""
STEP = 1e-6
ABOVE_ONE = 1e-4
"""Directions in which nothing changes have eigenvalue one; rounding makes it a little more."""
FIRST_MOVE, MOVES = 0.1, 12


def leave_saddle(climber: ParameterClimb, value: float) -> bool:
    """Whether the climber stood at a saddle; then it stands higher now."""
    free, reference = _free_entries(climber)
    if not 0 < len(free) <= MOST_ENTRIES or len(free) * (climber.objective.plan.work + 2000) > AFFORDABLE:
        return False
    theta = climber.theta.copy()
    eigenvalues, vectors = np.linalg.eig(_derivative(climber, theta, free, reference))
    worst = int(np.argmax(np.real(eigenvalues)))
    climber.theta[:] = theta
    if np.real(eigenvalues[worst]) <= 1 + ABOVE_ONE or np.imag(eigenvalues[worst]) != 0:
        climber.evaluate()
        return False
    growing = np.real(vectors[:, worst])
    direction = np.zeros_like(theta)
    direction[free] = growing
    np.subtract.at(direction, reference, growing)
    for k in range(MOVES):
        for sign in (1.0, -1.0):
            moved = theta + sign * direction * FIRST_MOVE / 2**k / np.abs(direction).max()
            moved[moved < theta / 2] = theta[moved < theta / 2] / 2
            climber.theta[:] = _normalised(climber, moved)
            if climber.evaluate() > value + climber.tolerance:
                climber.begin_again()
                return True
    climber.theta[:] = theta
    climber.evaluate()
    return False


def _free_entries(climber: ParameterClimb) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every entry but the largest of its row, and that largest one, which gives way."""
    free, reference = [], []
    for start, rows, states in climber.objective.plan.layout.runs.tolist():
        for first in range(start, start + rows * states, states):
            largest = first + int(np.argmax(climber.theta[first : first + states]))
            others = [k for k in range(first, first + states) if k != largest]
            free += others
            reference += [largest] * len(others)
    return np.array(free, dtype=np.int64), np.array(reference, dtype=np.int64)


def _derivative(
    climber: ParameterClimb, theta: Floats, free: NDArray[np.int64], reference: NDArray[np.int64]
) -> Floats:
    """How each free entry moves after an EM step when each free entry is moved before it, by differences."""
    runs = climber.objective.plan.layout.runs

    def stepped(point: Floats) -> Floats:
        climber.theta[:] = point
        climber.evaluate()
        after = point.copy()
        maximise(runs, climber.counts, after, MAXIMUM)
        return after[free]

    base = stepped(theta)
    columns = []
    for k, given in zip(free, reference, strict=True):
        point = theta.copy()
        point[k] += STEP
        point[given] -= STEP
        columns.append((stepped(point) - base) / STEP)
    return np.stack(columns, axis=1)


def _normalised(climber: ParameterClimb, theta: Floats) -> Floats:
    runs = climber.objective.plan.layout.runs
    after = theta.copy()
    maximise(runs, theta, after, MAXIMUM)
    return after
