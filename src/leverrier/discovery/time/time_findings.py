"""What was found in sequences, as frozen values, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.slice_features import Memory
from leverrier.data.table import Variable
from leverrier.discovery.time.time_words import time_words
from leverrier.learning.slices.learn_dynamic import as_dynamic
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference
from leverrier.models.slices.chain_model import Chain, ChainModel
from leverrier.models.slices.slice_model import SliceModel
from leverrier.status import Status

Floats = NDArray[np.float64]
LASTING = 0.15
"""By how much a state must be likelier to stay than to be drawn anew, for the chain to be said to last."""
Verdict = Literal["hidden", "memories", "lags", "nothing"]
Method = Literal["default", "boyen1999"]


@dataclass(frozen=True)
class Tried:
    """One row of the table of bits: a model, what a held-out slice cost, and against what it was judged."""

    name: str
    bits: float
    """Per slice, on blocks that were held out."""
    gain: float
    """Fewer bits per slice than what it was compared with."""
    z: float
    """The gain in standard errors over blocks."""
    against: str
    accepted: bool
    hidden: bool = False


@dataclass(frozen=True)
class Fold:
    """One part that was held out: its slices, and what one of them cost (bits) without and with hidden variables."""

    slices: int
    observed: float
    hidden: float | None = None


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

    @property
    def chain(self) -> Chain:
        """Its moves by themselves, begun as it is on average."""
        return Chain(self.name, self.share, self.transition)

    @property
    def persistence(self) -> Floats:
        """By state, the probability of lasting one more slice."""
        return self.chain.persistence

    @property
    def dwell(self) -> Floats:
        """By state, how many slices it lasts on average."""
        return self.chain.dwell

    @property
    def within_slice(self) -> bool:
        """Whether it stays hardly more often than chance would have it: a cause of its slice, not a regime."""
        return bool(self.share @ (self.persistence - self.share) < LASTING)


Model = ChainModel | SliceModel | DynamicNetwork


@dataclass(frozen=True, eq=False)
class TimeFindings:
    """All that was found in sequences, by `find_in_time` or by the source's loop."""

    hidden: tuple[HiddenChain, ...]
    gain: float
    """Bits per held-out slice that the hidden variables gain over the best model without them (0 if there are none)."""
    z: float
    model: Model
    """With the hidden variables, if there are any; else the best observed model."""
    observed: SliceModel | DynamicNetwork
    observed_name: str
    lags: int
    """How far back columns clearly depend on."""
    memories: tuple[Memory, ...]
    """Memories that clearly help, as the observed model asks them."""
    table: tuple[Tried, ...]
    order: tuple[str, ...]
    n_slices: int
    status: Status
    bagged: SliceModel | None = None
    notes: tuple[str, ...] = ()
    folds: tuple[Fold, ...] = ()
    accepted: bool = True
    """Whether the hidden variables were clearly better on held-out blocks."""
    tested: bool = True
    method: Method = "default"
    inference: Inference = "exact"
    steps: tuple[str, ...] = ()
    """Of the source's loop: what each round ended with."""

    @property
    def finished(self) -> bool:
        """Whether everything was done: False if a budget or an interrupt cut it short."""
        return self.status not in (Status.BUDGET, Status.INTERRUPTED)

    @property
    def verdict(self) -> Verdict:
        if self.hidden and self.accepted:
            return "hidden"
        if self.memories or self.hidden:
            return "memories"
        return "lags" if self.lags > 1 else "nothing"

    @property
    def network(self) -> DynamicNetwork | None:
        """The model as a network in time; None where it keeps memories, which no network of lags has."""
        if isinstance(self.model, DynamicNetwork):
            return self.model
        if any(isinstance(f, Memory) for name in self.model.cpds for f in self.model.asked(name)):
            return None
        return as_dynamic(self.model, {variable.name: variable.states for variable in self.model.variables})

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns, as they were cut into states."""
        if isinstance(self.observed, DynamicNetwork):
            return tuple(Variable(name, self.observed.states[name]) for name in self.observed.variables)
        return self.observed.variables

    def posterior(self, sequences: Any = None) -> dict[str, Floats]:
        """By hidden variable (slices, states); of the sequences learnt from, or of others."""
        if sequences is None:
            return {one.name: one.posterior for one in self.hidden}
        if isinstance(self.model, ChainModel):
            return self.model.posterior(sequences)
        if isinstance(self.model, DynamicNetwork):
            return {one.name: self.model.posterior(sequences, one.name, self.inference) for one in self.hidden}
        return {}

    @property
    def words(self) -> str:
        """The verdict: what is remembered, for how long, which columns it drives, how much it gains."""
        return "\n".join(time_words(self))

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"TimeFindings({self.verdict}, {len(self.hidden)} hidden, {self.lags} lags, {self.n_slices} slices)"
