"""Scores of families by bit set, kept once computed: all that a structure search ever asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.column_cells import CellCounts
from leverrier.counts.family import Statistics
from leverrier.counts.packed_tables import PackedTables, expand
from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.kernels.counts.cell_sums import score_cells
from leverrier.kernels.search.one_more_parent import score_packed, score_packed_real
from leverrier.learning.structure.known_scores import KnownScores, members
from leverrier.learning.structure.score import Score
from leverrier.learning.structure.score_increments import Rises

CELLS_AT_ONCE = 2**16
"""Tables of one batch together; beyond it a batch is counted in parts that stay in the cache."""

FEW = 8
"""Where fewer than one column in so many is asked for, they are counted one by one, not all together."""
SMALLEST_GAIN = 1e-7
"""Gains below this are rounding: taking them could go round in circles."""
MOST_SHARED = 20_000
"""Batches of scores kept for those that ask the same again: of sixty columns, 10 MB."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """The family's cells; by number of states of a further parent: may the table be this large; its prior counts; the
    penalty."""

    size: float
    allowed: NDArray[np.bool_]
    alphas: NDArray[np.float64]
    """[0]: a cell's prior counts, [1]: a row's."""
    penalties: NDArray[np.float64] | None
    places: list[NDArray[np.int64]] = field(default_factory=list)
    """Where the prior counts' rises are, once whole counts were scored."""


