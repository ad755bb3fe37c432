"""A hidden state behind columns of numbers, counts and categories: what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.panel import Panel, read_panel
from leverrier.data.variable import Variable
from leverrier.errors import OptionError
from leverrier.models.regimes.arriving_rows import RegimeFilter
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Moves, Walk
from leverrier.models.regimes.regime_draws import RegimeForecast, drawn_like, empty_panel, forecast
from leverrier.models.regimes.regime_passes import Passed, best_path, by_state, passed, smoothed
from leverrier.models.regimes.terms import design
from leverrier.models.regimes.unlike_states import unlike_states

LN2 = float(np.log(2))


@dataclass(frozen=True, eq=False)
class RegimeModel:
    """`emissions` are the columns that are explained, each given the state; the others are inputs."""

    variables: tuple[Variable, ...]
    """All columns, inputs among them, as they were read."""
    emissions: tuple[Emission, ...]
    moves: Moves
    name: str = "state"

    @property
    def states(self) -> int:
        return self.moves.states

    @property
    def hidden(self) -> tuple[str, ...]:
        return (self.name,) if self.states > 1 else ()

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.emissions)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that are taken as numbers."""
        states = {each.name for each in self.emissions if each.family is Family.CATEGORY}
        kinds = {each.name: each.kind for each in self.variables}
        explained = set(self.outcomes)
        given = {
            term.source
            for terms in (*(e.terms for e in self.emissions), self.moves.terms)
            for term in terms
            if term.source and term.state is None and term.source not in explained
        }
        inside = {name for name in kinds if name in explained and name not in states}
        return tuple(name for name in kinds if name in inside | given)

    @property
    def dimension(self) -> int:
        return sum(each.dimension for each in self.emissions) + self.moves.dimension

    @property
    def lags(self) -> int:
        return max((term.reach for each in self.emissions for term in each.terms), default=0)

    def panel(self, data: Any) -> Panel:
        """The data as this model's columns were read."""
        return read_panel(data, self.variables, self.numbers)

    def logs(self, panel: Panel) -> Floats:
        """(slices, states): ln P(slice | state, the past)."""
        total = np.zeros((panel.n_slices, self.states))
        for each in self.emissions:
            total += each.logs(panel.values[each.name], design(panel, each.terms))
        return total

    def _passed(self, data: Any) -> tuple[Panel, Walk, Passed]:
        panel = self.panel(data)
        walk = self.moves.walk(panel)
        return panel, walk, passed(walk, self.logs(panel), panel.starts)

    def slice_log_likelihood(self, data: Any) -> Floats:
        """ln P(slice | the slices before it)."""
        return self._passed(data)[2].slice_logs

    def log_likelihood(self, data: Any) -> float:
        return float(self.slice_log_likelihood(data).sum())

    def surprise(self, data: Any) -> Floats:
        """Bits of each slice given those before it: slices that no state explains stand out."""
        return -self.slice_log_likelihood(data) / LN2

    def bits_per_slice(self, data: Any) -> float:
        return float(self.surprise(data).mean())

    def posterior(self, data: Any, *, filtered: bool = False) -> Floats:
        """(slices, states): P(state | the whole sequence), or given the slices so far."""
        panel, walk, there = self._passed(data)
        steps = there.filtered if filtered else smoothed(walk, there, panel.starts)[0]
        return by_state(steps, walk, self.states)

    def most_probable_path(self, data: Any) -> Integers:
        """By slice, the state on the most probable path of its sequence."""
        panel = self.panel(data)
        return best_path(self.moves.walk(panel), self.logs(panel), panel.starts)

    def time_spent(self, data: Any) -> Floats:
        """(sequences, states): slices that each sequence is expected to have spent in each state."""
        panel = self.panel(data)
        shares = self.posterior(panel)
        return np.add.reduceat(shares, panel.starts[:-1], axis=0)

    def unlike(self, data: Any, *, draws: int = 199, seed: int = 0) -> Floats:
        """By slice, how often the state that it is most like would show something as unlikely: anomalies are near 0.

        `surprise` asks whether a slice was to be expected now; this asks whether it is like any state at all.
        """
        if draws < 1:
            raise OptionError(f"draws={draws}: expected at least 1")
        return unlike_states(self, self.panel(data), draws, seed).max(axis=1)

    def filter(self) -> RegimeFilter:
        """Follows one sequence, a row at a time."""
        return RegimeFilter(self)

    @property
    def dwell(self) -> Floats:
        return self.moves.dwell

    def reordered(self, order: np.ndarray) -> Self:
        return replace(
            self, emissions=tuple(e.reordered(order) for e in self.emissions), moves=self.moves.reordered(order)
        )

    def sample(self, n: int = 1, length: int = 100, *, seed: int = 0, panel: Panel | None = None) -> Panel:
        """So many sequences drawn from the model; with a panel, as long as its sequences and with its inputs."""
        like = empty_panel(self, n, length) if panel is None else panel
        return drawn_like(self, like, np.random.default_rng(seed), holes=panel is not None)[0]

    def forecast(
        self, data: Any, steps: int = 1, *, interval: float = 0.9, draws: int = 500, seed: int = 0
    ) -> RegimeForecast:
        """What comes after each sequence: chances of states and categories, intervals of numbers, by simulation."""
        return forecast(self, self.panel(data), steps, interval, draws, seed)

    def __repr__(self) -> str:
        laws = ", ".join(f"{each.name} {each.family}" for each in self.emissions[:4])
        more = ", …" if len(self.emissions) > 4 else ""
        return f"RegimeModel({self.states} states, {laws}{more}, {self.dimension} parameters)"
