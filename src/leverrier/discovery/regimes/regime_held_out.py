"""What slices cost that were left out of a fit: whole sequences where there are many, else blocks in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.panel import Panel
from leverrier.discovery.regimes.regime_attempts import Examined, Hidden, RegimeAttempt
from leverrier.learning.regimes.person_levels import Levels, fit_levels
from leverrier.learning.regimes.regime_em import Designs, climb
from leverrier.learning.regimes.regime_search import one_state
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.run.run import Run

LN2 = float(np.log(2))
AGAIN = 20


@dataclass(frozen=True, eq=False)
class Parts:
    """By slice: which part it is left out with, and which block it belongs to."""

    fold: Integers
    block: Integers

    def costs(self, bits: Floats) -> Floats:
        """By block."""
        return np.asarray(np.bincount(self.block, bits, int(self.block[-1]) + 1), dtype=np.float64)


def left_out(model: RegimeModel, panel: Panel, parts: Parts, run: Run) -> Floats | None:
    """By slice, the bits it costs when its part is left out; None if there was no time. EM goes on from the fit to all
    slices until it no longer gains."""
    designs, bits = Designs(panel), np.zeros(panel.n_slices)
    for fold in np.unique(parts.fold).tolist():
        if run.spent:
            return None
        live = (parts.fold != fold).astype(np.float64)
        if model.states == 1:
            fitted = one_state(model, designs, live).model
        else:
            fitted = climb(model, designs, live=live, max_iterations=AGAIN, tolerance=0.1).model
        out = parts.fold == fold
        bits[out] = -fitted.slice_log_likelihood(panel)[out] / LN2
    return bits


def levels_left_out(found: Examined, parts: Parts, run: Run) -> Floats | None:
    """The same of the rival with persons' own levels, each slice foretold from the person's slices before it."""
    rest = replace(
        found.rival, emissions=tuple(each for each in found.rival.emissions if each.name not in found.level_terms)
    )
    bits = np.zeros(found.panel.n_slices)
    if rest.emissions:
        known = left_out(rest, found.panel, parts, run)
        if known is None:
            return None
        bits += known
    designs = Designs(found.panel)
    for level in found.levels:
        y, z = found.panel.values[level.name], designs.of(found.level_terms[level.name])
        for fold in np.unique(parts.fold).tolist():
            out = parts.fold == fold
            fitted = fit_levels(level.name, np.where(out, np.nan, y), z, found.panel.person)
            bits[out] -= foretold(fitted, y, z, found.panel)[out] / LN2
    return bits


def foretold(level: Levels, y: Floats, z: Floats, panel: Panel) -> Floats:
    """By slice ln P(y | the person's cells before it)."""
    r = (y - z @ level.coefficients) / level.spread
    seen = ~np.isnan(r)
    count, total = _before(seen.astype(np.float64), panel), _before(np.nan_to_num(r), panel)
    mean = level.ratio * total / (1 + count * level.ratio)
    variance = 1 + level.ratio / (1 + count * level.ratio)
    found = -0.5 * ((r - mean) ** 2 / variance + np.log(2 * np.pi * variance)) - np.log(level.spread)
    return np.where(seen, found, 0.0)


def _before(cells: Floats, panel: Panel) -> Floats:
    """Sums over the person's earlier slices."""
    sums = np.concatenate([[0.0], np.cumsum(cells)])[:-1]
    return sums - sums[panel.starts[:-1]][panel.person]


def pair_left_out(found: Examined, attempt: RegimeAttempt, parts: Parts, run: Run) -> tuple[Floats, Floats] | None:
    """(bits without, bits with) by slice: without is the best of what the attempt had to beat."""
    if attempt.climb is None:
        after = levels_left_out(found, parts, run)
        before = left_out(found.rival, found.panel, parts, run)
    else:
        after = left_out(attempt.climb.model, found.panel, parts, run)
        before = _without(found, attempt, parts, run)
    return None if after is None or before is None else (before, after)


def _without(found: Examined, attempt: RegimeAttempt, parts: Parts, run: Run) -> Floats | None:
    if attempt.kind is Hidden.REGIME and found.levels and attempt.base is not None:
        return left_out(attempt.base, found.panel, parts, run)  # (both see persons' levels)
    stay = found.best(Hidden.CLASSES) if attempt.kind is Hidden.REGIME else None
    if stay is not None and stay.climb is not None and stay.worth > found.rival_worth:
        return left_out(stay.climb.model, found.panel, parts, run)
    return left_out(found.rival, found.panel, parts, run)
