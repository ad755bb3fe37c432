"""Hidden variables as memories [boyen1999 section 5]: an arc that skips slices asks for something that remembers.

A k-slice network is learnt; each arc X(t−d) → Y(t+1) that is not Markovian creates d hidden variables that remember X;
they begin as noisy copies, biased to persist; EM fits them; a search on expected counts may rewire them; and again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences import lagged, read_sequences
from leverrier.data.slices import Sequences
from leverrier.errors import OptionError
from leverrier.learning.dynamic import into_the_past, learn_dynamic
from leverrier.learning.dynamic_fit import fit_dynamic
from leverrier.learning.family_scores import FamilyScores, members
from leverrier.learning.maximise import table_from_counts
from leverrier.learning.score import BDeu, Score, family_score
from leverrier.learning.search.constraints import as_parents, make_problem
from leverrier.learning.search.hill_climb import hill_climb
from leverrier.learning.search.problem import Effort
from leverrier.model.cpd import CPD, TableCPD
from leverrier.model.dynamic import DynamicNetwork
from leverrier.model.dynamic_query import Inference
from leverrier.model.graph import Graph
from leverrier.statistics.factored import FactoredCounts
from leverrier.statistics.family import Family, Statistics
from leverrier.statistics.observed import ObservedCounts
from leverrier.status import Status

Node = tuple[str, int]
Parents = dict[str, tuple[Node, ...]]
Progress = Callable[[str, float], None]
NOISE = 0.1
"""How often a new memory is not the copy it should be…"""
PERSISTENT = 0.8
"""…and how much of that is staying as it was."""
EXACT_STATES = 64
"""Up to this many joint hidden states inference is exact, beyond it Boyen–Koller."""
STAGES = 3
"""Rounds of search on the same counts, each with its own potential parents. [boyen1999 section 5.1]"""
CANDIDATES = 8
MOST_CELLS = 2**14
MOST_NAMED = 6


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


@dataclass(frozen=True, eq=False)
class MemoryFindings:
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
        """What each round ended with, and the arcs that asked for memories."""
        said = [f"{each.name}: {each.bits:.3f} bits a slice on the sequences learnt from." for each in self.rounds]
        arcs = self.rounds[1].arcs[:MOST_NAMED]
        if arcs:
            named = (f"{arc.parent} {arc.lag} slices back → {arc.child} ({arc.gain:.1f} nats)" for arc in arcs)
            said.append(f"Arcs that skip slices: {'; '.join(named)}.")
        return tuple(said)

    @property
    def words(self) -> str:
        lines = list(self.steps)
        for memory in self.memories:
            children = [c for (p, _), c in self.network.edges if p == memory.name and c != memory.name]
            drives = ", ".join(dict.fromkeys(children)) or "nothing any more"
            lines.append(f"{memory.name} remembers {memory.of} of {memory.depth + 1} slices back and drives {drives}.")
        if not self.memories:
            lines.append("No arc skips a slice: nothing needs to be remembered.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.words


def find_memories(
    sequences: Any,
    lags: int = 3,
    score: Score | None = None,
    max_parents: int = 4,
    *,
    iterations: int = 2,
    most_memories: int = 6,
    max_iterations: int = 30,
    budget: float | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> MemoryFindings:
    """The source's loop; `iterations` of it after the observed k-slice network (its table 2's iteration 0).

    most_memories    how many memory variables may be made in one iteration, those of the greatest gain first
    max_iterations   of EM in each
    """
    if lags < 2:
        raise OptionError(f"lags={lags}: at least 2 are needed, for an arc to skip a slice")
    data = read_sequences(sequences)
    deadline = np.inf if budget is None else time.monotonic() + budget
    rule = score or BDeu()
    plain = learn_dynamic(data, 1, rule, max_parents, seed=seed).network
    wide = learn_dynamic(data, lags, rule, max_parents, seed=seed).network
    counts: Statistics = ObservedCounts(data.windows(lags))
    parents = {name: wide.parents(name) for name in wide.variables}
    arcs = skipping_arcs(counts, parents, rule)
    rounds = [
        Round("fully observed", plain, plain.bits_per_slice(data), ()),
        Round("iteration 0", wide, wide.bits_per_slice(data), arcs),
    ]
    memories: tuple[MemoryVariable, ...] = ()
    network, status = plain, Status.CONVERGED
    for number in range(1, iterations + 1):
        if not arcs and number == 1:
            break
        if time.monotonic() > deadline:
            status = Status.BUDGET
            break
        new = memories_for(arcs, memories, most_memories)
        memories = (*memories, *new)
        begin = with_memories(network, parents, memories, new, counts, rule, data)
        how: Inference = "exact" if _joint_states(begin) <= EXACT_STATES else "boyen-koller"
        fit = fit_dynamic(begin, data, how, prior=0.5, max_iterations=max_iterations, tolerance=1.0)
        network = fit.network
        expected = FactoredCounts(network, data, lags, how)
        parents = search_stages(expected, network, lags, rule, max_parents, deadline)
        arcs = skipping_arcs(expected, parents, rule)
        rounds.append(Round(f"iteration {number}", network, network.bits_per_slice(data, how), arcs, how))
        counts = expected
        if progress is not None:
            progress(rounds[-1].name, number / iterations)
    return MemoryFindings(tuple(rounds), memories, status)


def skipping_arcs(counts: Statistics, parents: Parents, score: Score) -> tuple[NonMarkovArc, ...]:
    """The arcs of more than one lag, with what the score loses without each, greatest first."""
    found = []
    for child, above in parents.items():
        far = [node for node in above if node[1] > 1]
        if not far:
            continue
        whole = _family_score(counts, child, above, score)
        for node in far:
            rest = tuple(other for other in above if other != node)
            found.append(NonMarkovArc(*node, child, whole - _family_score(counts, child, rest, score)))
    return tuple(sorted(found, key=lambda arc: -arc.gain))


def memories_for(
    arcs: Sequence[NonMarkovArc], known: Sequence[MemoryVariable], most: int
) -> tuple[MemoryVariable, ...]:
    """X(t−d) → Y(t+1) asks for memories of depth 1 to d; the arcs of the greatest gain are served first."""
    have = {(memory.of, memory.depth) for memory in known}
    new: list[MemoryVariable] = []
    for arc in arcs:
        asked = [(arc.parent, depth) for depth in range(1, arc.lag) if (arc.parent, depth) not in have]
        if len(new) + len(asked) > most:
            continue
        new += [MemoryVariable(f"{of} memory {depth}", of, depth) for of, depth in asked]
        have |= set(asked)
    return tuple(new)


def with_memories(
    network: DynamicNetwork,
    parents: Parents,
    memories: Sequence[MemoryVariable],
    new: Sequence[MemoryVariable],
    counts: Statistics,
    score: Score,
    data: Sequences,
) -> DynamicNetwork:
    """The two-slice network in which arcs that skip slices come from memories instead.

    Columns' tables are those of the counts (the memory in the place of what it remembers), old memories' too; new ones
    are noisy copies that lean to staying as they were.
    """
    name_of = {(memory.of, memory.depth): memory.name for memory in memories}
    states = {**network.states, **{memory.name: tuple(network.states[memory.of]) for memory in new}}
    then: dict[str, CPD] = {}
    for child, above in parents.items():
        kept = tuple(node for node in above if node[1] <= 1 or (node[0], node[1] - 1) in name_of)
        table = counts.tables([Family(child, tuple(lagged(*node) for node in kept))])[0]
        cell = score.alphas(table.shape[-1], table.size // table.shape[-1])[0]
        named = tuple(node if node[1] <= 1 else (name_of[node[0], node[1] - 1], 1) for node in kept)
        then[child] = _unique(TableCPD(named, table_from_counts(table, max(cell, 1e-3))))
    first = dict(network.stages[0])
    for memory in new:
        source = memory.of if memory.depth == 1 else name_of[memory.of, memory.depth - 1]
        then[memory.name] = TableCPD(((source, 1), (memory.name, 1)), noisy_copy(len(states[memory.name])))
        first[memory.name] = TableCPD((), _share(data, memory.of, len(states[memory.name])))
    return DynamicNetwork(states, (first,), then, (*network.hidden, *(memory.name for memory in new)))


def noisy_copy(size: int) -> NDArray[np.float64]:
    """P(memory | what it copies, itself before): mostly the copy, else mostly as it was. [boyen1999 section 5.2]"""
    same = np.eye(size)
    stay = PERSISTENT * same[None, :, :] + (1.0 - PERSISTENT) / size
    return (1.0 - NOISE) * same[:, None, :] + NOISE * stay


def search_stages(
    counts: Statistics, network: DynamicNetwork, lags: int, score: Score, max_parents: int, deadline: float
) -> Parents:
    """Search on expected counts in stages, each among potential parents chosen anew. [boyen1999 section 5.1]"""
    scores = FamilyScores(counts, score, MOST_CELLS)
    names = network.variables
    graph = _graph(scores.names, {name: network.parents(name) for name in names})
    forbidden = into_the_past(names, lags)
    for _ in range(STAGES):
        problem = make_problem(scores, graph, (), forbidden, None, max_parents, None)
        allowed = problem.allowed & _potential(scores, graph, problem.allowed)
        scores.candidates = allowed
        effort = Effort(deadline)
        found = hill_climb(replace(problem, allowed=allowed), as_parents(scores.names, graph, ()), effort)
        better = Graph.from_parents(
            {name: [scores.names[p] for p in members(found[v])] for v, name in enumerate(scores.names)}
        )
        if better == graph:
            break
        graph, scores = better, FamilyScores(counts, score, MOST_CELLS)
    back = {lagged(name, lag): (name, lag) for lag in range(lags + 1) for name in names}
    return {name: tuple(back[parent] for parent in graph.parents(name)) for name in names}


def _potential(scores: FamilyScores, graph: Graph, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each child its present parents and those that would gain most beside them."""
    place = {name: v for v, name in enumerate(scores.names)}
    kept = np.zeros_like(allowed)
    for child, name in enumerate(scores.names):
        if not allowed[:, child].any():
            continue
        above = [place[parent] for parent in graph.parents(name)]
        scores.candidates = allowed
        gains = scores.expand(child, sum(1 << p for p in above))[:-1]
        kept[np.argsort(-gains, kind="stable")[:CANDIDATES], child] = True
        kept[above, child] = True
    return kept


