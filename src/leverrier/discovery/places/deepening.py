"""A hidden variable in its place, improved at length: more states, more starts, centred again on its neighbourhood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from leverrier.discovery.findings import Attempt
from leverrier.discovery.network_codecs import read_graph, read_network, write_graph, write_network
from leverrier.discovery.places.candidate import Candidate
from leverrier.discovery.places.region import Ground, Tried, try_region
from leverrier.discovery.plan import WORTH, Plan
from leverrier.models.graph import Graph
from leverrier.run.checkpoint import marked
from leverrier.run.codecs import Key
from leverrier.run.run import Run

STATES_TRIED = (2, 3, 4)
LEAST_NEIGHBOURS = 3
"""With two, a hidden variable is only a table of lower rank."""
TOLERANCE = 0.01
"""Nats that EM may leave when the best candidates are finished."""
ROUNDS = 30
"""Of structural EM, in one climb."""


@dataclass(frozen=True, eq=False)
class Found:
    """A hidden variable in place: the whole graph with it, and what it gains over the graph without."""

    name: str
    tried: Tried
    sizes: Mapping[str, int]
    gain: float
    candidate: Candidate
    start: str
    bare: Tried | None = None
    """The same with tables alone, where its families were said by other kinds afterwards: see dressing.py."""

    @property
    def undressed(self) -> Found:
        """As it was before."""
        if self.bare is None:
            return self
        sizes = {name: self.bare.network.cardinality(name) for name in self.sizes}
        gain = self.gain + self.bare.score - self.tried.score
        return replace(self, tried=self.bare, sizes=sizes, gain=gain, bare=None)


@dataclass(frozen=True, eq=False)
class Screened:
    """A graph, and by the members of each candidate what it gained there at first."""

    graph: Graph
    gains: Mapping[frozenset[str], float]

    def hopeless(self, candidate: Candidate, graph: Graph) -> bool:
        """Whether it lost clearly on the earlier graph and nothing near it has changed: it would lose again."""
        lost = self.gains.get(candidate.members, 0.0) < -WORTH
        near = candidate.members | {p for v in candidate.members for p in graph.parents(v)}
        same = all(v in self.graph and self.graph.parents(v) == graph.parents(v) for v in near)
        return lost and same


@dataclass(frozen=True, eq=False)
class Screening:
    """One graph in which the next hidden variable is looked for. `sizes` are the hidden variables already in it."""

    ground: Ground
    plan: Plan
    run: Run
    graph: Graph
    score: float
    sizes: Mapping[str, int]
    name: str
    before: Screened | None = None
    """The screening of the graph before the last hidden variable was put in."""
    only: tuple[Candidate, ...] | None = None
    """The candidates, if they are known beforehand."""
    by_tables: tuple[Candidate, int] | None = None
    """Where a search with tables on both sides puts the variable, and with how many states: see dressing.py."""
    attempts: list[Attempt] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    """How many candidates were left when the time ran out; empty if none were."""

    @cached_property
    def place(self) -> str:
        """What tells this screening's pieces of work from another's."""
        return marked(self.graph.parent_map, self.name, tuple(self.sizes.items()))


def found_once(screening: Screening, kind: str, one: Found, improve: Callable[[Screening, Found], Found]) -> Found:
    """A hidden variable improved, or as it was improved before; as it was if time has run out."""
    screening.ground.forget()
    return screening.run.once(
        improvement(screening, kind, one),
        lambda: improve(screening, one),
        lambda found: write_tried(screening, found.tried),
        lambda piece: replaced(screening, one, read_tried(screening, piece)),
        lambda: one,
    )


def improvement(screening: Screening, kind: str, one: Found) -> Key:
    """What tells one improvement of a hidden variable from another."""
    return (kind, screening.place, one.tried.graph.parent_map, tuple(one.sizes.items()), one.tried.score)


def write_tried(screening: Screening, tried: Tried) -> dict[str, Any]:
    network = write_network(tried.network, screening.ground.table.states)
    return {"graph": write_graph(tried.graph), "score": tried.score, "network": network, "columns": tried.columns}


def read_tried(screening: Screening, piece: dict[str, Any]) -> Tried:
    network = read_network(piece["network"], screening.ground.table.states)
    return Tried(read_graph(piece["graph"]), float(piece["score"]), network, tuple(piece["columns"]))


def deepen(screening: Screening, one: Found) -> Found:
    """More states, more starts, and the region centred again on the variable's new neighbourhood until that stops."""
    plan = screening.plan
    counts = STATES_TRIED if plan.cardinality == "auto" else (plan.cardinality,)
    if plan.method == "fixed":
        runs = [centred(screening, one.tried.graph, with_states(one, k), rounds=0) for k in counts]
        return replaced(screening, one, max([one.tried, *runs], key=lambda tried: tried.score))
    best = one.tried
    for states in counts:
        for start in dict.fromkeys((one.tried.graph, best.graph)):
            if screening.run.spent:
                break
            best = climbed(screening, start, with_states(one, states), best) or best
    return replaced(screening, one, best)


