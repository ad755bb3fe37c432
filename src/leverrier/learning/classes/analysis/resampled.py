"""Standard errors by resampling rows, or whole groups of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from
from leverrier.learning.classes.fitting.class_spec import Sampling


def resamples(fitted: ClassFitted, draws: int, seed: int, figures: Callable[[ClassFitted], Floats]) -> Floats:
    """(draws, figures): of the model fitted anew to each resample, begun at the fit: classes keep their names."""
    shares = np.nan_to_num(fitted.posterior)
    found = []
    for rng in np.random.default_rng(seed).spawn(draws):
        sampling = resampled(fitted.spec.sampling, rng)
        again = climbed_from(replace(fitted.spec, sampling=sampling), fitted.classes, shares)
        found.append(figures(again))
    return np.array(found)


def resampled(sampling: Sampling, rng: np.random.Generator) -> Sampling:
    """As many draws of rows, or of groups within strata, as there are, as weights of the rows."""
    weights = sampling.weights
    if sampling.clusters is None and sampling.strata is None and not sampling.survey:
        times = rng.multinomial(round(weights.sum()), weights / weights.sum()).astype(np.float64)
        return replace(sampling, weights=times)
    units = np.arange(len(weights)) if sampling.clusters is None else sampling.clusters
    strata = np.zeros(len(weights), np.int64) if sampling.strata is None else sampling.strata
    both, where = np.unique(np.column_stack([strata, units]), axis=0, return_inverse=True)
    times = np.zeros(len(both))
    for stratum in np.unique(both[:, 0]):
        own = np.flatnonzero(both[:, 0] == stratum)
        times[own] = np.bincount(rng.integers(0, len(own), len(own)), minlength=len(own))
    return replace(sampling, weights=weights * times[where.reshape(-1)])
