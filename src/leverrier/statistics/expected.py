"""Expected counts: exact tables of any family under a network, whatever is hidden or missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.alignment import realign
from leverrier.data.table import Table, Variable
from leverrier.errors import NetworkError, TooLargeError
from leverrier.inference.layout import c_strides
from leverrier.kernels.soft_counts import soft_histogram, soft_table
from leverrier.model.network import Network
from leverrier.statistics.family import Family
from leverrier.statistics.observation import Observation, observe
from leverrier.statistics.observed import MOST_CELLS, ObservedCounts
from leverrier.statistics.posteriors import Posteriors, posteriors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LARGEST_JOINT = 1024
"""Groups of unobserved variables with up to this many joint states keep their whole joint posterior."""
CACHED_CELLS = 2**24


class ExpectedCounts:
    """How often each assignment of a family is expected to occur, given a network and a table with unobserved cells.

    Any family may be asked about, not only the network's. What a row leaves unobserved falls into groups that are
    independent given the row, so members in different groups take the product of their posteriors; members of one
    group take its joint posterior, or where that is too large a pass over its clique tree. All of it is exact.
    """

    approximate = False
    """No table is an approximation; other sources of statistics may have to say otherwise."""

    def __init__(
        self,
        network: Network,
        table: Table,
        counts: ObservedCounts | None = None,
        weights: Mapping[str, Floats] | None = None,
    ) -> None:
        """`counts` of the same table may be handed on. `weights` replace the tables posteriors are taken under:
        variational EM's exp E[ln θ], whose rows do not sum to one."""
        self.network = network
        self._under = network.tables if weights is None else weights
        self._seen = observe(network.graph, network.states, _fitting(network, table), counts, keep_weightless=True)
        self._names = tuple(network.graph.nodes)
        self._number = {name: v for v, name in enumerate(self._names)}
        self._cards = [network.cardinality(name) for name in self._names]
        self._tables: dict[tuple[int, ...], Floats] = {}
        self._cells = 0

    @property
    def cardinalities(self) -> dict[str, int]:
        return dict(zip(self._names, self._cards, strict=True))

    @property
    def total(self) -> float:
        return self._seen.table.total

    @property
    def observation(self) -> Observation:
        return self._seen

    @cached_property
    def _posteriors(self) -> Posteriors:
        seen = self._seen
        theta = seen.layout.pack([self._under[node] for node in seen.open_nodes])
        return posteriors(seen.plan(prune=False, largest_joint=LARGEST_JOINT), theta, seen.table.n_rows)

    @cached_property
    def _lacking(self) -> NDArray[np.bool_]:
        return np.array([name in self._seen.incomplete for name in self._names], dtype=np.bool_)

    @cached_property
    def _weights(self) -> Floats:
        weights = self._seen.table.weights
        return np.zeros(0) if weights is None else weights

    def tables(self, families: Sequence[Family]) -> list[Floats]:
        """One array a family: axes are the parents in order, then the child."""
        return [self._table(family) for family in families]

    def posterior(self, variable: str) -> Floats:
        """(rows, states): P(variable | the rest of the row); a one where the row shows it."""
        v = self._known(variable)
        states = self._cards[v]
        table = np.zeros((self._seen.table.n_rows, states))
        observed = np.ones(len(table), dtype=np.bool_)
        if self._lacking[v]:
            owner, single = self._posteriors.of(v, states)
            observed = owner < 0
            table[~observed] = single[owner[~observed]]
        if observed.any():
            table[observed, self._seen.evidence.column(v)[observed]] = 1.0
        return table

    def _known(self, name: str) -> int:
        if name not in self._number:
            raise NetworkError(f"no variable {name!r} in the network: counts can be asked of its variables only")
        return self._number[name]

    def _table(self, family: Family) -> Floats:
        scope = [self._known(name) for name in (*family.parents, family.child)]
        if not self._lacking[scope].any():
            return self._seen.counts.tables([family])[0]
        key = tuple(sorted(scope))
        joint = self._tables.get(key)
        if joint is None:
            joint = self._counted(key, family)
            self._keep(key, joint)
        return np.ascontiguousarray(joint.transpose([key.index(v) for v in scope]))

    def _keep(self, key: tuple[int, ...], joint: Floats) -> None:
        if self._cells + joint.size > CACHED_CELLS:
            self._tables.clear()
            self._cells = 0
        self._tables[key] = joint
        self._cells += joint.size

    def _counted(self, scope: tuple[int, ...], family: Family) -> Floats:
        """The table over these variables, ascending."""
        shape = tuple(self._cards[v] for v in scope)
        cells = float(np.prod(shape, dtype=np.float64))
        if cells > MOST_CELLS:
            raise TooLargeError(
                f"the table of {family.child!r} given {len(family.parents)} parents would need {cells:.3g} cells "
                f"(at most {MOST_CELLS:,}): use fewer parents"
            )
        p, evidence = self._posteriors, self._seen.evidence
        members = np.array(scope, dtype=np.int64)
        out = np.zeros(int(cells))
        strides = np.array(c_strides(shape), dtype=np.int64)
        soft_table(
            evidence.codes, evidence.column_of[members], p.slot_of[members], members, np.array(shape, dtype=np.int64),
            strides, self._weights, p.owner, p.group_of, p.groups, p.place, p.singles, p.cliques, p.clique_members,
            p.beliefs, p.trees, p.maps, int(cells), out,
        )  # fmt: skip
        return out.reshape(shape)

    def expand(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> tuple[Floats, Integers]:
        """Tables of the child with these parents and each wanted variable, packed: see statistics/packed.py.

        The place after the last variable is the family with no further parent.
        """
        places = [int(v) for v in np.flatnonzero(wanted)]
        sizes = np.zeros(len(wanted), dtype=np.int64)
        base = int(np.prod([self._cards[v] for v in (*parents, child)], dtype=np.int64))
        for v in places:
            sizes[v] = base * (self._cards[v] if v < len(self._cards) else 1)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        counts = np.zeros(int(starts[-1]))
        soft = self._one_hidden(child, parents)
        for v in places:
            part = counts[starts[v] : starts[v + 1]]
            if soft is not None and (v == len(self._cards) or not self._lacking[v]):
                soft(v, part)
                continue
            names = tuple(self._names[p] for p in (*parents, *([v] if v < len(self._cards) else [])))
            part[:] = self._table(Family(self._names[child], names)).ravel()
        return counts, starts

    def _one_hidden(self, child: int, parents: Sequence[int]) -> Any:
        """A quicker way for a family with one hidden variable and all else observed: write v's table into a part."""
        scope = (*parents, child)
        hidden = [v for v in scope if self._lacking[v]]
        if len(hidden) != 1 or self._seen.evidence.column_of[hidden[0]] >= 0:
            return None
        h = hidden[0]
        evidence = self._seen.evidence
        owner, single = self._posteriors.of(h, self._cards[h])
        outer = np.zeros(evidence.n_rows, dtype=np.int64)
        after = 1  # how many configurations of parents one state of the hidden parent spans
        for p in parents:
            outer *= self._cards[p]
            after *= self._cards[p]
            if p == h:
                after = 1
            else:
                outer += evidence.column(p)
        states = self._cards[child]
        nothing = np.zeros(evidence.n_rows, dtype=evidence.codes.dtype)
        nothing.flags.writeable = False
        inner = nothing if child == h else evidence.column(child)

        def write(v: int, part: Floats) -> None:
            width = 1 if v == len(self._cards) else self._cards[v]
            column = nothing if v == len(self._cards) else evidence.column(v)
            stride = 1 if child == h else after * width * states
            soft_histogram(
                outer, inner, column, width, states, self._weights, owner, single.ravel(), len(single[0]), stride, part
            )

        return write


def _fitting(network: Network, table: Table) -> Table:
    """The network's columns of the table, in the network's states; columns it lacks stay absent."""
    wanted = [Variable(name, network.states[name]) for name in network.graph if name in table.variables]
    if all(table.states[each.name] == each.states for each in wanted):
        names = tuple(name for name in table.variables if name in network.graph)
        return table if names == table.variables else table.select(names)
    return realign(table, wanted)
