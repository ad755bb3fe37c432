"""Which slices a test looks at, and what slices left out of it say, in the words of evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.learning.slices.slice_choice import LN2, Comparison

FOLDS = 5
MOST_SLICES = 2500
"""Of more, so many are looked at and tested, whole sequences or stretches; the model is then fitted to all."""
STRETCHES = 4
Z = 1.96


def tested_slices(sequences: Sequences, seed: int) -> Sequences:
    """All of it, or so much that the search and its test stay quick."""
    if sequences.n_slices <= MOST_SLICES:
        return sequences
    if len(sequences) >= 4 * FOLDS:
        order = np.random.default_rng(seed).permutation(len(sequences))
        fits = int(np.searchsorted(np.cumsum(sequences.lengths[order]), MOST_SLICES))
        return sequences.take(np.sort(order[: max(fits, 2 * FOLDS)]))
    length = MOST_SLICES // STRETCHES
    begins = np.linspace(0, sequences.n_slices - length, STRETCHES).astype(int).tolist()
    return sequences.stretches((low, low + length) for low in begins)


def with_held_out(weighed: Evidence, judged: Comparison) -> Evidence:
    """What a slice that was left out gains, in nats, with its interval over blocks."""
    nats = judged.gain * LN2
    error = abs(nats / judged.z) if judged.z else 0.0
    return replace(weighed, held_out=nats, held_out_interval=(nats - Z * error, nats + Z * error))
