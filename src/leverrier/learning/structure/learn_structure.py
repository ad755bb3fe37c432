"""`learn_structure` and `score`: from a table to a graph and its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np

from leverrier.counts.family import Family, Statistics
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.parted_counts import counts_of
from leverrier.counts.rows import rows_of
from leverrier.data.card import card
from leverrier.data.file_parts import require_parquet
from leverrier.data.memory_limit import memory_limit
from leverrier.data.paper_table import Papers
from leverrier.data.reading.file_options import ReadingOptions
from leverrier.data.reading.read_table import as_asked, as_table
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.mixed.learn_mixed import MixedResult, has_numbers, learn_mixed
from leverrier.learning.mixed.mixed_search import SHAKES
from leverrier.learning.noted import AvailableCases, RefinedByEM
from leverrier.learning.structure.constraints import as_parents, make_problem
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.ges import greedy_equivalence
from leverrier.learning.structure.hill_climb import hill_climb, random_moves
from leverrier.learning.structure.kind_scores import kinds_of, scores_of
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.problem import Parents, Problem, SearchLog
from leverrier.learning.structure.score import BDeu, Score, family_score
from leverrier.learning.structure.strong_search import strong_search
from leverrier.learning.structure.structural_em import Families, structural_em
from leverrier.models.graph import Edge, Graph
from leverrier.models.network import Network, as_graph, known_states
from leverrier.run.event import Progress
from leverrier.run.run import Run
from leverrier.status import Status
from leverrier.words_of import Note, told

Method = Literal["auto", "best", "ges", "hill-climb"]
Holes = Literal["em", "available"]
METHODS: tuple[Method, ...] = ("auto", "best", "ges", "hill-climb")
MOST_CELLS = 2**14
"""The default cap on a family's table: rather cells than parents, for three parents of ten states are more than
eight of two."""


@dataclass(frozen=True, eq=False)
class StructureResult(Papers):
    """What a structure search found, and how it ended."""

    network: Network
    score: float
    status: Status
    trace: tuple[float, ...]
    """The score after each move of the search, perturbations included: it is not monotone."""
    method: str
    families_scored: int
    noted: tuple[Note | str, ...] = field(default=(), repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        return told(self.noted)

    @property
    def graph(self) -> Graph:
        return self.network.graph

    def _repr_html_(self) -> str:
        facts = {"score": f"{self.score:,.3f}", "arcs": len(self.network.edges), "status": self.status}
        rows = [(node, ", ".join(self.network.parents(node))) for node in self.network.graph.order]
        return card("Structure", facts, ("variable", "parents"), rows, self.notes[:4])

    def __repr__(self) -> str:
        return f"StructureResult({self.network!r}, score {self.score:.3f}, {self.status})"


def score(network: Any, data: Any, score: Score | None = None) -> float:
    """The whole score of a graph on complete rows, in nats."""
    graph = as_graph(network)
    table = as_table(data, states=known_states(network) or None)
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
    rounds: int = 20,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    region: Iterable[str] | None = None,
    start: Any = None,
    max_candidates: int | None = None,
    holes: Holes = "em",
    families: Families = "tables",
    max_moves: int | None = None,
    budget: float | None = None,
    work: int | None = None,
    jobs: int | None = None,
    max_memory: int | str | None = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> StructureResult:
    """The best-scoring network that the search finds over the table's columns.

    `method`: "auto" climbs equivalence classes and graphs to a fixed point and goes on with orders of the columns,
    growing and shrinking each one's parents (a blink); "best" then wanders off from there `rounds` times; "ges" and
    "hill-climb" (with `tabu` and `restarts`) are the plain ones. All but the last reach the same score however the
    columns are ordered. `region` limits changes to arcs among these columns.
    `max_candidates` keeps only each column's best potential parents (for wide tables). `budget` is in seconds; a stop
    after `work` families scored or `max_moves` is the same on every machine. In a table with `holes` the result is
    refined by structural EM, which uses every row ("em"); "available" counts each family in the rows that show all of
    it. `families`: "tables" alone, with numbers cut into bins, or "auto", by which each column takes what says it best:
    a table, a tree, a logit, a noisy-max, a function of its parents with noise (docs/structure.md); numbers stay
    numbers then, and the network is a mixed one (docs/numbers.md; `restarts` says how often its search is begun anew).
    `max_memory` and `client` (a Dask client or its address, for a Parquet file) are for large tables: docs/large.md.
    `reading`: how the data are read, as in `read_table` (types, ignore, missing, weights, encoding, …).
    """
    data = as_asked(data, reading, max_memory)
    if method not in METHODS:
        raise OptionError(f"method={method!r}: expected one of {', '.join(METHODS)}")
    if holes not in ("em", "available"):
        raise OptionError(f'holes={holes!r}: expected "em" or "available"')
    if families not in ("auto", "tables"):
        raise OptionError(f'families={families!r}: expected "auto" or "tables"')
    if work is not None and work < 1:
        raise OptionError(f"work={work!r}: expected a number of families, at least 1")
    if families == "auto" and client is None:
        data = as_table(data, max_memory=max_memory)
        if has_numbers(data):
            plain = {"method": None if method == "auto" else method, "tabu": tabu or None, "max_moves": max_moves}
            more = {"work": work, "max_cells": None if max_cells == MOST_CELLS else max_cells}
            _only_states(score=score, region=region, max_candidates=max_candidates, **plain, **more)
            begins = () if start is None else (as_graph(start),)
            mixed = learn_mixed(
                data,
                seed=seed,
                starts=begins,
                required=required,
                forbidden=forbidden,
                max_parents=max_parents,
                shakes=restarts or SHAKES,
                budget=budget,
                arc_price=None,
            )
            return _of_mixed(mixed)
    run = Run.of(budget, jobs=jobs, client=client, progress=progress)
    table, counts = _counted(data, holes, max_memory, run)
    if method in ("auto", "best") and table.n_rows:  # what is drawn at random must not hang on the order of the columns
        counts = counts_of(table.select(sorted(table.variables)), run.workers.jobs)
    scores = scores_of(counts, score or BDeu(), max_cells, families == "auto")
    limits = (np.inf if max_moves is None else max_moves, np.inf if work is None else work)
    effort = SearchLog(run, *limits, scored=lambda: scores.families_scored)
    begin = Graph.from_edges(scores.names, ()) if start is None else as_graph(start)
    problem = make_problem(scores, begin, required, forbidden, region, max_parents, max_candidates)
    first, rng = as_parents(scores.names, begin, required), np.random.default_rng(seed)
    parents = search(problem, first, method, effort, tabu=tabu, restarts=restarts, rounds=rounds, rng=rng)
    found = _result(table, problem, parents, method, effort)
    if getattr(counts, "complete", True):
        return found
    if holes == "available":
        return replace(found, noted=(*found.noted, AvailableCases(table.n_missing)))
    return _refined(found, table, problem, scores.score, tuple(required), tuple(forbidden), region, run)


def _only_states(**options: Any) -> None:
    """What has no meaning for a table with numbers is refused, not ignored."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise OptionError(f'{given[0]}= is for tables of states alone: leave it out, or use families="tables"')


