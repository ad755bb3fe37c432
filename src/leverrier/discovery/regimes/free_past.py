"""Would any function of the past do as well as the hidden state?

Simulated sequences come from the best rival and share its misfit: where a number follows from its past by a curve, or
is spread unequally, a state that moves mends it and simulated sequences do not show that. So a state that moves must
gain with the numbers by their normal scores too, where bounds and skewness are no more. And the columns of numbers are
foretold by boosted trees over their past, on top of the rival, with a spread that may depend on it too, on slices left
out: what is hidden must do better. Only the last few slices are asked: a long memory is what a hidden state is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.panel import Panel
from leverrier.discovery.evidence.free_learner import FreeLearner
from leverrier.discovery.regimes.regime_held_out import LN2, Parts
from leverrier.learning.regimes.column_laws import is_count
from leverrier.learning.regimes.regime_em import Designs
from leverrier.learning.regimes.regime_search import one_state
from leverrier.learning.slices.slice_choice import compare
from leverrier.models.regimes.emission import Family
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.run.run import Run

LAGS = 3
TREES: dict[str, Any] = {
    "max_iter": 60,
    "learning_rate": 0.08,
    "max_leaf_nodes": 6,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "early_stopping": False,
    "random_state": 0,
}
LEAST_ROWS = 100
DEGREES = (3.0, 5.0, 10.0, np.inf)
"""Of Student's t."""


def by_ranks(panel: Panel) -> Panel | None:
    """The same with columns of numbers as normal scores; None where there are none. Counts stay counts."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    made = {}
    for name, y in panel.values.items():
        seen = ~np.isnan(y)
        if name not in panel.labels and not is_count(y) and len(np.unique(y[seen])) > 2:
            scores = np.full(len(y), np.nan)
            scores[seen] = ndtri(rankdata(y[seen]) / (np.count_nonzero(seen) + 1))
            made[name] = scores
    return panel.with_values(made) if made else None


def against_the_past(rival: RegimeModel, panel: Panel, parts: Parts, with_it: Floats, run: Run) -> FreeLearner | None:
    """The hidden state's bits by slice against those of free functions of the past; None where there are no numbers,
    too few slices or no time."""
    names = [each.name for each in rival.emissions if each.family is not Family.CATEGORY]
    if not names or panel.n_slices < LEAST_ROWS:
        return None
    free = free_bits(rival, panel, parts, run)
    if free is None:
        return None
    judged = compare(parts.costs(free), parts.costs(with_it), panel.n_slices)
    nats = judged.gain * LN2
    return FreeLearner(dict.fromkeys(names, nats / len(names)), nats, abs(nats / judged.z) if judged.z else 0.0)


def free_bits(rival: RegimeModel, panel: Panel, parts: Parts, run: Run) -> Floats | None:
    """By slice, the bits it costs when its part is left out."""
    designs, bits = Designs(panel), np.zeros(panel.n_slices)
    past = _past(rival, panel)
    for fold in np.unique(parts.fold).tolist():
        if run.spent:
            return None
        out = parts.fold == fold
        fitted = one_state(rival, designs, (~out).astype(np.float64)).model
        for place, each in enumerate(fitted.emissions):
            y, z = panel.values[each.name], designs.of(each.terms)
            logs = each.logs(y, z)[:, 0]
            if each.family is not Family.CATEGORY:
                now = [panel.values[other.name] for other in fitted.emissions[:place]]
                asked = np.column_stack([past, *now])
                logs = _foretold(y, each.means(z)[:, 0], logs, asked, out, parts.block)
            bits[out] -= logs[out] / LN2
    return bits


def _past(rival: RegimeModel, panel: Panel) -> Floats:
    """(slices, …): the columns' last slices, what is given, and the time."""
    explained = set(rival.outcomes)
    found = [panel.times, panel.position.astype(np.float64)]
    found += [values for name, values in panel.values.items() if name not in explained]
    for name in rival.outcomes:
        for lag in range(1, LAGS + 1):
            moved = np.full(panel.n_slices, np.nan)
            moved[lag:] = panel.values[name][:-lag]
            moved[panel.position < lag] = np.nan
            found.append(moved)
    return np.column_stack(found)


def _foretold(y: Floats, mean: Floats, known: Floats, asked: Floats, out: np.ndarray, block: Integers) -> Floats:
    """ln P(cell) by the way that foretells the slices learnt from best, each from the other half of their blocks: the
    rival itself, or trees for what it leaves, with one spread or with one that trees tell."""
    seen = ~np.isnan(y)
    learnt = seen & ~out
    if np.count_nonzero(learnt) < LEAST_ROWS:
        return known
    half = block % 2 == 0
    rest = np.where(seen, y - mean, 0.0)
    centre = _crossed(asked, rest, learnt, half)
    left = rest - centre
    size = np.log(left**2 + 1e-6 * float(np.var(left[learnt])))
    spread = np.exp(0.5 * _crossed(asked, size, learnt, half))
    best, most = known, float(known[learnt].sum())
    for scale in (np.ones_like(left), spread):
        for degrees in DEGREES:
            logs = _student(left / scale, learnt, degrees) - np.log(scale)
            if float(logs[learnt].sum()) > most:
                best, most = np.where(seen, logs, 0.0), float(logs[learnt].sum())
    return best


def _crossed(asked: Floats, aim: Floats, learnt: np.ndarray, half: np.ndarray) -> Floats:
    """What trees foretell: slices that were learnt from by the other half of them, all others by both halves' mean."""
    from sklearn.ensemble import HistGradientBoostingRegressor  # (late: only what is found waits for it)
    from threadpoolctl import threadpool_limits

    said = []
    with threadpool_limits(1):
        for side in (half, ~half):
            trees = HistGradientBoostingRegressor(**TREES)
            said.append(trees.fit(asked[learnt & side], aim[learnt & side]).predict(asked))
    both = 0.5 * (said[0] + said[1])
    return np.where(learnt, np.where(half, said[1], said[0]), both)


def _student(left: Floats, learnt: np.ndarray, degrees: float) -> Floats:
    """ln density of Student's t with the spread that fits the slices learnt from."""
    from scipy.special import gammaln

    square = left**2
    width = float(square[learnt].mean())
    if np.isinf(degrees):
        return -0.5 * (square / width + np.log(2 * np.pi * width))
    for _ in range(20):
        weight = (degrees + 1) / (degrees + square / width)
        width = float((weight * square)[learnt].mean())
    top = gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - 0.5 * np.log(degrees * np.pi * width)
    return top - 0.5 * (degrees + 1) * np.log1p(square / (degrees * width))
