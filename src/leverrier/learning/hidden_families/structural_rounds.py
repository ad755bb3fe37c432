"""Rounds of structural EM with families of any kind: a few arcs changed for the posteriors there are, EM, and again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from leverrier.arrays import Floats
from leverrier.learning.hidden_families.families_em import FamiliesClimb, Standing
from leverrier.learning.structure.constraints import as_parents
from leverrier.learning.structure.hill_climb import hill_climb
from leverrier.learning.structure.problem import Problem, SearchLog
from leverrier.learning.structure.structural_task import named
from leverrier.models.graph import Graph


class StructuralRounds(ABC):
    """A climb, and which arcs may change. A round must gain `least` nats; `moves` arcs are changed in it at most."""

    least: float

    def __init__(self, climb: FamiliesClimb, moves: float, required: Iterable[tuple[str, str]] = ()) -> None:
        self.climb, self.moves, self.required = climb, moves, tuple(required)

    @abstractmethod
    def worth(self, standing: Standing) -> float:
        """The score of the whole graph: EM's part, and the families that every row shows."""

    @abstractmethod
    def problem(self, best: Standing) -> Problem:
        """Which arcs may change, with the scores that these posteriors give."""

    def sound(self, graph: Graph) -> bool:  # noqa: ARG002
        """Whether the climb may go on with this graph."""
        return True

    def climbed(self, graph: Graph, posterior: Floats, rounds: int) -> list[Standing]:
        """Where EM ended with the graph as it is, and after each round that was kept: what they are worth never
        falls."""
        kept = [self.climb.settle(self.climb.begin(graph, posterior))]
        worth = self.worth(kept[0])
        for _ in range(rounds):
            further = None if self.climb.run.spent else self._searched(kept[-1])
            if further is None or (now := self.worth(further)) <= worth + self.least:
                break
            kept.append(further)
            worth = now
        return kept

    def _searched(self, best: Standing) -> Standing | None:
        """After one round; None if that changes nothing."""
        problem = self.problem(best)
        start = as_parents(problem.scores.names, best.graph, self.required)
        log = SearchLog(self.climb.run.untold(), self.moves)
        graph = self.climb.ordered(named(problem, hill_climb(problem, start, log)))
        if graph == best.graph or not self.sound(graph):
            return None
        return self.climb.settle(self.climb.begin(graph, best.posterior))
