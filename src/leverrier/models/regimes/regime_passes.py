"""Forward, backward and the best path along a walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.kernels.chains.scaled_passes import backward_counts, forward, viterbi
from leverrier.models.regimes.moves import Walk

SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Passed:
    """What a pass forward says; `ahead` is (slices, steps): P(step | slices up to now)."""

    slice_logs: Floats
    """ln P(slice | the slices before it)."""
    likelihood: Floats
    raw: Floats
    totals: Floats

    @property
    def filtered(self) -> Floats:
        return self.raw / np.maximum(self.totals, SMALLEST)[:, None]


def passed(walk: Walk, logs: Floats, starts: Integers) -> Passed:
    """logs (slices, states): ln P(slice | state)."""
    top = logs.max(axis=1)
    likelihood = np.exp(logs - top[:, None])
    if len(walk.state) != logs.shape[1]:
        likelihood = np.ascontiguousarray(likelihood[:, walk.state])
    likelihood[starts[:-1]] *= walk.initial
    n = len(likelihood)
    raw, totals = np.empty_like(likelihood), np.empty(n)
    forward(walk.transitions, likelihood, walk.which, np.arange(n), raw, totals)
    return Passed(np.log(np.maximum(totals, SMALLEST)) + top, likelihood, raw, totals)


def smoothed(walk: Walk, there: Passed, starts: Integers) -> tuple[Floats, Floats, Floats]:
    """P(step | all slices) by slice, expected first steps, expected moves (matrices, steps, steps)."""
    posterior, shown = np.empty_like(there.raw), np.zeros_like(there.raw)
    joint = np.zeros_like(walk.transitions)
    turned = np.ascontiguousarray(walk.transitions.transpose(0, 2, 1))
    n = len(there.raw)
    backward_counts(
        turned, there.likelihood, walk.which, np.arange(n), there.raw, there.totals, posterior, shown, joint
    )
    return posterior, posterior[starts[:-1]].sum(axis=0), joint * walk.transitions


def by_state(steps: Floats, walk: Walk, states: int) -> Floats:
    """(slices, states) from (slices, steps)."""
    if len(walk.state) == states:
        return steps
    found = np.zeros((len(steps), states))
    for step, state in enumerate(walk.state.tolist()):
        found[:, state] += steps[:, step]
    return found


def best_path(walk: Walk, logs: Floats, starts: Integers) -> Integers:
    """The most probable states of each sequence."""
    with np.errstate(divide="ignore"):
        shown = logs[:, walk.state].copy()
        shown[starts[:-1]] += np.log(walk.initial)
        n = len(shown)
        back, path = np.zeros(shown.shape, dtype=np.int64), np.zeros(n, dtype=np.int64)
        viterbi(np.log(walk.transitions), shown, walk.which, np.arange(n), back, path)
    return walk.state[path]
