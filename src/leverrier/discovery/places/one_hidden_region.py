"""A region with one hidden variable, handed to the compiled climb."""

from __future__ import annotations

from functools import partial

import numpy as np

from leverrier.arrays import Integers
from leverrier.counts.family import Family
from leverrier.discovery.places.cutout import Cutout
from leverrier.discovery.places.ground import Ground, Tried
from leverrier.learning.em.maximise import table_from_counts
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.one_hidden import (
    MOST_NODES,
    OneHidden,
    Region,
    Seen,
    arcs_number,
    climb_one_hidden,
    prior_of,
)
from leverrier.models.graph import Graph
from leverrier.models.network import Network


def climb_region(
    ground: Ground,
    cut: Cutout,
    assigned: Integers | None,
    starts: int,
    max_rounds: int,
    tolerance: float,
    evaluations: int,
    seen: Seen | None,
    seed: int,
) -> Tried | None:
    """Structural EM from the graph that was cut out; None if it is not for the compiled climb."""
    prior = prior_of(ground.scores.score)
    if len(cut.hidden) != 1 or prior is None or ground.method != "em" or len(cut.columns) >= MOST_NODES:
        return None
    rows = ground.rows(cut.columns)
    if rows is None:
        return None
    (name, states), nodes = next(iter(cut.hidden.items())), [*cut.columns, *cut.hidden]
    region = _region(ground, cut, nodes)
    if seen is not None:
        places = {**ground.places, name: len(ground.places)}
        left = [v for v in cut.graph if v not in cut.inside and v != name]
        seen.numbers[0] = arcs_number([(places[p], places[c]) for c in left for p in cut.graph.parents(c)])
    end = climb_one_hidden(
        rows,
        region,
        states,
        ground.known,
        prior,
        assigned=assigned,
        starts=starts,
        max_rounds=max_rounds,
        max_parents=ground.max_parents,
        max_cells=ground.scores.table_cells,
        tolerance=tolerance,
        evaluations=evaluations,
        seen=seen,
        run=ground.run,
        seed=seed,
    )
    return Tried(
        partial(_whole, cut, nodes, end),
        end.score + cut.left_outside(ground),
        partial(_network, ground, cut, nodes, end),
        cut.columns,
    )


def _region(ground: Ground, cut: Cutout, nodes: list[str]) -> Region:
    """What may change, as bits: arcs inside and with the hidden variable; those from the context stay."""
    place = {name: v for v, name in enumerate(nodes)}
    inside = sum(1 << place[v] for v in nodes if v in cut.inside or v in cut.hidden)
    cards = ground.scores.states
    single = sum(1 << v for v, column in enumerate(cut.columns) if cards[ground.places[column]] == 1)
    parents, allowed, required = [], [], []
    for v, name in enumerate(nodes):
        own = sum(1 << place[p] for p in cut.graph.parents(name)) if inside >> v & 1 else 0
        fixed = own & ~inside
        free = 0 if single >> v & 1 or not inside >> v & 1 else inside & ~single & ~(1 << v)
        parents.append(own)
        allowed.append(free | fixed)
        required.append(fixed)
    outside = [sum(1 << place[p] for p in cut.above.get(name, ())) for name in nodes]
    order = [place[v] for v in cut.sub.order]
    places = [ground.places.get(name, len(ground.places)) for name in nodes]
    return Region(parents, allowed, required, outside, inside, places, order)


def _whole(cut: Cutout, nodes: list[str], end: OneHidden) -> Graph:
    changed = {nodes[v]: [nodes[p] for p in members(bits)] for v, bits in enumerate(end.parents)}
    return cut.graph.with_parents({v: changed[v] for v in (*cut.inside, *cut.hidden)})


def _network(ground: Ground, cut: Cutout, nodes: list[str], end: OneHidden) -> Network:
    """The region's network: families that every row shows from their counts, the others from the posteriors."""
    counts = ground.counts(cut.columns)
    table, (name, states) = counts.table, next(iter(cut.hidden.items()))
    graph = Graph.from_parents({nodes[v]: [nodes[p] for p in members(bits)] for v, bits in enumerate(end.parents)})
    labels = {**table.states, name: tuple(str(k) for k in range(states))}
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    shares = end.posterior * weights[:, None]
    tables = {}
    for node in graph:
        scope = (*graph.parents(node), node)
        if name not in scope:
            tables[node] = table_from_counts(counts.tables([Family(node, graph.parents(node))])[0])
            continue
        seen = [v for v in scope if v != name]
        shape = [len(labels[v]) for v in seen]
        key = np.zeros(table.n_rows, dtype=np.int64)
        for v, size in zip(seen, shape, strict=True):
            key = key * size + table.column(v)
        size = int(np.prod(shape, dtype=np.int64))
        summed = np.stack([np.bincount(key, share, size) for share in shares.T], axis=-1).reshape([*shape, states])
        order = [*seen, name]
        ordered = summed.transpose([order.index(v) for v in scope])
        tables[node] = table_from_counts(np.ascontiguousarray(ordered, dtype=np.float64))
    return Network.trusted(graph, labels, tables)
