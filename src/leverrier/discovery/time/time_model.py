"""One face for the models of sequences: networks in time, and slices with or without hidden chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, Lag, Memory
from leverrier.data.table import Label, Variable
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference
from leverrier.models.regimes.emission import Family
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.slices.chain_model import ChainModel
from leverrier.models.slices.shaped_cpd import CPD
from leverrier.models.slices.slice_model import SliceModel

Model = ChainModel | SliceModel | DynamicNetwork | RegimeModel
DRAWS = 200
"""Futures that are simulated where they cannot be computed."""


class TimeModel(Protocol):
    """What can be asked of a model of sequences."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns."""
        ...

    @property
    def states(self) -> dict[str, tuple[Label, ...]]:
        """By node of a slice that has states, their labels."""
        ...

    @property
    def lags(self) -> int:
        """How many slices back something looks."""
        ...

    @property
    def asked(self) -> dict[str, tuple[Feature, ...]]:
        """By node of a slice, what it depends on."""
        ...

    @property
    def trees(self) -> Mapping[str, CPD]:
        """Columns whose distribution is a tree over what they ask…"""
        ...

    @property
    def tables(self) -> dict[str, Floats]:
        """…and nodes whose distribution is a table over it."""
        ...

    @property
    def network(self) -> DynamicNetwork | None:
        """As a network in time; None where it keeps memories, which no network of lags has."""
        ...

    @property
    def laws(self) -> RegimeModel | None:
        """The model itself where columns have laws of their own."""
        ...

    def posterior(self, sequences: Sequences) -> dict[str, Floats]:
        """By hidden variable (slices, states)."""
        ...

    def bits_per_slice(self, sequences: Sequences) -> float: ...

    def ahead(self, sequence: Sequences, steps: int, seed: int) -> dict[str, Floats]:
        """By node (steps, states): what comes after a sequence."""
        ...


@dataclass(frozen=True, eq=False)
class NetworkInTime:
    """A network in time."""

    network: DynamicNetwork
    inference: Inference
    trees: Mapping[str, CPD] = field(default_factory=dict)
    laws: None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(Variable(name, self.network.states[name]) for name in self.network.observed)

    @property
    def states(self) -> dict[str, tuple[Label, ...]]:
        return {name: tuple(labels) for name, labels in self.network.states.items()}

    @property
    def lags(self) -> int:
        return self.network.order

    @property
    def asked(self) -> dict[str, tuple[Feature, ...]]:
        network = self.network
        return {name: tuple(Lag(*node) for node in network.parents(name)) for name in network.variables}

    @property
    def tables(self) -> dict[str, Floats]:
        return {name: cpd.table() for name, cpd in self.network.transition.items()}

    def posterior(self, sequences: Sequences) -> dict[str, Floats]:
        return {name: self.network.posterior(sequences, name, self.inference) for name in self.network.hidden}

    def bits_per_slice(self, sequences: Sequences) -> float:
        return self.network.bits_per_slice(sequences, self.inference)

    def ahead(self, sequence: Sequences, steps: int, seed: int) -> dict[str, Floats]:  # noqa: ARG002
        return {name: table[0] for name, table in self.network.forecast(sequence, steps).probabilities.items()}


