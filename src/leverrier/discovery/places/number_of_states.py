"""The number of states of a hidden variable once it is in its place: more, or fewer, with the arcs that go with them.

Arcs between a variable's neighbours stand in for states it lacks, and once there they keep the missing state from
paying. So every other number of states is tried twice: in the graph as it is, and with those arcs taken out, for the
search to put back what is still needed. The bound decides; then, upwards, the corrected evidence, because
the bound is hard on states that overlap (see discovery/states/refinement.py): one more state must be clearly better,
or at least as good with fewer arcs.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from leverrier.discovery.places.deepening import ROUNDS, Found, Screening, climbed, replaced, with_states
from leverrier.discovery.places.region import Ground, Tried
from leverrier.discovery.plan import WORTH
from leverrier.discovery.states.em_trial import Setting
from leverrier.discovery.states.refinement import POSITIVE
from leverrier.discovery.states.surroundings import cut_out
from leverrier.models.graph import Graph
from leverrier.models.network import Network

SMOOTHING = 1e-3


def settled(screening: Screening, one: Found) -> Found:
    """The same hidden variable with the number of states, and the graph, that are worth most."""
    plan = screening.plan
    if plan.cardinality != "auto" or not plan.states_settled:
        return one
    one = _by_bound(screening, one)
    best = _evidence(screening.ground, one.tried, one.sizes)
    while best is not None and one.sizes[one.name] < plan.max_states and not screening.run.spent:
        more = _tried_with(screening, one, one.sizes[one.name] + 1, None)
        value = None if more is None else _evidence(screening.ground, more, with_states(one, one.sizes[one.name] + 1))
        if more is None or value is None or more.score <= screening.score + WORTH:
            break
        simpler = _arcs(more) < _arcs(one.tried)
        if value <= best + (0.0 if simpler else POSITIVE):
            break
        one, best = replaced(screening, one, more), value
    return one


def _by_bound(screening: Screening, one: Found) -> Found:
    """One state more while that helps, then any number fewer."""
    while not screening.run.spent and one.sizes[one.name] < screening.plan.max_states:
        more = _tried_with(screening, one, one.sizes[one.name] + 1, one.tried)
        if more is None:
            break
        one = replaced(screening, one, more)
    for states in range(one.sizes[one.name] - 1, 1, -1):
        fewer = _tried_with(screening, one, states, one.tried)
        if fewer is not None:
            one = replaced(screening, one, fewer)
    return one


def _tried_with(screening: Screening, one: Found, states: int, rival: Tried | None) -> Tried | None:
    """The best with so many states, from the graph as it is and without arcs between the variable's neighbours; None
    if it does not beat the rival."""
    rounds = 0 if screening.plan.method == "fixed" else ROUNDS
    sizes = with_states(one, states)
    graph = one.tried.graph
    best = rival
    for start in (graph,) if rounds == 0 else (graph, _stripped(graph, one.name)):
        if not screening.run.spent:
            best = climbed(screening, start, sizes, best, rounds)
    return None if best is rival else best


def _arcs(tried: Tried) -> int:
    return sum(len(tried.graph.parents(v)) for v in tried.graph)


def _stripped(graph: Graph, name: str) -> Graph:
    near = graph.neighbours(name)
    return graph.with_parents({v: [p for p in graph.parents(v) if p not in near] for v in near})


def _evidence(ground: Ground, tried: Tried, sizes: Mapping[str, int]) -> float | None:
    """Log evidence of the whole graph, approximately: the bound, what it misses by taking the states as seen, and the
    ways to name them. None where that is too much to compute."""
    around = cut_out(tried.graph, ground.table, list(sizes))
    setting = Setting(around, sizes, ground.scores.score)
    tables = [_as_in(around.graph, tried.network, node) for node in setting.seen.open_nodes]
    missed = setting.missing_information(setting.run(setting.seen.layout.pack(tables), ground.run))
    return None if missed is None else tried.score + missed + sum(lgamma(k + 1) for k in sizes.values())


def _as_in(graph: Graph, network: Network, node: str) -> NDArray[np.float64]:
    """A node's table with its parents in this graph's order, off the zeros that a prior forbids."""
    own = (*network.parents(node), node)
    table = network.cpt(node).transpose([own.index(v) for v in (*graph.parents(node), node)])
    return (1 - SMOOTHING) * table + SMOOTHING / table.shape[-1]
