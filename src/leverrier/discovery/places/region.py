"""A neighbourhood of a graph in which a hidden variable is tried, cut out so that work there costs what it is worth.

Only the families of the region change. Their other parents come along as context (roots whose own family does not
count), rows are reduced to distinct configurations, and arcs outside are remembered only as far as they could close a
cycle. The score of the whole graph is the region's plus that of the families left outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leverrier.discovery.places.cutout import Cutout, merged_states
from leverrier.discovery.places.ground import Ground, Tried
from leverrier.discovery.places.one_hidden_region import climb_region
from leverrier.learning.structure.known_scores import Renumbered
from leverrier.learning.structure.one_hidden import MOST_EVALUATIONS, Seen
from leverrier.learning.structure.structural_em import StructuralTask, climb_structure
from leverrier.models.graph import Graph


@dataclass(frozen=True, eq=False)
class Passed:
    """Graphs that a candidate's climbs came through, as each kind of climb remembers them."""

    graphs: set[Graph] = field(default_factory=set)
    numbers: Seen = field(default_factory=Seen)


def try_region(
    ground: Ground,
    graph: Graph,
    hidden: Mapping[str, int],
    region: Iterable[str],
    *,
    merged: str | None = None,
    starts: int = 1,
    max_rounds: int = 30,
    tolerance: float = 1e-3,
    evaluations: int = MOST_EVALUATIONS,
    seen: Passed | None = None,
    seed: int = 0,
) -> Tried:
    """Structural EM over the region of a graph that holds the hidden variables; the rest stays as it is.

    The region is widened to whatever is next to a hidden variable. The first start of the variable `merged` is from
    its blanket's configurations, merged down to its number of states; the others are random. `seen` holds graphs that
    earlier climbs came through, and takes this one's. `evaluations` bounds each EM run of a compiled climb.
    """
    cut = cut_out(ground, graph, hidden, region)
    given = None if merged is None else _merged_start(ground, cut, merged)
    assigned = None if given is None else given[merged or ""]
    numbers = None if seen is None else seen.numbers
    found = climb_region(ground, cut, assigned, starts, max_rounds, tolerance, evaluations, numbers, seed)
    if found is not None:
        return found
    return _climbed_in_general(ground, cut, given, starts, max_rounds, tolerance, seen, seed)


def cut_out(ground: Ground, graph: Graph, hidden: Mapping[str, int], region: Iterable[str]) -> Cutout:
    inside = {name for name in region if name not in hidden}
    inside.update(child for name in hidden for child in graph.children(name) if child not in hidden)
    inside.update(parent for name in hidden for parent in graph.parents(name) if parent not in hidden)
    context = {p for v in inside for p in graph.parents(v)} - inside - set(hidden)
    columns = tuple(name for name in ground.table.variables if name in inside or name in context)
    return Cutout(graph, dict(hidden), inside, context, columns)


def _climbed_in_general(
    ground: Ground,
    cut: Cutout,
    given: Mapping[str, NDArray[np.int64]] | None,
    starts: int,
    max_rounds: int,
    tolerance: float,
    seen: Passed | None,
    seed: int,
) -> Tried:
    """For several hidden variables, and whatever else is not compiled."""
    counts = ground.counts(cut.columns)
    changing = (*cut.inside, *cut.hidden)
    task = StructuralTask(
        table=counts.table,
        counts=counts,
        observed=Renumbered(ground.scores, [ground.places[v] for v in cut.columns]),
        score=ground.scores.score,
        required=(),
        forbidden=(),
        region=changing,
        max_parents=ground.max_parents,
        max_cells=ground.scores.table_cells,
        method=ground.method,
        above=cut.above,
        tolerance=tolerance,
        run=ground.run,
        been_here=None if seen is None else _remember(seen.graphs, cut.graph, changing),
    )
    result = climb_structure(task, cut.sub, cut.hidden, given, starts, max_rounds, seed)
    whole = cut.graph.with_parents({v: result.graph.parents(v) for v in changing})
    roots = sum(ground.scores.family(ground.places[c], 0) for c in cut.context)
    return Tried(whole, result.score - roots + cut.left_outside(ground), result.network, cut.columns)


def _remember(seen: set[Graph], graph: Graph, nodes: tuple[str, ...]) -> Callable[[Graph], bool]:
    def been_here(found: Graph) -> bool:
        whole = graph.with_parents({v: found.parents(v) for v in nodes})
        if whole in seen:
            return True
        seen.add(whole)
        return False

    return been_here


def _merged_start(ground: Ground, cut: Cutout, name: str) -> Mapping[str, NDArray[np.int64]] | None:
    """A state for each row by merging blanket configurations; None if the blanket is not all columns."""
    found = merged_states(ground, cut, name)
    return None if found is None else {name: found.assignment(min(cut.hidden[name], found.n_first))}
