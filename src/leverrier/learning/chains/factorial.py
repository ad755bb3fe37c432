"""`factorial_hmm`: several hidden chains that move on their own, all of them behind every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leverrier.data.sequences.read_sequences import Sequences, read_sequences
from leverrier.errors import OptionError
from leverrier.learning.chains.chain_networks import chain_names, chain_network, split_columns
from leverrier.learning.chains.fit_dynamic import DynamicFit, climb_all
from leverrier.models.dynamic.dynamic_query import Inference
from leverrier.models.dynamic.dynamic_unrolled import lay
from leverrier.run.event import Progress
from leverrier.run.run import Run

MOST_EXACT = 256
"""Joint states up to which inference is exact unless asked otherwise."""


def factorial_hmm(
    sequences: Any,
    chains: int = 4,
    states: int | Sequence[int] = 2,
    seed: int = 0,
    *,
    starts: int = 1,
    inference: Inference | None = None,
    numbers: Sequence[str] | None = None,
    name: str = "chain",
    prior: float | None = None,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> DynamicFit:
    """A factorial hidden Markov model by EM from random starts.

    chains      how many hidden chains; `states` of each, or one number for all
    inference   "exact", or "boyen-koller" with each chain a cluster; by default exact up to 256 joint states
    numbers     columns that are normal given the chains; by default those that a table would cut into bins
    """
    data = sequences if isinstance(sequences, Sequences) else read_sequences(sequences)
    cards = [states] * chains if isinstance(states, int) else list(states)
    if chains < 1 or len(cards) != chains or min(cards) < 1 or starts < 1:
        raise OptionError(f"chains={chains}, states={states}, starts={starts}: at least 1 each, and states by chain")
    joint = float(np.prod(np.array(cards, dtype=np.float64)))
    categories, normal = split_columns(data, numbers)
    widest = max((len(data.states[column]) for column in categories), default=1)
    if joint * widest > 2**24:
        raise OptionError(
            f"every column depends on all chains: {joint:.0f} joint states are too many; use fewer chains or states"
        )
    how: Inference = inference or ("exact" if joint <= MOST_EXACT else "boyen-koller")
    names = chain_names(data, name, chains)
    points = [
        chain_network(data, names, cards, categories, normal, rng=np.random.default_rng(stream))
        for stream in np.random.SeedSequence(seed).spawn(starts)
    ]
    laid = lay(points[0], points[0].read(data))
    return climb_all(
        laid,
        points,
        inference=how,
        clusters=[[each] for each in names] if how == "boyen-koller" else None,
        prior=prior or 0.0,
        max_iterations=max_iterations,
        tolerance=tolerance,
        run=Run.of(budget, progress=progress),
    )
