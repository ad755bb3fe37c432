"""What comes after a sequence, by sampling a model of slices on: memories have no table to compute it from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import as_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, Memory, MemoryKind, feature_table
from leverrier.data.table import Table
from leverrier.models.slices.chain_model import ChainModel, drawn_states
from leverrier.models.slices.slice_model import SliceModel

BACK = 1000
"""So many slices of the past are kept: what memories know of older ones is next to nothing."""
MOST_SLICES, LEAST = 400_000, 20
"""All draws together have at most so many slices, but there are a few of them in any case."""


def simulate(
    model: SliceModel | ChainModel,
    sequence: Sequences,
    steps: int,
    draws: int,
    rng: np.random.Generator,
    order: Sequence[str] = (),
) -> dict[str, Floats]:
    """By column and hidden chain (steps, states): what is expected so many slices after a single sequence.

    Futures are drawn; what is averaged are their distributions, not the draws. `order` has the columns of a slice
    after those they ask.
    """
    one = as_sequences(sequence, {variable.name: variable.states for variable in model.variables})
    asked = tuple(dict.fromkeys(f for name in model.cpds for f in model.asked(name)))
    keep = one.n_slices if any(isinstance(f, Memory) and f.kind is MemoryKind.TOTAL for f in asked) else BACK
    past = one.table.codes[:, -keep:]
    draws = min(draws, max(LEAST, MOST_SLICES // past.shape[1]))
    codes = np.repeat(np.pad(past, ((0, 0), (0, steps)), constant_values=one.table.missing)[:, None], draws, axis=1)
    chains = model.chains_ahead(one, steps, draws, rng)
    hidden = {Lag(name, 0): states for name, (states, _) in chains.items()}
    out = {name: shares for name, (_, shares) in chains.items()}
    out |= {variable.name: np.zeros((steps, variable.cardinality)) for variable in model.variables}
    before = tuple(f for f in asked if f not in hidden and not (isinstance(f, Lag) and f.lag == 0))
    for step in range(steps):
        here = past.shape[1] + step
        known = dict(zip(before, _features(one.table, codes[:, :, : here + 1], before), strict=True))
        for name in order or one.variables:
            cpd = model.cpds[name].compacted()
            parents = [_codes(p, known, hidden, codes, one.table, here, step) for p in cpd.parents]
            kind = np.uint16 if max(cpd.cardinalities, default=0) > 256 else np.uint8
            rows = cpd.rows(np.array(parents, dtype=kind) if parents else np.zeros((0, draws), dtype=kind))
            out[name][step] = rows.mean(axis=0)
            codes[one.table.index(name), :, here] = drawn_states(rows, rng)
    return out


def _features(table: Table, codes: NDArray[np.unsignedinteger], features: tuple[Feature, ...]) -> list[NDArray]:
    """Of every draw's newest slice."""
    _, draws, length = codes.shape
    grown = Table(table.columns, np.ascontiguousarray(codes.reshape(len(codes), -1)))
    found = feature_table(grown, np.arange(draws + 1) * length, features)
    return list(found.codes[:, length - 1 :: length])


def _codes(
    parent: Feature,
    known: dict[Feature, NDArray],
    hidden: dict[Lag, NDArray],
    codes: NDArray,
    table: Table,
    here: int,
    step: int,
) -> NDArray:
    if parent in known:
        return known[parent]
    if isinstance(parent, Lag) and parent in hidden:
        return hidden[parent][step]
    return codes[table.index(parent.variable), :, here]


def drawn_slices(
    model: SliceModel, sequences: Sequences, draws: int, rng: np.random.Generator, order: Sequence[str] = ()
) -> list[Sequences]:
    """So many times the sequences as the model would have them: their lengths and holes stay, all else is drawn."""
    table, lengths = sequences.table, np.tile(sequences.lengths, draws)
    longest = int(lengths.max(initial=0))
    codes = np.full((len(table.columns), len(lengths), longest), table.missing, dtype=table.codes.dtype)
    cpds = {name: model.cpds[name].compacted() for name in order or sequences.variables}
    before = tuple(f for f in model.features if not (isinstance(f, Lag) and f.lag == 0))
    remembered = tuple(f for f in before if isinstance(f, Memory))
    for t in range(longest):
        going = np.flatnonzero(lengths > t)
        past = codes[:, going, : t + 1]
        known: dict[Feature, NDArray] = dict(zip(remembered, _features(table, past, remembered), strict=True))
        known |= {f: _lagged_codes(f, past, table, t) for f in before if isinstance(f, Lag)}
        for name, cpd in cpds.items():
            parents = [_codes(p, known, {}, past, table, t, 0) for p in cpd.parents]
            kind = np.uint16 if max(cpd.cardinalities, default=0) > 256 else np.uint8
            rows = cpd.rows(np.array(parents, dtype=kind) if parents else np.zeros((0, len(going)), dtype=kind))
            past[table.index(name), :, t] = drawn_states(rows, rng)
        codes[:, going, t] = past[:, :, t]
    whole = np.arange(longest) < sequences.lengths[:, None]
    split = codes.reshape(len(codes), draws, len(sequences), longest)
    holes = table.codes == table.missing
    made = [np.where(holes, table.missing, split[:, draw][:, whole]).astype(table.codes.dtype) for draw in range(draws)]
    return [sequences.with_table(Table(table.columns, each)) for each in made]


def _lagged_codes(feature: Lag, codes: NDArray, table: Table, here: int) -> NDArray:
    """Of the slice so many before; one beyond the states where there is none."""
    place = table.index(feature.variable)
    unknown = table.columns[place].cardinality
    if here < feature.lag:
        return np.full(codes.shape[1], unknown)
    cells = codes[place, :, here - feature.lag].astype(np.int64)
    return np.where(cells == table.missing, unknown, cells)