def _graph(names: Sequence[str], parents: Mapping[str, Sequence[Node]]) -> Graph:
    return Graph.from_parents({name: [lagged(*node) for node in parents.get(name, ())] for name in names})


def _unique(cpd: TableCPD) -> TableCPD:
    """A memory may take the place of two parents that are the same now: the first is kept, the other's mean taken."""
    while len(set(cpd.parents)) < len(cpd.parents):
        twice = next(i for i, node in enumerate(cpd.parents) if node in cpd.parents[:i])
        values = cpd.values.mean(axis=twice)
        cpd = TableCPD(cpd.parents[:twice] + cpd.parents[twice + 1 :], values)
    return cpd


def _family_score(counts: Statistics, child: str, above: Sequence[Node], score: Score) -> float:
    table = counts.tables([Family(child, tuple(lagged(*node) for node in above))])[0]
    return family_score(score, table, counts.total)


def _share(data: Sequences, name: str, size: int) -> NDArray[np.float64]:
    if name not in data.variables:
        return np.full(size, 1.0 / size)
    cells = data.table.column(name)
    counts = np.bincount(cells[cells != data.table.missing], minlength=size) + 1.0
    return counts / counts.sum()


def _joint_states(network: DynamicNetwork) -> int:
    return math.prod(network.cardinality(name) for name in network.hidden)
