"""Expected counts: exact tables of any family under a network, whatever is hidden or missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.counts.evidence_posteriors import Posteriors, posteriors
from leverrier.counts.family import Family
from leverrier.counts.observation import Observation, observe
from leverrier.counts.observed_counts import MOST_CELLS, ObservedCounts
from leverrier.data.label_alignment import realign
from leverrier.data.table import Table, Variable
from leverrier.errors import NetworkError, TooLargeError
from leverrier.inference.exact.parameter_layout import c_strides
from leverrier.kernels.counts.soft_counts import soft_table, soft_tables
from leverrier.models.network import Network

LARGEST_JOINT = 1024
"""Groups of unobserved variables with up to this many joint states keep their whole joint posterior."""
CACHED_CELLS = 2**24


class ExpectedCounts:
    """How often each assignment of a family is expected to occur, given a network and a table with unobserved cells.

    Any family may be asked about, not only the network's. What a row leaves unobserved falls into groups that are
    independent given the row, so members in different groups take the product of their posteriors; members of one
    group take its joint posterior, or where that is too large a pass over its clique tree. All of that is exact. Only
    where a clique tree is too large as well are members taken as independent: see `approximate`.
    """

    def __init__(
        self,
        network: Network,
        table: Table,
        counts: ObservedCounts | None = None,
        weights: Mapping[str, Floats] | None = None,
        seen: Observation | None = None,
    ) -> None:
        """`counts` of the same table, or the whole observation of the network's graph, may be handed on. `weights`
        replace the tables posteriors are taken under: variational EM's exp E[ln θ], whose rows do not sum to one."""
        self.network = network
        self._under = network.tables if weights is None else weights
        if seen is None:
            seen = observe(network.graph, network.states, _fitting(network, table), counts, keep_weightless=True)
        self._seen = seen
        self._names = tuple(network.graph.nodes)
        self._number = {name: v for v, name in enumerate(self._names)}
        self._cards = [network.cardinality(name) for name in self._names]
        self._tables: dict[tuple[int, ...], Floats] = {}
        self._cells = 0
        self._instances: dict[int, tuple[NDArray[np.int32], Floats]] = {}

    @property
    def cardinalities(self) -> dict[str, int]:
        return dict(zip(self._names, self._cards, strict=True))

    @property
    def total(self) -> float:
        return self._seen.table.total

    @property
    def observation(self) -> Observation:
        return self._seen

    @property
    def approximate(self) -> bool:
        """Whether some rows leave so much unobserved that tables are of products of single posteriors there."""
        return self._seen.plan(prune=False, largest_joint=LARGEST_JOINT).approximate

    @cached_property
    def _posteriors(self) -> Posteriors:
        seen = self._seen
        theta = seen.layout.pack([self._under[node] for node in seen.open_nodes])
        return posteriors(seen.plan(prune=False, largest_joint=LARGEST_JOINT), theta, seen.table.n_rows)

    @cached_property
    def _lacking(self) -> NDArray[np.bool_]:
        """By variable; the place after the last, which stands for none, lacks nothing."""
        return np.array([*(name in self._seen.incomplete for name in self._names), False], dtype=np.bool_)

    @cached_property
    def _whole(self) -> NDArray[np.bool_]:
        """The others."""
        return ~self._lacking

    @cached_property
    def _holey(self) -> dict[int, bool]:
        """The variables that some row lacks; whether some row has them."""
        return {v: bool(self._columns[v] >= 0) for v in np.flatnonzero(self._lacking).tolist()}

    @cached_property
    def _alone(self) -> dict[int, NDArray[np.bool_]]:
        """By such a variable, a mask of it alone."""
        return {v: np.arange(len(self._states)) == v for v in self._holey}

    @cached_property
    def _columns(self) -> Integers:
        return np.append(self._seen.evidence.column_of, -1)

    @cached_property
    def _states(self) -> Integers:
        return np.array([*self._cards, 1], dtype=np.int64)

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
        cells = math.prod(shape, start=1.0)
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
            evidence.codes,
            evidence.column_of[members],
            p.slot_of[members],
            members,
            np.array(shape, dtype=np.int64),
            strides,
            self._weights,
            p.owner,
            p.group_of,
            p.groups,
            p.place,
            p.singles,
            p.cliques,
            p.clique_members,
            p.beliefs,
            p.trees,
            p.maps,
            int(cells),
            out,
        )
        return out.reshape(shape)

    def expand(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> tuple[Floats, Integers]:
        """Tables of the child with these parents and each wanted variable, packed: see counts/packed_tables.py.

        The place after the last variable is the family with no further parent.
        """
        family = (*parents, child)
        inside = [v for v in family if v in self._holey]
        sizes = np.where(wanted, math.prod([self._cards[v] for v in family]) * self._states, 0)
        seen = {} if inside else self._observed_parts(child, parents, wanted)
        for v, table in seen.items():
            sizes[v] = len(table)
        starts = np.zeros(len(wanted) + 1, dtype=np.int64)
        sizes.cumsum(out=starts[1:])
        counts = np.zeros(int(starts[-1]))
        for v, table in seen.items():
            counts[starts[v] : starts[v + 1]] = table
        left = wanted if inside else wanted & self._lacking
        for h, which in self._one_hidden(inside, wanted):
            owner, posteriors = self._of_hidden(h)
            above = np.array(parents, dtype=np.int64)
            soft_tables(
                self._seen.evidence.codes,
                self._columns,
                self._states,
                child,
                above,
                h,
                which,
                starts,
                self._weights,
                owner,
                posteriors,
                counts,
            )
            left = left & ~which
        for v in np.flatnonzero(left).tolist():
            names = tuple(self._names[p] for p in (*parents, *([v] if v < len(self._cards) else [])))
            counts[starts[v] : starts[v + 1]] = self._table(Family(self._names[child], names)).ravel()
        return counts, starts

    def _one_hidden(self, inside: list[int], wanted: NDArray[np.bool_]) -> list[tuple[int, NDArray[np.bool_]]]:
        """Where one member is hidden and all others are columns without holes: that member, and which of the wanted.

        `inside` are the members with holes besides the wanted one.
        """
        if not inside:
            return [(v, self._alone[v]) for v, seen in self._holey.items() if wanted[v] and not seen]
        if len(inside) == 1 and not self._holey[inside[0]]:
            return [(inside[0], wanted & self._whole)]
        return []

    def _observed_parts(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> dict[int, Floats]:
        """The packed tables of families that every row shows, by variable."""
        places = np.flatnonzero(wanted & self._whole).tolist()
        if not places:
            return {}
        column = self._seen.evidence.column_of
        where = {v: int(column[v]) if v < len(column) else len(self._seen.table.variables) for v in places}
        asked = np.zeros(len(self._seen.table.variables) + 1, dtype=np.bool_)
        asked[list(where.values())] = True
        counts, starts = self._seen.counts.expand(int(column[child]), [int(column[p]) for p in parents], asked)
        return {v: counts[starts[c] : starts[c + 1]].astype(np.float64) for v, c in where.items()}

    def _of_hidden(self, hidden: int) -> tuple[NDArray[np.int32], Floats]:
        """Each row's instance of a hidden variable numbered among its own, and their posteriors (kept)."""
        if hidden not in self._instances:
            owner, single = self._posteriors.of(hidden, self._cards[hidden])
            present, compact = np.unique(owner, return_inverse=True)
            self._instances[hidden] = (compact.astype(np.int32), np.ascontiguousarray(single[present]))
        return self._instances[hidden]


def _fitting(network: Network, table: Table) -> Table:
    """The network's columns of the table, in the network's states; columns it lacks stay absent."""
    wanted = [Variable(name, network.states[name]) for name in network.graph if name in table.variables]
    if all(table.states[each.name] == each.states for each in wanted):
        names = tuple(name for name in table.variables if name in network.graph)
        return table if names == table.variables else table.select(names)
    return realign(table, wanted)
