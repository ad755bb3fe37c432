"""Questions to a mixed network: what a row is worth, and what one of its cells may be given the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.data.matrix import matching
from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.models.families.conditional import Cells
from leverrier.models.mixed_gaussian import MOST_CONFIGURATIONS, GaussianByStates, Mixed, conditional_gaussian

DRAWS = 400
"""Weighted draws for a row whose holes cannot be integrated in closed form."""
GRID = ndtri((np.arange(201) + 0.5) / 201)
"""Scores at which the density of a number given the rest is asked."""


def cells_of(network: Mixed, data: Any) -> dict[str, Cells]:
    """The rows in the network's space: scores and codes, NaN and −1 where a cell is missing or a column absent."""
    numbers = list(network.margins)
    cells: dict[str, Cells] = {}
    if isinstance(data, Table):
        n_rows = data.n_rows
        kept = data.numbers
        for name in numbers:
            if name not in kept and name in data.variables:
                raise TableError(f"the table holds states of {name!r}, and numbers are needed: read it again")
            cells[name] = np.asarray(kept[name]) if name in kept else np.full(n_rows, np.nan)
        present = [name for name in network.states if name in data.variables]
        states = data.select(present) if present else None
    else:
        values = matching(data, numbers) if numbers else None
        for place, name in enumerate(numbers):
            assert values is not None
            cells[name] = values[:, place]
        states = data if network.states else None
        n_rows = -1 if values is None else len(values)
    for name in numbers:
        cells[name] = network.margins[name].scores(cells[name])
    if states is not None:
        labels: Mapping[str, Any] = network.states
        table = as_table(states, labels)
        for name in labels:
            codes = table.column(name)
            cells[name] = np.where(codes == table.missing, -1, codes.astype(np.int64))
    for name in network.states:
        cells.setdefault(name, np.full(n_rows, -1, dtype=np.int64))
    return cells


def row_log_likelihood(network: Mixed, data: Any, units: Literal["scores", "own"] = "scores") -> Floats:
    """log P(what is observed of each row)."""
    if units not in ("scores", "own"):
        raise OptionError(f'units={units!r}: expected "scores" or "own"')
    cells = cells_of(network, data)
    result = log_evidence(network, cells)
    if units == "own":
        for name, margin in network.margins.items():
            result += np.nan_to_num(margin.log_density(np.asarray(cells[name], dtype=np.float64)))
    return result


def total_log_likelihood(network: Mixed, data: Any, units: Literal["scores", "own"] = "scores") -> float:
    each = row_log_likelihood(network, data, units)
    weights = data.weights if isinstance(data, Table) else None
    return float(each.sum() if weights is None else each @ weights)


def log_evidence(network: Mixed, cells: Mapping[str, Cells]) -> Floats:
    """By row, holes integrated out."""
    n_rows = len(next(iter(cells.values()))) if cells else 0
    result = np.zeros(n_rows)
    exact = GaussianByStates(network) if conditional_gaussian(network) else None
    for rows, some, holes in _patterns(network, cells):
        needed = _needed(network, holes)
        open_states = [v for v in network.states if v in holes and v in needed]
        if not holes & needed:
            result[rows] = sum((_family_logs(network, node, some) for node in needed), np.zeros(len(rows)))
        elif exact is not None and _configurations(network, open_states) <= MOST_CONFIGURATIONS:
            free = [v for v in exact.discrete if v in holes]
            small = free if _configurations(network, free) <= MOST_CONFIGURATIONS else open_states
            result[rows] = exact.log_evidence(some, small)
        else:
            result[rows] = _weighted_draws(network, some, holes, needed)
    return result


def posterior(network: Mixed, data: Any, variable: str) -> Floats:
    """P(variable | the rest of the row), (rows, states); the variable's own column is ignored."""
    network.graph.parents(variable)
    if variable not in network.states:
        raise OptionError(f"{variable!r} is a number: predict(data, {variable!r}) tells its mean and range")
    cells = cells_of(network, data)
    n_rows = len(cells[variable])
    logs = [
        log_evidence(network, {**cells, variable: np.full(n_rows, state)})
        for state in range(len(network.states[variable]))
    ]
    table = np.stack(logs, axis=1)
    return np.exp(table - np.logaddexp.reduce(table, axis=1, keepdims=True))


