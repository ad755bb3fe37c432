"""Networks to and from networkx, pgmpy and pyAgrum.

pgmpy and pyAgrum are optional: each is imported when it is needed. A network of theirs that is handed to us is
read through its own methods, so that reading one needs no import at all.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label
from leverrier.errors import MissingExtraError, NetworkError
from leverrier.formats.wording import labels_as_text
from leverrier.models.graph import Graph
from leverrier.models.network import Network, normalised

if TYPE_CHECKING:
    import networkx

_SINGLE_PRECISION = 1e-5
"""pyAgrum's BIF reader keeps seven digits, so its rows sum to one only that well."""


def to_networkx(network: Network | Graph) -> networkx.DiGraph:
    """The graph alone; each node's arrows come in the order of its parents."""
    return (network.graph if isinstance(network, Network) else network).to_networkx()


def from_networkx(graph: networkx.DiGraph) -> Graph:
    """A networkx graph as ours; a node that is not text is called what it prints as."""
    return Graph.from_networkx(graph)


def to_pgmpy(network: Network) -> Any:
    """A pgmpy DiscreteBayesianNetwork (BayesianNetwork before pgmpy 1.0), states named as they are here."""
    models = _needed("pgmpy.models", "pgmpy")
    factors = _needed("pgmpy.factors.discrete", "pgmpy")
    kind = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    model = kind()
    model.add_nodes_from(network.variables)
    model.add_edges_from(network.edges)
    for name in network.variables:
        parents = list(network.parents(name))
        size = network.cardinality(name)
        table = factors.TabularCPD(
            name,
            size,
            network.cpt(name).reshape(-1, size).T,  # theirs: the child's states down, configurations across
            evidence=parents or None,
            evidence_card=[network.cardinality(parent) for parent in parents] or None,
            state_names={other: list(network.states[other]) for other in (name, *parents)},
        )
        model.add_cpds(table)
    return model


def from_pgmpy(model: Any) -> Network:
    """A pgmpy network of discrete variables, whatever its version calls the class."""
    if not hasattr(model, "get_cpds"):
        raise NetworkError(f"{type(model).__name__} is not a pgmpy network: a DiscreteBayesianNetwork is needed")
    found = {name: model.get_cpds(name) for name in model.nodes}
    for name, table in found.items():
        if table is None or not hasattr(table, "state_names"):
            raise NetworkError(f"the pgmpy network has no table of probabilities for {name!r}: fit it, or add one")
    states = {name: list(table.state_names[name]) for name, table in found.items()}
    parents: dict[Any, list[Any]] = {}
    tables: dict[Any, NDArray[np.float64]] = {}
    for name, table in found.items():
        scope = list(table.variables)
        parents[name] = scope[1:]
        values = np.moveaxis(np.asarray(table.values, dtype=np.float64), 0, -1)
        for axis, other in enumerate([*scope[1:], name]):  # another table may list a parent's states in another order
            order = [table.state_names[other].index(label) for label in states[other]]
            values = np.take(values, order, axis=axis)
        tables[name] = values
    return _built(parents, states, tables)


def to_pyagrum(network: Network) -> Any:
    """A pyAgrum BayesNet. Its labels are text, so that 1 becomes "1"."""
    gum = _pyagrum()
    model = gum.BayesNet(str(network.notes.get("name", "leverrier")))
    for name, labels in labels_as_text(network, "a pyAgrum network").items():
        model.add(gum.LabelizedVariable(name, name, labels))
    for name in network.variables:
        for parent in network.parents(name):
            model.addArc(parent, name)
        table = model.cpt(name)
        table.fillWith(_for_pyagrum(network, name, list(table.names)))
    return model


def from_pyagrum(model: Any) -> Network:
    """A pyAgrum BayesNet, labels as text."""
    if not hasattr(model, "cpt") or not hasattr(model, "variable"):
        raise NetworkError(f"{type(model).__name__} is not a pyAgrum network: a BayesNet is needed")
    names = [model.variable(node).name() for node in sorted(model.nodes())]
    states = {name: list(model.variable(name).labels()) for name in names}
    parents: dict[str, list[str]] = {}
    tables: dict[str, NDArray[np.float64]] = {}
    for name in names:
        table = model.cpt(name)
        order = list(table.names)
        parents[name] = [other for other in order if other != name]
        values = np.asarray(table.toarray(), dtype=np.float64).transpose()  # theirs: the last axis is the first name
        values = np.moveaxis(values, order.index(name), -1)
        tables[name] = normalised(values, _SINGLE_PRECISION)
    return _built(parents, states, tables)


def _for_pyagrum(network: Network, name: str, order: Sequence[str]) -> list[float]:
    """The table's numbers with the first of `order` changing fastest, as pyAgrum fills."""
    axes = (*network.parents(name), name)
    return network.cpt(name).transpose([axes.index(other) for other in reversed(order)]).ravel().tolist()


def _built(
    parents: dict[Any, list[Any]], states: dict[Any, list[Label]], tables: dict[Any, NDArray[np.float64]]
) -> Network:
    """Ours from theirs, whose names need not be text."""
    graph = Graph(tuple((str(name), tuple(map(str, above))) for name, above in parents.items()))
    return Network.build(
        graph,
        {str(name): labels for name, labels in states.items()},
        {str(name): table for name, table in tables.items()},
    )


def _pyagrum() -> Any:
    try:
        return importlib.import_module("pyagrum")
    except ImportError:
        return _needed("pyAgrum", "pyAgrum")  # its name before version 2


def _needed(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{package} is not installed: pip install leverrier[interop]") from error
