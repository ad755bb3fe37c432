"""Hidden chains over slices: each has its own states and moves, and some columns depend on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import as_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, feature_table
from leverrier.data.table import Variable
from leverrier.kernels.chains.scaled_passes import backward_counts, forward
from leverrier.models.slices.shaped_cpd import SingleCPD

SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Chain:
    """A hidden variable that moves from state to state by itself."""

    name: str
    initial: Floats
    transition: Floats

    @property
    def states(self) -> int:
        return len(self.initial)

    @property
    def persistence(self) -> Floats:
        """By state, the probability of staying in it for one more slice."""
        return np.diag(self.transition).copy()

    @property
    def dwell(self) -> Floats:
        """By state, for how many slices it lasts on average."""
        return 1.0 / np.maximum(1.0 - self.persistence, 1e-12)

    @property
    def dimension(self) -> int:
        return (self.states + 1) * (self.states - 1)


ChainsAhead = dict[str, tuple[NDArray[np.int64], Floats]]
"""By hidden chain: drawn states (steps, draws), and its exact distribution at each step after a sequence."""


class _Steps(NamedTuple):
    """What the way forward leaves for the way back: see `kernels.forward_backward`."""

    likelihood: Floats
    which: NDArray[np.int64]
    raw: Floats
    totals: Floats


@dataclass(frozen=True, eq=False)
class ChainModel:
    """P(slice | the past, hidden states) as a product over columns, summed over hidden chains."""

    variables: tuple[Variable, ...]
    cpds: Mapping[str, SingleCPD]
    chains: tuple[Chain, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(chain.states for chain in self.chains)

    @cached_property
    def initial(self) -> Floats:
        """Of the joint hidden state, the last chain running fastest."""
        return _product([chain.initial for chain in self.chains], np.ones(1))

    @cached_property
    def transition(self) -> Floats:
        return _product([chain.transition for chain in self.chains], np.ones((1, 1)))

    @cached_property
    def _hidden(self) -> dict[Feature, int]:
        return {Lag(chain.name, 0): i for i, chain in enumerate(self.chains)}

    def asked(self, name: str) -> tuple[Feature, ...]:
        """What a column depends on, hidden chains included."""
        cpd = self.cpds[name]
        return tuple(cpd.parents[f] for f in cpd.used)

    def driven(self, chain: str) -> tuple[str, ...]:
        """The columns that depend on a chain."""
        return tuple(name for name in self.cpds if Lag(chain, 0) in self.asked(name))

    @property
    def lags(self) -> int:
        return max((f.lag for name in self.cpds for f in self.asked(name) if isinstance(f, Lag)), default=0)

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return sum(cpd.dimension for cpd in self.cpds.values()) + sum(chain.dimension for chain in self.chains)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        return tuple((parent.name, name) for name in self.cpds for parent in self.asked(name))

    def emissions(self, data: Any) -> Floats:
        """(slices, joint states): ln P(slice | the past, joint hidden state)."""
        sequences = self._aligned(data)
        observed = tuple(dict.fromkeys(f for n in self.cpds for f in self.asked(n) if f not in self._hidden))
        table = feature_table(sequences.table, sequences.starts, observed)
        place = {feature: i for i, feature in enumerate(observed)}
        joint = len(self.initial)
        states = np.array(np.unravel_index(np.arange(joint), self.sizes), dtype=np.uint8)
        total = np.zeros((sequences.n_slices, joint))
        for variable, cells in zip(self.variables, sequences.table.codes, strict=True):
            cpd = self.cpds[variable.name].compacted()
            seen = np.flatnonzero(cells != sequences.table.missing)
            child = cells[seen].astype(np.int64)
            codes = np.zeros((len(cpd.parents), len(seen)), dtype=table.codes.dtype)
            own = [(row, self._hidden[p]) for row, p in enumerate(cpd.parents) if p in self._hidden]
            for row, parent in enumerate(cpd.parents):
                if parent not in self._hidden:
                    codes[row] = table.codes[place[parent], seen]
            for state in range(joint if own else 1):
                for row, chain in own:
                    codes[row] = states[chain, state]
                part = np.log(np.maximum(cpd.probabilities(child, codes), SMALLEST))
                if own:
                    total[seen, state] += part
                else:
                    total[seen] += part[:, None]
        return total

    def expected(self, data: Any, name: str, joint: Floats) -> Floats:
        """(slices, states): a column's distribution given the past and these joint posteriors of the hidden states."""
        sequences = self._aligned(data)
        cpd = self.cpds[name].compacted()
        observed = tuple(p for p in cpd.parents if p not in self._hidden)
        table = feature_table(sequences.table, sequences.starts, observed)
        codes = np.zeros((len(cpd.parents), sequences.n_slices), dtype=table.codes.dtype)
        own = [(row, self._hidden[p]) for row, p in enumerate(cpd.parents) if p in self._hidden]
        codes[[row for row, p in enumerate(cpd.parents) if p not in self._hidden]] = table.codes
        if not own:
            return cpd.rows(codes)
        states = np.array(np.unravel_index(np.arange(joint.shape[1]), self.sizes), dtype=np.uint8)
        total = np.zeros((sequences.n_slices, cpd.states))
        for state in range(joint.shape[1]):
            for row, chain in own:
                codes[row] = states[chain, state]
            total += joint[:, state, None] * cpd.rows(codes)
        return total

    def slice_log_likelihood(self, data: Any) -> Floats:
        """ln P(slice | the slices before it), hidden chains summed out."""
        sequences = self._aligned(data)
        return filtered(self, self.emissions(sequences), sequences.starts)[0]

    def surprise(self, data: Any) -> Floats:
        """What each slice cost in bits, given the slices before it."""
        return -self.slice_log_likelihood(data) / np.log(2)

    def log_likelihood(self, data: Any) -> float:
        return float(self.slice_log_likelihood(data).sum())

    def bits_per_slice(self, data: Any) -> float:
        return float(self.surprise(data).mean())

    def posterior(self, data: Any) -> dict[str, Floats]:
        """By chain (slices, states): P(state | all slices of the sequence)."""
        sequences = self._aligned(data)
        joint = smoothed(self, self.emissions(sequences), sequences.starts)[0]
        return {chain.name: marginal(joint, self.sizes, i) for i, chain in enumerate(self.chains)}

    def chains_ahead(self, sequence: Sequences, steps: int, draws: int, rng: np.random.Generator) -> ChainsAhead:
        now = smoothed(self, self.emissions(sequence), sequence.starts)[0][-1]  # (at the end the past is all there is)
        joint = np.empty((steps, draws), dtype=np.int64)
        states = rng.choice(len(now), size=draws, p=now / now.sum())
        shares = {chain.name: np.empty((steps, chain.states)) for chain in self.chains}
        for step in range(steps):
            now = now @ self.transition
            states = joint[step] = drawn_states(self.transition[states], rng)
            each = now.reshape(self.sizes)
            for i, chain in enumerate(self.chains):
                shares[chain.name][step] = each.sum(axis=tuple(a for a in range(each.ndim) if a != i))
        parts = np.unravel_index(joint, self.sizes)
        return {chain.name: (parts[i], shares[chain.name]) for i, chain in enumerate(self.chains)}

    def _aligned(self, data: Any) -> Sequences:
        return as_sequences(data, {variable.name: variable.states for variable in self.variables})

    def __repr__(self) -> str:
        sizes = ", ".join(f"{chain.name} of {chain.states}" for chain in self.chains)
        return f"ChainModel({len(self.variables)} columns, {sizes} states, {self.dimension} parameters)"


