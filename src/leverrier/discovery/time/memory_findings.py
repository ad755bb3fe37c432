"""What the source's loop gives back: its rounds, from the fully observed network on, and the memories it made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leverrier.data.paper_table import Papers
from leverrier.discovery.network_codecs import States
from leverrier.discovery.time.memory_search import Parents
from leverrier.discovery.time.time_codecs import read_dynamic_network, write_dynamic_network
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference
from leverrier.status import Status
from leverrier.words_of import words_of


@dataclass(frozen=True)
class NonMarkovArc:
    """An arc that skips at least one slice, and what the score loses without it (nats)."""

    parent: str
    lag: int
    child: str
    gain: float


@dataclass(frozen=True)
class MemoryVariable:
    """A hidden variable that began as the value of `of` so many slices before."""

    name: str
    of: str
    depth: int


@dataclass(frozen=True, eq=False)
class Round:
    """Where one iteration ended."""

    name: str
    network: DynamicNetwork
    bits: float
    """Per slice of the sequences learnt from."""
    arcs: tuple[NonMarkovArc, ...]
    """The arcs that skip slices which this round's search asked for."""
    inference: Inference = "exact"


Ended = tuple[Round, Parents]
"""A round, and for each variable the parents that its search ended with."""


@dataclass(frozen=True, eq=False)
class MemoryFindings(Papers):
    """All rounds, from the fully observed network on."""

    rounds: tuple[Round, ...]
    memories: tuple[MemoryVariable, ...]
    status: Status
    method: str = "boyen1999"

    @property
    def network(self) -> DynamicNetwork:
        return self.rounds[-1].network

    @property
    def steps(self) -> tuple[str, ...]:
        """What each round ended with, and the arcs that asked for memories, a sentence each."""
        return tuple(words_of("time_words.round_words", self).splitlines())

    @property
    def words(self) -> str:
        """The rounds, and what each memory remembers and drives."""
        return words_of("time_words.memory_words", self)

    def __str__(self) -> str:
        return self.words


def write_round(ended: Ended, known: States) -> dict[str, Any]:
    """A round and the parents that its search ended with, as plain values."""
    found, parents = ended
    return {
        "name": found.name,
        "network": write_dynamic_network(found.network, known),
        "bits": float(found.bits),
        "arcs": [[arc.parent, arc.lag, arc.child, float(arc.gain)] for arc in found.arcs],
        "inference": found.inference,
        "parents": {child: list(above) for child, above in parents.items()},
    }


def read_round(piece: Mapping[str, Any], known: States) -> Ended:
    parents = {child: tuple((name, lag) for name, lag in above) for child, above in piece["parents"].items()}
    arcs = tuple(NonMarkovArc(*arc) for arc in piece["arcs"])
    network = read_dynamic_network(piece["network"], known)
    return Round(piece["name"], network, float(piece["bits"]), arcs, piece["inference"]), parents
