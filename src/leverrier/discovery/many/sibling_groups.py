"""Groups of columns that may have one hidden parent, from the information that pairs share: the first pass over a wide
table.

Siblings share more with each other than with anybody else. A weak column shares little with all, so what a pair shares
is measured by the most that either shares with anyone: then a column is nearest its own siblings, however weak it is
and however strong its cousins are. Every branch of the tree of averages is a group that is worth a try; which of them
are real is for scores to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtri

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.discovery.evidence.residual import pair_information

SMALLEST, LARGEST = 3, 20
"""Columns of a group; of larger ones the parts are tried."""
FAR = 0.98
"""Branches whose parts share less than a fiftieth of what they share elsewhere are no groups."""
CHANCE = 1e-3
"""Pairs that chance makes as dependent in fewer of so many are possible arcs."""
NEAREST = 8
"""So many partners of a column, those it shares most with, are possible parents in any case."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """What every two columns of a table share."""

    names: tuple[str, ...]
    nats: Floats
    """(columns, columns): rows × mutual information, 0 on the diagonal."""
    freedom: Floats
    total: float

    @classmethod
    def of(cls, table: Table) -> Pairs:
        shared = pair_information(table.codes, table.missing, table.cardinalities, table.weights)
        np.fill_diagonal(shared, 0.0)
        less = (table.cardinalities - 1).astype(np.float64)
        return cls(table.variables, shared * table.total, np.maximum(np.outer(less, less), 1.0), table.total)

    @cached_property
    def worth(self) -> Floats:
        """Nats beyond what an arc's parameters cost (BIC); 0 where it does not pay."""
        cost = 0.5 * self.freedom * np.log(max(self.total, 2.0))
        return np.maximum(self.nats - cost, 0.0)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """(columns, columns): which pairs may have an arc, where there are too many columns to ask for all."""
        chosen = 2 * self.nats > chdtri(self.freedom, np.full_like(self.freedom, CHANCE))
        nearest = np.argsort(-self.nats, axis=1, kind="stable")[:, :NEAREST]
        chosen[np.arange(len(nearest))[:, None], nearest] = True
        chosen |= chosen.T
        np.fill_diagonal(chosen, False)
        return chosen

    def parts(self) -> list[list[str]]:
        """Columns that hang together through pairs that depend on each other, without those that depend on none."""
        count, part = connected_components(csr_array(self.worth > 0), directed=False)
        members: list[list[str]] = [[] for _ in range(count)]
        for name, which in zip(self.names, part.tolist(), strict=True):
            members[which].append(name)
        return [each for each in members if len(each) > 1]


@dataclass(frozen=True)
class Branch:
    """Columns that share more with each other than with others, and the two branches that they are made of."""

    columns: frozenset[str]
    parts: tuple[frozenset[str], frozenset[str]]


def sibling_groups(pairs: Pairs, among: Sequence[str] | None = None) -> list[Branch]:
    """Branches of the tree of columns by what they share, the closest first; `among` these columns alone."""
    wanted = set(pairs.names if among is None else among)
    places = np.array([v for v, name in enumerate(pairs.names) if name in wanted], dtype=np.int64)
    if len(places) < SMALLEST:
        return []
    worth = pairs.worth[np.ix_(places, places)]
    most = worth.max(axis=1)
    linked = most > 0
    if linked.sum() < SMALLEST:
        return []
    places, worth, most = places[linked], worth[np.ix_(linked, linked)], most[linked]
    from scipy.cluster.hierarchy import linkage  # (late: it loads for a tenth of a second)

    above = np.triu_indices(len(places), 1)
    apart = 1.0 - (worth / np.sqrt(np.outer(most, most)))[above]
    branches = [frozenset({pairs.names[v]}) for v in places]
    found: list[Branch] = []
    for first, second, height, _ in linkage(apart, "average"):
        parts = branches[int(first)], branches[int(second)]
        branch = parts[0] | parts[1]
        branches.append(branch)
        if SMALLEST <= len(branch) <= LARGEST and height < FAR:
            found.append(Branch(branch, parts))
    return found
