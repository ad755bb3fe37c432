"""Dynamic networks by full enumeration: every completion of a short sequence, one at a time."""

import itertools
import math

import numpy as np


def cells_of(network, sequences):
    """For each sequence a list of slices: {variable: code or None}."""
    found = []
    missing = sequences.table.missing
    for low, high in itertools.pairwise(sequences.starts.tolist()):
        slices = []
        for t in range(low, high):
            row = dict.fromkeys(network.variables)
            for name in sequences.variables:
                code = int(sequences.table.column(name)[t])
                if name in network.states and name not in network.hidden and code != missing:
                    row[name] = code
            row["#"] = {name: float(values[t]) for name, values in sequences.numbers.items() if name in network.numbers}
            slices.append(row)
        found.append(slices)
    return found


def joint(network, slices):
    """P(everything) of one completed sequence."""
    total = 1.0
    for t, row in enumerate(slices):
        for name, cpd in network.slice(t).items():
            given = tuple(slices[t - lag][parent] for parent, lag in cpd.parents)
            total *= cpd.table()[(*given, row[name])]
        for name, value in row["#"].items():
            cpd = network.numbers[name]
            at = tuple(row[parent] for parent in cpd.parents)
            if not math.isnan(value):
                z = (value - cpd.means[at]) / cpd.deviations[at]
                total *= math.exp(-0.5 * z * z) / (cpd.deviations[at] * math.sqrt(2 * math.pi))
    return total


def completions(network, slices):
    """Every completion of the holes with its probability."""
    holes = [(t, name) for t, row in enumerate(slices) for name in network.variables if row[name] is None]
    for states in itertools.product(*(range(network.cardinality(name)) for _, name in holes)):
        full = [dict(row) for row in slices]
        for (t, name), state in zip(holes, states, strict=True):
            full[t][name] = state
        yield full, joint(network, full)


def probability(network, slices):
    return sum(p for _, p in completions(network, slices))


def slice_log_likelihood(network, sequences):
    """log P(slice | slices before)."""
    found = []
    for slices in cells_of(network, sequences):
        before = 1.0
        for t in range(len(slices)):
            now = probability(network, slices[: t + 1])
            found.append(math.log(now / before) if now > 0 else -math.inf)
            before = now
    return np.array(found)


def posterior(network, sequences, name):
    """(slices, states): P(variable | the whole sequence)."""
    rows = []
    for slices in cells_of(network, sequences):
        table = np.zeros((len(slices), network.cardinality(name)))
        for full, p in completions(network, slices):
            for t, row in enumerate(full):
                table[t, row[name]] += p
        rows.append(table / table.sum(axis=1, keepdims=True))
    return np.concatenate(rows)


def counts(network, sequences, stage, name):
    """Expected counts of one family: axes as in its table."""
    cpd = network.slice(stage)[name]
    table = np.zeros(cpd.table().shape)
    last = stage == len(network.stages)
    for slices in cells_of(network, sequences):
        own = np.zeros_like(table)
        total = 0.0
        for full, p in completions(network, slices):
            total += p
            for t in range(len(full)):
                if t == stage or (last and t >= stage):
                    given = tuple(full[t - lag][parent] for parent, lag in cpd.parents)
                    own[(*given, full[t][name])] += p
        table += own / total
    return table


def best(network, sequences):
    """The most probable completion of each sequence and its probability."""
    return [max(completions(network, slices), key=lambda pair: pair[1]) for slices in cells_of(network, sequences)]


def factored_window_counts(network, sequences, lags, nodes):
    """Expected counts of any nodes (variable, lag) over slices with all lags, as products of single posteriors."""
    table = np.zeros([network.cardinality(name) for name, _ in nodes])
    single = {name: posterior(network, sequences, name) for name in network.variables}
    for low, high in itertools.pairwise(sequences.starts.tolist()):
        for t in range(low + lags, high):
            product = np.ones(())
            for name, lag in nodes:
                product = np.multiply.outer(product, single[name][t - lag])
            table += product
    return table
