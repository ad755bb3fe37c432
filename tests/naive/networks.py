"""Small random networks, and what they mean by definition: the joint distribution written out."""

import itertools

import numpy as np

from leverrier.models.graph import Graph
from leverrier.models.network import Network


def random_graph(rng, n_nodes, max_parents=3, names=None):
    """A random acyclic graph whose nodes are not given in topological order."""
    names = names or [f"v{i}" for i in range(n_nodes)]
    order = rng.permutation(n_nodes)
    parents = {}
    for place, node in enumerate(order):
        above = order[:place]
        count = int(rng.integers(0, min(max_parents, len(above)) + 1))
        parents[names[node]] = [names[other] for other in rng.choice(above, count, replace=False)] if count else []
    return Graph.from_parents({name: parents[name] for name in names})


def random_network(rng, n_nodes, max_states=3, max_parents=3, zeros=0.0, graph=None, min_states=1):
    """Random tables on a random graph; a share `zeros` of the entries is exactly zero."""
    graph = graph or random_graph(rng, n_nodes, max_parents)
    states = {node: [f"s{k}" for k in range(rng.integers(min_states, max_states + 1))] for node in graph}
    tables = {}
    for node in graph:
        shape = [len(states[other]) for other in (*graph.parents(node), node)]
        weights = rng.gamma(1.0, size=shape) * (rng.random(shape) >= zeros)
        weights[..., 0] += weights.sum(axis=-1) == 0
        tables[node] = weights / weights.sum(axis=-1, keepdims=True)
    return Network.build(graph, states, tables)


def joint(network):
    """P of every assignment, one axis for each variable in the network's order: the product of its tables."""
    shape = [len(network.states[name]) for name in network.variables]
    table = np.empty(shape)
    for assignment in itertools.product(*(range(size) for size in shape)):
        state = dict(zip(network.variables, assignment, strict=True))
        table[assignment] = np.prod(
            [
                network.cpt(name)[tuple(state[other] for other in (*network.parents(name), name))]
                for name in network.variables
            ]
        )
    return table


def dependence(table, left, right, given):
    """How far P(x, y, z) P(z) is from P(x, z) P(y, z): zero exactly when x and y are independent given z."""

    def over(*axes):
        gone = tuple(axis for axis in range(table.ndim) if axis not in axes)
        return table.sum(axis=gone, keepdims=True)

    return np.abs(over(left, right, *given) * over(*given) - over(left, *given) * over(right, *given)).max()
