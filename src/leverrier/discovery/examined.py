"""All that was found out about a table, as one frozen value: what the verdict, the report and the files are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from leverrier.data.table import Table, Variable
from leverrier.discovery.evidence.certainty import Rows
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.evidence.residual import Remaining
from leverrier.discovery.findings import Attempt, HiddenVariable
from leverrier.discovery.meaning import State
from leverrier.discovery.states.merge_tree import MergeTree
from leverrier.models.network import Network

Verdict = Literal["found", "compressor", "none accepted", "no candidates", "search unstable", "not tested"]
Kind = Literal["network", "classes", "causes"]


@dataclass(frozen=True)
class Shape:
    """What the data were."""

    rows: int
    columns: int
    holes: int
    notes: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    """The columns with their states and cuts: new rows are read as these were."""


@dataclass(frozen=True, eq=False)
class Examined:
    """A verdict, and everything it rests on."""

    verdict: Verdict
    kind: Kind
    hidden: tuple[HiddenVariable, ...]
    compressors: tuple[HiddenVariable, ...]
    """Hidden variables that gain score, but no more than tables with nothing hidden show."""
    network: Network
    baseline: Network
    score: float
    baseline_score: float
    spread: float
    """How far apart the searches for the baseline ended, in nats."""
    repaired: float
    shape: Shape
    reason: str
    meanings: Mapping[str, tuple[State, ...]] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    power: Power | None = None
    did: tuple[str, ...] = ()
    """What was done, a sentence each."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    model: Any = None
    """What is not a network: classes over numbers (MixedClasses), or overlapping causes (HiddenCauses)."""
    rows: Rows | None = None
    """How surely rows belong to states, and where holes are: counts, no rows."""
    remaining: Remaining | None = None
    """Dependencies that the model leaves unexplained."""
    scores: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    """By hidden variable, (states, score) with the same arcs; empty where it was not measured."""
    merges: Mapping[str, MergeTree] = field(default_factory=dict)
    """By hidden variable, how the configurations next to it merge into states; empty where that was not worked out."""

    def like(self) -> Table:
        """An empty table with the columns of the data."""
        return Table(self.shape.variables, np.empty((len(self.shape.variables), 0), dtype=np.uint16))

    @property
    def gain(self) -> float:
        return self.score - self.baseline_score
