"""Where EM begins: slices grouped by what they show, averaged over windows; persons grouped by their means."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.learning.mixtures.mixture_start import group
from leverrier.learning.regimes.regime_em import Designs
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.state_emissions import StateEmission

WINDOWS = (1, 9, 41)
SOFT = 0.1
WIDEST = 3.0
"""Residuals beyond so many standard deviations count as so many: outliers make no groups."""


def residuals(emissions: tuple[Emission, ...], designs: Designs) -> Floats:
    """(slices, features): what one state leaves unexplained, standardised; 0 in holes."""
    return np.concatenate(_left(emissions, designs), axis=1)


def scores(emissions: tuple[Emission, ...], designs: Designs) -> Floats | None:
    """(slices, features): which way each slice turns the slopes that states have of their own; None without any."""
    parts = []
    for each, left in zip(emissions, _left(emissions, designs), strict=True):
        own = [place for place in each.slots[0] if place > 0]
        parts += [left * designs.of(each.terms)[:, [place]] for place in own]
    return np.concatenate(parts, axis=1) if parts else None


def _left(emissions: tuple[Emission, ...], designs: Designs) -> list[Floats]:
    """By column, the same."""
    parts = []
    for each in emissions:
        y, z = designs.panel.values[each.name], designs.of(each.terms)
        if isinstance(each, StateEmission):
            chance = each.chances(z, 0)
            cells = np.where(np.isnan(y), 0, y).astype(np.int64)
            shown = np.eye(each.categories)[cells] - chance
            part = shown / np.sqrt(np.maximum((chance * (1 - chance)).mean(axis=0), 1e-9))
            part[np.isnan(y)] = 0.0
            parts.append(part / np.sqrt(max(each.categories - 1, 1)))
            continue
        mean = each.means(z)[:, 0]
        spread = each.spread[0] if each.family in (Family.NORMAL, Family.STUDENT) else np.sqrt(np.maximum(mean, 1e-9))
        part = np.nan_to_num((y - mean) / spread)
        scale = part.std()
        parts.append(np.clip(part / (scale or 1.0), -WIDEST, WIDEST)[:, None])
    return parts


def averaged(cells: Floats, panel: Panel, window: int) -> Floats:
    """Means over a window about each slice, within its sequence."""
    if window <= 1:
        return cells
    at = np.arange(len(cells))
    low = np.maximum(at - window // 2, panel.starts[:-1][panel.person])
    high = np.minimum(at + window // 2 + 1, panel.starts[1:][panel.person])
    sums = np.concatenate([np.zeros((1, cells.shape[1])), np.cumsum(cells, axis=0)])
    return (sums[high] - sums[low]) / (high - low)[:, None]


def grouped(cells: Floats, panel: Panel, states: int, window: int, rng: np.random.Generator) -> Floats:
    """(slices, states): a soft guess of where each slice is."""
    near = averaged(cells, panel, window)
    labels = group(near, np.ones_like(near), np.ones(len(near)), states, rng)
    return (1 - SOFT) * np.eye(states)[labels] + SOFT / states


def grouped_persons(cells: Floats, panel: Panel, states: int, rng: np.random.Generator) -> Floats:
    """The same for states that stay: whole persons, by their means."""
    lengths = np.diff(panel.starts).astype(np.float64)
    means = np.add.reduceat(cells, panel.starts[:-1], axis=0) / lengths[:, None]
    labels = group(means, np.ones_like(means), lengths, states, rng)
    return ((1 - SOFT) * np.eye(states)[labels] + SOFT / states)[panel.person]


def scaled(cells: Floats) -> Floats:
    """Absolute residuals beside the residuals: states may differ in spread alone."""
    size = np.abs(cells)
    return np.concatenate([cells, (size - size.mean(axis=0)) / np.maximum(size.std(axis=0), 1e-9)], axis=1)