class FamilyScores:
    """Scores of (child | parents) with nodes as numbers and sets of nodes as the bits of an int.

    `expand(child, parents)` is the work horse: the scores with each other node added as one more parent, in
    one batch, −∞ where the table would have more than `max_cells` cells or where `candidates[node, child]` says that
    the node is no parent of the child's. Its last entry is the family itself.

    `observed` has scored families of the first nodes, which are complete columns: those are not scored again. Only
    families with one of the other nodes, which are hidden, are asked of `statistics`.
    """

    def __init__(
        self,
        statistics: Statistics,
        score: Score,
        max_cells: int,
        candidates: NDArray[np.bool_] | None = None,
        observed: KnownScores | None = None,
    ) -> None:
        self.statistics = statistics
        self.score = score
        self.names = tuple(statistics.cardinalities)
        self.states = np.array([*statistics.cardinalities.values(), 1], dtype=np.int64)
        self._kinds, self._kind = np.unique(self.states, return_inverse=True)  # numbers of states, and each node's
        self.n_nodes = len(self.names)
        self.max_cells = self.table_cells = max_cells
        self.candidates = candidates
        self.observed = observed
        self._whole = getattr(statistics, "complete", True)
        self._hidden = 0 if observed is None else (1 << self.n_nodes) - (1 << observed.n_nodes)
        self.families_scored = 0
        self._steady = False
        self._expanded: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._shared: dict[tuple[int, int], tuple[NDArray[np.float64], int]] = {}
        self._single: dict[tuple[int, int], float] = {}
        self._gaining: dict[tuple[int, int], list[tuple[float, int]]] = {}
        self._fits: dict[tuple[int, int], bool] = {}
        self._rises = Rises(statistics.total)
        self._plans: dict[tuple[int, float], _Plan] = {}
        self._asked: dict[tuple[int, int], tuple[NDArray[np.bool_], NDArray[np.float64] | None]] = {}
        self._nothing = np.full(self.n_nodes + 1, -np.inf)
        self._only_itself = np.zeros(self.n_nodes + 1, dtype=np.bool_)
        self._only_itself[-1] = True

    def renewed(self, statistics: Statistics) -> FamilyScores:
        """The same for other statistics of the same variables: what depends on table sizes alone is kept."""
        other = FamilyScores(statistics, self.score, self.table_cells, self.candidates, self.observed)
        other._plans, other._rises, other._asked = self._plans, self._rises, self._asked
        return other

    def afresh(self) -> FamilyScores:
        """The same scores without a memory of what was asked: a search may look at that, and must not depend on it.
        What was worked out is not worked out again, but counts as if it were."""
        other = FamilyScores(self.statistics, self.score, self.table_cells, self.candidates, self.observed)
        other._plans, other._rises, other._shared = self._plans, self._rises, self._shared
        other._gaining, other._fits = self._gaining, self._fits
        return other

    def steady(self) -> Self:
        """From now on each family alone is worked out by itself: read off what was asked before, its last bits would
        depend on that, and a resumed search would settle ties otherwise."""
        self._steady = True
        return self

    def by_name(self) -> FamilyScores:
        """The same for the columns in order of their names: what is drawn at random must not hang on another order."""
        return self if list(self.names) == sorted(self.names) else self._in_order_of_names

    @cached_property
    def _in_order_of_names(self) -> FamilyScores:
        return self.of_columns(sorted(self.names))

    def of_columns(self, names: Sequence[str]) -> FamilyScores:
        """The same for the table's columns in another order; where there is no table, as they are."""
        table = getattr(self.statistics, "table", None)
        if not isinstance(table, Table):
            return self
        return FamilyScores(counts_of(table.select(names)), self.score, self.table_cells)

    @cached_property
    def _cells(self) -> CellCounts | None:
        """Counts of all columns together, if whoever counts has them."""
        return getattr(self.statistics, "cells", None)

    def expand(self, child: int, parents: int) -> NDArray[np.float64]:
        """Scores with one more parent, by node; own position and present parents are −∞; [-1] is the family."""
        key = (child, parents)
        known = self._expanded.get(key)
        if known is None:
            known = self._expanded[key] = self._worked_out(key)
        return known

    def _worked_out(self, key: tuple[int, int]) -> NDArray[np.float64]:
        """By this one, or by one that it is the same as, afresh."""
        shared = self._shared.get(key)
        if shared is None:
            before = self.families_scored
            scores = self._compute(*key)
            if len(self._shared) < MOST_SHARED:
                self._shared[key] = scores, self.families_scored - before
            return scores
        self.families_scored += shared[1]
        return shared[0]

    def gaining(self, child: int, parents: int) -> list[tuple[float, int]]:
        """(Loss, node) of each further parent with which the child's score gains."""
        scores = self.expand(child, parents)
        known = self._gaining.get((child, parents))
        if known is None:
            losses = scores[-1] - scores[:-1]
            places = (losses < -SMALLEST_GAIN).nonzero()[0]
            known = list(zip(losses[places].tolist(), places.tolist(), strict=True))
            if (child, parents) in self._shared:
                self._gaining[child, parents] = known
        return known

    def family(self, child: int, parents: int) -> float:
        """One family's score."""
        key = (child, parents)
        known = self._single.get(key)
        if known is None:
            known = self._single[key] = self._one_family(child, parents)
        return known

    def _one_family(self, child: int, parents: int) -> float:
        if self.observed is not None and not (1 << child | parents) & self._hidden:
            return self.observed.family(child, parents)
        known = None if self._steady else self._lookup(child, parents)
        if known is not None:
            return known
        above = members(parents)
        return float(self._scores(child, above, self._plan(child, above), self._only_itself)[-1])

    def total(self, parents: Sequence[int]) -> float:
        """A whole graph's score, from each node's set of parents."""
        return sum(map(self.family, range(self.n_nodes), parents))

    def known_families(self) -> list[dict[int, float]]:
        """By child, the sets of parents scored so far that beat having none, with their scores."""
        known: list[dict[int, float]] = [{0: self.family(child, 0)} for child in range(self.n_nodes)]
        for (child, parents), scores in self._expanded.items():
            least = known[child][0]
            for p in np.flatnonzero(scores[:-1] > least).tolist():
                known[child][parents | 1 << p] = float(scores[p])
            if scores[-1] > least:
                known[child][parents] = float(scores[-1])
        return known

    def surplus(self, child: int, parents: int) -> float:  # noqa: ARG002
        """How much better than its table a family of complete columns is said: tables alone say none better."""
        return 0.0

    def fits(self, child: int, parents: int) -> bool:
        """Whether the family's table is within the cap on cells."""
        known = self._fits.get((child, parents))
        if known is None:
            cells = float(self.states[child])
            for p in members(parents):
                cells *= float(self.states[p])
            known = cells <= self.max_cells
            if len(self._fits) < MOST_SHARED:
                self._fits[child, parents] = known
        return known

    def _lookup(self, child: int, parents: int) -> float | None:
        """The score, if it was worked out together with others."""
        whole = self._expanded.get((child, parents))
        if whole is not None:
            return float(whole[-1])
        bits = parents
        while bits:
            low = bits & -bits
            whole = self._expanded.get((child, parents ^ low))
            if whole is not None:
                return float(whole[low.bit_length() - 1])
            bits ^= low
        return None

    def _compute(self, child: int, parents: int) -> NDArray[np.float64]:
        above = members(parents)
        plan = self._plan(child, above)
        if self.observed is None:
            return self._scores(child, above, plan, self._wanted(child, above, plan))
        asked = self._asked.get((child, parents))
        if asked is None:
            asked = self._asked[child, parents] = self._split(child, parents, self._wanted(child, above, plan))
        wanted, known = asked
        scores = self._scores(child, above, plan, wanted)
        return scores if known is None else np.maximum(scores, known)  # (one of the two is −∞)

    def _wanted(self, child: int, above: list[int], plan: _Plan) -> NDArray[np.bool_]:
        wanted = plan.allowed[self._kind]
        if self.candidates is not None:
            wanted[:-1] &= self.candidates[:, child]
        for v in (child, *above):
            wanted[v] = False
        wanted[-1] = True
        return wanted

    def _split(
        self, child: int, parents: int, wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
        """What is to be scored, and the scores that are known; both are the same for renewed statistics."""
        if self.observed is None or (1 << child | parents) & self._hidden:
            return wanted, None
        known = np.full(self.n_nodes + 1, -np.inf)
        old = self.observed.expand(child, parents)
        visible = np.flatnonzero(wanted[: self.observed.n_nodes])
        known[visible] = old[visible]
        known[-1] = old[-1]
        wanted[: self.observed.n_nodes] = wanted[-1] = False
        return wanted, known

    def _scores(self, child: int, above: list[int], plan: _Plan, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        out = self._nothing.copy()
        n_wanted = int(np.count_nonzero(wanted))
        self.families_scored += n_wanted
        cells = self._cells
        if cells is not None and n_wanted * FEW >= self.n_nodes and n_wanted > 1 and cells.fits(plan.size):
            self._score_cells(cells, child, above, plan, wanted, out)
        else:
            for part in _parts(plan.size * self.states.astype(np.float64), wanted):
                self._score_part(child, above, plan, part, out)
        if plan.penalties is not None:
            out -= plan.penalties[self._kind]
        return out

    def _score_cells(
        self,
        counts: CellCounts,
        child: int,
        above: list[int],
        plan: _Plan,
        wanted: NDArray[np.bool_],
        out: NDArray[np.float64],
    ) -> None:
        """All tables in one pass over the rows (see counts/column_cells.py)."""
        columns = 1 << child
        for p in above:
            columns |= 1 << p
        cells = counts.cells(columns)
        places = self._places(plan)
        score_cells(
            cells.counts,
            cells.sizes,
            cells.examples,
            counts.codes,
            counts.states,
            np.array(above, dtype=np.int64),
            counts.first,
            wanted,
            self._kind,
            plan.alphas,
            places,
            self._rises.table,
            out,
        )

    def _places(self, plan: _Plan) -> NDArray[np.int64]:
        if not plan.places:
            plan.places.append(np.array([self._rises.places(alphas) for alphas in plan.alphas]))
        return plan.places[0]

    def _score_part(
        self, child: int, above: list[int], plan: _Plan, wanted: NDArray[np.bool_], out: NDArray[np.float64]
    ) -> None:
        packed = expand(self.statistics, self.names, child, above, wanted)
        r = int(self.states[child])
        if packed.counts.dtype == np.int64:
            places = self._places(plan)
            score_packed(
                packed.counts, packed.starts, wanted, r, self._kind, plan.alphas, places, self._rises.table, out
            )
        else:
            score_packed_real(packed.counts, packed.starts, wanted, r, self._kind, plan.alphas, out)
        if not self._whole:
            _scale_to_all_rows(packed, wanted, r, self.statistics.total, out)

    def _plan(self, child: int, above: list[int]) -> _Plan:
        """What depends only on the sizes of the family's tables; few sizes occur, so they are kept."""
        r = int(self.states[child])
        rows = 1.0
        for p in above:
            rows *= float(self.states[p])
        plan = self._plans.get((r, rows))
        if plan is None:
            plan = self._plans[r, rows] = self._make_plan(r, rows)
        return plan

    def _make_plan(self, r: int, rows: float) -> _Plan:
        q = [rows * kind for kind in self._kinds.tolist()]
        alphas = np.array([self.score.alphas(r, each) for each in q]).T
        penalties = [self.score.penalty(r, each, self.statistics.total) for each in q]
        allowed = np.array([each * r <= self.table_cells for each in q])
        return _Plan(r * rows, allowed, np.ascontiguousarray(alphas), np.array(penalties) if any(penalties) else None)


def _scale_to_all_rows(
    packed: PackedTables, wanted: NDArray[np.bool_], r: int, total: float, out: NDArray[np.float64]
) -> None:
    """Available cases: a larger family is seen in fewer rows, and would win by that alone. So scores are per row seen,
    times all rows; a family that no row shows whole is worse than knowing nothing of its r states."""
    for v in np.flatnonzero(wanted).tolist():
        seen = float(packed.counts[packed.starts[v] : packed.starts[v + 1]].sum())
        out[v] = out[v] * total / seen if seen > 0 else -total * (1 + np.log(r))


def _parts(sizes: NDArray[np.float64], wanted: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Split what is wanted so that each part's tables stay below CELLS_AT_ONCE cells."""
    places = np.flatnonzero(wanted)
    if sizes[places].sum() <= CELLS_AT_ONCE:
        yield wanted
        return
    which = np.floor_divide(np.cumsum(sizes[places]) - sizes[places], CELLS_AT_ONCE)
    for number in np.unique(which):
        part = np.zeros_like(wanted)
        part[places[which == number]] = True
        yield part
