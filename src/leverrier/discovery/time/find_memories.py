"""Hidden variables as memories [boyen1999 section 5]: an arc that skips slices asks for something that remembers.

A k-slice network is learnt; each arc X(t−d) → Y(t+1) that is not Markovian creates d hidden variables that remember X;
they begin as noisy copies, biased to persist; EM fits them; a search on expected counts may rewire them; and again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.factored_counts import FactoredCounts
from leverrier.counts.family import Family, Statistics
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.sequences.read_sequences import lagged, read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.time.memory_findings import (
    Ended,
    MemoryFindings,
    MemoryVariable,
    NonMarkovArc,
    Round,
    read_round,
    write_round,
)
from leverrier.discovery.time.memory_search import Node, Parents, search_stages
from leverrier.discovery.time.time_codecs import if_there_is_time, read_dynamic_network, write_dynamic_network
from leverrier.errors import OptionError
from leverrier.learning.chains.fit_dynamic import fit_dynamic
from leverrier.learning.em.maximise import table_from_counts
from leverrier.learning.slices.learn_dynamic import learn_dynamic
from leverrier.learning.structure.score import BDeu, Score, family_score
from leverrier.models.dynamic.cpd import CPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference
from leverrier.run.event import Event, Progress
from leverrier.run.run import LEAST_SECONDS, Run
from leverrier.status import Status

NOISE = 0.1
"""How often a new memory is not the copy it should be…"""
PERSISTENT = 0.8
"""…and how much of that is staying as it was."""
EXACT_STATES = 64
"""Up to this many joint hidden states inference is exact, beyond it Boyen–Koller."""


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
    progress: Progress | bool | None = None,
    seed: int = 0,
) -> MemoryFindings:
    """The source's loop; `iterations` of it after the observed k-slice network (its table 2's iteration 0).

    most_memories    how many memory variables may be made in one iteration, those of the greatest gain first
    max_iterations   of EM in each
    """
    how = How(lags, score or BDeu(), max_parents, iterations, most_memories, max_iterations, seed)
    return memory_rounds(read_sequences(sequences), how, Run.of(budget, progress=progress))


@dataclass(frozen=True)
class How:
    """The options of the loop: see `find_memories`."""

    lags: int
    score: Score
    max_parents: int = 4
    iterations: int = 2
    most_memories: int = 6
    max_iterations: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        if self.lags < 2:
            raise OptionError(f"lags={self.lags}: at least 2 are needed, for an arc to skip a slice")


def memory_rounds(data: Sequences, how: How, run: Run, part: str = "all") -> MemoryFindings:
    """The loop on these sequences; `part` names them in a checkpoint. Without time, the rounds that were done."""
    counts: Statistics = ObservedCounts(data.windows(how.lags))
    plain = _round(run, part, data, lambda: _learnt("fully observed", data, 1, how, counts))
    if plain is None:  # (time ran out before anything)
        network = learn_dynamic(data, 1, how.score, how.max_parents, seed=how.seed, budget=LEAST_SECONDS).network
        plain = _observed("fully observed", network, data, ()), {}
    wide = _round(run, part, data, lambda: _learnt("iteration 0", data, how.lags, how, counts), 0)
    found, parents = wide or (replace(plain[0], name="iteration 0"), {})
    rounds, network = [plain[0], found], plain[0].network
    memories: tuple[MemoryVariable, ...] = ()
    for number in range(1, how.iterations + 1):
        arcs = rounds[-1].arcs
        if not arcs and number == 1:
            break
        new = memories_for(arcs, memories, how.most_memories)
        known = (*memories, *new)
        begin = partial(with_memories, network, parents, known, new, counts, how.score, data)
        done = _iteration(begin, data, how, run, part, number)
        if done is None:
            return MemoryFindings(tuple(rounds), memories, Status.BUDGET)
        (found, parents), counts = done
        network, memories = found.network, known
        rounds.append(found)
        run.tell(Event.MEMORY_ROUND, number / how.iterations, found.name)
    return MemoryFindings(tuple(rounds), memories, Status.CONVERGED)


def _round(run: Run, part: str, data: Sequences, compute: Callable[[], Ended], number: int = -1) -> Ended | None:
    """Kept or worked out; None if there is no time."""
    return if_there_is_time(
        run,
        ("round", part, number),
        compute,
        partial(write_round, known=data.states),
        partial(read_round, known=data.states),
    )


def _learnt(name: str, data: Sequences, lags: int, how: How, counts: Statistics) -> Ended:
    """A network of columns alone, and the arcs of it that skip slices."""
    network = learn_dynamic(data, lags, how.score, how.max_parents, seed=how.seed).network
    parents = {child: network.parents(child) for child in network.variables}
    arcs = skipping_arcs(counts, parents, how.score) if lags > 1 else ()
    return _observed(name, network, data, arcs), parents


def _observed(name: str, network: DynamicNetwork, data: Sequences, arcs: tuple[NonMarkovArc, ...]) -> Round:
    return Round(name, network, network.bits_per_slice(data), arcs)


def _iteration(
    begin: Callable[[], DynamicNetwork], data: Sequences, how: How, run: Run, part: str, number: int
) -> tuple[Ended, Statistics] | None:
    """EM from the new memories, then a search on its expected counts; None if time ran out before that."""

    def fitted() -> DynamicNetwork:
        first = begin()
        inference = _inference(first)
        return fit_dynamic(first, data, inference, prior=0.5, max_iterations=how.max_iterations, tolerance=1.0).network

    network = if_there_is_time(
        run,
        ("em", part, number),
        fitted,
        partial(write_dynamic_network, known=data.states),
        partial(read_dynamic_network, known=data.states),
    )
    if network is None:
        return None
    inference = _inference(network)
    expected = FactoredCounts(network, data, how.lags, inference)

    def ended(parents: Parents) -> Ended:
        arcs = skipping_arcs(expected, parents, how.score)
        return Round(f"iteration {number}", network, network.bits_per_slice(data, inference), arcs, inference), parents

    def searched() -> Ended:
        return ended(search_stages(expected, network, how.lags, how.score, how.max_parents, run))

    own = {name: network.parents(name) for name in network.variables}
    return _round(run, part, data, searched, number) or ended(own), expected


def _inference(network: DynamicNetwork) -> Inference:
    return "exact" if _joint_states(network) <= EXACT_STATES else "boyen-koller"


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
