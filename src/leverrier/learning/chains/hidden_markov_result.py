"""A fitted hidden Markov model, and what every number of states that was tried came to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from leverrier.data.sequences.sequences import Sequences
from leverrier.learning.chains.fit_dynamic import DynamicFit
from leverrier.models.regimes.plain_chain import laws_of
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.status import Status

Criterion = Literal["bic", "held-out"]


@dataclass(frozen=True)
class StatesRow:
    """One number of states."""

    states: int
    log_likelihood: float
    parameters: int
    bic: float
    """−2 log-likelihood + ln(slices) for each parameter: smaller is better."""
    held_out: float | None
    """Nats a slice on parts left out of the fit (five of them in turn): larger is better."""
    status: Status


@dataclass(frozen=True, eq=False)
class HiddenMarkov(DynamicFit):
    """A fitted hidden Markov model. `table` tells of every number of states that was tried."""

    states: int = 0
    criterion: Criterion = "bic"
    table: tuple[StatesRow, ...] = ()
    sequences: Sequences | None = None

    @property
    def name(self) -> str:
        """The hidden variable."""
        return self.network.hidden[0]

    @property
    def transition(self) -> np.ndarray:
        """P(state | state before)."""
        return self.network.transition[self.name].table()

    @property
    def dwell(self) -> np.ndarray:
        """How many slices a state lasts on average, once begun."""
        stay = np.diagonal(self.transition)
        return np.divide(1.0, 1 - stay, out=np.full(len(stay), np.inf), where=stay < 1)

    @property
    def posterior(self) -> np.ndarray:
        """(slices, states) for the sequences that were fitted."""
        return self.network.posterior(self.sequences)

    @property
    def filtered(self) -> np.ndarray:
        """(slices, states): P(state | the slices so far)."""
        return self.network.posterior(self.sequences, filtered=True)

    @property
    def path(self) -> np.ndarray:
        """The most probable path, by slice."""
        return self.network.most_probable_path(self.sequences).table.column(self.name).astype(np.int64)

    @property
    def time_spent(self) -> np.ndarray:
        """(sequences, states): slices spent in each state, as expected."""
        assert self.sequences is not None
        return np.add.reduceat(self.posterior, self.sequences.starts[:-1], axis=0)

    @cached_property
    def laws(self) -> RegimeModel:
        """The same chain as a model of laws: futures that are simulated, and what is unlike all states."""
        assert self.sequences is not None
        return laws_of(self.network, self.sequences.table.columns)

    def __repr__(self) -> str:
        among = [row.states for row in self.table]
        tried = f", chosen by {self.criterion} among {among}" if len(among) > 1 else ""
        return (
            f"HiddenMarkov({self.states} states{tried}, log-likelihood {self.log_likelihood:.4f}, {self.status} after "
            f"{self.iterations} iterations)"
        )
