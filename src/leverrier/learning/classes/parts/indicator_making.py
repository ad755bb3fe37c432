"""Indicators made from columns: the cells, and which parameter moves which predictor in which class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.variable import Label
from leverrier.learning.classes.parts.densities import (
    Categorical,
    Cumulative,
    Density,
    NegativeBinomial,
    Normal,
    Poisson,
)
from leverrier.learning.classes.parts.indicator import Indicator, IndicatorKind, Parameter, Role


@dataclass(frozen=True, eq=False)
class Item:
    """A column to be put into a model: its values by row (codes, counts or numbers; NaN for a hole) and its designs.

    `own` has coefficients for every class, `shared` the same in all. Where `own` says to which group a row belongs
    (`groups`), every group has profiles of its own.
    """

    name: str
    kind: IndicatorKind
    values: Floats
    states: tuple[Label, ...] = ()
    own: Floats | None = None
    own_names: tuple[str, ...] = ("1",)
    shared: Floats | None = None
    shared_names: tuple[str, ...] = ()
    shift: float = 0.0
    scale: float = 1.0
    limits: tuple[float, float] = (-np.inf, np.inf)
    back: Floats | None = field(default=None, repr=False)
    """Coefficients of `own` in the data's units are `back` times those found."""
    on: tuple[str, ...] = ()
    """The indicators whose values are in `shared`."""

    @property
    def plain(self) -> bool:
        return self.own is None and self.shared is None

    @property
    def columns(self) -> tuple[Floats, tuple[str, ...]]:
        """The values as columns of another's design: one a state but the first, or the standardised number."""
        hole = np.isnan(self.values)
        if self.kind is IndicatorKind.NOMINAL:
            whole = (self.values[:, None] == np.arange(1, len(self.states))).astype(np.float64)
            names = tuple(f"{self.name} = {state}" for state in self.states[1:])
        else:
            centre, spread = (self.shift, self.scale) if not self.kind.categorical else (0.0, 1.0)
            whole, names = ((self.values - centre) / spread)[:, None], (self.name,)
        return np.where(hole[:, None], np.nan, whole), names

    def shared_with(self, columns: Floats, names: tuple[str, ...], on: tuple[str, ...] = ()) -> Item:
        """The same column, with more that moves it alike in every class."""
        before = np.zeros((len(self.values), 0)) if self.shared is None else self.shared
        return replace(
            self, shared=np.hstack([before, columns]), shared_names=(*self.shared_names, *names), on=(*self.on, *on)
        )

    def depending_on(self, other: Item) -> Item:
        """The same column, moved by another's value alike in every class."""
        return self.shared_with(*other.columns, on=(other.name,))

    def by_groups(self, member: Floats, names: tuple[str, ...]) -> Item:
        """The same column with profiles of its own in every group (`member` has a column for each)."""
        return replace(self, own=member, own_names=names, back=None)


@dataclass(frozen=True, eq=False)
class _Cells:
    values: Floats
    own: Floats
    shared: Floats
    of_row: Integers


def _cells(item: Item) -> _Cells:
    """The distinct values with their designs, and each row's; rows with a hole point past the last."""
    rows = len(item.values)
    own = np.ones((rows, 1)) if item.own is None else item.own
    shared = np.zeros((rows, 0)) if item.shared is None else item.shared
    seen = ~np.isnan(item.values) & ~np.isnan(own).any(axis=1) & ~np.isnan(shared).any(axis=1)
    if item.plain:
        found, where = np.unique(item.values[seen], return_inverse=True)
        distinct = np.column_stack([found, np.ones(len(found))])
    else:
        whole = np.column_stack([item.values, own, shared])[seen]
        distinct, where = np.unique(whole, axis=0, return_inverse=True)
    of_row = np.full(rows, len(distinct), dtype=np.int64)
    of_row[seen] = where.reshape(-1)
    a = own.shape[1]
    return _Cells(distinct[:, 0], distinct[:, 1 : 1 + a], distinct[:, 1 + a :], of_row)


class _Layout:
    """Parameters as they are named, and the entries (class, channel, parameter, column of numbers) of the design."""

    def __init__(self) -> None:
        self.parameters: list[Parameter] = []
        self.entries: list[tuple[int, int, int, Floats]] = []

    def add(self, parameter: Parameter) -> int:
        self.parameters.append(parameter)
        return len(self.parameters) - 1

    def put(self, k: int, channel: int, place: int, column: Floats) -> None:
        self.entries.append((k, channel, place, column))

    def design(self, classes: int, channels: int, cells: int) -> Floats:
        whole = np.zeros((classes, channels, cells, len(self.parameters)))
        for k, channel, place, column in self.entries:
            whole[k, channel, :, place] += column
        return whole


