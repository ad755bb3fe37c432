"""A model of each slice given what came before it, without hidden variables: lags, memories, trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import as_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, Memory, feature_table
from leverrier.data.table import Variable
from leverrier.models.slices.chain_model import Chain
from leverrier.models.slices.shaped_cpd import CPD, SameElseCPD, StepCPD

if TYPE_CHECKING:
    from leverrier.models.slices.slice_filter import SliceFilter
    from leverrier.models.slices.slice_forecast import SliceForecast

SMALLEST = 1e-300
HOW = {SameElseCPD: "same as before, else: ", StepCPD: "before, and a step: "}


@dataclass(frozen=True, eq=False)
class SliceModel:
    """P(slice | the past) as a product over columns; every CPD's parents are features of `data.slice_features`."""

    variables: tuple[Variable, ...]
    cpds: Mapping[str, CPD]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """All that some column asks."""
        return tuple(dict.fromkeys(parent for name in self.cpds for parent in self.asked(name)))

    def asked(self, name: str) -> tuple[Feature, ...]:
        """What a column depends on."""
        cpd = self.cpds[name]
        return tuple(cpd.parents[f] for f in cpd.used)

    @property
    def lags(self) -> int:
        """How many slices back some column looks."""
        return max((feature.lag for feature in self.features if isinstance(feature, Lag)), default=0)

    @property
    def chains(self) -> tuple[Chain, ...]:
        """None is hidden."""
        return ()

    @property
    def chain_names(self) -> tuple[str, ...]:
        return ()

    @property
    def sizes(self) -> tuple[int, ...]:
        return ()

    @property
    def initial(self) -> Floats:
        return np.ones(1)

    @property
    def transition(self) -> Floats:
        """Of the one state there is."""
        return np.ones((1, 1))

    def now(self, sequence: Sequences) -> Floats:  # noqa: ARG002
        return np.ones(1)

    @property
    def memories(self) -> tuple[Memory, ...]:
        return tuple(feature for feature in self.features if isinstance(feature, Memory))

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return sum(cpd.dimension for cpd in self.cpds.values())

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        return tuple((parent.name, name) for name in self.cpds for parent in self.asked(name))

    def column_log_likelihood(self, data: Any) -> Floats:
        """(columns, slices): ln P(cell | the past and earlier columns), 0 where the cell is a hole."""
        sequences = self._aligned(data)
        table = feature_table(sequences.table, sequences.starts, self.features)
        place = {feature: i for i, feature in enumerate(self.features)}
        out = np.zeros((len(self.variables), sequences.n_slices))
        for row, (variable, cells) in enumerate(zip(self.variables, sequences.table.codes, strict=True)):
            cpd = self.cpds[variable.name].compacted()
            seen = np.flatnonzero(cells != sequences.table.missing)
            asked = np.ascontiguousarray(table.codes[[place[p] for p in cpd.parents]][:, seen])
            out[row, seen] = np.log(np.maximum(cpd.probabilities(cells[seen].astype(np.int64), asked), SMALLEST))
        return out

    def surprise(self, data: Any) -> Floats:
        """−log2 P(slice | the past), by slice: what each slice cost in bits."""
        return -self.column_log_likelihood(data).sum(axis=0) / np.log(2)

    def log_likelihood(self, data: Any) -> float:
        return float(self.column_log_likelihood(data).sum())

    def bits_per_slice(self, data: Any) -> float:
        """Mean cost of a slice in bits; the first slices of sequences are counted too."""
        return float(self.surprise(data).mean())

    def emissions(self, data: Any) -> Floats:
        """(slices, 1): ln P(slice | the past)."""
        return self.column_log_likelihood(data).sum(axis=0)[:, None]

    def posterior(self, data: Any) -> dict[str, Floats]:  # noqa: ARG002
        """Of no hidden chain."""
        return {}

    def unlike(self, data: Any, *, draws: int = 199, seed: int = 0) -> Floats:
        """By slice, how often what is to be expected after its past would show something as unlikely."""
        from leverrier.models.slices.unlike_slices import unlike_slices

        return unlike_slices(self, self._aligned(data), draws, seed)[:, 0]

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

    def predict(self, data: Any, name: str) -> Floats:
        """(slices, states): P(column | the past and the columns before it), whether or not its cell is seen."""
        sequences = self._aligned(data)
        cpd = self.cpds[name].compacted()
        table = feature_table(sequences.table, sequences.starts, cpd.parents)
        return cpd.rows(table.codes)

    def described(self) -> str:
        """One line a column: what it depends on."""
        lines = []
        for variable in self.variables:
            asked = [feature.name for feature in self.asked(variable.name)]
            how = HOW.get(type(self.cpds[variable.name]), "")
            lines.append(f"{variable.name} ← {how}{', '.join(asked) or 'nothing'}")
        return "\n".join(lines)

    def _aligned(self, data: Any) -> Sequences:
        return as_sequences(data, {variable.name: variable.states for variable in self.variables})

    def __repr__(self) -> str:
        return f"SliceModel({len(self.variables)} columns, {self.lags} lags, {self.dimension} parameters)"
