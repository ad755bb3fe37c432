"""What a structure search must respect, and how it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status

Parents = list[int]
"""By node, the set of its parents as bits."""


Move = tuple[float, int, int]
"""Loss (a gain's negative), x and U of a move between classes at a node y."""

Paths = dict[tuple[int, int], tuple[int, list[tuple[int, int]]]]
"""By start and goal, a path: its nodes as bits, and its arcs."""


@dataclass
class SearchLog:
    """What a search has done so far, and when it has done enough."""

    run: Run = UNBOUNDED
    max_moves: float = np.inf
    max_work: float = np.inf
    """Families that may be scored: unlike time, the same on every machine."""
    moves: int = 0
    trace: list[float] = field(default_factory=list)
    status: Status = Status.CONVERGED
    scored: Callable[[], int] = int
    """How many families were scored by now."""

    @property
    def unlimited(self) -> bool:
        """Whether no number of moves or of families ends it."""
        return self.max_moves == np.inf and self.max_work == np.inf

    def spent(self) -> bool:
        """Whether to stop now; remembers why."""
        if self.moves >= self.max_moves or (self.max_work < np.inf and self.scored() >= self.max_work):
            self.status = Status.ITERATION_LIMIT
        elif self.run.late:
            self.status = Status.BUDGET
        return not self.status.converged

    def moved(self, what: str, score: float) -> None:
        self.moves += 1
        self.trace.append(score)
        self.run.tell(Event.MOVE, np.nan, what, said=f"{score:.4f}")


@dataclass(frozen=True, eq=False)
class Problem:
    """Scores, and which arcs may (allowed[p, c]) and must (required[p, c]) be there."""

    scores: FamilyScores
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    max_parents: int
    above: Parents | None = None
    """By node, what must stay above it for reasons outside the problem (hill-climbing alone asks)."""
    moves: dict[tuple[object, ...], list[Move]] = field(default_factory=dict)
    """What greedy equivalence search has found out about a node's surroundings, for the next search."""
    paths: Paths = field(default_factory=dict)
    """By start and goal, the last semi-directed path that was found."""
    gained: dict[tuple[int, int], list[tuple[float, int]]] = field(default_factory=dict)
    """By child and parents, what `gaining` found."""

    @cached_property
    def log_states(self) -> NDArray[np.float64]:
        return np.log(self.scores.states[:-1])

    @cached_property
    def open_children(self) -> list[int]:
        """The nodes whose parents may change."""
        return np.flatnonzero((self.allowed & ~self.required).any(axis=0)).tolist()

    @cached_property
    def allowed_bits(self) -> list[int]:
        """By child, the nodes that may be its parents."""
        return column_bits(self.allowed)

    @cached_property
    def required_bits(self) -> list[int]:
        """By child, the nodes that must be its parents."""
        return column_bits(self.required)

    @cached_property
    def mutual_bits(self) -> list[int]:
        """By node, the nodes with which an arc, one way or the other, may be shared."""
        return column_bits(self.allowed | self.allowed.T)

    def gaining(self, child: int, parents: int) -> list[tuple[float, int]]:
        """(Loss, node) of each further parent with which the child's score gains."""
        known = self.gained.get((child, parents))
        if known is None:
            known = self.gained[child, parents] = self.scores.gaining(child, parents)
        return known

    @cached_property
    def log_max_cells(self) -> float:
        return float(np.log(self.scores.max_cells)) + 1e-9

    @property
    def n_nodes(self) -> int:
        return self.scores.n_nodes

    @cached_property
    def free(self) -> bool:
        """Whether nothing is required and what is forbidden is forbidden both ways: classes can be searched as such."""
        return not self.required.any() and bool((self.allowed == self.allowed.T).all())

    def fits(self, child: int, parents: int) -> bool:
        return parents.bit_count() <= self.max_parents and self.scores.fits(child, parents)

    def permits_family(self, child: int, parents: int) -> bool:
        required = self.required_bits[child]
        return not required & ~parents and not parents & ~self.allowed_bits[child] and self.fits(child, parents)


def to_matrix(parents: Parents) -> NDArray[np.uint8]:
    """arcs[p, c] = 1 for each parent p of c."""
    n = len(parents)
    width = (n + 7) // 8
    packed = np.frombuffer(b"".join(above.to_bytes(width, "little") for above in parents), dtype=np.uint8)
    return np.ascontiguousarray(np.unpackbits(packed.reshape(n, width), axis=1, count=n, bitorder="little").T)


def column_bits(matrix: NDArray[np.uint8] | NDArray[np.bool_]) -> list[int]:
    """By column, the rows that are set, as bits."""
    packed = np.packbits(matrix, axis=0, bitorder="little")
    width = len(packed)
    flat = packed.T.tobytes()
    return [int.from_bytes(flat[at : at + width], "little") for at in range(0, len(flat), width)]
