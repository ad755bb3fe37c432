"""All that was found out about a table or sequences, as one frozen value: verdict, report and files are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from leverrier.data.quality.noticed import Noticed
from leverrier.data.table import Variable
from leverrier.discovery.asked import Asked
from leverrier.discovery.done import Step
from leverrier.discovery.evidence.certainty import Rows
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.evidence.residual import Remaining
from leverrier.discovery.evidence.simplest_description import Simplest
from leverrier.discovery.findings import Attempt, HiddenVariable
from leverrier.discovery.hidden_model import HiddenModel, NetworkModel
from leverrier.discovery.meaning import State
from leverrier.discovery.states.merge_tree import MergeTree
from leverrier.discovery.states.states_fit import StatesFit
from leverrier.discovery.time.along_time import AlongTime
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.verdict import ModelKind, Verdict
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.network import Network, as_network


@dataclass(frozen=True)
class Shape:
    """What the data were."""

    rows: int
    columns: int
    holes: int
    notes: tuple[str, ...] = ()
    """What reading the data changed."""
    variables: tuple[Variable, ...] = ()
    """The columns with their states and cuts: new rows are read as these were."""
    sequences: int = 0
    """How many, where rows are slices of sequences."""
    quality: tuple[Noticed, ...] = ()
    """What a careful analyst would notice in the data."""


@dataclass(frozen=True, eq=False)
class Result:
    """A verdict, and everything it rests on. What does not apply is empty."""

    verdict: Verdict
    kind: ModelKind
    hidden: tuple[HiddenVariable, ...]
    compressors: tuple[HiddenVariable, ...]
    """Hidden variables that gain score, but no more than tables with nothing hidden show."""
    network: Network | MixedNetwork | DynamicNetwork | None
    """None where sequences need memories, which no network of lags has."""
    baseline: Network | MixedNetwork | DynamicNetwork | None
    score: float
    baseline_score: float
    spread: float
    """How far apart the searches for the baseline ended, in nats."""
    repaired: float
    shape: Shape
    meanings: Mapping[str, tuple[State, ...]] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    power: Power | None = None
    did: tuple[Step, ...] = ()
    """What was done, in order."""
    settings: Asked = field(default_factory=Asked)
    seconds: float = 0.0
    other: HiddenModel | None = None
    """The model that the verdict rests on where it is not the network: classes over numbers, overlapping causes."""
    simplest: Simplest | None = None
    """Of a small table in which no variable passed the test: the fewest classes, or one trait, that describe it."""
    rows: Rows | None = None
    """How surely rows belong to states, and where holes are: counts, no rows."""
    remaining: Remaining | None = None
    """Dependencies that the model leaves unexplained."""
    scores: Mapping[str, tuple[StatesFit, ...]] = field(default_factory=dict)
    """By hidden variable, every number of states tried with the same arcs; empty where it was not measured."""
    merges: Mapping[str, MergeTree] = field(default_factory=dict)
    """By hidden variable, how the configurations next to it merge into states; empty where that was not worked out."""
    renamed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By hidden variable, names that the user gave its states; empty where none was given."""
    time: TimeFindings | None = None
    """Of sequences: what they remember, and the models that were compared."""
    along: AlongTime | None = None
    """Of sequences: states along time, how long they last, what comes next."""

    @cached_property
    def model(self) -> HiddenModel:
        """What answers for rows of a table."""
        if self.other is not None:
            return self.other
        return NetworkModel(as_network(self.network), tuple(each.name for each in self.hidden), self.shape.variables)

    def with_names(self, name: str, states: tuple[str, ...]) -> Result:
        """The same with these names for the states of a hidden variable, wherever they are said."""
        known = self.meanings.get(name, ())
        told = tuple(
            old if str(old.label) == new else replace(old, label=new, suggested=new)
            for old, new in zip(known, states, strict=False)
        )
        found = replace(self, renamed={**self.renamed, name: states})
        if known:
            found = replace(found, meanings={**self.meanings, name: told})
        if self.time is None:
            return found
        chains = {one.name: replace(one, labels=states) if one.name == name else one for one in self.time.hidden}
        time = replace(self.time, hidden=tuple(chains.values()))
        hidden = tuple(replace(each, chain=chains[each.name]) for each in self.hidden)
        return replace(found, time=time, hidden=hidden)

    @property
    def believed(self) -> tuple[HiddenVariable, ...]:
        """The hidden variables that may be said to be at work."""
        return tuple(each for each in self.hidden if self.verdict.found and each.believed)

    @property
    def untested(self) -> tuple[HiddenVariable, ...]:
        """Those that were found, and of which no test says yet whether they are real."""
        return tuple(each for each in self.hidden if each not in self.believed)

    @property
    def together(self) -> bool:
        """Whether its hidden variables were tested all at once."""
        return self.kind in (ModelKind.CAUSES, ModelKind.SEQUENCES)

    @property
    def gain(self) -> float:
        return self.score - self.baseline_score
