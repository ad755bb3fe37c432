"""Structural EM with one hidden variable among complete columns, as one compiled climb.

It takes the steps of `climb_structure` (learning/structure/structural_em.py), which serves everything else: several
hidden variables, holes, scores without a prior, regions of more than sixty nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.data.table import Table
from leverrier.kernels.climbs.hidden_climb import (
    EVALUATIONS,
    LACKING,
    MISSING,
    PAUSED,
    ROUND,
    SEEN,
    TOO_FEW_NUMBERS,
    WORTH,
    arc_number,
    climb_hidden,
)
from leverrier.kernels.climbs.hidden_fit import ASSIGNED, NOTHING
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.known_table import KnownTable
from leverrier.learning.structure.score import BDe, BDeu, Score
from leverrier.run.run import UNBOUNDED, Run

MOST_NODES = 60
MOST_ROWS = 2**17
"""Beyond it an evaluation takes long enough to be shared out and watched."""
MOST_SLOTS = 2**24
MOST_EVALUATIONS = 10_000
LATE = 1.0
"""As in structural_em.py."""
MOST_MISSING = 256
FIRST_NUMBERS = 4096
MOST_SEEN = 1024


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows of complete columns, as the kernels want them."""

    codes: NDArray[np.int32]
    weights: Floats
    states: Integers

    @classmethod
    def of(cls, table: Table) -> Rows | None:
        """None where a row lacks something, or there are too many."""
        codes, weights = table.codes, table.weights
        most = int(table.cardinalities.max(initial=1))
        if (
            not 0 < table.n_rows <= MOST_ROWS
            or table.n_rows * most > MOST_SLOTS
            or codes.max(initial=0) == table.missing
        ):
            return None
        if weights is None:
            weights = np.ones(table.n_rows)
        if not (weights > 0).all():
            return None
        return cls(np.ascontiguousarray(codes, dtype=np.int32), weights.astype(np.float64), table.cardinalities)


@dataclass(frozen=True, eq=False)
class Region:
    """A graph of columns and, last, the hidden variable, with what may change. Sets of nodes are bits."""

    parents: list[int]
    allowed: list[int]
    required: list[int]
    outside: list[int]
    """By node, what stays above it by arcs that are not among these nodes."""
    inside: int
    """The nodes whose families count."""
    places: list[int]
    """The nodes' places in the whole table; that after the last is the hidden variable's."""
    order: list[int]
    """Parents before children: random starts are drawn in this order."""


@dataclass(eq=False)
class Seen:
    """Graphs that climbs came through, as numbers; numbers[0] is of the arcs that the next climb leaves alone."""

    numbers: Integers = field(default_factory=lambda: np.zeros(MOST_SEEN, dtype=np.int64))
    count: int = 0


@dataclass(frozen=True, eq=False)
class OneHidden:
    """Where a climb ended."""

    parents: list[int]
    score: float
    """Cheeseman–Stutz, of the families that count."""
    posterior: Floats
    """(rows, states)"""
    rounds: int
    evaluations: int


def prior_of(score: Score) -> Floats | None:
    """The score's prior as the kernels want it; None if it has another."""
    if isinstance(score, BDe):
        return np.array([score.pseudo_count, 0.0])
    if isinstance(score, BDeu):
        return np.array([0.0, score.prior_strength])
    return None


def climb_one_hidden(
    rows: Rows,
    region: Region,
    states: int,
    known: KnownTable,
    prior: Floats,
    *,
    assigned: Integers | None = None,
    starts: int = 1,
    max_rounds: int = 30,
    max_parents: int | None = None,
    max_cells: int,
    tolerance: float,
    evaluations: int = MOST_EVALUATIONS,
    seen: Seen | None = None,
    run: Run = UNBOUNDED,
    seed: int = 0,
) -> OneHidden:
    """Fit, then search and refit until the bound no longer rises, or time has run out.

    The first start is from the states assigned to the rows, if they are given; the others are random.
    """
    n = len(region.parents)
    stride = -(-states // 4) * 4
    posterior = np.zeros((len(rows.weights), stride))
    if assigned is not None:
        posterior[np.arange(len(assigned)), assigned] = 1.0
    parents = np.array(region.parents, dtype=np.int64)
    all_states = np.append(rows.states, states)
    room = max(max_cells // states + 1, _largest(region.parents, all_states.tolist())) * stride
    sizes = np.array(
        [states, stride, n if max_parents is None else max_parents, max_cells, max_rounds, room, evaluations]
    )
    state, missing = np.zeros(7), np.zeros((MOST_MISSING, 3), dtype=np.int64)
    new, gains, waiting = np.zeros(n, dtype=np.int64), np.empty((2, n, n)), np.zeros(2, dtype=np.int64)
    graphs = np.zeros(0, dtype=np.int64) if seen is None else seen.numbers
    state[SEEN] = 0 if seen is None else seen.count
    numbers = FIRST_NUMBERS
    allowed, required = np.array(region.allowed, dtype=np.int64), np.array(region.required, dtype=np.int64)
    outside = np.array(region.outside, dtype=np.int64)
    order, places = np.array(region.order, dtype=np.int64), np.array(region.places, dtype=np.int64)
    while True:
        status = climb_hidden(
            rows.codes,
            rows.weights,
            all_states,
            parents,
            allowed,
            required,
            outside,
            region.inside,
            order,
            places,
            known.slots,
            known.keys,
            known.scores,
            known.full,
            prior,
            sizes,
            np.array([tolerance, LATE]),
            exponentials(seed, starts, numbers),
            starts,
            NOTHING if assigned is None else ASSIGNED,
            posterior,
            graphs,
            state,
            missing,
            new,
            gains,
            waiting,
        )
        if status == MISSING:
            for child, bits, whole in missing[: int(state[LACKING])].tolist():
                known.ask(region.places[child], sum(1 << region.places[p] for p in members(bits)), bool(whole))
        elif status == TOO_FEW_NUMBERS:
            numbers *= 4
        elif status != PAUSED:
            break
        if run.late or run.stopped:
            sizes[4] = 0  # what was reached is the answer
    if seen is not None:
        seen.count = int(state[SEEN])
    return OneHidden(
        parents.tolist(), float(state[WORTH]), posterior[:, :states], int(state[ROUND]), int(state[EVALUATIONS])
    )


def _largest(parents: list[int], states: list[int]) -> int:
    """Cells of the largest family without the hidden variable's states, which come last."""
    h = len(parents) - 1
    most = 1
    for v, bits in enumerate(parents):
        cells = states[v] if v < h else 1
        for p in members(bits & ~(1 << h)):
            cells *= states[p]
        most = max(most, cells)
    return most


@lru_cache(maxsize=64)
def exponentials(seed: int, starts: int, count: int) -> Floats:
    """The numbers that `fit` draws for so many starts, by start."""
    return np.stack([rng.standard_exponential(count) for rng in np.random.default_rng(seed).spawn(starts)])


def arcs_number(arcs: list[tuple[int, int]]) -> int:
    """Of these arcs, by their nodes' places: see kernels/climbs/hidden_climb.py."""
    total = 0
    for parent, child in arcs:
        total ^= _arc_number(parent, child)
    return total


@lru_cache(maxsize=2**16)
def _arc_number(parent: int, child: int) -> int:
    return int(arc_number(parent, child))
