"""Where a hidden variable might sit: sets of columns, and graphs with the new variable put in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from leverrier.discovery.places.semi_clique import semi_cliques
from leverrier.models.graph import Graph

SMALLEST, LARGEST = 3, 9
WHOLE = 30
"""Up to so many columns, one variable behind all of them is a candidate too."""


@dataclass(frozen=True)
class Candidate:
    """Columns that one hidden variable might drive, and what in the graph suggested it."""

    members: frozenset[str]
    signature: str
    whole: bool = False
    """Whether these are all columns: then no arcs among them are kept."""


class Suggested(StrEnum):
    """Why a hidden variable is looked for behind some columns; the value is the words."""

    SEMI_CLIQUE = "semi-clique"
    MORAL = "semi-clique of the moral graph"
    NEIGHBOURS = "a column with its neighbours"
    CHILDREN = "a column with its children"
    PARENTS = "a column with its parents"
    ALL = "all columns"
    DEPENDENT = "columns that depend on each other, and no column explains it"
    SHARED = "columns that share most with each other"
    SAMPLE = "found in a sample of the rows"


@dataclass(frozen=True)
class Placement:
    """A graph with the hidden variable put in, and how that was done."""

    graph: Graph
    start: str


def candidates(graph: Graph, extra: Iterable[Candidate] = ()) -> list[Candidate]:
    """Semi-cliques of the graph and of its moral graph, nodes with their neighbours, nodes with their children."""
    found: dict[frozenset[str], str] = {}
    suggestions = [
        *((members, Suggested.SEMI_CLIQUE) for members in semi_cliques(graph)),
        *((members, Suggested.MORAL) for members in semi_cliques(graph.moral())),
        *((graph.neighbours(v) | {v}, Suggested.NEIGHBOURS) for v in graph),
        *((frozenset(graph.children(v)) | {v}, Suggested.CHILDREN) for v in graph),
        *((frozenset(graph.parents(v)) | {v}, Suggested.PARENTS) for v in graph),
        *((one.members, one.signature) for one in extra),
    ]
    for members, signature in suggestions:
        if SMALLEST <= len(members) <= LARGEST:
            found.setdefault(members, signature)
    chosen = [Candidate(members, signature) for members, signature in found.items()]
    if SMALLEST <= len(graph.nodes) <= WHOLE and frozenset(graph.nodes) not in found:
        chosen.append(Candidate(frozenset(graph.nodes), Suggested.ALL, whole=True))
    return chosen


def put_in(graph: Graph, members: Iterable[str], name: str, hub: str | None = None) -> Placement:
    """The new variable as a root above its members; arcs among members go, but for those of the hub.

    Outside parents stay on their children: whether they act through the hidden variable is for the search to say.
    """
    inside = set(members)
    parents = dict(graph.parent_map)
    for child in inside:
        kept = [p for p in graph.parents(child) if p not in inside or hub in (p, child)]
        parents[child] = (*kept, name)
    start = "no arcs among its children" if hub is None else f"arcs of {hub} kept"
    return Placement(Graph.from_parents({**parents, name: ()}), start)


def put_in_elidan2000(graph: Graph, members: Iterable[str], name: str) -> Placement:
    """The source's construction [elidan2000 section 3]: every arc into a member is replaced by one from the new
    variable, and the members' former parents become its parents unless that makes a cycle."""
    inside = set(members)
    former = sorted({p for child in inside for p in graph.parents(child)} - inside)
    parents: dict[str, tuple[str, ...]] = {**graph.parent_map, **dict.fromkeys(inside, (name,)), name: ()}
    below = _descendants(Graph.from_parents(parents), name)
    parents[name] = tuple(p for p in former if p not in below)
    return Placement(Graph.from_parents(parents), "elidan2000")


def _descendants(graph: Graph, node: str) -> set[str]:
    found: set[str] = set()
    waiting = list(graph.children(node))
    while waiting:
        child = waiting.pop()
        if child not in found:
            found.add(child)
            waiting += graph.children(child)
    return found
