"""What a model of slices would draw: what comes after a sequence, and sequences anew. Memories have no table to compute
it from, so futures are simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import as_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, Memory, MemoryKind, feature_table
from leverrier.data.table import Table, Variable
from leverrier.errors import OptionError
from leverrier.models.dynamic.dynamic_forecast import Expected
from leverrier.models.slices.chain_passes import drawn_states, marginal
from leverrier.models.slices.shaped_cpd import CPD

BACK = 1000
"""So many slices of the past are kept: what memories know of older ones is next to nothing."""
MOST_SLICES, LEAST = 400_000, 20
"""All draws together have at most so many slices, but there are a few of them in any case."""


class Simulated(Protocol):
    """What slices are drawn from: columns over their past and over hidden chains, if there are any."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def cpds(self) -> Mapping[str, CPD]: ...

    @property
    def initial(self) -> Floats: ...

    @property
    def transition(self) -> Floats: ...

    @property
    def chain_names(self) -> tuple[str, ...]: ...

    @property
    def sizes(self) -> tuple[int, ...]: ...

    def asked(self, name: str) -> tuple[Feature, ...]: ...

    def now(self, sequence: Sequences) -> Floats:
        """P(joint hidden state | a whole sequence) at its last slice."""
        ...


@dataclass(frozen=True, eq=False)
class SliceForecast(Expected):
    """What is to be expected after each sequence, from futures that were drawn."""

    cells: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, repr=False)
    """By column (sequences, draws, steps): the states of the simulated futures, by their place among `states`."""


def column_order(model: Simulated) -> tuple[str, ...]:
    """The columns of a slice after those of the same slice that they ask."""
    names = {variable.name for variable in model.variables}
    asked = {
        name: [f.variable for f in model.asked(name) if isinstance(f, Lag) and f.lag == 0 and f.variable in names]
        for name in model.cpds
    }
    return tuple(TopologicalSorter(asked).static_order())


def forecast(model: Simulated, data: Any, steps: int, interval: float, draws: int, seed: int) -> SliceForecast:
    """By simulation from where each sequence ends."""
    if steps < 1 or draws < 1 or not 0 < interval < 1:
        raise OptionError(f"steps={steps}, draws={draws}, interval={interval}: expected 1 or more and a share")
    sequences = as_sequences(data, {variable.name: variable.states for variable in model.variables})
    rng = np.random.default_rng(seed)
    futures = [_futures(model, one, steps, draws, rng, column_order(model)) for one in sequences]
    shares = {name: np.stack([found[name] for found, _ in futures]) for name in futures[0][0]}
    cells = {name: np.stack([drawn[name] for _, drawn in futures]) for name in futures[0][1]}
    labels = {variable.name: variable.states for variable in model.variables}
    labels |= {name: tuple(range(k)) for name, k in zip(model.chain_names, model.sizes, strict=True)}
    return SliceForecast(sequences.names, steps, interval, labels, shares, {}, cells)