def _product(parts: Sequence[Floats], one: Floats) -> Floats:
    """Of independent parts, the last running fastest."""
    for part in parts:
        one = np.kron(one, part).astype(np.float64)
    return one


def filtered(model: ChainModel, emissions: Floats, starts: NDArray[np.int64]) -> tuple[Floats, _Steps]:
    """ln P(slice | before), and what smoothing goes on from."""
    top = emissions.max(axis=1)
    likelihood = np.exp(emissions - top[:, None])
    which = np.zeros(len(likelihood), dtype=np.int64)
    which[starts[:-1]] = -1
    likelihood[starts[:-1]] *= model.initial  # (a sequence begins with its states' first chances)
    raw, totals = np.empty_like(likelihood), np.empty(len(likelihood))
    forward(model.transition[None], likelihood, which, np.arange(len(likelihood)), raw, totals)
    return np.log(np.maximum(totals, SMALLEST)) + top, _Steps(likelihood, which, raw, totals)


def smoothed(model: ChainModel, emissions: Floats, starts: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
    """Joint posteriors by slice, expected moves, expected first states, and ln P(slice | before)."""
    logs, steps = filtered(model, emissions, starts)
    posterior, shown = np.empty_like(steps.raw), np.zeros_like(steps.raw)
    moves = np.zeros((1, *model.transition.shape))
    turned = np.ascontiguousarray(model.transition.T)[None]
    backward_counts(
        turned, steps.likelihood, steps.which, np.arange(len(logs)), steps.raw, steps.totals, posterior, shown, moves
    )
    return posterior, moves[0] * model.transition, posterior[starts[:-1]].sum(axis=0), logs


def marginal(joint: Floats, sizes: tuple[int, ...], chain: int) -> Floats:
    """Of one chain, from (slices, joint states)."""
    whole = joint.reshape(len(joint), *sizes)
    return whole.sum(axis=tuple(i + 1 for i in range(len(sizes)) if i != chain))


def drawn_states(rows: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """A state for each row of probabilities."""
    places = (rng.random(len(rows))[:, None] > np.cumsum(rows, axis=1)).sum(axis=1)
    return np.minimum(places, rows.shape[1] - 1)
