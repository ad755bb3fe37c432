"""Hidden chains over slices: each has its own states and moves, and some columns depend on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.read_sequences import as_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, feature_table
from leverrier.data.table import Variable
from leverrier.models.slices.chain_passes import SMALLEST, best_path, marginal, smoothed
from leverrier.models.slices.chain_passes import filtered as forth
from leverrier.models.slices.shaped_cpd import SingleCPD

if TYPE_CHECKING:
    from leverrier.models.slices.slice_filter import SliceFilter
    from leverrier.models.slices.slice_forecast import SliceForecast


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


@dataclass(frozen=True, eq=False)
class ChainModel:
    """P(slice | the past, hidden states) as a product over columns, summed over hidden chains."""

    variables: tuple[Variable, ...]
    cpds: Mapping[str, SingleCPD]
    chains: tuple[Chain, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(chain.states for chain in self.chains)

    @property
    def chain_names(self) -> tuple[str, ...]:
        return tuple(chain.name for chain in self.chains)

    @property
    def initial(self) -> Floats:
        """Of the joint hidden state, the last chain running fastest."""
        return self._joint[0]

    @property
    def transition(self) -> Floats:
        return self._joint[1]

    @cached_property
    def _joint(self) -> tuple[Floats, Floats]:
        first = _product([chain.initial for chain in self.chains], np.ones(1))
        return first, _product([chain.transition for chain in self.chains], np.ones((1, 1)))

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
        return forth(self, self.emissions(sequences), sequences.starts)[0]

    def log_likelihood(self, data: Any) -> float:
        return float(self.slice_log_likelihood(data).sum())

    def surprise(self, data: Any) -> Floats:
        """What each slice cost in bits, given the slices before it."""
        return -self.slice_log_likelihood(data) / np.log(2)

    def bits_per_slice(self, data: Any) -> float:
        return float(self.surprise(data).mean())

    def posterior(self, data: Any, *, filtered: bool = False) -> dict[str, Floats]:
        """By chain (slices, states): P(state | all slices of the sequence), or given the slices so far."""
        sequences = self._aligned(data)
        emissions = self.emissions(sequences)
        if filtered:
            steps = forth(self, emissions, sequences.starts)[1]
            joint = steps.raw / np.maximum(steps.totals, SMALLEST)[:, None]
        else:
            joint = smoothed(self, emissions, sequences.starts)[0]
        return {chain.name: marginal(joint, self.sizes, i) for i, chain in enumerate(self.chains)}

    def most_probable_path(self, data: Any) -> dict[str, Integers]:
        """By chain and slice, the states on the most probable path of all chains together."""
        sequences = self._aligned(data)
        joint = best_path(self, self.emissions(sequences), sequences.starts)
        states = np.unravel_index(joint, self.sizes)
        return {chain.name: own.astype(np.int64) for chain, own in zip(self.chains, states, strict=True)}

    def time_spent(self, data: Any) -> dict[str, Floats]:
        """By chain (sequences, states): slices that each sequence is expected to have spent in each state."""
        sequences = self._aligned(data)
        shares = self.posterior(sequences)
        return {name: np.add.reduceat(own, sequences.starts[:-1], axis=0) for name, own in shares.items()}

    @property
    def dwell(self) -> dict[str, Floats]:
        """By chain and state, for how many slices it lasts on average."""
        return {chain.name: chain.dwell for chain in self.chains}

    def unlike(self, data: Any, *, draws: int = 199, seed: int = 0) -> Floats:
        """By slice, how often the states that it is most like would show something as unlikely: anomalies are near 0.

        `surprise` asks whether a slice was to be expected now; this asks whether it is like any states at all.
        """
        from leverrier.models.slices.unlike_slices import unlike_slices

        return unlike_slices(self, self._aligned(data), draws, seed).max(axis=1)

    def filter(self) -> SliceFilter:
        """Follows one sequence, a row at a time."""
        from leverrier.models.slices.slice_filter import SliceFilter

        return SliceFilter(self)

    def forecast(
        self, data: Any, steps: int = 1, *, interval: float = 0.9, draws: int = 500, seed: int = 0
    ) -> SliceForecast:
        """What comes after each sequence, by simulation: chances of states, and the futures that were drawn."""
        from leverrier.models.slices.slice_forecast import forecast

        return forecast(self, data, steps, interval, draws, seed)

    def sample(self, n: int = 1, length: int = 100, *, seed: int = 0) -> Sequences:
        """So many sequences drawn from the model."""
        from leverrier.models.slices.slice_forecast import sampled

        return sampled(self, n, length, seed)

    def now(self, sequence: Sequences) -> Floats:
        """P(joint hidden state | a whole sequence) at its last slice: at the end the past is all there is."""
        return smoothed(self, self.emissions(sequence), sequence.starts)[0][-1]

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