def simulate(
    model: Simulated, sequence: Sequences, steps: int, draws: int, rng: np.random.Generator, order: Sequence[str] = ()
) -> dict[str, Floats]:
    """By column and hidden chain (steps, states): what is expected so many slices after a single sequence.

    Futures are drawn; what is averaged are their distributions, not the draws. `order` has the columns of a slice
    after those they ask.
    """
    one = as_sequences(sequence, {variable.name: variable.states for variable in model.variables})
    kept = min(_looked_back(model, one), one.n_slices)
    fewer = min(draws, max(LEAST, MOST_SLICES // kept))
    return _futures(model, one, steps, fewer, rng, order or column_order(model))[0]


def _asked(model: Simulated) -> tuple[Feature, ...]:
    return tuple(dict.fromkeys(feature for name in model.cpds for feature in model.asked(name)))


def _looked_back(model: Simulated, one: Sequences) -> int:
    """So many slices of a sequence are kept."""
    totals = any(isinstance(f, Memory) and f.kind is MemoryKind.TOTAL for f in _asked(model))
    return one.n_slices if totals else BACK


def _futures(
    model: Simulated, one: Sequences, steps: int, draws: int, rng: np.random.Generator, order: Sequence[str]
) -> tuple[dict[str, Floats], dict[str, NDArray[np.int64]]]:
    """Distributions by step, and what was drawn by column (draws, steps)."""
    asked = _asked(model)
    past = one.table.codes[:, -_looked_back(model, one) :]
    codes = np.repeat(np.pad(past, ((0, 0), (0, steps)), constant_values=one.table.missing)[:, None], draws, axis=1)
    hidden, out = _chains_ahead(model, one, steps, draws, rng)
    out |= {variable.name: np.zeros((steps, variable.cardinality)) for variable in model.variables}
    before = _earlier(asked, hidden)
    for step in range(steps):
        here = past.shape[1] + step
        known = dict(zip(before, _features(one.table, codes[:, :, : here + 1], before), strict=True))
        for name in order:
            cpd = model.cpds[name].compacted()
            parents = [_codes(p, known, hidden, codes, one.table, here, step) for p in cpd.parents]
            rows = cpd.rows(_asked_codes(parents, cpd, draws))
            out[name][step] = rows.mean(axis=0)
            codes[one.table.index(name), :, here] = drawn_states(rows, rng)
    ahead = codes[:, :, past.shape[1] :].astype(np.int64)
    return out, {name: ahead[one.table.index(name)] for name in order}


def _earlier(asked: Iterable[Feature], hidden: Mapping[Lag, Any]) -> tuple[Feature, ...]:
    """What is known before a slice is drawn."""
    return tuple(f for f in asked if f not in hidden and not (isinstance(f, Lag) and f.lag == 0))


def _asked_codes(parents: list[NDArray], cpd: CPD, rows: int) -> NDArray:
    kind = np.uint16 if max(cpd.cardinalities, default=0) > 256 else np.uint8
    return np.array(parents, dtype=kind) if parents else np.zeros((0, rows), dtype=kind)


def _chains_ahead(
    model: Simulated, one: Sequences, steps: int, draws: int, rng: np.random.Generator
) -> tuple[dict[Lag, NDArray[np.int64]], dict[str, Floats]]:
    """By hidden chain: drawn states (steps, draws), and its exact distribution at each step after a sequence."""
    if not model.sizes:
        return {}, {}
    now = model.now(one)
    joint = np.empty((steps, draws), dtype=np.int64)
    states = rng.choice(len(now), size=draws, p=now / now.sum())
    shares = {name: np.empty((steps, k)) for name, k in zip(model.chain_names, model.sizes, strict=True)}
    for step in range(steps):
        now = now @ model.transition
        states = joint[step] = drawn_states(model.transition[states], rng)
        for i, name in enumerate(model.chain_names):
            shares[name][step] = marginal(now[None], model.sizes, i)[0]
    return _by_chain(model, joint), shares


def _by_chain(model: Simulated, joint: NDArray[np.int64]) -> dict[Lag, NDArray[np.int64]]:
    parts = np.unravel_index(joint, model.sizes)
    return {Lag(name, 0): part for name, part in zip(model.chain_names, parts, strict=True)}


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
    model: Simulated, sequences: Sequences, draws: int, rng: np.random.Generator, order: Sequence[str] = ()
) -> list[Sequences]:
    """So many times the sequences as the model would have them: their lengths and holes stay, all else is drawn."""
    table, lengths = sequences.table, np.tile(sequences.lengths, draws)
    longest = int(lengths.max(initial=0))
    codes = np.full((len(table.columns), len(lengths), longest), table.missing, dtype=table.codes.dtype)
    cpds = {name: model.cpds[name].compacted() for name in order or column_order(model)}
    hidden = _drawn_chains(model, len(lengths), longest, rng)
    before = _earlier(_asked(model), hidden)
    remembered = tuple(f for f in before if isinstance(f, Memory))
    for t in range(longest):
        going = np.flatnonzero(lengths > t)
        past = codes[:, going, : t + 1]
        known: dict[Feature, NDArray] = dict(zip(remembered, _features(table, past, remembered), strict=True))
        known |= {f: _lagged_codes(f, past, table, t) for f in before if isinstance(f, Lag)}
        known |= {f: states[t, going] for f, states in hidden.items()}
        for name, cpd in cpds.items():
            parents = [_codes(p, known, {}, past, table, t, 0) for p in cpd.parents]
            rows = cpd.rows(_asked_codes(parents, cpd, len(going)))
            past[table.index(name), :, t] = drawn_states(rows, rng)
        codes[:, going, t] = past[:, :, t]
    whole = np.arange(longest) < sequences.lengths[:, None]
    split = codes.reshape(len(codes), draws, len(sequences), longest)
    holes = table.codes == table.missing
    made = [np.where(holes, table.missing, split[:, draw][:, whole]).astype(table.codes.dtype) for draw in range(draws)]
    return [sequences.with_table(Table(table.columns, each)) for each in made]


def sampled(model: Simulated, n: int, length: int, seed: int) -> Sequences:
    """So many sequences of one length."""
    if n < 1 or length < 1:
        raise OptionError(f"n={n}, length={length}: expected at least 1 of each")
    empty = Table(model.variables, np.zeros((len(model.variables), n * length), dtype=np.uint8))
    like = Sequences.from_table(empty, np.arange(0, n * length + 1, length))
    return drawn_slices(model, like, 1, np.random.default_rng(seed))[0]


def _drawn_chains(model: Simulated, n: int, length: int, rng: np.random.Generator) -> dict[Lag, NDArray[np.int64]]:
    """By hidden chain (slices, sequences)."""
    if not model.sizes:
        return {}
    joint = np.empty((length, n), dtype=np.int64)
    for t in range(length):
        chance = np.repeat(model.initial[None], n, axis=0) if t == 0 else model.transition[joint[t - 1]]
        joint[t] = drawn_states(chance, rng)
    return _by_chain(model, joint)


def _lagged_codes(feature: Lag, codes: NDArray, table: Table, here: int) -> NDArray:
    """Of the slice so many before; one beyond the states where there is none."""
    place = table.index(feature.variable)
    unknown = table.columns[place].cardinality
    if here < feature.lag:
        return np.full(codes.shape[1], unknown)
    cells = codes[place, :, here - feature.lag].astype(np.int64)
    return np.where(cells == table.missing, unknown, cells)
