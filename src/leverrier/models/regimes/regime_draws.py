"""Sequences drawn from a model with a hidden state: whole panels, and what comes after the ones that are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.panel import Panel
from leverrier.data.variable import Variable
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Moves
from leverrier.models.regimes.regime_passes import passed
from leverrier.models.regimes.terms import Term


class Drawable(Protocol):
    """What sequences are drawn from."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def emissions(self) -> tuple[Emission, ...]: ...

    @property
    def moves(self) -> Moves: ...

    @property
    def numbers(self) -> tuple[str, ...]: ...

    def logs(self, panel: Panel) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Interval:
    """Of a column of numbers, by sequence and step."""

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class RegimeForecast:
    """What comes next: `states` (sequences, steps, states); categories likewise; numbers with an interval."""

    states: Floats
    probabilities: Mapping[str, Floats] = field(default_factory=dict)
    numbers: Mapping[str, Interval] = field(default_factory=dict)
    cells: Mapping[str, Floats] = field(default_factory=dict, repr=False)
    """Of columns of numbers (sequences, draws, steps): the futures that were simulated."""


def empty_panel(model: Drawable, n: int, length: int) -> Panel:
    """Sequences of holes, inputs at their usual values."""
    starts = np.arange(0, n * length + 1, length, dtype=np.int64)
    times = np.tile(np.arange(length, dtype=np.float64), n)
    labels = {each.name: each.states for each in model.variables if each.name not in model.numbers}
    values = {each.name: np.full(n * length, np.nan) for each in model.variables}
    return Panel(values, labels, starts, times)


def drawn_states(model: Drawable, panel: Panel, rng: np.random.Generator) -> Integers:
    """By slice, a state; the walk over steps along every sequence, all sequences at once."""
    walk = model.moves.walk(panel)
    step = np.zeros(panel.n_slices, dtype=np.int64)
    lengths = np.diff(panel.starts)
    cumulated = walk.transitions.cumsum(axis=2)
    last = len(walk.state) - 1
    for place in range(int(lengths.max())):
        here = panel.starts[:-1][lengths > place] + place
        u = rng.random((len(here), 1))
        if place == 0:
            chance = np.broadcast_to(walk.initial.cumsum(), (len(here), last + 1))
        else:
            chance = cumulated[walk.which[here], step[here - 1]]
        step[here] = np.minimum((u * chance[:, -1:] > chance).sum(axis=1), last)
    return walk.state[step]


def drawn_like(
    model: Drawable,
    panel: Panel,
    rng: np.random.Generator,
    residuals: Mapping[str, Floats] | None = None,
    *,
    holes: bool = True,
    bounded: bool = False,
) -> tuple[Panel, Integers]:
    """Cells drawn in the shape of a panel: same lengths, inputs and holes. `residuals` (standardised) are drawn from,
    whole rows at a time, instead of a normal law: margins stay as they are. `bounded` keeps numbers near the range of
    the panel's own: counts that drive the logarithm of counts would now and then run away."""
    states = drawn_states(model, panel, rng)
    values = {name: np.array(column) for name, column in panel.values.items()}
    for each in model.emissions:
        values[each.name][:] = np.nan
    now = replace(panel, values=values)
    lagged = any(term.lag for each in model.emissions for term in each.terms)
    limits = _limits(model, panel) if bounded else {}
    noise = None
    if residuals:
        count = len(next(iter(residuals.values())))
        picked = rng.integers(0, count, panel.n_slices)
        noise = {name: column[picked] for name, column in residuals.items()}
    plan = _planned(model, now)
    if lagged:
        lengths = np.diff(panel.starts)
        for place in range(int(lengths.max())):
            _fill(plan, now, states, panel.starts[:-1][lengths > place] + place, rng, noise, limits)
    else:
        _fill(plan, now, states, np.arange(panel.n_slices), rng, noise, limits)
    for each in model.emissions if holes else ():
        values[each.name][np.isnan(panel.values[each.name])] = np.nan
    return now, states


@dataclass(frozen=True, eq=False)
class _Column:
    """A column to be drawn: what is known of its design beforehand, and the terms that follow from what is drawn."""

    law: Emission
    known: Floats
    moving: tuple[tuple[int, Term], ...]


def _planned(model: Drawable, panel: Panel) -> list[_Column]:
    drawn = {each.name for each in model.emissions}
    made = []
    for each in model.emissions:
        places = enumerate(each.terms, 1)
        moving = tuple((place, term) for place, term in places if term.source in drawn)
        known = np.ones((panel.n_slices, 1 + len(each.terms)))
        for place, term in enumerate(each.terms, 1):
            if term.source not in drawn:
                known[:, place] = term.column(panel)
        made.append(_Column(each, known, moving))
    return made


def _fill(
    plan: list[_Column],
    panel: Panel,
    states: Integers,
    slices: Integers,
    rng: np.random.Generator,
    noise: Mapping[str, Floats] | None,
    limits: Mapping[str, tuple[float, float]],
) -> None:
    own = states[slices]
    for column in plan:
        law, z = column.law, column.known[slices]
        for place, term in column.moving:
            z[:, place] = _moved(panel, term, slices)
        cells = panel.values[law.name]
        for state in np.unique(own).tolist() if law.states > 1 else (0,):
            rows = np.flatnonzero(own == state) if law.states > 1 else slice(None)
            at = slices[rows]
            if noise is not None and law.name in noise:
                cells[at] = z[rows] @ law.coefficients[state] + law.spread[state] * noise[law.name][at]
            else:
                cells[at] = law.drawn(z[rows], state, rng)
        if law.name in limits:
            low, high = limits[law.name]
            cells[slices] = np.minimum(np.maximum(cells[slices], low), high)


