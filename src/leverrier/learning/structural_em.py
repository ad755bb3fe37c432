"""Structural EM [friedman1997, elidan2000 section 2]: search on expected counts, refit, and again.

The score is the Cheeseman–Stutz bound. For fixed posteriors of what is hidden it is a sum over families, so a search on
the expected counts raises it, and variational EM on the new graph raises it again; a round that does not is not kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leverrier.data.reading import as_table
from leverrier.data.table import Label, Table
from leverrier.errors import OptionError
from leverrier.learning.family_scores import FamilyScores, KnownScores, members
from leverrier.learning.fit import FitResult, Method, fit
from leverrier.learning.maximise import network_from_counts
from leverrier.learning.score import BDe, Score
from leverrier.learning.search.constraints import as_parents, make_problem
from leverrier.learning.search.hill_climb import hill_climb, random_moves
from leverrier.learning.search.problem import Effort, Parents, Problem
from leverrier.model.graph import Edge, Graph
from leverrier.model.network import Network, as_graph
from leverrier.statistics.expected import ExpectedCounts
from leverrier.statistics.observed import ObservedCounts
from leverrier.status import Status

MOST_CELLS = 2**12
SMALLEST_GAIN = 1e-3
"""Rounds that gain less than this many nats end the climb."""
PERTURBING_MOVES = 3
TOLERANCE = 1e-3
"""Nats still to be gained when a round's EM stops: far less than decides between graphs."""
MOVES = 2
"""Arcs changed before the posteriors are renewed. They speak for the graph they were taken under: a long search on the
same ones ties columns to each other that belong to the hidden variable."""


@dataclass(frozen=True, eq=False)
class StructuralResult:
    """Where structural EM ended."""

    network: Network
    score: float
    """The Cheeseman–Stutz bound under the score's prior: never compare it with a plain log-likelihood."""
    log_likelihood: float
    trace: tuple[float, ...]
    """The bound at the start and after each round that was kept: it never falls."""
    status: Status
    rounds: int
    fit: FitResult
    approximate: bool = False
    """Whether some expected counts were products of single posteriors."""
    notes: tuple[str, ...] = ()

    @property
    def graph(self) -> Graph:
        return self.network.graph

    def posterior(self, variable: str) -> np.ndarray:
        return self.fit.posterior(variable)

    def __repr__(self) -> str:
        return f"StructuralResult({self.network!r}, score {self.score:.3f}, {self.status} after {self.rounds} rounds)"


@dataclass(frozen=True, eq=False)
class Task:
    """What every round shares: the rows, what may change, and the scores of families without hidden members."""

    table: Table
    counts: ObservedCounts
    observed: KnownScores | None
    score: Score
    required: tuple[Edge, ...]
    forbidden: tuple[Edge, ...]
    region: tuple[str, ...] | None
    max_parents: int | None
    max_cells: int
    method: Method
    above: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By node, what stays above it by arcs that are not among these nodes: no cycle may be closed through it."""
    moves: float = MOVES
    tolerance: float = TOLERANCE
    deadline: float = np.inf
    progress: Callable[[str, float], None] | None = None
    been_here: Callable[[Graph], bool] | None = None
    """Whether an earlier climb came through this graph: going on from it would end where that one ended."""

    problems: dict[tuple[tuple[str, int], ...], Problem] = field(default_factory=dict, repr=False)
    """The first round's, for the next."""

    def budget(self) -> float | None:
        return None if self.deadline == np.inf else max(self.deadline - time.monotonic(), 0.0)


def structural_em(
    network: Any,
    data: Any,
    hidden: Mapping[str, int | Sequence[Label]] | None = None,
    *,
    region: Iterable[str] | None = None,
    score: Score | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    max_parents: int | None = None,
    max_cells: int = MOST_CELLS,
    initial: Network | Mapping[str, Any] | None = None,
    starts: int = 5,
    restarts: int = 0,
    max_rounds: int = 50,
    method: Method = "vb",
    budget: float | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    seed: int = 0,
) -> StructuralResult:
    """Graph and parameters together, with hidden variables of given cardinality and holes.

    network    where to begin: a Network, Graph or networkx.DiGraph in which the hidden variables have their place
    region     only arcs among these nodes may change
    restarts   how often the result is perturbed by a few random arcs and climbed again
    method     "vb" maximises the bound itself, "em" the likelihood in between
    """
    table = as_table(data, states=network.states if isinstance(network, Network) else None)
    graph = as_graph(network)
    own = network.states if isinstance(network, Network) else {}
    absent = [name for name in graph if name not in table.variables]
    sizes = {name: (hidden or {}).get(name, own.get(name)) for name in {**dict.fromkeys(absent), **(hidden or {})}}
    for name, size in sizes.items():
        if name not in graph:
            raise OptionError(f"hidden {name!r} is no node of the network given: put it where you suspect it")
        if size is None:
            raise OptionError(f"{name!r} is not in the table: say how many states it has, hidden={{{name!r}: 2}}")
    table = table.select(name for name in table.variables if name in graph and name not in sizes)
    task = make_task(table, score or BDe(), required, forbidden, region, max_parents, max_cells, method, budget,
                     threads, progress)  # fmt: skip
    ordered = Graph.from_parents({name: graph.parents(name) for name in (*table.variables, *sizes)})
    rng = np.random.default_rng(seed)
    best = climb_structure(task, ordered, sizes, initial, starts, max_rounds, int(rng.integers(2**31)))
    for _ in range(restarts):
        if task.budget() == 0.0:
            break
        again = _perturbed(task, best, rng, max_rounds)
        if again.score > best.score + SMALLEST_GAIN:
            best = replace(again, trace=(*best.trace, again.score), rounds=best.rounds + again.rounds)
    return best


