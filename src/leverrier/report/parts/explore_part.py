"""Set some columns and see what follows: the model's tables, small enough for the page's own script to work with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leverrier.arrays import Floats
from leverrier.discovery.result import Result
from leverrier.models.graph import Graph
from leverrier.report.parts.page_parts import Block, Choice, Explore, Part, Words, several, shortened
from leverrier.report.parts.profiles import profiles
from leverrier.report.words.page_words import EXPLORE, EXPLORE_ROWS

MOST_CELLS = 40_000
"""Of all tables together: more would make a page of megabytes."""
MOST_JOINT = 1 << 17
"""Of the largest table that elimination meets: a browser takes some milliseconds for it."""
OFFERED = 12
MOST_STATES = 12
"""A column with more is not offered."""


@dataclass(frozen=True, eq=False)
class Tables:
    """A model's tables with the words for its states."""

    parents: Mapping[str, tuple[str, ...]]
    states: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, Floats]

    def within(self, wanted: Sequence[str]) -> Tables:
        """These nodes and all above them: what hangs below says nothing while it is not set."""
        kept, waiting = set[str](), list(wanted)
        while waiting:
            node = waiting.pop()
            if node not in kept:
                kept.add(node)
                waiting += self.parents[node]
        nodes = [node for node in self.parents if node in kept]
        return Tables(
            {node: self.parents[node] for node in nodes},
            {node: self.states[node] for node in nodes},
            {node: self.cells[node] for node in nodes},
        )

    @property
    def small(self) -> bool:
        return sum(each.size for each in self.cells.values()) <= MOST_CELLS and self._widest() <= MOST_JOINT

    def _widest(self) -> int:
        """The largest table when nodes are summed out one by one, the cheapest first."""
        graph = Graph.from_parents(self.parents)
        linked = {node: set(near) for node, near in graph.moral().items()}
        sizes = {node: len(states) for node, states in self.states.items()}
        widest = 1
        while linked:
            costs = {node: math.prod(sizes[each] for each in (*near, node)) for node, near in linked.items()}
            node = min(costs, key=lambda each: costs[each])
            widest = max(widest, costs[node])
            near = linked.pop(node)
            for each in near:
                linked[each] |= near - {each}
                linked[each].discard(node)
        return widest


def explore_part(found: Result) -> Part | None:
    """The section; None where the model is no network of tables, or too wide for a page."""
    whole = None if found.time is not None or not found.hidden else tables_of(found)
    if whole is None:
        return None
    hidden = [each.name for each in found.hidden]
    columns = _offered(found, whole)
    kept = whole if whole.small else whole.within([*hidden, *columns])
    if not columns or not kept.small:
        return None
    every = len(kept.parents) == len(whole.parents)
    places = {node: place for place, node in enumerate(kept.parents)}
    blocks: list[Block] = [Words(EXPLORE)]
    if every:
        blocks.append(Words(EXPLORE_ROWS))
    more = sum(node not in columns and node not in hidden for node in whole.parents)
    if more:
        blocks.append(Words(f"The {several(len(columns), 'column')} that tell most are offered; {more} more are not."))
    choices = tuple(_choice(kept, places, name) for name in columns)
    answers = tuple(_choice(kept, places, name) for name in hidden)
    blocks.append(Explore(_content(found, kept, hidden), answers, choices, more, every))
    return Part("explore", "What follows from what you know", blocks)


def tables_of(found: Result) -> Tables | None:
    """Every model that is a network of tables, or can be written as one."""
    model = found.model.tables()
    if model is None:
        return None
    names = {each.name: tuple(str(state.label) for state in found.meanings.get(each.name, ())) for each in found.hidden}
    states = {node: names.get(node) or tuple(map(str, own)) for node, own in model.states.items()}
    return Tables(model.parents, states, model.cells)


def _offered(found: Result, whole: Tables) -> list[str]:
    """The most telling columns first; of a model that has no profile those next to the hidden variables."""
    told = [line.column for each in found.hidden for profile in profiles(found, each) for line in profile.rows]
    near = [name for each in found.hidden for name in (*each.children, *each.parents)]
    hidden = {each.name for each in found.hidden}
    columns = [name for name in dict.fromkeys([*told, *near]) if name in whole.states and name not in hidden]
    return [name for name in columns if len(whole.states[name]) <= MOST_STATES][:OFFERED]


def _choice(tables: Tables, places: Mapping[str, int], name: str) -> Choice:
    states = tuple(shortened(state, 28) for state in tables.states[name])
    return Choice(places[name], shortened(name, 48), states)


def _content(found: Result, tables: Tables, hidden: Sequence[str]) -> str:
    places = {node: place for place, node in enumerate(tables.parents)}
    cuts = {places[c.name]: list(c.cuts) for c in found.shape.variables if c.cuts and c.name in places}
    content = {
        "names": list(tables.parents),
        "states": [list(tables.states[node]) for node in tables.parents],
        "parents": [[places[each] for each in above] for above in tables.parents.values()],
        "tables": [[float(f"{cell:.10g}") for cell in tables.cells[node].ravel()] for node in tables.parents],
        "hidden": [places[name] for name in hidden],
        "cuts": cuts,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
