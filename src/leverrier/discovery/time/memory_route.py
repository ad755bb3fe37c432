"""The source's loop as a way to look for hidden variables in sequences, judged on blocks that were held out.

The source compares its rounds on test data. Here the whole loop is run again without each fold, and what it found must
predict that fold better than the best network without memories.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.time.find_in_time import FOLDS, LEAST_SLICES, fold_costs
from leverrier.discovery.time.find_memories import How, memory_rounds
from leverrier.discovery.time.hidden_chain import HiddenChain, column_profile
from leverrier.discovery.time.memory_findings import MemoryFindings, MemoryVariable
from leverrier.discovery.time.time_codecs import costs_of, if_there_is_time
from leverrier.discovery.time.time_findings import TimeFindings, Tried
from leverrier.discovery.verdict import Reason
from leverrier.errors import TableError
from leverrier.learning.slices.slice_choice import Comparison, compare
from leverrier.learning.slices.slice_design import make_blocks, make_folds
from leverrier.learning.structure.score import BDeu, Score
from leverrier.models.dynamic.dynamic_query import posterior
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

LAGS = 3
LAST = "with memories"


def memories_in_time(
    sequences: Any,
    seed: int = 0,
    *,
    score: Score | None = None,
    max_parents: int = 4,
    most_memories: int = 6,
    evidence: bool = True,
    folds: int = FOLDS,
    run: Run = UNBOUNDED,
) -> TimeFindings:
    """Arcs that skip slices become hidden memories [boyen1999 section 5.2]; without `evidence` they are not tested."""
    found = read_sequences(sequences)
    if found.n_slices < LEAST_SLICES:
        raise TableError(f"{found.n_slices} slices in all: at least {LEAST_SLICES} are needed to hold some out")
    lags = min(LAGS, int(found.lengths.max()) - 1)
    if lags < 2:
        raise TableError("no sequence has three slices: no arc can skip one, so there is nothing to remember")
    how = How(lags, score or BDeu(), max_parents, most_memories=most_memories, seed=seed)
    run.tell(Event.MEMORIES, 0.0)
    loop = memory_rounds(found, how, run.untold())
    own = _posteriors(found, loop, run)
    parts = make_folds(found, folds, seed)
    costs = _held_out(found, parts, run, how) if evidence and loop.memories else None
    untested = (
        None if costs is not None else Reason.TIME if run.spent else Reason.FEW_ROWS if evidence else Reason.NOT_ASKED
    )
    return _findings(found, loop, own, parts, costs, run, untested)


def _posteriors(found: Sequences, loop: MemoryFindings, run: Run) -> dict[str, Floats]:
    """Of the memories that drive something: one by one, or in haste all in one pass."""
    names = [memory.name for memory in loop.memories if _driven(memory, loop)]
    network, how = loop.network, loop.rounds[-1].inference
    keys = {name: ("posterior", len(loop.rounds), name) for name in names}
    if run.spent and not all(run.is_made(key) for key in keys.values()):
        return posterior(network, found, names, how)
    return {name: run.made(key, partial(network.posterior, found, name, how)) for name, key in keys.items()}


def _held_out(found: Sequences, parts: NDArray[np.int64], run: Run, how: How) -> dict[str, Floats] | None:
    """By round, the bits of each block when the loop was run without its fold; None if there was no time for all."""
    blocks = make_blocks(found, parts)
    edges = np.flatnonzero(np.diff(blocks, prepend=-1, append=blocks[-1] + 1))
    ranges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    names = np.unique(parts).tolist()
    costs: dict[str, Floats] = {}
    for number, fold in enumerate(names):
        run.tell(Event.HELD_OUT_BLOCKS, number / len(names))
        rest = found.stretches([pair for pair in ranges if parts[pair[0]] != fold])
        if rest.lengths.max() <= how.lags:
            return None
        left = found.stretches([pair for pair in ranges if parts[pair[0]] == fold])
        which = np.repeat(blocks[[low for low, _ in ranges if parts[low] == fold]], left.lengths)
        part = if_there_is_time(
            run, ("fold", fold), partial(_fold, rest, left, which, len(ranges), run, how, fold), dict, _read_costs
        )
        if part is None:
            return None
        for name, bits in part.items():
            costs.setdefault(name, np.zeros(len(ranges)))
            costs[name] += bits
    return costs


def _fold(
    rest: Sequences, left: Sequences, which: NDArray[np.int64], blocks: int, run: Run, how: How, fold: int
) -> dict[str, Floats] | None:
    """By round of the loop on the rest, the bits of each block that was left out; None if the loop was cut short."""
    loop = memory_rounds(rest, how, run.untold(), f"without {fold}")
    if run.spent:
        return None
    rounds = {**{each.name: each for each in loop.rounds[:2]}, LAST: loop.rounds[-1]}
    surprises = {name: each.network.surprise(left, each.inference) for name, each in rounds.items()}
    return {name: costs_of(np.bincount(which, bits, blocks)) for name, bits in surprises.items()}


def _read_costs(piece: Any) -> dict[str, Floats]:
    return {name: costs_of(bits) for name, bits in piece.items()}


def _findings(
    found: Sequences,
    loop: MemoryFindings,
    own: dict[str, Floats],
    parts: NDArray[np.int64],
    costs: dict[str, Floats] | None,
    run: Run,
    untested: Reason | None,
) -> TimeFindings:
    first, wide, last = loop.rounds[0], loop.rounds[1], loop.rounds[-1]
    observed, judged, folds = wide, Comparison(0.0, 0.0), ()
    rows = [
        Tried(each.name, each.bits, first.bits - each.bits, 0.0, first.name, False, bool(each.network.hidden))
        for each in loop.rounds
    ]
    if costs is not None:
        observed = min((first, wide), key=lambda each: costs[each.name].sum())
        base = costs[observed.name]
        judged = compare(base, costs[LAST], found.n_slices)
        folds = fold_costs(found, parts, base, costs[LAST])
        rows = [_row(name, cost, base, observed.name, found) for name, cost in costs.items()]
    hidden = tuple(_memory(found, memory, loop, own[memory.name]) for memory in loop.memories if memory.name in own)
    clear = costs is not None and bool(hidden) and judged.clear()
    return TimeFindings(
        hidden=hidden,
        gain=judged.gain,
        z=judged.z,
        model=last.network,
        observed=observed.network,
        observed_name=observed.name,
        lags=max((arc.lag for arc in wide.arcs), default=first.network.order),
        memories=(),
        table=tuple(rows),
        order=found.variables,
        n_slices=found.n_slices,
        status=run.status,
        notes=found.notes,
        folds=folds,
        accepted=clear,
        tested=costs is not None,
        untested=untested,
        method="boyen1999",
        inference=last.inference,
        steps=loop.steps,
    )


def _row(name: str, cost: Floats, base: Floats, against: str, found: Sequences) -> Tried:
    judged = compare(base, cost, found.n_slices)
    return Tried(name, float(cost.sum()) / found.n_slices, judged.gain, judged.z, against, judged.clear(), name == LAST)


def _driven(memory: MemoryVariable, loop: MemoryFindings) -> tuple[str, ...]:
    """What a memory still drives."""
    network = loop.network
    return tuple(
        child
        for child in network.variables
        if child != memory.name and any(parent == memory.name for parent, _ in network.parents(child))
    )


def _memory(found: Sequences, memory: MemoryVariable, loop: MemoryFindings, own: Floats) -> HiddenChain:
    """A memory as a hidden variable."""
    drives, labels = _driven(memory, loop), tuple(map(str, loop.network.states[memory.name]))
    later = np.flatnonzero(found.position > 0)
    moves = own[later - 1].T @ own[later] + 1e-9
    seen = {name: column_profile(found, name, own) for name in drives if name in found.variables}
    return HiddenChain(
        memory.name,
        own.shape[1],
        drives,
        moves / moves.sum(axis=1, keepdims=True),
        own.mean(axis=0),
        0,
        own,
        seen,
        memory.of,
        memory.depth,
        labels,
    )
