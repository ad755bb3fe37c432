"""What a search for hidden variables found, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from leverrier.data.paper_table import Papers
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.verdict import HiddenKind, Reason
from leverrier.models.graph import Graph
from leverrier.models.network import Network


@dataclass(frozen=True)
class Attempt:
    """One candidate that was tried: where, how it was put in, and what it gained over the baseline (nats)."""

    members: tuple[str, ...]
    signature: str
    start: str
    states: int
    gain: float
    neighbours: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Baseline:
    """The best network without the hidden variable, and how far the search for it can be trusted."""

    network: Network
    score: float
    spread: float
    """How far apart the searches from different seeds ended, in nats."""
    repaired: float = 0.0
    """What removing a hidden variable and searching on from there added, in nats."""

    @property
    def graph(self) -> Graph:
        return self.network.graph


@dataclass(frozen=True, eq=False)
class HiddenVariable:
    """A hidden variable that helps: its place, its states and what it gains."""

    name: str
    states: int
    children: tuple[str, ...]
    parents: tuple[str, ...]
    gain: float
    """Cheeseman–Stutz score with it, less the score of the best network without it, same prior; nats."""
    signature: str
    start: str
    evidence: Evidence | None = None
    kind: HiddenKind = HiddenKind.CLASS
    chain: HiddenChain | None = None
    """How it moves in time, where it does."""

    @property
    def believed(self) -> bool:
        """Whether tests say that it is real."""
        return self.evidence is not None and self.evidence.believed

    @property
    def neighbours(self) -> frozenset[str]:
        return frozenset(self.children) | frozenset(self.parents)


@dataclass(frozen=True, eq=False)
class Findings(Papers):
    """All that `find_hidden` found."""

    hidden: tuple[HiddenVariable, ...]
    network: Network
    """With the hidden variables, if there are any; else the baseline's."""
    score: float
    baseline: Baseline
    attempts: tuple[Attempt, ...]
    method: str
    reason: Reason
    """Why it stopped where it did."""
    log_likelihood: float = field(default=np.nan)
    steps: tuple[Network, ...] = ()
    """The networks without hidden variables, with the first, with the first two…"""

    @property
    def gain(self) -> float:
        """Of all hidden variables together over the baseline."""
        return self.score - self.baseline.score

    def __repr__(self) -> str:
        return f"Findings({len(self.hidden)} hidden variables, gain {self.gain:.1f} nats: {self.reason})"
