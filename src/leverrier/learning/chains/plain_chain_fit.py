"""One hidden chain of a given number of states: its starts, its climb, and its gain on parts left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from leverrier.data.sequences.sequences import Sequences
from leverrier.errors import OptionError
from leverrier.learning.chains.chain_networks import chain_network, grouped_slices
from leverrier.learning.chains.drawn_starts import WINDOWS
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.chains.exact_climb import ExactClimb
from leverrier.learning.chains.fit_dynamic import DynamicFit, climb_all
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_unrolled import Laid, lay
from leverrier.run.run import Run

SHORT = 8
"""Steps of each candidate start before the better half is chosen."""
CANDIDATES = 2 * len(WINDOWS)
"""Half of them from groups of slices, half of them random."""
FOLDS = 5


@dataclass(frozen=True)
class ChainTask:
    """What is fitted, and how."""

    sequences: Sequences
    categories: tuple[str, ...]
    numbers: tuple[str, ...]
    name: str
    starts: int
    prior: float
    max_iterations: int
    tolerance: float
    run: Run
    seed: int


def fit_chain(task: ChainTask, k: int) -> DynamicFit:
    points = _starts(task, task.sequences, k)
    network = points[0]
    laid = lay(network, network.read(task.sequences))
    if len(points) > task.starts:
        points = _best_after_a_few(task, laid, points)
    return climb_all(
        laid, points, prior=task.prior, max_iterations=task.max_iterations, tolerance=task.tolerance, run=task.run
    )


def _starts(task: ChainTask, sequences: Sequences, k: int) -> list[DynamicNetwork]:
    """Candidates: slices grouped over windows of several widths, then random ones."""
    if k == 1:
        return [chain_network(sequences, [task.name], [1], task.categories, task.numbers)]
    streams = np.random.SeedSequence([task.seed, k]).spawn(max(task.starts, CANDIDATES))
    found = []
    for place, stream in enumerate(streams):
        rng = np.random.default_rng(stream)
        weights = None
        if place % CANDIDATES < len(WINDOWS):
            window = WINDOWS[place % CANDIDATES]
            labels = grouped_slices(sequences, task.categories, task.numbers, k, window, rng)
            weights = 0.9 * np.eye(k)[labels] + 0.1 / k
        found.append(chain_network(sequences, [task.name], [k], task.categories, task.numbers, weights, rng))
    return found


def _best_after_a_few(task: ChainTask, laid: Laid, points: list[DynamicNetwork]) -> list[DynamicNetwork]:
    """All go a few steps, the better half twice as many more, and so on: what rises first need not end highest."""
    steps = DynamicSteps(laid, points[0], prior=task.prior)
    climbers = [ExactClimb(steps.begun_at(point), task.tolerance) for point in points]
    many = SHORT
    while len(climbers) > task.starts:
        for climber in climbers:
            if task.run.late and climber is not climbers[0]:
                break
            climber.climb(many)
        kept = max(task.starts, len(climbers) // 2)
        climbers = sorted(climbers, key=lambda each: -each.last)[:kept]
        many = 2 * many
    return [climber.result() for climber in climbers]


def held_out(task: ChainTask, k: int) -> float:
    """Nats a slice on what was left out."""
    data, total = task.sequences, 0.0
    blocks = held_out_parts(data)
    for train, test in blocks:
        part = replace(task, sequences=train, prior=max(task.prior, 1e-3))
        total += fit_chain(part, k).network.log_likelihood(test)
    return total / data.n_slices


def held_out_parts(data: Sequences) -> list[tuple[Sequences, Sequences]]:
    """Five parts left out in turn: every fifth sequence, or where there are few a fifth of the slices in a row."""
    if len(data) >= FOLDS:
        which = np.arange(len(data)) % FOLDS
        return [(data.take(np.flatnonzero(which != f)), data.take(np.flatnonzero(which == f))) for f in range(FOLDS)]
    cuts = np.linspace(0, data.n_slices, FOLDS + 1).astype(int).tolist()
    if len(set(cuts)) <= FOLDS:
        raise OptionError(f'criterion="held-out" needs at least {FOLDS} slices; there are {data.n_slices}')
    return [
        (data.stretches([(0, low), (high, data.n_slices)]), data.stretches([(low, high)]))
        for low, high in pairwise(cuts)
    ]