def _limits(model: Drawable, panel: Panel) -> dict[str, tuple[float, float]]:
    """Half of the range more on both sides; counts stay whole and from 0 on."""
    found = {}
    for each in model.emissions:
        seen = panel.values[each.name][~np.isnan(panel.values[each.name])]
        if each.family is Family.CATEGORY or not len(seen):
            continue
        low, high = float(seen.min()), float(seen.max())
        more = (high - low) / 2
        number = each.family in (Family.NORMAL, Family.STUDENT)
        found[each.name] = (low - more, high + more) if number else (0.0, float(np.ceil(high + more)))
    return found


def _moved(panel: Panel, term: Term, slices: Integers) -> Floats:
    """A term of drawn columns at a few slices only; 0, which is the usual value, where it is not known."""
    if term.shrink > 0:
        return term.column(panel)[slices]
    if term.over:
        return _mean_moved(panel, term, slices)
    raw = panel.values[term.source][slices - term.lag]
    if term.lag:
        raw = np.where(panel.position[slices] < term.lag, np.nan, raw)
    if term.log:
        raw = np.log1p(np.maximum(raw, 0.0))
    if term.state is not None:
        raw = np.where(np.isnan(raw), np.nan, raw == term.state)
    raw = ((raw - term.centre) / term.scale) ** term.power
    return np.where(np.isnan(raw), 0.0, raw)


def _mean_moved(panel: Panel, term: Term, slices: Integers) -> Floats:
    """The same of a mean over several slices."""
    back = term.lag + np.arange(term.over)
    cells = term.shown(panel.values[term.source][np.maximum(slices[:, None] - back, 0)])
    known = (panel.position[slices][:, None] >= back) & ~np.isnan(cells)
    count = known.sum(axis=1)
    mean = np.where(known, cells, 0.0).sum(axis=1) / np.maximum(count, 1)
    return np.where(count > 0, (mean - term.centre) / term.scale, 0.0)


def forecast(model: Drawable, panel: Panel, steps: int, interval: float, draws: int, seed: int) -> RegimeForecast:
    """By simulation from the filtered states at the end; inputs stay as they last were, clocks go on."""
    rng = np.random.default_rng(seed)
    back = max((term.reach for each in model.emissions for term in each.terms), default=0) or 1
    ends = panel.starts[1:]
    walk = model.moves.walk(panel)
    last = passed(walk, model.logs(panel), panel.starts).filtered[ends - 1]
    names = list(panel.values)
    n, long = panel.persons, back + steps
    shape = {name: np.full((n, draws, long), np.nan) for name in names}
    explained = {each.name for each in model.emissions}
    times = np.empty((n, draws, long))
    for i in range(n):
        low, high = int(panel.starts[i]), int(ends[i])
        own = panel.times[low:high]
        gap = float(np.median(np.diff(own))) if len(own) > 1 else 1.0
        times[i, :, back:] = own[-1] + gap * np.arange(1, steps + 1)
        keep = min(back, high - low)
        times[i, :, :back] = own[-1] - gap * np.arange(back - 1, -1, -1)
        for name in names:
            shape[name][i, :, back - keep : back] = panel.values[name][high - keep : high]
            if name not in explained:
                shape[name][i, :, back:] = panel.values[name][high - 1]
    starts = np.arange(0, n * draws * long + 1, long, dtype=np.int64)
    values = {name: column.reshape(-1) for name, column in shape.items()}
    future = Panel(values, panel.labels, starts, times.reshape(-1), panel.dated)
    step = _first_steps(last, draws, rng)
    onward = model.moves.walk(future)
    cumulated = onward.transitions.cumsum(axis=2)
    states = np.zeros((n * draws, steps), dtype=np.int64)
    plan = _planned(model, future)
    for t in range(steps):
        at = starts[:-1] + back + t
        chance = cumulated[onward.which[at], step]
        step = np.minimum((rng.random((len(at), 1)) * chance[:, -1:] > chance).sum(axis=1), len(walk.state) - 1)
        states[:, t] = walk.state[step]
        whole = np.zeros(future.n_slices, dtype=np.int64)
        whole[at] = states[:, t]
        _fill(plan, future, whole, at, rng, None, {})
    return _summary(model, future, states.reshape(n, draws, steps), values, back, interval)


def _first_steps(last: Floats, draws: int, rng: np.random.Generator) -> Integers:
    chance = np.repeat(last.cumsum(axis=1), draws, axis=0)
    return np.minimum((rng.random((len(chance), 1)) * chance[:, -1:] > chance).sum(axis=1), last.shape[1] - 1)


def _summary(
    model: Drawable, future: Panel, states: Integers, values: Mapping[str, Floats], back: int, interval: float
) -> RegimeForecast:
    n, draws, _ = states.shape
    shares = np.stack([(states == k).mean(axis=1) for k in range(model.moves.states)], axis=2)
    chances: dict[str, Floats] = {}
    numbers: dict[str, Interval] = {}
    futures: dict[str, Floats] = {}
    for each in model.emissions:
        cells = values[each.name].reshape(n, draws, -1)[:, :, back:]
        if each.family is Family.CATEGORY:
            size = len(future.labels[each.name])
            chances[each.name] = np.stack([(cells == c).mean(axis=1) for c in range(size)], axis=2)
        else:
            half = (1 - interval) / 2
            low, high = np.quantile(cells, [half, 1 - half], axis=1)
            numbers[each.name] = Interval(cells.mean(axis=1), low, high)
            futures[each.name] = cells
    return RegimeForecast(shares, chances, numbers, futures)
