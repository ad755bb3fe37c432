"""What was found in sequences, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from leverrier.arrays import Floats
from leverrier.data.paper_table import Papers
from leverrier.data.sequences.slice_features import Memory
from leverrier.data.table import Variable
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.regimes.column_roles import Role
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_model import Model, TimeModel, time_model
from leverrier.discovery.verdict import HiddenKind, Reason, Verdict, found, not_tested, nothing, undecided
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.slices.slice_model import SliceModel
from leverrier.status import Status
from leverrier.words_of import words_of

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
class TimeFindings(Papers):
    """All that was found in sequences, by `find_in_time` or by the source's loop."""

    hidden: tuple[HiddenChain, ...]
    gain: float
    """Bits per held-out slice that the hidden variables gain over the best model without them (0 if there are none)."""
    z: float
    model: Model
    """With the hidden variables, if there are any; else the best observed model."""
    observed: SliceModel | DynamicNetwork | RegimeModel
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
    untested: Reason | None = None
    """Why they were not compared on held-out blocks."""
    method: Method = "default"
    inference: Inference = "exact"
    steps: tuple[str, ...] = ()
    """Of the source's loop: what each round ended with."""
    beside: RegimeModel | None = None
    """The model of a second hidden variable, one that stays where the first moves."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """By hidden variable, what was tested of it alone."""
    kinds: Mapping[str, HiddenKind] = field(default_factory=dict)
    inputs: Mapping[str, Role] = field(default_factory=dict)
    """Columns that were given, not explained, and why."""
    decided: Verdict | None = None
    """The verdict of the search by laws of the columns; None where another search was run."""
    drawn: tuple[Evidence, ...] = ()
    """Tests that were not passed."""

    @property
    def finished(self) -> bool:
        """Whether everything was done: False if a budget or an interrupt cut it short."""
        return self.status not in (Status.BUDGET, Status.INTERRUPTED)

    @property
    def by_laws(self) -> bool:
        """Whether the columns had laws of their own and the test was the null test."""
        return self.decided is not None

    @property
    def verdict(self) -> Verdict:
        if self.decided is not None:
            return self.decided
        if self.hidden and self.accepted and self.tested:
            return found(Reason.HELD_OUT)
        if self.hidden and not self.tested:
            return not_tested(self.untested or (Reason.NOT_ASKED if self.finished else Reason.TIME))
        if not self.finished:
            return undecided(Reason.TIME)
        if self.hidden or any(row.hidden for row in self.table):
            return nothing(Reason.NOT_CLEARER)
        return nothing(Reason.NO_SKIP if self.method == "boyen1999" else Reason.NO_CHAIN)

    @cached_property
    def face(self) -> TimeModel:
        """The model, of whichever kind it is."""
        return time_model(self.model, self.order, self.inference)

    @property
    def network(self) -> DynamicNetwork | None:
        """The model as a network in time; None where it keeps memories, which no network of lags has."""
        return self.face.network

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns, as they were cut into states."""
        return self.face.variables

    def posterior(self, sequences: Any = None) -> dict[str, Floats]:
        """By hidden variable (slices, states); of the sequences learnt from, or of others."""
        if sequences is None:
            return {one.name: one.posterior for one in self.hidden}
        beside = {} if self.beside is None else {self.beside.name: self.beside.posterior(sequences)}
        return {**self.face.posterior(sequences), **beside}

    @property
    def words(self) -> str:
        """The verdict: what is remembered, for how long, which columns it drives, how much it gains."""
        return words_of("time_words.time_words", self)

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"TimeFindings({self.verdict}, {len(self.hidden)} hidden, {self.lags} lags, {self.n_slices} slices)"