def _of_mixed(found: MixedResult) -> StructureResult:
    """A mixed search in the shape of every search; its network has the same face."""
    network: Any = found.network
    return StructureResult(
        network, found.score, found.status, (found.score,), "mixed", found.families_scored, found.noted
    )


def learn_from_scores(
    table: Table,
    scores: FamilyScores,
    *,
    method: Method,
    rounds: int,
    max_parents: int | None,
    start: Graph | None,
    budget: float | None,
    seed: int,
    reached: float = -np.inf,
) -> StructureResult:
    """The same from scores of the table's families: who learns several times from one table fits its families once.
    A search that comes to the score `reached` by another goes no further."""
    effort = SearchLog(Run.of(budget, jobs=1), scored=lambda: scores.families_scored)
    begin = Graph.from_edges(scores.names, ()) if start is None else start
    problem = make_problem(scores, begin, (), (), None, max_parents, None)
    first = as_parents(scores.names, begin, ())
    rng = np.random.default_rng(seed)
    parents = search(problem, first, method, effort, rounds=rounds, rng=rng, reached=reached)
    return _result(table, problem, parents, method, effort)


def _counted(data: Any, holes: Holes, max_memory: int | str | None, run: Run) -> tuple[Table, Statistics]:
    """The columns, with the rows if they are here, and who counts them. Structural EM looks at rows."""
    if run.workers.client is not None:
        require_parquet(data)
    rows = rows_of(data, max_memory, run.workers.client)
    if holes == "em" and not rows.complete:
        rows = rows.gathered(memory_limit(max_memory))
    return rows.table, rows.counts(run.workers.jobs)


def _refined(
    found: StructureResult,
    table: Table,
    problem: Problem,
    score: Score,
    required: Iterable[Edge],
    forbidden: Iterable[Edge],
    region: Iterable[str] | None,
    run: Run,
) -> StructureResult:
    """From the graph that the available cases suggest, structural EM on all rows."""
    result = structural_em(
        found.network,
        table,
        score=score,
        required=required,
        forbidden=forbidden,
        region=region,
        max_parents=problem.max_parents,
        max_cells=problem.scores.table_cells,
        budget=run.seconds_left(),
        jobs=run.workers.jobs,
    )
    return StructureResult(
        network=result.network,
        score=result.score,
        status=found.status if result.status.converged else result.status,
        trace=(*found.trace, *result.trace),
        method=f"{found.method}, then structural EM",
        families_scored=found.families_scored,
        noted=(*found.noted, RefinedByEM(table.n_missing)),
    )


def _result(table: Table, problem: Problem, parents: Parents, method: str, effort: SearchLog) -> StructureResult:
    names = problem.scores.names
    above = {name: [names[p] for p in members(parents[v])] for v, name in enumerate(names)}
    graph = Graph.from_parents({name: above[name] for name in table.variables})
    network = network_from_counts(
        graph, table.states, problem.scores.statistics, problem.scores.score, families=kinds_of(problem.scores, parents)
    )
    return StructureResult(
        network=network,
        score=problem.scores.total(parents),
        status=effort.status,
        trace=tuple(effort.trace),
        method=method,
        families_scored=problem.scores.families_scored,
        noted=table.notes,
    )


def search(
    problem: Problem,
    start: Parents,
    method: Method,
    effort: SearchLog,
    *,
    tabu: int = 0,
    restarts: int = 0,
    rounds: int = 20,
    rng: np.random.Generator,
    reached: float = -np.inf,
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
    return strong_search(problem, start, rounds if method == "best" else 0, rng, effort, reached)


def _require_complete(counts: ObservedCounts, names: Sequence[str]) -> None:
    holes = counts.table.select(names).n_missing
    if holes:
        raise TableError(f"the table has {holes} holes: complete rows were expected here")
