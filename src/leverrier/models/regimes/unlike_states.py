"""Slices that are unlike all states: how often a state would show something as unlikely as this."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.models.regimes.regime_draws import Drawable
from leverrier.models.regimes.terms import design


def unlike_states(model: Drawable, panel: Panel, draws: int, seed: int) -> Floats:
    """(slices, states): the chance that a slice of this state, given its own past, has no larger density.

    Slices are drawn anew in every state with the same past, inputs and holes; with so many draws no chance is below
    1 / (1 + draws). A slice of holes only is like everything.
    """
    rng = np.random.default_rng(seed)
    designs = {each.name: design(panel, each.terms) for each in model.emissions}
    seen = {each.name: ~np.isnan(panel.values[each.name]) for each in model.emissions}
    here = model.logs(panel)
    as_low = np.ones_like(here)
    for _ in range(draws):
        for state in range(here.shape[1]):
            logs = np.zeros(panel.n_slices)
            for each in model.emissions:
                z = designs[each.name]
                cells = np.where(seen[each.name], each.drawn(z, state, rng), np.nan)
                logs += each.logs(cells, z)[:, state]
            as_low[:, state] += logs <= here[:, state] + 1e-12
    return as_low / (1 + draws)
