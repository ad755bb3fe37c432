"""Small random dynamic networks and sequences with holes, for comparison with enumeration."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.table import Table
from leverrier.models.dynamic.cpd import GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork


def random_network(rng, most_variables=3):
    """Order 0 to 2, some tables with zeros, some variables hidden, sometimes a column of numbers."""
    names = [f"V{place}" for place in range(int(rng.integers(1, most_variables + 1)))]
    order = int(rng.integers(0, 3))
    cards = {name: int(rng.integers(2, 4)) for name in names}

    def part(place):
        shuffled = [names[k] for k in rng.permutation(len(names))]
        found = {}
        for position, name in enumerate(shuffled):
            possible = [(other, 0) for other in shuffled[:position]]
            possible += [(other, lag) for lag in range(1, min(place, order) + 1) for other in names]
            parents = tuple(node for node in possible if rng.random() < 0.5)[:3]
            table = rng.dirichlet(np.ones(cards[name]), size=tuple(cards[p] for p, _ in parents))
            if rng.random() < 0.3:
                table = np.where(table < 0.2, 0, table)
                table /= table.sum(axis=-1, keepdims=True)
            found[name] = TableCPD(parents, table)
        return found

    stages = tuple(part(place) for place in range(max(order, 1)))
    numbers = {}
    if rng.random() < 0.3:
        parents = tuple(name for name in names if rng.random() < 0.6)
        shape = tuple(cards[name] for name in parents)
        numbers["G"] = GaussianCPD(parents, rng.normal(size=shape), rng.uniform(0.5, 2, shape))
    hidden = tuple(name for name in names if rng.random() < 0.35)
    states = {name: tuple(range(cards[name])) for name in names}
    return DynamicNetwork(states, stages, part(max(order, 1) if order else 0), hidden, numbers)


def random_sequences(rng, network, most_slices=4, most_open=7):
    """One or two short sequences drawn from the network, with holes, but not more than enumeration can bear."""
    longest = max(1, min(most_slices, max(most_open, 4) // max(len(network.hidden), 1)))
    lengths = rng.integers(1, longest + 1, int(rng.integers(1, 3)))
    parts = [network.sample(int(length), seed=rng) for length in lengths]
    codes = np.concatenate([part.table.codes for part in parts], axis=1).astype(int)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    hidden = len(network.hidden)
    for low, high in pairwise(starts.tolist()):
        seen = [v for v, name in enumerate(network.variables) if name not in network.hidden]
        places = [(v, t) for v in seen for t in range(low, high)]
        room = max(0, most_open - hidden * int(high - low))
        for place in rng.permutation(len(places))[: int(rng.integers(0, room + 1))]:
            codes[places[place]] = -1
    sequences = Sequences.from_table(Table.from_codes(network.states, codes), starts)
    if network.numbers:
        values = np.concatenate([part.numbers["G"] for part in parts])
        values[rng.random(len(values)) < 0.3] = np.nan
        sequences = replace(sequences, numbers={"G": values})
    return sequences
