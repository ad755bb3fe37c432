"""Causes have no names: before averaging over samples, each sample's causes are matched to those of one structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.noisy_or.draws import Draw
from leverrier.noisy_or.observations import unpack

Bits = NDArray[np.uint8]


def overlap(left: Bits, right: Bits) -> NDArray[np.float64]:
    """Common ones over all ones, for every row of one with every row of the other."""
    a, b = left.astype(np.float64), right.astype(np.float64)
    both = a @ b.T
    return both / np.maximum(a.sum(axis=1)[:, None] + b.sum(axis=1)[None] - both, 1.0)


def match(reference: Draw, draw: Draw, n_trials: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs (reference cause, draw's cause) that together agree best in links and in activity."""
    from scipy.optimize import linear_sum_assignment  # (late: it loads for a tenth of a second)

    likeness = overlap(reference.links, draw.links)
    likeness += overlap(reference.active_cells(n_trials), draw.active_cells(n_trials))
    ours, theirs = linear_sum_assignment(likeness, maximize=True)
    alike = likeness[ours, theirs] > 0
    return ours[alike], theirs[alike]


@dataclass(frozen=True, eq=False)
class Summary:
    """Means over samples by the reference's causes; a sample without a counterpart counts as no link, not active."""

    links: NDArray[np.float64]
    """(causes, observed)."""
    active: NDArray[np.float64]
    """(causes, trials)."""
    present: NDArray[np.float64]
    """How often each cause had a counterpart."""
    lam: NDArray[np.float64]
    """Means over the samples that had one."""
    p: NDArray[np.float64]


def summarise(reference: Draw, draws: Sequence[Draw], n_trials: int) -> Summary:
    """Align every draw to the reference and average."""
    n_causes, n_observed = reference.links.shape
    links, active = np.zeros((n_causes, n_observed)), np.zeros((n_causes, n_trials))
    present, lam, p = np.zeros(n_causes), np.zeros(n_causes), np.zeros(n_causes)
    for draw in draws:
        ours, theirs = match(reference, draw, n_trials)
        links[ours] += draw.links[theirs]
        active[ours] += unpack(draw.active[theirs], n_trials)
        present[ours] += 1
        lam[ours] += draw.lam[theirs]
        p[ours] += draw.p[theirs]
    n = max(len(draws), 1)
    found = np.maximum(present, 1)
    return Summary(links / n, active / n, present / n, lam / found, p / found)