@dataclass(frozen=True, eq=False)
class Slices:
    """Trees over lags and memories, with or without hidden chains."""

    model: SliceModel | ChainModel
    order: Sequence[str]
    """In which the columns of a slice follow each other."""
    laws: None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.model.variables

    @property
    def states(self) -> dict[str, tuple[Label, ...]]:
        return {variable.name: variable.states for variable in self.variables}

    @property
    def lags(self) -> int:
        return self.model.lags

    @property
    def asked(self) -> dict[str, tuple[Feature, ...]]:
        asked: dict[str, tuple[Feature, ...]] = {name: self.model.asked(name) for name in self.model.cpds}
        return {**asked, **{chain.name: (Lag(chain.name, 1),) for chain in self.model.chains}}

    @property
    def trees(self) -> Mapping[str, CPD]:
        return self.model.cpds

    @property
    def tables(self) -> dict[str, Floats]:
        return {chain.name: chain.transition for chain in self.model.chains}

    @property
    def network(self) -> DynamicNetwork | None:
        from leverrier.learning.slices.learn_dynamic import as_dynamic

        if any(isinstance(feature, Memory) for asked in self.asked.values() for feature in asked):
            return None
        return as_dynamic(self.model, {variable.name: variable.states for variable in self.variables})

    def posterior(self, sequences: Sequences) -> dict[str, Floats]:
        return self.model.posterior(sequences)

    def bits_per_slice(self, sequences: Sequences) -> float:
        return self.model.bits_per_slice(sequences)

    def ahead(self, sequence: Sequences, steps: int, seed: int) -> dict[str, Floats]:
        from leverrier.models.slices.slice_forecast import simulate

        return simulate(self.model, sequence, steps, DRAWS, np.random.default_rng(seed), tuple(self.order))


@dataclass(frozen=True, eq=False)
class Regimes:
    """Columns with laws of their own, with or without a hidden state."""

    model: RegimeModel
    trees: Mapping[str, CPD] = field(default_factory=dict)
    network: DynamicNetwork | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(each for each in self.model.variables if each.name in self.model.outcomes)

    @property
    def states(self) -> dict[str, tuple[Label, ...]]:
        return {variable.name: variable.states for variable in self.variables}

    @property
    def laws(self) -> RegimeModel:
        return self.model

    @property
    def lags(self) -> int:
        return self.model.lags

    @property
    def asked(self) -> dict[str, tuple[Feature, ...]]:
        hidden: tuple[Feature, ...] = tuple(Lag(name, 0) for name in self.model.hidden)
        made: dict[str, tuple[Feature, ...]] = {}
        for each in self.model.emissions:
            past = dict.fromkeys(Lag(term.source, term.lag) for term in each.terms if term.source and not term.shrink)
            made[each.name] = (*hidden, *past)
        return {**made, **{name: (Lag(name, 1),) for name in self.model.hidden}}

    @property
    def tables(self) -> dict[str, Floats]:
        return dict.fromkeys(self.model.hidden, self.model.moves.usual)

    def posterior(self, sequences: Sequences) -> dict[str, Floats]:
        return {name: self.model.posterior(sequences) for name in self.model.hidden}

    def bits_per_slice(self, sequences: Sequences) -> float:
        return self.model.bits_per_slice(sequences)

    def ahead(self, sequence: Sequences, steps: int, seed: int) -> dict[str, Floats]:
        drawn = self.model.forecast(sequence, steps, draws=DRAWS, seed=seed)
        found = {name: shares[0] for name, shares in drawn.probabilities.items()}
        cuts = {each.name: each.cuts for each in self.model.variables}
        for each in self.model.emissions:
            if each.family is not Family.CATEGORY and each.name in drawn.cells:
                cells = np.searchsorted(cuts[each.name], drawn.cells[each.name][0], side="right")
                found[each.name] = np.stack(
                    [np.mean(cells == c, axis=0) for c in range(len(cuts[each.name]) + 1)], axis=1
                )
        for name in self.model.hidden:
            found[name] = drawn.states[0]
        return found


def time_model(model: Model, order: Sequence[str], inference: Inference) -> TimeModel:
    """The face of a model. Columns of slices follow each other in this order."""
    return _FACES[type(model)](model, order, inference)


_FACES: dict[type, Callable[[Any, Sequence[str], Inference], TimeModel]] = {
    DynamicNetwork: lambda model, _, inference: NetworkInTime(model, inference),
    SliceModel: lambda model, order, _: Slices(model, order),
    ChainModel: lambda model, order, _: Slices(model, order),
    RegimeModel: lambda model, *_: Regimes(model),
}
