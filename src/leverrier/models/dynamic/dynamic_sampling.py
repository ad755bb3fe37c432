"""Sequences drawn from a dynamic network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.table import Table, Variable, code_type
from leverrier.errors import OptionError
from leverrier.kernels.chains.slice_draws import draw_slices
from leverrier.models.dynamic.sliced import Slice, Sliced
from leverrier.models.graph import Graph

MOST_TABLE = 2**22
"""Distributions whose tables have more cells than this are asked slice by slice."""


def sample(network: Sliced, n_slices: int, n_sequences: int, seed: int | np.random.Generator) -> Sequences:
    """Slice after slice, parents first; the same seed gives the same sequences."""
    if n_slices < 1 or n_sequences < 1:
        raise OptionError(f"{n_sequences} sequences of {n_slices} slices cannot be drawn: at least 1 of each is needed")
    rng = np.random.default_rng(seed)
    codes = np.zeros((len(network.states), n_sequences, n_slices), dtype=np.int64)
    place = {name: number for number, name in enumerate(network.states)}
    uniform = rng.random((len(network.states), n_sequences, n_slices))
    done = 0
    while done < n_slices:
        part = network.slice(done)
        end = done + 1 if part is not network.transition else n_slices
        if all(_cells(network, name, part) <= MOST_TABLE for name in part):
            families, parents, cumulative = _program(network, part, place)
            draw_slices(families, parents, cumulative, codes, uniform, done, end)
        else:
            for t in range(done, end):
                _draw_slice(network, part, place, codes, uniform, t)
        done = end
    flat = codes.reshape(len(codes), -1)
    kind = code_type(max(len(labels) for labels in network.states.values()))
    columns = tuple(Variable(name, labels) for name, labels in network.states.items())
    drawn = Sequences.from_table(Table(columns, flat.astype(kind)), np.arange(n_sequences + 1) * n_slices)
    return _with_numbers(network, drawn, flat, place, rng)


def _cells(network: Sliced, name: str, part: Slice) -> int:
    sizes = [len(network.states[parent]) for parent, _ in part[name].parents]
    return int(np.prod([*sizes, len(network.states[name])], dtype=np.float64))


def _order(part: Slice) -> tuple[str, ...]:
    return Graph.from_parents({name: [p for p, lag in cpd.parents if lag == 0] for name, cpd in part.items()}).order


def _program(network: Sliced, part: Slice, place: dict[str, int]) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """The slice's families in order, flat: (child, states, first parent, parents, first cell) and cumulative tables."""
    families, parents, tables = [], [], []
    cells = 0
    for name in _order(part):
        table = part[name].table().reshape(-1, len(network.states[name]))
        families.append((place[name], table.shape[1], len(parents), len(part[name].parents), cells))
        parents += [(place[p], lag, len(network.states[p])) for p, lag in part[name].parents]
        tables.append(_cumulative(table).ravel())
        cells += table.size
    return (
        np.array(families, dtype=np.int64),
        np.array(parents, dtype=np.int64).reshape(-1, 3),
        np.concatenate(tables),
    )


def _cumulative(table: Floats) -> Floats:
    """The last possible state takes what rounding left over: a state of probability zero is never drawn."""
    cumulative = np.cumsum(table, axis=1)
    return np.where(cumulative >= cumulative[:, -1:], np.inf, cumulative)


def _draw_slice(
    network: Sliced, part: Slice, place: dict[str, int], codes: NDArray[Any], uniform: Floats, t: int
) -> None:
    for name in _order(part):
        parents = part[name].parents
        kind = np.uint8 if max(len(labels) for labels in network.states.values()) <= 255 else np.uint16
        given = np.array([codes[place[p], :, t - lag] for p, lag in parents], dtype=kind).reshape(len(parents), -1)
        rows = _cumulative(part[name].rows(given if len(parents) else np.zeros((0, codes.shape[1]), kind)))
        codes[place[name], :, t] = (uniform[place[name], :, t, None] >= rows).sum(axis=1)


def _with_numbers(
    network: Sliced, drawn: Sequences, flat: NDArray[Any], place: dict[str, int], rng: np.random.Generator
) -> Sequences:
    numbers = {}
    for name, cpd in network.numbers.items():
        given = tuple(flat[place[parent]] for parent in cpd.parents)
        noise = rng.standard_normal(drawn.n_slices)
        numbers[name] = cpd.means[given] + cpd.deviations[given] * noise
    return replace(drawn, numbers=numbers) if numbers else drawn