def make_task(
    table: Table,
    score: Score,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    region: Iterable[str] | None = None,
    max_parents: int | None = None,
    max_cells: int = MOST_CELLS,
    method: Method = "vb",
    budget: float | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Task:
    counts = ObservedCounts(table, threads=threads or len(os.sched_getaffinity(0)))
    observed = FamilyScores(counts, score, max_cells) if counts.complete else None
    deadline = np.inf if budget is None else time.monotonic() + budget
    return Task(table, counts, observed, score, tuple(required), tuple(forbidden),
                None if region is None else tuple(region), max_parents, max_cells, method,
                deadline=deadline, progress=progress)  # fmt: skip


def climb_structure(
    task: Task,
    graph: Graph,
    sizes: Mapping[str, Any],
    initial: Network | Mapping[str, Any] | None,
    starts: int,
    max_rounds: int,
    seed: int,
) -> StructuralResult:
    """Fit, then search and refit until the bound no longer rises."""
    fitted = _fitted(task, graph, sizes, initial, starts, seed)
    value = worth(fitted, task.score)
    trace = [value]
    status = Status.ITERATION_LIMIT
    approximate = False
    for _ in range(max_rounds):
        if task.budget() == 0.0:
            status = Status.BUDGET
            break
        expected = fitted.expected_counts(task.counts)
        found = _search(task, expected, fitted.network.graph)
        approximate |= expected.approximate
        if found == fitted.network.graph or (task.been_here is not None and task.been_here(found)):
            status = Status.CONVERGED
            break
        start = network_from_counts(found, fitted.network.states, expected, task.score)
        refitted = _fitted(task, found, sizes, start, 1, seed)
        if worth(refitted, task.score) <= value + SMALLEST_GAIN:
            status = Status.CONVERGED
            break
        fitted, value = refitted, worth(refitted, task.score)
        trace.append(value)
        if task.progress is not None:
            task.progress(f"round {len(trace) - 1}", value)
    return StructuralResult(
        fitted.network, value, fitted.log_likelihood, tuple(trace), status, len(trace) - 1, fitted, approximate
    )


def _fitted(
    task: Task,
    graph: Graph,
    sizes: Mapping[str, Any],
    initial: Network | Mapping[str, Any] | None,
    starts: int,
    seed: int,
) -> FitResult:
    method, score = (task.method, task.score) if is_bayesian(task.score) else ("em", None)
    return fit(
        graph,
        task.counts,
        hidden=dict(sizes),
        initial=initial,
        starts=starts,
        method=method,
        score=score,
        tolerance=task.tolerance,
        accelerate=False,  # (a round's EM is short, and looking for saddles would cost more than it)
        seed=seed,
        jobs=1,
        budget=task.budget(),
    )


def worth(fitted: FitResult, score: Score) -> float:
    """What a fitted graph is judged by: the Cheeseman–Stutz bound, or the log-likelihood less the score's penalty."""
    if is_bayesian(score):
        return fitted.score
    network = fitted.network
    sizes = [(network.cardinality(v), network.cpt(v).size // network.cardinality(v)) for v in network.variables]
    return fitted.log_likelihood - sum(score.penalty(r, q, fitted.table.total) for r, q in sizes)


def is_bayesian(score: Score) -> bool:
    return score.alphas(2, 1.0)[0] > 0


def _search(task: Task, expected: ExpectedCounts, graph: Graph) -> Graph:
    """The best graph near this one for fixed posteriors of what is hidden."""
    problem = problem_of(task, expected, graph)
    start = as_parents(problem.scores.names, graph, task.required)
    for child in problem.open_children:
        if start[child].bit_count() < problem.max_parents:
            problem.scores.expand(child, start[child])  # (first of all: the family itself comes with it)
    return named(problem, hill_climb(problem, start, Effort(task.deadline, task.moves)))


def problem_of(task: Task, expected: ExpectedCounts, graph: Graph) -> Problem:
    """What a round's search must respect. It is the same in every round: arcs that may not change have not changed."""
    sizes = tuple(expected.cardinalities.items())
    first = task.problems.get(sizes)
    if first is None:
        first = task.problems[sizes] = _first_problem(task, expected, graph)
        return first
    return replace(first, scores=first.scores.renewed(expected))


def _first_problem(task: Task, expected: ExpectedCounts, graph: Graph) -> Problem:
    scores = FamilyScores(expected, task.score, task.max_cells, observed=task.observed)
    problem = make_problem(scores, graph, task.required, task.forbidden, task.region, task.max_parents, None)
    scores.candidates = problem.allowed
    if not task.above:
        return problem
    place = {name: v for v, name in enumerate(scores.names)}
    above = [sum(1 << place[p] for p in task.above.get(name, ()) if p in place) for name in scores.names]
    return replace(problem, above=above)


def named(problem: Problem, parents: Parents) -> Graph:
    names = problem.scores.names
    return Graph.from_parents({name: [names[p] for p in members(parents[v])] for v, name in enumerate(names)})


def _perturbed(task: Task, best: StructuralResult, rng: np.random.Generator, max_rounds: int) -> StructuralResult:
    """A few random arcs changed, and up again from there."""
    expected = best.fit.expected_counts(task.counts)
    problem = problem_of(task, expected, best.graph)
    start = as_parents(problem.scores.names, best.graph, task.required)
    shaken = named(problem, random_moves(problem, start, PERTURBING_MOVES, rng))
    network = network_from_counts(shaken, best.network.states, expected, task.score)
    sizes = {name: best.network.states[name] for name in shaken if name not in task.table.variables}
    return climb_structure(task, shaken, sizes, network, 1, max_rounds, int(rng.integers(2**31)))
