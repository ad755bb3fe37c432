"""Where something hidden may sit behind numbers and states: sets of columns that hang together in the rival's graph."""

from __future__ import annotations

from itertools import combinations

from leverrier.discovery.places.semi_clique import semi_cliques
from leverrier.learning.behind.standing import Parents

MOST_PLACES = 12
LEAST = 3


def moral_links(parents: Parents) -> dict[str, set[str]]:
    """By column its neighbours once the parents of each child are married."""
    near: dict[str, set[str]] = {name: set() for name in parents}
    for child, own in parents.items():
        for a, b in combinations((child, *own), 2):
            near[a].add(b)
            near[b].add(a)
    return near


def groups(near: dict[str, set[str]]) -> list[frozenset[str]]:
    """Columns that are linked, by whatever path."""
    left, found = set(near), []
    while left:
        group, front = set(), {min(left)}
        while front:
            group |= front
            front = {b for a in front for b in near[a]} - group
        left -= group
        found.append(frozenset(group))
    return found


def candidate_places(parents: Parents, barred: frozenset[str] = frozenset()) -> list[tuple[str, ...]]:
    """Semi-cliques of the moral graph and of the bare one, all linked columns, and each column with its neighbours."""
    near = moral_links(parents)
    bare: dict[str, set[str]] = {name: set(own) for name, own in parents.items()}
    for child, own in parents.items():
        for each in own:
            bare[each].add(child)
    found: dict[frozenset[str], None] = {}
    for each in (*groups(near), *semi_cliques(near), *semi_cliques(bare), *(frozenset({v}) | near[v] for v in near)):
        free = frozenset(each) - barred
        if len(free) >= LEAST:
            found.setdefault(free)
    order = list(parents)
    return [tuple(sorted(each, key=order.index)) for each in list(found)[:MOST_PLACES]]