def make_indicator(item: Item, classes: int, references: Integers | None = None) -> Indicator:
    """The indicator of a column for so many classes. `references`: the state of each class whose logit is 0."""
    cells = _cells(item)
    layout = _Layout()
    kind = item.kind
    if kind is IndicatorKind.NOMINAL:
        return _nominal(item, cells, layout, classes, references)
    codes = cells.values.astype(np.int64)
    states = len(item.states)
    begin: dict[int, float] = {}
    density: Density
    if kind is IndicatorKind.ADJACENT:
        channels, density = states, Categorical(codes)
        _location(item, cells, layout, classes, np.arange(states, dtype=np.float64))
        for s in range(2, states):
            place = layout.add(Parameter(Role.THRESHOLD, item.name, None, "1", item.states[s]))
            for k in range(classes):
                layout.put(k, s, place, np.ones(len(codes)))
    elif kind is IndicatorKind.CUMULATIVE:
        channels, density = states - 1, Cumulative(codes, states)
        _location(item, cells, layout, classes, np.ones(1))
        for s in range(2, states):
            place = layout.add(Parameter(Role.THRESHOLD, item.name, None, "1", item.states[s]))
            begin[place] = float(s - 1)
            for k in range(classes):
                layout.put(k, s - 1, place, np.ones(len(codes)))
    elif kind is IndicatorKind.POISSON:
        channels, density = 1, Poisson(cells.values)
        _location(item, cells, layout, classes, np.ones(1))
    else:
        channels = 2
        if kind is IndicatorKind.NEGATIVE_BINOMIAL:
            density = NegativeBinomial(cells.values)
        else:
            low, high = ((limit - item.shift) / item.scale for limit in item.limits)
            density = Normal((cells.values - item.shift) / item.scale, item.shift, item.scale, low, high)
        _location(item, cells, layout, classes, np.ones(1))
        _spread(item, cells, layout, classes)
    start = np.zeros(len(layout.parameters))
    for place, value in begin.items():
        start[place] = value
    design = layout.design(classes, channels, len(cells.values))
    return Indicator(item.name, kind, density, design, cells.of_row, tuple(layout.parameters), start)


def _nominal(item: Item, cells: _Cells, layout: _Layout, classes: int, references: Integers | None) -> Indicator:
    states = len(item.states)
    reference = np.zeros(classes, np.int64) if references is None else references
    place_of = np.full((classes, states), -1, dtype=np.int64)
    for k in range(classes):
        for s in range(states):
            if s == reference[k]:
                continue
            for a, term in enumerate(item.own_names):
                place = layout.add(Parameter(Role.PROFILE, item.name, k, term, item.states[s]))
                layout.put(k, s, place, cells.own[:, a])
                place_of[k, s] = place
    for s in range(1, states):
        for b, term in enumerate(item.shared_names):
            place = layout.add(Parameter(Role.SHARED, item.name, None, term, item.states[s]))
            for k in range(classes):
                layout.put(k, s, place, cells.shared[:, b])
    codes = cells.values.astype(np.int64)
    design = layout.design(classes, states, len(codes))
    formula = (place_of, codes, reference) if item.plain else None
    begin = np.zeros(len(layout.parameters))
    return Indicator(
        item.name, item.kind, Categorical(codes), design, cells.of_row, tuple(layout.parameters), begin, formula
    )


def _location(item: Item, cells: _Cells, layout: _Layout, classes: int, slopes: Floats) -> None:
    """One location, times `slopes` in each channel: class by class on `own`, alike on `shared`."""
    for k in range(classes):
        for a, term in enumerate(item.own_names):
            place = layout.add(Parameter(Role.PROFILE, item.name, k, term))
            for channel, slope in enumerate(slopes):
                if slope:
                    layout.put(k, channel, place, slope * cells.own[:, a])
    for b, term in enumerate(item.shared_names):
        place = layout.add(Parameter(Role.SHARED, item.name, None, term))
        for k in range(classes):
            for channel, slope in enumerate(slopes):
                if slope:
                    layout.put(k, channel, place, slope * cells.shared[:, b])


def _spread(item: Item, cells: _Cells, layout: _Layout, classes: int) -> None:
    """The log deviation of a normal column (by class, unless it is to be equal), or the log size of counts (equal)."""
    ones = np.ones(len(cells.values))
    if item.kind in (IndicatorKind.NORMAL, IndicatorKind.CENSORED):
        for k in range(classes):
            layout.put(k, 1, layout.add(Parameter(Role.SPREAD, item.name, k, "1")), ones)
    else:
        place = layout.add(Parameter(Role.SPREAD, item.name, None, "1"))
        for k in range(classes):
            layout.put(k, 1, place, ones)


def make_indicators(items: Sequence[Item], classes: int, shares: Floats | None = None) -> tuple[Indicator, ...]:
    """All of them; with `shares` (rows, classes), the reference state of a nominal column is each class's likeliest."""
    made = []
    for item in items:
        references = None
        if item.kind is IndicatorKind.NOMINAL and shares is not None:
            seen = ~np.isnan(item.values)
            counts = np.zeros((classes, len(item.states)))
            for k in range(classes):
                codes = item.values[seen].astype(np.int64)
                counts[k] = np.bincount(codes, weights=shares[seen, k], minlength=len(item.states))
            references = counts.argmax(axis=1)
        made.append(make_indicator(item, classes, references))
    return tuple(made)
