"""What was found in sequences, as frozen values, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.slice_features import Memory
from leverrier.learning.dynamic import as_dynamic
from leverrier.model.chain_model import Chain, ChainModel
from leverrier.model.dynamic import DynamicNetwork
from leverrier.model.slice_model import SliceModel
from leverrier.status import Status

Floats = NDArray[np.float64]
LASTING = 0.15
"""By how much a state must be likelier to stay than to be drawn anew, for the chain to be said to last."""
Verdict = Literal["hidden", "memories", "lags", "nothing"]


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


@dataclass(frozen=True, eq=False)
class HiddenChain:
    """A hidden variable that moves in time."""

    name: str
    states: int
    drives: tuple[str, ...]
    persistence: Floats
    """By state, the probability of lasting one more slice."""
    dwell: Floats
    """By state, how many slices it lasts on average."""
    share: Floats
    """By state, the share of slices spent in it."""
    window: int
    """The window of the residuals from which it was begun: 1 means a cause within the slice."""
    chain: Chain
    posterior: Floats
    """(slices, states): P(state | the whole sequence)."""
    profiles: Mapping[str, Floats]
    """By driven column (states of the chain, states of the column): how often each was seen."""

    @property
    def within_slice(self) -> bool:
        """Whether it stays hardly more often than chance would have it: a cause of its slice, not a regime."""
        return bool(self.share @ (self.persistence - self.share) < LASTING)


@dataclass(frozen=True, eq=False)
class TimeFindings:
    """All that `find_in_time` found."""

    hidden: tuple[HiddenChain, ...]
    gain: float
    """Bits per held-out slice that the hidden chains gain over the best model without them (0 if there are none)."""
    z: float
    model: ChainModel | SliceModel
    """With the hidden chains, if there are any; else the best observed model."""
    observed: SliceModel
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

    @property
    def verdict(self) -> Verdict:
        if self.hidden:
            return "hidden"
        if self.memories:
            return "memories"
        return "lags" if self.lags > 1 else "nothing"

    @property
    def network(self) -> DynamicNetwork | None:
        """The model as a network in time; None where it keeps memories, which no network of lags has."""
        if any(isinstance(f, Memory) for name in self.model.cpds for f in self.model.asked(name)):
            return None
        return as_dynamic(self.model, {variable.name: variable.states for variable in self.model.variables})

    def posterior(self, sequences: Any = None) -> dict[str, Floats]:
        """By hidden chain (slices, states); of the sequences learnt from, or of others."""
        if sequences is None:
            return {one.name: one.posterior for one in self.hidden}
        return self.model.posterior(sequences) if isinstance(self.model, ChainModel) else {}

    @property
    def words(self) -> str:
        """The verdict: what is remembered, for how long, which columns it drives, how much it gains."""
        lines = [_summary(self)]
        lines += [_chain_words(one) for one in self.hidden]
        lines.append(_observed_words(self))
        if self.memories and not self.hidden:
            lines.append("Remembered: " + "; ".join(memory.name for memory in self.memories[:8]) + ".")
        if not self.status.converged:
            lines.append(f"Note: {self.status}.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"TimeFindings({self.verdict}, {len(self.hidden)} hidden, {self.lags} lags, {self.n_slices} slices)"


def _summary(found: TimeFindings) -> str:
    if found.hidden:
        many = f"{len(found.hidden)} hidden variables are" if len(found.hidden) > 1 else "A hidden variable is"
        return (
            f"{many} at work: {found.gain:.3f} bits a slice better than the best model without "
            f"({found.observed_name}), {found.z:.1f} standard errors on held-out blocks."
        )
    tried = [row for row in found.table if row.hidden]
    best = max(tried, key=lambda row: row.gain, default=None)
    if best is None:
        return "No hidden variable was found: none that could be begun drives a column."
    return (
        f"No hidden variable: the best attempt ({best.name}) gains {best.gain:+.3f} bits a slice over the best model "
        f"without (z {best.z:.1f}; at least 0.005 and z above 3 were asked for)."
    )


def _chain_words(one: HiddenChain) -> str:
    drives = ", ".join(one.drives)
    if one.within_slice:
        return f"{one.name} has {one.states} states, drives {drives}, and is a cause within the slice: it hardly lasts."
    spans = ", ".join(f"{dwell:.0f}" if dwell >= 2 else f"{dwell:.1f}" for dwell in one.dwell)
    return f"{one.name} has {one.states} states, drives {drives}, and lasts {spans} slices on average (by state)."


def _observed_words(found: TimeFindings) -> str:
    if found.hidden:
        back = found.model.lags
        what = "no slice before it" if back == 0 else "the slice before" if back == 1 else f"up to {back} slices back"
        return f"Given the hidden states, a slice depends on {what}."
    if found.lags == 0:
        return "Slices do not depend on the slices before them."
    if found.lags == 1:
        return "A slice depends on the slice before; nothing longer is clearly better."
    return f"A slice depends on up to {found.lags} slices back."