def predict(network: Mixed, data: Any, variable: str) -> dict[str, Floats]:
    """Mean, 5 % and 95 % points of a number given the rest of each row, in the user's units."""
    network.graph.parents(variable)
    if variable not in network.margins:
        raise OptionError(f"{variable!r} has states: posterior(data, {variable!r}) tells their probabilities")
    cells = cells_of(network, data)
    margin = network.margins[variable]
    grid = margin.settled(GRID)
    logs = density_on(network, cells, variable, grid)
    shares = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    values = margin.numbers(grid)
    upto = np.cumsum(shares, axis=1)
    low, high = (values[np.argmax(upto >= level, axis=1)] for level in (0.05, 0.95 - 1e-12))
    return {"mean": shares @ values, "low": low, "high": high}


def density_on(network: Mixed, cells: Mapping[str, Cells], variable: str, grid: Floats) -> Floats:
    """log of the share of each grid point (rows, points), not normalised: even shares of the margin, weighed by the
    density of the score over the standard normal's, and by what the point makes of the children."""
    n_rows = len(cells[variable])
    logs = np.empty((n_rows, len(grid)))
    atomic = network.margins[variable].atomic
    for place, point in enumerate(grid):
        each = log_evidence(network, {**cells, variable: np.full(n_rows, point)})
        logs[:, place] = each if atomic else each + 0.5 * point * point
    return logs


def _patterns(
    network: Mixed, cells: Mapping[str, Cells]
) -> Iterator[tuple[NDArray[np.int64], dict[str, Cells], set[str]]]:
    """The rows by which of their cells are missing."""
    names = list(network.graph.nodes)
    missing = np.stack([np.isnan(cells[v]) if v in network.margins else np.asarray(cells[v]) < 0 for v in names])
    distinct, back = np.unique(missing, axis=1, return_inverse=True)
    for g in range(distinct.shape[1]):
        rows = np.flatnonzero(back.ravel() == g)
        holes = {v for v, lost in zip(names, distinct[:, g], strict=True) if lost}
        yield rows, {v: cells[v][rows] for v in names}, holes


def _needed(network: Mixed, holes: set[str]) -> set[str]:
    """What is observed or has something observed below it: the rest sums to one."""
    needed = {v for v in network.graph.nodes if v not in holes}
    for node in reversed(network.graph.order):
        if node in needed:
            needed |= set(network.graph.parents(node))
    return needed


def _configurations(network: Mixed, names: list[str]) -> int:
    return int(np.prod([float(len(network.states[v])) for v in names])) if names else 1


def _family_logs(network: Mixed, node: str, cells: Mapping[str, Cells]) -> Floats:
    return network.families[node].log_density(cells[node], [cells[p] for p in network.graph.parents(node)])


def _weighted_draws(network: Mixed, cells: Mapping[str, Cells], holes: set[str], needed: set[str]) -> Floats:
    """Missing cells drawn from their families, rows weighed by what is observed: the same draws at every call."""
    rng = np.random.default_rng(0)
    n_rows = len(next(iter(cells.values())))
    weights = np.zeros(n_rows * DRAWS)
    drawn: dict[str, Cells] = {}
    for node in network.graph.order:
        if node not in needed:
            continue
        parents = [drawn[p] for p in network.graph.parents(node)]
        if node in holes:
            made = network.families[node].draw(parents, len(weights), rng)
            drawn[node] = network.margins[node].settled(made) if node in network.margins else made
        else:
            drawn[node] = np.repeat(cells[node], DRAWS)
            weights += network.families[node].log_density(drawn[node], parents)
    return np.logaddexp.reduce(weights.reshape(n_rows, DRAWS), axis=1) - np.log(DRAWS)
