"""Structural EM [friedman1997, elidan2000 section 2]: search on expected counts, refit, and again.

The score is the Cheeseman–Stutz bound. For fixed posteriors of what is hidden it is a sum over families, so a search on
the expected counts raises it, and variational EM on the new graph raises it again; a round that does not is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal

import numpy as np

from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.family import Family
from leverrier.data.card import card
from leverrier.data.paper_table import Papers
from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Label
from leverrier.errors import OptionError
from leverrier.learning.em.fit import FitResult, Method, fit
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.hidden_families.structural_families import structural_families, too_many_rows
from leverrier.learning.structure.constraints import as_parents
from leverrier.learning.structure.hill_climb import hill_climb, random_moves
from leverrier.learning.structure.problem import SearchLog
from leverrier.learning.structure.score import BDe, Score
from leverrier.learning.structure.structural_task import MOST_CELLS, StructuralTask, make_task, named, problem_of
from leverrier.models.graph import Edge, Graph
from leverrier.models.network import Network, as_graph, known_states
from leverrier.run.event import Event, Progress
from leverrier.run.run import Run
from leverrier.status import Status

Families = Literal["auto", "tables"]
SMALLEST_GAIN = 1e-3
"""Rounds that gain less than this many nats end the climb."""
PERTURBING_MOVES = 3
LATE = 1.0
"""EM's steps are extrapolated once they gain less: from the first, climbs end on other hills, often lower ones."""


@dataclass(frozen=True, eq=False)
class StructuralResult(Papers):
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
    """EM on the last graph of tables alone."""
    approximate: bool = False
    """Whether some expected counts were products of single posteriors."""
    notes: tuple[str, ...] = ()

    @property
    def graph(self) -> Graph:
        return self.network.graph

    def posterior(self, variable: str) -> np.ndarray:
        if self.network is self.fit.network:
            return self.fit.posterior(variable)
        return self.network.posterior(self.fit.table, variable)

    def _repr_html_(self) -> str:
        facts = {
            "score": f"{self.score:,.3f}",
            "log-likelihood": f"{self.log_likelihood:,.3f}",
            "rounds": self.rounds,
            "status": self.status,
        }
        rows = [(node, ", ".join(self.network.parents(node))) for node in self.network.graph.order]
        return card("Structural EM", facts, ("variable", "parents"), rows, self.notes[:4])

    def __repr__(self) -> str:
        return f"StructuralResult({self.network!r}, score {self.score:.3f}, {self.status} after {self.rounds} rounds)"


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
    families: Families = "tables",
    budget: float | None = None,
    jobs: int | None = None,
    progress: Progress | bool | None = None,
    seed: int = 0,
) -> StructuralResult:
    """Graph and parameters together, with hidden variables of given cardinality and holes.

    network    where to begin: a Network, Graph or networkx.DiGraph in which the hidden variables have their place
    region     only arcs among these nodes may change
    restarts   how often the result is perturbed by a few random arcs and climbed again
    method     "vb" maximises the bound itself, "em" the likelihood in between
    families   "tables" alone, or "auto": from where tables end, each family takes the kind that says it best (a tree, a
               logit, a noisy-max, …), and EM and the search go on with those; max_rounds=0 keeps the graph
    """
    if families not in ("auto", "tables"):
        raise OptionError(f'families={families!r}: expected "auto" or "tables"')
    run = Run.of(budget, jobs=jobs, progress=progress)
    graph, own = as_graph(network), known_states(network)
    table = as_table(data, states=own or None)
    absent = [name for name in graph if name not in table.variables]
    sizes = {name: (hidden or {}).get(name, own.get(name)) for name in {**dict.fromkeys(absent), **(hidden or {})}}
    for name, size in sizes.items():
        if name not in graph:
            raise OptionError(f"hidden {name!r} is no node of the network given: put it where you suspect it")
        if size is None:
            raise OptionError(f"{name!r} is not in the table: say how many states it has, hidden={{{name!r}: 2}}")
    table = table.select(name for name in table.variables if name in graph and name not in sizes)
    task = make_task(table, score or BDe(), required, forbidden, region, max_parents, max_cells, method, run)
    ordered = Graph.from_parents({name: graph.parents(name) for name in (*table.variables, *sizes)})
    rng = np.random.default_rng(seed)
    best = climb_structure(task, ordered, sizes, initial, starts, max_rounds, int(rng.integers(2**31)))
    for _ in range(restarts):
        if task.run.late:
            break
        again = _perturbed(task, best, rng, max_rounds)
        if again.score > best.score + SMALLEST_GAIN:
            best = replace(again, trace=(*best.trace, again.score), rounds=best.rounds + again.rounds)
    return best if families == "tables" else _by_kinds(task, best, max_rounds)


