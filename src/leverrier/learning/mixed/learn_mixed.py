"""From a table with numbers to a mixed network: the space, the search, the value."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.learning.mixed.mixed_scores import EachAlone, MixedScores
from leverrier.learning.mixed.mixed_search import MOST_PARENTS, SHAKES, Limits, Parents, mixed_search
from leverrier.learning.mixed.mixed_space import FEW_VALUES, Space, make_space
from leverrier.learning.noted import ColumnAside, FittedWhereSeen
from leverrier.models.graph import Edge, Graph
from leverrier.models.mixed_network import MixedNetwork
from leverrier.run.one_thread import one_thread
from leverrier.status import Status
from leverrier.words_of import Note

MANY_ROWS = 10_000
"""Of more rows than three times this, a sample is searched for the graph; its families are fitted to all rows."""
MOST_CASES = 2_000_000
"""Rows that weights may stand for."""


@dataclass(frozen=True, eq=False)
class MixedResult:
    """What a search over mixed columns found."""

    network: MixedNetwork
    score: float
    """Log-likelihood in nats of the normal scores, less what parameters and choices cost."""
    status: Status
    families_scored: int
    scores: MixedScores
    parents: Parents
    noted: tuple[Note | str, ...] = ()


def has_numbers(table: Table) -> bool:
    """Whether some column is a number with many values: such a table is no matter of states alone."""
    return bool(table.measured)


def space_of(table: Table, seed: int = 0) -> Space:
    """The table's columns in the space. Whole numbers of few values are ordered states."""
    table = expanded(table)
    numbers, states = {}, {}
    for column, codes in zip(table.columns, table.codes, strict=True):
        few = column.whole and column.cardinality <= FEW_VALUES
        if column.name in table.numbers and not few:
            numbers[column.name] = table.numbers[column.name]
            continue
        if column.binned:
            raise TableError(f"column {column.name!r} was cut into bins and its numbers are gone: read the table again")
        cells = np.where(codes == table.missing, -1, codes.astype(np.int64))
        states[column.name] = (cells, column.states, column.ordered)
    return make_space(numbers, states, table.variables, seed)


def expanded(table: Table) -> Table:
    """Rows as often as their weights say."""
    if table.weights is None:
        return table
    times = np.rint(table.weights).astype(np.int64)
    if not np.allclose(times, table.weights) or times.sum() > MOST_CASES:
        raise TableError(
            "weights that are not whole numbers (or stand for too many rows) cannot be used with numbers as numbers: "
            'leave them out, or use families="tables"'
        )
    return table.take(np.repeat(np.arange(table.n_rows), times))


@one_thread
def learn_mixed(
    table: Table,
    *,
    seed: int = 0,
    starts: Iterable[Graph] = (),
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    max_parents: int | None = None,
    shakes: int = SHAKES,
    budget: float | None = None,
    arc_price: float | None = 0.0,
) -> MixedResult:
    """The best mixed network that the search finds; numbers stay numbers.

    `arc_price` is what every arc pays beyond its parameters; None: half the log of the number of columns, which keeps
    arcs that chance offers among many columns out of a network that is to be read (a rival is rather too rich).

    Where cells are missing, each family is fitted to the rows that show all of it, and counts by what it gains there
    over the child alone.
    """
    space = space_of(table, seed)
    if len(space) == 0:
        raise TableError("no column of the table varies: there is nothing to learn")
    deadline = np.inf if budget is None else time.monotonic() + budget
    names = space.names
    place = {name: at for at, name in enumerate(names)}
    limits = Limits(
        _arcs(place, required),
        _arcs(place, forbidden),
        MOST_PARENTS if max_parents is None else max_parents,
        stop=lambda: time.monotonic() > deadline,
    )
    begins = [_numbered(place, start) for start in starts]
    price = 0.5 * float(np.log(len(space))) if arc_price is None else arc_price
    scores, parents = _search(space, begins, limits, shakes, seed, price)
    aside: tuple[Note, ...] = tuple(ColumnAside(name, why) for name, why in space.aside.items())
    holes = sum(int(column.holes.sum()) for column in space.columns)
    if holes:
        aside += (FittedWhereSeen(holes),)
    status = Status.BUDGET if limits.stop() else Status.CONVERGED
    network = mixed_network(scores, parents)
    total = scores.total(parents)
    kept = tuple(note for note in table.notes if " is cut into " not in note)  # here nothing is cut
    return MixedResult(network, total, status, scores.families_scored, scores, parents, (*kept, *aside))


def _search(
    space: Space, starts: Sequence[Parents], limits: Limits, shakes: int, seed: int, price: float
) -> tuple[MixedScores, Parents]:
    """All rows at once, or the graph from a sample."""
    if space.n_rows <= 3 * MANY_ROWS:
        scores = MixedScores(space, price)
        return scores, mixed_search(scores, starts=starts, limits=limits, shakes=shakes, seed=seed)
    rows = np.sort(np.random.default_rng(seed).choice(space.n_rows, MANY_ROWS, replace=False))
    first = mixed_search(MixedScores(space.take(rows), price), starts=starts, limits=limits, shakes=shakes, seed=seed)
    return EachAlone(space, price), first


def mixed_network(scores: MixedScores, parents: Sequence[Iterable[int]]) -> MixedNetwork:
    """The graph with the families that were fitted, as a value in the user's units."""
    space = scores.space
    names = space.names
    graph = Graph.from_parents({names[c]: [names[p] for p in sorted(above)] for c, above in enumerate(parents)})
    columns = dict(zip(names, space.columns, strict=True))
    return MixedNetwork(
        graph,
        {name: column.labels for name, column in columns.items() if column.margin is None},
        {name: column.margin for name, column in columns.items() if column.margin is not None},
        {names[c]: scores.fitted(c, above).family for c, above in enumerate(parents)},
        frozenset(name for name, column in columns.items() if column.margin is None and column.ordered),
    )


def _arcs(place: dict[str, int], edges: Iterable[Edge]) -> frozenset[tuple[int, int]]:
    found = set()
    for parent, child in edges:
        for name in (parent, child):
            if name not in place:
                raise OptionError(f"the arc {parent!r} → {child!r} names {name!r}, which is no column that varies")
        found.add((place[parent], place[child]))
    return frozenset(found)


def _numbered(place: dict[str, int], graph: Graph) -> Parents:
    """A start graph by column numbers; nodes that are no columns here are left out."""
    above = {name: [p for p in graph.parents(name) if p in place] if name in graph.nodes else [] for name in place}
    return tuple(frozenset(place[p] for p in above[name]) for name in place)
