"""A network in time, as a frozen value: how the first slices begin, and how each later slice follows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.chart_of import chart_of
from leverrier.data.sequences.read_sequences import Sequences, as_sequences, lagged, read_sequences
from leverrier.data.table import Label
from leverrier.errors import NetworkError, OptionError
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, Node, TableCPD
from leverrier.models.dynamic.dynamic_checks import check_number, check_slice
from leverrier.models.dynamic.sliced import Slice
from leverrier.models.graph import Graph
from leverrier.models.network import Network

if TYPE_CHECKING:
    import altair

    from leverrier.models.dynamic.dynamic_filter import Filter
    from leverrier.models.dynamic.dynamic_forecast import Forecast
    from leverrier.models.dynamic.dynamic_query import Inference, NamedClusters


@dataclass(frozen=True, eq=False)
class DynamicNetwork:
    """Slice t follows `stages[t]` while there is one, and `transition` from then on.

    Each is a distribution for every variable given parents (variable, lag) of this slice (lag 0) and of slices
    before; a stage may only look back to the beginning. A first-order network has one stage: the prior.
    """

    states: Mapping[str, tuple[Label, ...]]
    stages: tuple[Slice, ...]
    transition: Slice
    hidden: tuple[str, ...] = ()
    """Variables that data never shows: their columns, if there, are not looked at."""
    numbers: Mapping[str, GaussianCPD] = field(default_factory=dict)
    """Columns of numbers, each normal given states of its slice."""
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        states = {str(name): tuple(labels) for name, labels in self.states.items()}
        object.__setattr__(self, "states", MappingProxyType(states))
        object.__setattr__(self, "stages", tuple(MappingProxyType(dict(stage)) for stage in self.stages))
        object.__setattr__(self, "transition", MappingProxyType(dict(self.transition)))
        object.__setattr__(self, "hidden", tuple(name for name in states if name in set(self.hidden)))
        object.__setattr__(self, "numbers", MappingProxyType(dict(self.numbers)))
        object.__setattr__(self, "notes", MappingProxyType(dict(self.notes)))
        if not states:
            raise NetworkError("a dynamic network needs at least one variable with states")
        if not self.stages:
            raise NetworkError("a dynamic network needs a prior for its first slice")
        for place, stage in enumerate((*self.stages, self.transition)):
            what = f"slice {place}" if place < len(self.stages) else "the transition"
            check_slice(what, stage, states, place)
        for name, cpd in self.numbers.items():
            check_number(name, cpd, states)

    def __reduce__(self) -> tuple[Any, ...]:
        return DynamicNetwork, (
            dict(self.states),
            tuple(dict(stage) for stage in self.stages),
            dict(self.transition),
            self.hidden,
            dict(self.numbers),
            dict(self.notes),
        )

    @classmethod
    def from_tables(
        cls,
        states: Mapping[str, Sequence[Label]],
        prior: Mapping[str, tuple[Sequence[str], Any]],
        transition: Mapping[str, tuple[Sequence[Node | str], Any]],
        hidden: Iterable[str] = (),
    ) -> DynamicNetwork:
        """A first-order network: for each variable its parents and its table. Plain names are parents of lag 0."""
        first = {name: TableCPD(_nodes(parents), table) for name, (parents, table) in prior.items()}
        then = {name: TableCPD(_nodes(parents), table) for name, (parents, table) in transition.items()}
        return cls({name: tuple(labels) for name, labels in states.items()}, (first,), then, tuple(hidden))

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.states)

    @property
    def observed(self) -> tuple[str, ...]:
        return tuple(name for name in self.states if name not in self.hidden)

    @cached_property
    def order(self) -> int:
        """How many slices back the transition looks."""
        return max((lag for cpd in self.transition.values() for _, lag in cpd.parents), default=0)

    def parents(self, variable: str) -> tuple[Node, ...]:
        """Of the transition: (variable, lag)."""
        self._known(variable)
        return self.transition[variable].parents

    def cardinality(self, variable: str) -> int:
        return len(self.states[self._known(variable)])

    def slice(self, place: int) -> Slice:
        """The distributions of the slice at this place of a sequence."""
        return self.stages[place] if place < len(self.stages) else self.transition

    @cached_property
    def prior(self) -> Network:
        """The first slice as a network of its own."""
        stage = self.stages[0]
        graph = Graph.from_parents({name: [parent for parent, _ in stage[name].parents] for name in self.states})
        return Network(graph, self.states, {name: stage[name].table() for name in self.states})

    @property
    def edges(self) -> tuple[tuple[Node, str], ...]:
        """Of the transition: ((parent, lag), child)."""
        return tuple((parent, name) for name in self.states for parent in self.transition[name].parents)

    @cached_property
    def dimension(self) -> int:
        """The number of free parameters, the beginning included; a table that serves several stages counts once."""
        total = sum(cpd.dimension for cpd in self.numbers.values())
        for name in self.states:
            different: list[CPD] = []
            for cpd in (part[name] for part in (*self.stages, self.transition)):
                if not any(cpd is other or cpd == other for other in different):
                    different.append(cpd)
                    total += cpd.dimension
        return total

    @cached_property
    def two_slices(self) -> Graph:
        """The transition as a graph over X, X[-1], X[-2]…; what lies back has no parents."""
        back = sorted({node for cpd in self.transition.values() for node in cpd.parents if node[1]}, key=_by_lag)
        parents = {lagged(name, lag): [] for name, lag in back}
        parents |= {n: [lagged(*node) for node in self.transition[n].parents] for n in self.states}
        return Graph.from_parents(parents)

    def with_parts(
        self, stages: Sequence[Slice], transition: Slice, numbers: Mapping[str, GaussianCPD] | None = None
    ) -> DynamicNetwork:
        """The same variables with other distributions."""
        return DynamicNetwork(
            self.states,
            tuple(stages),
            transition,
            self.hidden,
            self.numbers if numbers is None else numbers,
            self.notes,
        )

    def hiding(self, *names: str) -> DynamicNetwork:
        """The same network with these variables hidden (and no others)."""
        for name in names:
            self._known(name)
        return DynamicNetwork(self.states, self.stages, self.transition, names, self.numbers, self.notes)

    def sample(self, n_slices: int, seed: int | np.random.Generator = 0, *, sequences: int = 1) -> Sequences:
        """One sequence of so many slices (or several), hidden variables included."""
        from leverrier.models.dynamic.dynamic_sampling import sample

        return sample(self, n_slices, sequences, seed)

    def slice_log_likelihood(
        self, data: Any, inference: Inference = "exact", clusters: NamedClusters | None = None
    ) -> Floats:
        """log P(slice | the slices before it) in nats; holes, hidden and absent variables are summed out.

        inference="boyen-koller" passes on the marginals of clusters only: given as lists of names, or chosen.
        """
        from leverrier.models.dynamic.dynamic_query import slice_log_likelihood

        return slice_log_likelihood(self, data, inference, clusters)

    def log_likelihood(self, data: Any, inference: Inference = "exact", clusters: NamedClusters | None = None) -> float:
        """log P(data) in nats, over all sequences."""
        return float(self.slice_log_likelihood(data, inference, clusters).sum())

    def bits_per_slice(self, data: Any, inference: Inference = "exact", clusters: NamedClusters | None = None) -> float:
        """−log₂ P(data) over the number of slices: less is better."""
        each = self.slice_log_likelihood(data, inference, clusters)
        return -float(each.sum()) / (len(each) * math.log(2))

    def surprise(self, data: Any, inference: Inference = "exact", clusters: NamedClusters | None = None) -> Floats:
        """How many bits each slice costs given those before it: high where something unusual happens."""
        return -self.slice_log_likelihood(data, inference, clusters) / math.log(2)

    def posterior(
        self,
        data: Any,
        variable: str | None = None,
        inference: Inference = "exact",
        clusters: NamedClusters | None = None,
        *,
        filtered: bool = False,
    ) -> Any:
        """(slices, states): P(variable | its whole sequence), or given the slices so far (`filtered`).

        Without a variable: that of the hidden variable, or a dict of them where there are several. Slices are in the
        order of the sequences; `sequences.by_row` puts them in the order of the rows as they came.
        """
        from leverrier.models.dynamic.dynamic_query import posterior

        names = self.hidden if variable is None else (self._known(variable),)
        if not names:
            raise OptionError("the network has no hidden variable: name the variable whose posterior you want")
        found = posterior(self, data, names, inference, clusters, filtered=filtered)
        return found[names[0]] if variable is not None or len(names) == 1 else found

    def most_probable_path(self, data: Any) -> Sequences:
        """The sequences with everything unobserved filled in, all together as is most probable."""
        from leverrier.models.dynamic.dynamic_query import most_probable_path

        return most_probable_path(self, data)

    def filter(self) -> Filter:
        """Follows one sequence row by row: `filter.step(row)` gives what is known then."""
        from leverrier.models.dynamic.dynamic_filter import Filter

        return Filter(self)

    def forecast(self, data: Any, steps: int = 1, interval: float = 0.9) -> Forecast:
        """What comes after each sequence, so many slices ahead, with intervals."""
        from leverrier.models.dynamic.dynamic_forecast import forecast

        return forecast(self, data, steps, interval)

    def read(self, data: Any) -> Sequences:
        """Sequences in the codes of the observed variables, absent ones all holes; numbers come with them."""
        if not isinstance(data, Sequences) and self.numbers:
            data = read_sequences(data)
        if not self.observed:
            return read_sequences(data).select(())
        return as_sequences(data, {name: self.states[name] for name in self.observed})

    def _known(self, name: str) -> str:
        if name not in self.states:
            raise OptionError(f"no variable {name!r}; the variables are {', '.join(list(self.states)[:12])}")
        return name

    def __eq__(self, other: object) -> bool:
        """Equal states, hidden variables and distributions; the notes do not count."""
        if not isinstance(other, DynamicNetwork):
            return NotImplemented
        mine, others = (*self.stages, self.transition), (*other.stages, other.transition)
        return (
            self.states == other.states
            and self.hidden == other.hidden
            and len(mine) == len(others)
            and all(_same_slice(a, b) for a, b in zip(mine, others, strict=True))
            and self.numbers.keys() == other.numbers.keys()
            and all(_same_numbers(self.numbers[name], other.numbers[name]) for name in self.numbers)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.states.items()), self.hidden, self.edges))

    def plot_graph(self) -> altair.TopLevelMixin:
        """Slices side by side with the arcs into the newest, as an Altair chart."""
        return chart_of("slice_graph.slice_graph", self)

    def plot_states(self, data: Any, variable: str | None = None, sequence: int = 0) -> altair.TopLevelMixin:
        """The most probable hidden states along a sequence, paler where less certain."""
        return chart_of("dynamic_charts.state_ribbon", self, data, variable, sequence=sequence)

    def plot_dwell_times(self, data: Any, variable: str | None = None) -> altair.TopLevelMixin:
        """How long hidden states last."""
        return chart_of("dynamic_charts.dwell_times", self, data, variable)

    def plot_forecast(self, data: Any, variable: str, steps: int = 10, sequence: int = 0) -> altair.TopLevelMixin:
        """A column's last slices and what is expected next."""
        return chart_of("dynamic_charts.forecast_chart", self, data, variable, steps, sequence=sequence)

    def __repr__(self) -> str:
        hidden = f", {len(self.hidden)} hidden" if self.hidden else ""
        numbers = f", {len(self.numbers)} of numbers" if self.numbers else ""
        return (
            f"DynamicNetwork({len(self.states) + len(self.numbers)} variables{hidden}{numbers}, "
            f"order {self.order}, {self.dimension} parameters)"
        )


def _by_lag(node: Node) -> tuple[int, str]:
    return -node[1], node[0]


def _nodes(parents: Sequence[Node | str]) -> tuple[Node, ...]:
    return tuple((parent, 0) if isinstance(parent, str) else parent for parent in parents)


def _same_slice(one: Slice, other: Slice) -> bool:
    return all(
        one[name].parents == other[name].parents and np.array_equal(one[name].table(), other[name].table())
        for name in one
    )


def _same_numbers(one: GaussianCPD, other: GaussianCPD) -> bool:
    return (
        one.parents == other.parents
        and np.array_equal(one.means, other.means)
        and np.array_equal(one.deviations, other.deviations)
    )