def _by_kinds(task: StructuralTask, best: StructuralResult, max_rounds: int) -> StructuralResult:
    """On from there with families of any kind."""
    network = best.network
    sizes = {name: network.cardinality(name) for name in network.variables if name not in task.table.variables}
    joint = prod(sizes.values())
    if task.table.n_missing or not is_bayesian(task.score) or too_many_rows(task.table, joint):
        why = "empty cells" if task.table.n_missing else "too many rows" if is_bayesian(task.score) else "this score"
        raise OptionError(f'families="auto" does not go with {why}: leave it out, or fill, sample or score by BDe()')
    posterior = network.posterior(task.table, list(sizes)) if sizes else np.ones((task.table.n_rows, 1))
    found = structural_families(task, network, sizes, posterior.reshape(-1, joint), max_rounds)
    if found.score <= best.score:
        return best
    return replace(
        best,
        network=found.network,
        score=found.score,
        log_likelihood=found.network.log_likelihood(task.table),
        trace=(*best.trace, *(value for value in found.trace if value > best.score)),
        rounds=best.rounds + len(found.trace) - 1,
    )


def climb_structure(
    task: StructuralTask,
    graph: Graph,
    sizes: Mapping[str, Any],
    initial: Network | Mapping[str, Any] | None,
    starts: int,
    max_rounds: int,
    seed: int,
) -> StructuralResult:
    """Fit, then search and refit until the bound no longer rises."""
    fitted = _fitted(task, graph, sizes, initial, starts, seed)
    value = worth(fitted, task.score) + _surplus(task, graph)
    trace = [value]
    status = Status.ITERATION_LIMIT
    approximate = False
    for _ in range(max_rounds):
        if task.run.late:
            status = Status.BUDGET
            break
        expected = fitted.expected_counts(task.counts)
        found = _search(task, expected, fitted.network.graph)
        approximate |= expected.approximate
        if found == fitted.network.graph or (task.been_here is not None and task.been_here(found)):
            status = Status.CONVERGED
            break
        start = _start(fitted, found, expected, task.score)
        refitted = _fitted(task, found, sizes, start, 1, seed)
        reached = worth(refitted, task.score) + _surplus(task, found)
        if reached <= value + SMALLEST_GAIN:
            status = Status.CONVERGED
            break
        fitted, value = refitted, reached
        trace.append(value)
        task.run.tell(Event.ROUND, np.nan, len(trace) - 1, said=f"{value:.4f}")
    return StructuralResult(
        fitted.network, value, fitted.log_likelihood, tuple(trace), status, len(trace) - 1, fitted, approximate
    )


def _start(fitted: FitResult, graph: Graph, expected: ExpectedCounts, score: Score) -> Network:
    """The network that the expected counts give this graph. EM does not begin at the families that every row shows:
    where those have not changed their tables stay."""
    network = fitted.network
    kept = set(expected.observation.closed_nodes)
    same = [node for node in graph if node in kept and graph.parents(node) == network.parents(node)]
    known = {Family(node, graph.parents(node)): network.cpt(node) for node in same}
    return network_from_counts(graph, network.states, expected, score, known)


def _fitted(
    task: StructuralTask,
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
        accelerate=LATE,
        seed=seed,
        jobs=1,
        budget=task.run.seconds_left(),
    )


def worth(fitted: FitResult, score: Score) -> float:
    """What a fitted graph is judged by: the Cheeseman–Stutz bound, or the log-likelihood less the score's penalty."""
    if is_bayesian(score):
        return fitted.score
    network = fitted.network
    sizes = [(network.cardinality(v), network.cpt(v).size // network.cardinality(v)) for v in network.variables]
    return fitted.log_likelihood - sum(score.penalty(r, q, fitted.table.total) for r, q in sizes)


def _surplus(task: StructuralTask, graph: Graph) -> float:
    """How much better than by tables the families are said that every row shows: EM does not touch those."""
    if task.observed is None:
        return 0.0
    place = {name: v for v, name in enumerate(task.table.variables)}
    whole = [node for node in graph if node in place and all(p in place for p in graph.parents(node))]
    return sum(task.observed.surplus(place[v], sum(1 << place[p] for p in graph.parents(v))) for v in whole)


def is_bayesian(score: Score) -> bool:
    return score.alphas(2, 1.0)[0] > 0


def _search(task: StructuralTask, expected: ExpectedCounts, graph: Graph) -> Graph:
    """The best graph near this one for fixed posteriors of what is hidden."""
    problem = problem_of(task, expected, graph)
    start = as_parents(problem.scores.names, graph, task.required)
    for child in problem.open_children:
        if start[child].bit_count() < problem.max_parents:
            problem.scores.expand(child, start[child])  # (first of all: the family itself comes with it)
    return named(problem, hill_climb(problem, start, SearchLog(task.run.untold(), task.moves)))


def _perturbed(
    task: StructuralTask, best: StructuralResult, rng: np.random.Generator, max_rounds: int
) -> StructuralResult:
    """A few random arcs changed, and up again from there."""
    expected = best.fit.expected_counts(task.counts)
    problem = problem_of(task, expected, best.graph)
    start = as_parents(problem.scores.names, best.graph, task.required)
    shaken = named(problem, random_moves(problem, start, PERTURBING_MOVES, rng))
    network = network_from_counts(shaken, best.network.states, expected, task.score)
    sizes = {name: best.network.states[name] for name in shaken if name not in task.table.variables}
    return climb_structure(task, shaken, sizes, network, 1, max_rounds, int(rng.integers(2**31)))
