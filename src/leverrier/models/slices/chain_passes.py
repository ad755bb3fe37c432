"""Along slices: joint hidden states forward, back, and their most probable path."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.kernels.chains.scaled_passes import backward_counts, forward, viterbi

SMALLEST = 1e-300


class Moving(Protocol):
    """Joint hidden states: where they begin and how they move."""

    @property
    def initial(self) -> Floats: ...

    @property
    def transition(self) -> Floats: ...


class Steps(NamedTuple):
    """What the way forward leaves for the way back: see `kernels.forward_backward`."""

    likelihood: Floats
    which: NDArray[np.int64]
    raw: Floats
    totals: Floats


def filtered(model: Moving, emissions: Floats, starts: NDArray[np.int64]) -> tuple[Floats, Steps]:
    """ln P(slice | before), and what smoothing goes on from."""
    top = emissions.max(axis=1)
    likelihood = np.exp(emissions - top[:, None])
    which = np.zeros(len(likelihood), dtype=np.int64)
    which[starts[:-1]] = -1
    likelihood[starts[:-1]] *= model.initial  # (a sequence begins with its states' first chances)
    raw, totals = np.empty_like(likelihood), np.empty(len(likelihood))
    forward(model.transition[None], likelihood, which, np.arange(len(likelihood)), raw, totals)
    return np.log(np.maximum(totals, SMALLEST)) + top, Steps(likelihood, which, raw, totals)


def smoothed(model: Moving, emissions: Floats, starts: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
    """Joint posteriors by slice, expected moves, expected first states, and ln P(slice | before)."""
    logs, steps = filtered(model, emissions, starts)
    posterior, shown = np.empty_like(steps.raw), np.zeros_like(steps.raw)
    moves = np.zeros((1, *model.transition.shape))
    turned = np.ascontiguousarray(model.transition.T)[None]
    backward_counts(
        turned, steps.likelihood, steps.which, np.arange(len(logs)), steps.raw, steps.totals, posterior, shown, moves
    )
    return posterior, moves[0] * model.transition, posterior[starts[:-1]].sum(axis=0), logs


def best_path(model: Moving, emissions: Floats, starts: Integers) -> Integers:
    """By slice, the joint state on the most probable path of its sequence."""
    with np.errstate(divide="ignore"):
        shown = emissions.copy()
        shown[starts[:-1]] += np.log(model.initial)
        which = np.zeros(len(shown), dtype=np.int64)
        which[starts[:-1]] = -1
        back, path = np.zeros(shown.shape, dtype=np.int64), np.zeros(len(shown), dtype=np.int64)
        viterbi(np.log(model.transition)[None], shown, which, np.arange(len(shown)), back, path)
    return path


def marginal(joint: Floats, sizes: tuple[int, ...], chain: int) -> Floats:
    """Of one chain, from (slices, joint states)."""
    whole = joint.reshape(len(joint), *sizes)
    return whole.sum(axis=tuple(i + 1 for i in range(len(sizes)) if i != chain))


def drawn_states(rows: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """A state for each row of probabilities."""
    places = (rng.random(len(rows))[:, None] > np.cumsum(rows, axis=1)).sum(axis=1)
    return np.minimum(places, rows.shape[1] - 1)
