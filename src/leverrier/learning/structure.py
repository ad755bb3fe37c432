"""`learn_structure` and `score`: from a table to a graph and its parameters."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.reading import as_table
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.learning.family_scores import FamilyScores, members
from leverrier.learning.maximise import network_from_counts
from leverrier.learning.score import BDeu, Score, family_score
from leverrier.learning.search.best import fixed_point, perturb_and_repair, strip_each
from leverrier.learning.search.ges import greedy_equivalence
from leverrier.learning.search.hill_climb import hill_climb, random_moves
from leverrier.learning.search.problem import Effort, Parents, Problem
from leverrier.model.graph import Edge, Graph
from leverrier.model.network import Network
from leverrier.statistics.family import Family
from leverrier.statistics.observed import ObservedCounts
from leverrier.status import Status

Method = Literal["auto", "best", "ges", "hill-climb"]
METHODS: tuple[Method, ...] = ("auto", "best", "ges", "hill-climb")
MOST_CELLS = 2**14
"""The default cap on a family's table: rather cells than parents, for three parents of ten states are more than
eight of two."""


@dataclass(frozen=True, eq=False)
class StructureResult:
    """What a structure search found, and how it ended."""

    network: Network
    score: float
    status: Status
    trace: tuple[float, ...]
    """The score after each move of the search, perturbations included: it is not monotone."""
    method: str
    families_scored: int
    notes: tuple[str, ...] = ()

    @property
    def graph(self) -> Graph:
        return self.network.graph

    def __repr__(self) -> str:
        return f"StructureResult({self.network!r}, score {self.score:.3f}, {self.status})"


def as_graph(network: Any) -> Graph:
    """The graph of whatever was given as a network."""
    if isinstance(network, Graph):
        return network
    if isinstance(network, Network):
        return network.graph
    if hasattr(network, "nodes") and hasattr(network, "edges"):
        return Graph.from_networkx(network)
    raise OptionError(f"a network was expected (Network, Graph or networkx.DiGraph), not {type(network).__name__}")


def score(network: Any, data: Any, score: Score | None = None) -> float:
    """The whole score of a graph on complete rows, in nats."""
    graph = as_graph(network)
    table = as_table(data, states=network.states if isinstance(network, Network) else None)
    counts = ObservedCounts(table)
    absent = [node for node in graph if node not in counts.cardinalities]
    if absent:
        raise TableError(f"the table has no column {absent[0]!r}: with hidden variables use fit(…).score")
    _require_complete(counts, list(graph))
    rule = score or BDeu()
    tables = counts.tables([Family(node, graph.parents(node)) for node in graph])
    return float(sum(family_score(rule, each, counts.total) for each in tables))


def learn_structure(
    data: Any,
    score: Score | None = None,
    *,
    method: Method = "auto",
    max_parents: int | None = None,
    max_cells: int = MOST_CELLS,
    tabu: int = 0,
    restarts: int = 0,
    rounds: int = 40,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    region: Iterable[str] | None = None,
    start: Any = None,
    max_candidates: int | None = None,
    max_moves: int | None = None,
    budget: float | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    seed: int = 0,
) -> StructureResult:
    """The best-scoring network that the search finds over the table's columns.

    `method`: "auto" climbs equivalence classes and graphs to a fixed point and then takes each node out and back in
    (a blink, and the same score for any order of the columns); "best" goes on with `rounds` of perturb-and-repair;
    "ges" and "hill-climb" (with `tabu` and `restarts`) are the plain ones. `region` limits changes to arcs among
    these columns. `max_candidates` keeps only each column's best potential parents (for wide tables). `budget` is in
    seconds; a stop by `max_moves` is the same on every machine.
    """
    if method not in METHODS:
        raise OptionError(f"method={method!r}: expected one of {', '.join(METHODS)}")
    table = as_table(data)
    counts = ObservedCounts(table, threads=threads or len(os.sched_getaffinity(0)))
    _require_complete(counts, list(counts.cardinalities))
    deadline = np.inf if budget is None else time.monotonic() + budget
    effort = Effort(deadline, np.inf if max_moves is None else max_moves, progress)
    scores = FamilyScores(counts, score or BDeu(), max_cells)
    begin = Graph.from_edges(scores.names, ()) if start is None else as_graph(start)
    problem = make_problem(scores, begin, required, forbidden, region, max_parents, max_candidates)
    parents = search(problem, as_parents(scores.names, begin, required), method, effort, tabu=tabu, restarts=restarts,
                     rounds=rounds, rng=np.random.default_rng(seed))  # fmt: skip
    return _result(table, problem, parents, method, effort)


def _result(table: Table, problem: Problem, parents: Parents, method: str, effort: Effort) -> StructureResult:
    names = problem.scores.names
    graph = Graph.from_parents({name: [names[p] for p in members(parents[v])] for v, name in enumerate(names)})
    network = network_from_counts(graph, table.states, problem.scores.statistics, problem.scores.score)
    return StructureResult(
        network=network,
        score=problem.scores.total(parents),
        status=effort.status,
        trace=tuple(effort.trace),
        method=method,
        families_scored=problem.scores.families_scored,
        notes=table.notes,
    )


def search(
    problem: Problem,
    start: Parents,
    method: Method,
    effort: Effort,
    *,
    tabu: int = 0,
    restarts: int = 0,
    rounds: int = 40,
    rng: np.random.Generator,
) -> Parents:
    """Run one of the methods on any problem, whoever counts."""
    if method == "ges":
        return greedy_equivalence(problem, start, effort)
    if method == "hill-climb":
        best = hill_climb(problem, start, effort, tabu)
        for _ in range(restarts):
            if effort.spent():
                break
            again = hill_climb(problem, random_moves(problem, best, 2 * problem.n_nodes, rng), effort, tabu)
            best = max(best, again, key=problem.scores.total)
        return best
    best = strip_each(problem, fixed_point(problem, start, effort), effort)
    if method == "best":
        best = perturb_and_repair(problem, best, rounds, rng, effort)
    return best


def make_problem(
    scores: FamilyScores,
    start: Graph,
    required: Iterable[Edge],
    forbidden: Iterable[Edge],
    region: Iterable[str] | None,
    max_parents: int | None,
    max_candidates: int | None,
) -> Problem:
    """Constraints by name as matrices; a region is a set of required and forbidden arcs outside it."""
    n = scores.n_nodes
    place = {name: position for position, name in enumerate(scores.names)}
    must = np.zeros((n, n), dtype=np.bool_)
    may = ~np.eye(n, dtype=np.bool_)
    for p, c in required:
        must[_place(place, p), _place(place, c)] = True
    for p, c in forbidden:
        may[_place(place, p), _place(place, c)] = False
    if region is not None:
        inside = np.zeros(n, dtype=np.bool_)
        inside[[_place(place, name) for name in region]] = True
        fixed = ~(inside[:, None] & inside[None, :])
        present = np.zeros((n, n), dtype=np.bool_)
        for p, c in start.edges:
            present[_place(place, p), _place(place, c)] = True
        must |= fixed & present
        may &= ~fixed | present
    if (must & ~may).any():
        p, c = np.argwhere(must & ~may)[0]
        raise OptionError(f"the arc {scores.names[p]!r} → {scores.names[c]!r} is both required and forbidden")
    may &= ~must.T  # what must point one way cannot point the other
    single = scores.states[:-1] == 1
    may[single] = may[:, single] = False  # a constant column says nothing, and its arcs would never be dropped
    may |= must
    if max_candidates is not None:
        may &= _potential_parents(scores, max_candidates) | must
    return Problem(scores, may, must, n if max_parents is None else max_parents)


def as_parents(names: Sequence[str], graph: Graph, required: Iterable[Edge]) -> Parents:
    """The start graph with the required arcs added, as bit sets by node."""
    place = {name: position for position, name in enumerate(names)}
    parents = [0] * len(names)
    for p, c in dict.fromkeys((*graph.edges, *required)):
        parents[_place(place, c)] |= 1 << _place(place, p)
    Graph.from_parents({name: [names[p] for p in members(parents[v])] for v, name in enumerate(names)})
    return parents


def _potential_parents(scores: FamilyScores, most: int) -> NDArray[np.bool_]:
    """For each child the `most` columns that gain most as its only parent."""
    n = scores.n_nodes
    kept = np.zeros((n, n), dtype=np.bool_)
    for child in range(n):
        gains = scores.expand(child, 0)[:-1]
        kept[np.argsort(-gains, kind="stable")[:most], child] = True
    return kept


def _place(place: Mapping[str, int], name: str) -> int:
    if name not in place:
        raise OptionError(f"no column {name!r}; the columns are {', '.join(list(place)[:10])}{' …' * (len(place) > 10)}")
    return place[name]


def _require_complete(counts: ObservedCounts, names: Sequence[str]) -> None:
    holes = counts.table.select(names).n_missing
    if holes:
        raise TableError(f"the table has {holes} holes: complete rows were expected here")

