"""The source's loop as a way to look for hidden variables in sequences, judged on blocks that were held out.

The source compares its rounds on test data. Here the whole loop is run again without each fold, and what it found must
predict that fold better than the best network without memories.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences import read_sequences
from leverrier.data.slices import Sequences
from leverrier.discovery.memory import MemoryFindings, MemoryVariable, find_memories
from leverrier.discovery.plan import Plan, Progress, Stop
from leverrier.discovery.time import FOLDS, LEAST_SLICES, ended, fold_costs, profile
from leverrier.discovery.time_findings import HiddenChain, TimeFindings, Tried
from leverrier.errors import TableError
from leverrier.learning.score import Score
from leverrier.learning.slice_choice import Comparison, compare
from leverrier.learning.slice_design import make_blocks, make_folds

LAGS = 3
LAST = "with memories"
Floats = NDArray[np.float64]


def memories_in_time(
    sequences: Any,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | None = None,
    *,
    score: Score | None = None,
    max_parents: int = 4,
    most_memories: int = 6,
    evidence: bool = True,
    folds: int = FOLDS,
    stop: Stop | None = None,
) -> TimeFindings:
    """Arcs that skip slices become hidden memories [boyen1999 section 5.2]; without `evidence` they are not tested."""
    found = read_sequences(sequences)
    if found.n_slices < LEAST_SLICES:
        raise TableError(f"{found.n_slices} slices in all: at least {LEAST_SLICES} are needed to hold some out")
    lags = min(LAGS, int(found.lengths.max()) - 1)
    if lags < 2:
        raise TableError("no sequence has three slices: no arc can skip one, so there is nothing to remember")
    plan = Plan(max_parents=max_parents, seed=seed, progress=progress, stop=stop,
                deadline=np.inf if budget is None else time.monotonic() + budget)  # fmt: skip
    options: dict[str, Any] = {"lags": lags, "score": score, "max_parents": max_parents, "most_memories": most_memories,
                               "seed": seed}  # fmt: skip
    plan.tell("memories", 0.0)
    loop = find_memories(found, budget=plan.seconds_left(), **options)
    parts = make_folds(found, folds, seed)
    costs = _held_out(found, parts, plan, options) if evidence and loop.memories else None
    return _findings(found, loop, parts, costs, plan)


def _held_out(
    found: Sequences, parts: NDArray[np.int64], plan: Plan, options: Mapping[str, Any]
) -> dict[str, Floats] | None:
    """By round, the bits of each block when the loop was run without its fold; None if there was no time for all."""
    blocks = make_blocks(found, parts)
    edges = np.flatnonzero(np.diff(blocks, prepend=-1, append=blocks[-1] + 1))
    ranges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    names = np.unique(parts).tolist()
    costs: dict[str, Floats] = {}
    for number, fold in enumerate(names):
        if plan.spent:
            return None
        plan.tell("held-out blocks", number / len(names))
        out = [low for low, _ in ranges if parts[low] == fold]
        rest = found.stretches([pair for pair in ranges if parts[pair[0]] != fold])
        if rest.lengths.max() <= options["lags"]:
            return None
        loop = find_memories(rest, budget=plan.seconds_left(), **options)
        left = found.stretches([pair for pair in ranges if parts[pair[0]] == fold])
        which = np.repeat(blocks[out], left.lengths)
        last = loop.rounds[-1]
        for name, each in {**{r.name: r for r in loop.rounds[:2]}, LAST: last}.items():
            bits = each.network.surprise(left, each.inference)
            costs.setdefault(name, np.zeros(len(ranges)))
            costs[name] += np.bincount(which, bits, len(ranges))
    return costs


def _findings(
    found: Sequences, loop: MemoryFindings, parts: NDArray[np.int64], costs: dict[str, Floats] | None, plan: Plan
) -> TimeFindings:
    first, wide, last = loop.rounds[0], loop.rounds[1], loop.rounds[-1]
    observed, judged, folds = wide, Comparison(0.0, 0.0), ()
    rows = [Tried(each.name, each.bits, first.bits - each.bits, 0.0, first.name, False, bool(each.network.hidden))
            for each in loop.rounds]  # fmt: skip
    if costs is not None:
        observed = min((first, wide), key=lambda each: costs[each.name].sum())
        base = costs[observed.name]
        judged = compare(base, costs[LAST], found.n_slices)
        folds = fold_costs(found, parts, base, costs[LAST])
        rows = [_row(name, cost, base, observed.name, found) for name, cost in costs.items()]
    hidden = tuple(each for memory in loop.memories if (each := _memory(found, memory, loop)) is not None)
    clear = costs is not None and bool(hidden) and judged.clear()
    return TimeFindings(
        hidden=hidden, gain=judged.gain, z=judged.z, model=last.network, observed=observed.network,
        observed_name=observed.name, lags=max((arc.lag for arc in wide.arcs), default=first.network.order),
        memories=(), table=tuple(rows), order=found.variables, n_slices=found.n_slices, status=ended(plan),
        notes=found.notes, folds=folds, accepted=clear, tested=costs is not None, method="boyen1999",
        inference=last.inference, steps=loop.steps,
    )  # fmt: skip


def _row(name: str, cost: Floats, base: Floats, against: str, found: Sequences) -> Tried:
    judged = compare(base, cost, found.n_slices)
    return Tried(name, float(cost.sum()) / found.n_slices, judged.gain, judged.z, against, judged.clear(), name == LAST)


def _memory(found: Sequences, memory: MemoryVariable, loop: MemoryFindings) -> HiddenChain | None:
    """A memory as a hidden variable; None where it drives nothing any more."""
    network = loop.network
    drives = tuple(child for child in network.variables if child != memory.name
                   and any(parent == memory.name for parent, _ in network.parents(child)))  # fmt: skip
    if not drives:
        return None
    own = network.posterior(found, memory.name, loop.rounds[-1].inference)
    later = np.flatnonzero(found.position > 0)
    moves = own[later - 1].T @ own[later] + 1e-9
    seen = {name: profile(found, name, own) for name in drives if name in found.variables}
    return HiddenChain(memory.name, own.shape[1], drives, moves / moves.sum(axis=1, keepdims=True), own.mean(axis=0), 0,
                       own, seen, memory.of, memory.depth, tuple(map(str, network.states[memory.name])))  # fmt: skip