def renewed(screening: Screening, one: Found) -> Found:
    """Climbed again from merged states alone, then from other random ones: the start that looks best before any arc is
    changed, which is the one that goes on, need not end best."""
    plan, best = screening.plan, one.tried
    for number in range(plan.renewed):
        if screening.run.spent:
            break
        screening.ground.forget()
        starts = replace(plan, seed=plan.seed + number, random_starts=plan.random_starts if number else 0)
        best = climbed(replace(screening, plan=starts), best.graph, one.sizes, best) or best
    return replaced(screening, one, best)


def climbed(
    screening: Screening, start: Graph, sizes: Mapping[str, int], best: Tried | None, rounds: int = ROUNDS
) -> Tried | None:
    """Centred again and again as long as it gains; the best so far if it does not."""
    tried = centred(screening, start, sizes, rounds)
    newest = list(sizes)[-1]
    while (best is None or tried.score > best.score + WORTH) and enough_neighbours(tried.graph, newest):
        best = tried
        if screening.run.spent:
            break
        if not rounds:
            break
        tried = centred(screening, best.graph, sizes, rounds)
    return best


def centred(screening: Screening, graph: Graph, sizes: Mapping[str, int], rounds: int = ROUNDS) -> Tried:
    """Structural EM over the hidden variables' neighbourhoods and their parents; once in a piece of work."""
    tried = screening.ground.tried
    key = (graph, tuple(sizes.items()), rounds)
    if key not in tried:
        tried[key] = _centred(screening, graph, sizes, rounds)
    return tried[key]


def _centred(screening: Screening, graph: Graph, sizes: Mapping[str, int], rounds: int) -> Tried:
    region = {v for name in sizes for v in (*graph.blanket(name), *graph.neighbours(name))}
    region |= {p for v in region for p in graph.parents(v)}
    newest = list(sizes)[-1]
    return try_region(
        screening.ground,
        graph,
        sizes,
        region,
        merged=newest,
        starts=1 + 2 * screening.plan.random_starts,
        max_rounds=rounds,
        evaluations=screening.plan.evaluations,
        tolerance=TOLERANCE,
        seed=screening.plan.seed,
    )


def centred_once(screening: Screening, graph: Graph, sizes: Mapping[str, int]) -> Tried:
    """The same, or as it came out before."""
    key = ("centred", screening.place, graph.parent_map, tuple(sizes.items()))
    write, read = partial(write_tried, screening), partial(read_tried, screening)
    screening.ground.forget()
    return screening.run.once(key, lambda: centred(screening, graph, sizes), write, read)


def with_states(one: Found, states: int) -> dict[str, int]:
    return {**one.sizes, one.name: states}


def replaced(screening: Screening, one: Found, best: Tried) -> Found:
    sizes = {name: best.network.cardinality(name) for name in one.sizes}
    return replace(one, tried=best, sizes=sizes, gain=best.score - screening.score)


def linked(one: Found) -> bool:
    """Whether each hidden variable has neighbours enough: a new one may have taken those of one before it."""
    return all(enough_neighbours(one.tried.graph, name) for name in one.sizes)


def enough_neighbours(graph: Graph, name: str) -> bool:
    return len(graph.neighbours(name)) >= LEAST_NEIGHBOURS
