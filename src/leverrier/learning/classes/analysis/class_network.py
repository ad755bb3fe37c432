"""A fitted latent class model over categories as a network: the class, and a table of every column given it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import product

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.variable import Label
from leverrier.errors import OptionError
from leverrier.learning.classes.analysis.class_estimates import profile_figures
from leverrier.learning.classes.analysis.drawn_rows import row_predictors
from leverrier.learning.classes.fitting.class_climb import ClassFitted
from leverrier.learning.classes.parts.densities import Categorical, Cumulative
from leverrier.learning.classes.parts.indicator import Indicator
from leverrier.learning.classes.parts.indicator_making import Item
from leverrier.models.graph import Graph
from leverrier.models.network import Network


def class_network(fitted: ClassFitted, variable: str, outcomes: Collection[str] = ()) -> Network:
    """Sizes are those over all rows: predictors are averaged over. Outcomes that are numbers are left out."""
    items = {item.name: item for item in fitted.spec.items if item.kind.categorical or item.name not in outcomes}
    places = {item.name: place for place, item in enumerate(fitted.spec.items)}
    numeric = [name for name, item in items.items() if not item.kind.categorical]
    if numeric:
        raise OptionError(f"{numeric[0]!r} is a number or a count given the class, which has no table: see profiles")
    arcs = [(variable, name) for name in items]
    arcs += [(other, name) for name, item in items.items() for other in item.on]
    graph = Graph.from_edges((variable, *items), arcs)
    states: dict[str, tuple[Label, ...]] = {variable: tuple(str(k) for k in range(fitted.classes))}
    states.update({name: item.states for name, item in items.items()})
    tables: dict[str, Floats] = {variable: fitted.shares / fitted.shares.sum()}
    for name, item in items.items():
        place = places[name]
        if item.on:
            own = _given_others(fitted, place, [items[other] for other in item.on])
            order = [(variable, *item.on).index(parent) for parent in graph.parents(name)]
            tables[name] = np.transpose(own, (*order, len(order)))
        else:
            values = profile_figures(fitted, place).values
            tables[name] = values / values.sum(axis=1, keepdims=True)
    return Network(graph, states, tables)


def _given_others(fitted: ClassFitted, place: int, others: list[Item]) -> Floats:
    """P(state | class, the other columns' states): (classes, states of each, own states)."""
    item, indicator = fitted.spec.items[place], fitted.likelihood.indicators[place]
    shape = tuple(len(other.states) for other in others)
    each = np.array(list(product(*map(range, shape))), dtype=np.float64)
    columns = [replace(other, values=each[:, i]).columns[0] for i, other in enumerate(others)]
    asked = replace(item, values=np.zeros(len(each)), own=None, own_names=("1",), shared=np.hstack(columns))
    theta = fitted.likelihood.part(fitted.theta, place + 1)
    found = []
    for k in range(fitted.classes):
        q = row_predictors(asked, indicator, theta, np.full(len(each), k))
        found.append(state_probabilities(indicator, q).T.reshape(*shape, len(item.states)))
    return np.stack(found)


def state_probabilities(indicator: Indicator, q: Floats) -> Floats:
    """(states, rows) from predictors (channels, rows)."""
    density = indicator.density
    assert isinstance(density, Categorical | Cumulative)
    states = q.shape[0] if isinstance(density, Categorical) else density.states
    logs = [replace(density, codes=np.full(q.shape[1], s, dtype=np.int64)).log(q[None])[0] for s in range(states)]
    p = np.exp(np.stack(logs))
    return p / p.sum(axis=0)
