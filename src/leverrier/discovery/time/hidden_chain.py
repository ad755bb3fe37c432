"""A hidden variable that moves in time, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences

LASTING = 0.15
"""By how much a state must be likelier to stay than to be drawn anew, for the chain to be said to last."""


@dataclass(frozen=True, eq=False)
class HiddenChain:
    """A hidden variable that moves in time."""

    name: str
    states: int
    drives: tuple[str, ...]
    transition: Floats
    """By state, the probabilities of the next one; of a memory as they were along the sequences."""
    share: Floats
    """By state, the share of slices spent in it."""
    window: int
    """The window of the residuals from which it was begun: 1 means a cause within the slice."""
    posterior: Floats
    """(slices, states): P(state | the whole sequence); without slices where the finding was read from a file."""
    profiles: Mapping[str, Floats]
    """By driven column (states of the chain, states of the column): how often each was seen."""
    of: str = ""
    """The column that it began as a memory of, `depth` slices before."""
    depth: int = 0
    labels: tuple[str, ...] = ()
    """Its states by name, where they have names of their own."""
    stays: bool = False
    """Whether it never changes within a sequence: a class or a level of persons."""
    law: str = ""
    """How long its states last, where that is not geometric."""

    @property
    def persistence(self) -> Floats:
        """By state, the probability of lasting one more slice."""
        return np.diag(self.transition).copy()

    @property
    def dwell(self) -> Floats:
        """By state, how many slices it lasts on average."""
        return 1.0 / np.maximum(1.0 - self.persistence, 1e-12)

    @property
    def within_slice(self) -> bool:
        """Whether it stays hardly more often than chance would have it: a cause of its slice, not a regime."""
        return not self.stays and bool(self.share @ (self.persistence - self.share) < LASTING)


def column_profile(found: Sequences, name: str, posterior: Floats) -> Floats:
    """How often each state of a column was seen in each state of the chain."""
    cells = found.table.column(name)
    states = len(found.states[name])
    seen = cells != found.table.missing
    counts = np.stack([np.bincount(cells[seen], own[seen], states) for own in posterior.T])
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
