"""Constraints by name, as the matrices a search obeys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import OptionError
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.problem import Parents, Problem
from leverrier.models.graph import Edge, Graph


def make_problem(
    scores: FamilyScores,
    start: Graph,
    required: Iterable[Edge],
    forbidden: Iterable[Edge],
    region: Iterable[str] | None,
    max_parents: int | None,
    max_candidates: int | None,
) -> Problem:
    """Constraints by name as matrices; a region is a set of required and forbidden arcs outside it."""
    n = scores.n_nodes
    place = {name: position for position, name in enumerate(scores.names)}
    must = np.zeros((n, n), dtype=np.bool_)
    may = ~np.eye(n, dtype=np.bool_)
    for p, c in required:
        must[_place(place, p), _place(place, c)] = True
    for p, c in forbidden:
        may[_place(place, p), _place(place, c)] = False
    if region is not None:
        inside = np.zeros(n, dtype=np.bool_)
        inside[[_place(place, name) for name in region]] = True
        fixed = ~(inside[:, None] & inside[None, :])
        present = np.zeros((n, n), dtype=np.bool_)
        for p, c in start.edges:
            present[_place(place, p), _place(place, c)] = True
        must |= fixed & present
        may &= ~fixed | present
    if (must & ~may).any():
        p, c = np.argwhere(must & ~may)[0]
        raise OptionError(f"the arc {scores.names[p]!r} → {scores.names[c]!r} is both required and forbidden")
    may &= ~must.T  # what must point one way cannot point the other
    single = scores.states[:-1] == 1
    may[single] = may[:, single] = False  # a constant column says nothing, and its arcs would never be dropped
    may |= must
    if max_candidates is not None:
        may &= _potential_parents(scores, max_candidates) | must
    return Problem(scores, may, must, n if max_parents is None else max_parents)


def as_parents(names: Sequence[str], graph: Graph, required: Iterable[Edge]) -> Parents:
    """The start graph with the required arcs added, as bit sets by node."""
    place = {name: position for position, name in enumerate(names)}
    parents = [0] * len(names)
    for p, c in dict.fromkeys((*graph.edges, *required)):
        parents[_place(place, c)] |= 1 << _place(place, p)
    Graph.from_parents({name: [names[p] for p in members(parents[v])] for v, name in enumerate(names)})
    return parents


def _potential_parents(scores: FamilyScores, most: int) -> NDArray[np.bool_]:
    """For each child the `most` columns that gain most as its only parent."""
    n = scores.n_nodes
    kept = np.zeros((n, n), dtype=np.bool_)
    for child in range(n):
        gains = scores.expand(child, 0)[:-1]
        kept[np.argsort(-gains, kind="stable")[:most], child] = True
    return kept


def _place(place: Mapping[str, int], name: str) -> int:
    if name not in place:
        some = ", ".join(list(place)[:10]) + " …" * (len(place) > 10)
        raise OptionError(f"no column {name!r}; the columns are {some}")
    return place[name]
