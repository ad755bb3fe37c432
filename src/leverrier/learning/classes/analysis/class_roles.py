"""Which column plays which part in a latent class analysis, read from whatever the user has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leverrier.arrays import Floats, Integers
from leverrier.data.reading.file_options import asked_as
from leverrier.data.reading.read_table import describe_columns, read_table
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.learning.classes.class_notes import (
    GroupsOfRows,
    NotUsedWithout,
    SamplingWeights,
    SmallGroup,
    WithoutPredictor,
)
from leverrier.learning.classes.fitting.class_spec import Sampling
from leverrier.learning.classes.parts.indicator import IndicatorKind
from leverrier.learning.classes.parts.indicator_making import Item
from leverrier.learning.classes.parts.terms import terms_of
from leverrier.learning.noted import LeftAside
from leverrier.words_of import Note

Kinds = Mapping[str, str] | Sequence[str] | None
FEW_ROWS, FEW_GROUPS = 30, 10
"""A group of fewer rows than this is spoken of."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What the user asked for, by column."""

    predictors: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    weights: str | ArrayLike | None = None
    groups: str | ArrayLike | None = None
    strata: str | ArrayLike | None = None
    by_group: str | None = None
    dependent: tuple[tuple[str, str], ...] = ()
    indicators: Kinds = None
    regress: Mapping[str, tuple[str, ...]] | None = None

    @property
    def columns(self) -> list[str]:
        """Every column that is not a plain indicator."""
        named = [each for each in (self.weights, self.groups, self.strata, self.by_group) if isinstance(each, str)]
        inner = [x for xs in (self.regress or {}).values() for x in xs]
        return [*self.predictors, *self.outcomes, *named, *inner]

    @property
    def more(self) -> bool:
        """Whether anything is asked beyond plain classes."""
        given = (self.weights, self.groups, self.strata, self.by_group, self.indicators)
        return any(each is not None for each in given) or bool(self.columns or self.dependent or self.regress)

    @property
    def kinds(self) -> Mapping[str, str]:
        return self.indicators if isinstance(self.indicators, Mapping) else {}


@dataclass(frozen=True, eq=False)
class Roles:
    """The columns as they will be used."""

    table: Table
    items: tuple[Item, ...]
    outcomes: tuple[Item, ...]
    sampling: Sampling
    notes: tuple[Note | str, ...]

    @property
    def measured(self) -> Table:
        """The table of the indicators alone."""
        return self.table.select([item.name for item in self.items])

    def codes(self, name: str) -> Integers:
        """A column's codes, −1 for a hole."""
        cells = self.table.column(name)
        return np.where(cells == self.table.missing, -1, cells.astype(np.int64))


def read_roles(data: Any, asked: Asked) -> Roles:
    for name in asked.predictors:
        if name in asked.outcomes:
            raise OptionError(f"{name!r} cannot explain the classes and be explained by them at once")
    table = _table(data, asked)
    if isinstance(asked.weights, str) and asked.weights not in table.variables and table.weights is None:
        table.index(asked.weights)  # says which columns there are
    sampling, notes = _sampling(table, asked)
    taken = {name for name in asked.columns if name in table.variables}
    wanted = asked.indicators if asked.indicators and not isinstance(asked.indicators, Mapping) else None
    names = [name for name in (wanted or table.variables) if name not in taken]
    for name in (*asked.kinds, *(asked.regress or {})):
        if name not in table.variables:
            table.index(name)  # says which columns there are
        if name not in names and name not in asked.outcomes:
            raise OptionError(f"{name!r} cannot be an indicator and a predictor, weight or group at once")
    if not names:
        raise OptionError("no column is left to be an indicator of the classes")
    items = tuple(_item(table, name, asked.kinds.get(name), asked) for name in names)
    outcomes = tuple(_outcome(table, name, asked.kinds.get(name)) for name in asked.outcomes)
    items = with_dependences(items, asked.dependent)
    notes = (*notes, *_holes(table, asked, items))
    return Roles(table, items, outcomes, sampling, notes)


def _table(data: Any, asked: Asked) -> Table:
    if isinstance(data, Table):
        return data
    kept: dict[str, str] = {}
    for name in (asked.groups, asked.strata, asked.by_group):
        if isinstance(name, str):
            kept[name] = "category"
    numeric = [name for name, kind in asked.kinds.items() if not IndicatorKind.named(kind).categorical]
    kept.update(dict.fromkeys(numeric, "number"))
    table = _read(data, kept, asked)
    lost = [name for name in asked.columns if name in table.aside]
    if not lost:
        return table
    told = {each.name: each for each in describe_columns(data)}
    for name in lost:
        if not told[name].came.is_number or told[name].distinct < 2:
            raise TableError(f"{name!r} cannot be used: {table.aside[name]}")
    return read_table(data, types={**kept, **dict.fromkeys(lost, "number")}, weights=asked.weights)


def _read(data: Any, types: Mapping[str, str], asked: Asked) -> Table:
    given = {"groups": asked.groups, "strata": asked.strata, "by_group": asked.by_group}
    with asked_as([*given.items(), *(("indicators", kind) for kind in asked.kinds)]):
        return read_table(data, types=types, weights=asked.weights)


def _sampling(table: Table, asked: Asked) -> tuple[Sampling, tuple[Note, ...]]:
    notes: list[Note] = []
    survey = asked.weights is not None
    weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
    if survey:
        if isinstance(asked.weights, str) and asked.weights in table.variables:
            weights = _number(table, asked.weights)
        elif not isinstance(asked.weights, str) and table.weights is None:
            weights = np.asarray(asked.weights, dtype=np.float64)
        bad = ~(np.isfinite(weights) & (weights >= 0))
        if len(weights) != table.n_rows or bad.any():
            row = int(np.argmax(bad)) + 1 if len(weights) == table.n_rows else 0
            what = f"the weight of row {row} is {weights[row - 1]}" if row else f"{len(weights)} weights"
            raise TableError(f"weights=: {what}; each of {table.n_rows} rows needs one, finite and at least 0")
        if not weights.sum() > 0:
            raise TableError("all weights are 0: at least one row must count")
        weights = weights * np.count_nonzero(weights) / weights.sum()
        notes.append(SamplingWeights(int((weights == 0).sum())))
    clusters = _labels(table, asked.groups, "groups")
    strata = _labels(table, asked.strata, "strata")
    sampling = Sampling(weights, survey, clusters, strata)
    if clusters is not None:
        notes.append(GroupsOfRows(sampling.units, sampling.units < FEW_GROUPS))
    return sampling, tuple(notes)


def _labels(table: Table, given: str | ArrayLike | None, option: str) -> Integers | None:
    if given is None:
        return None
    if isinstance(given, str):
        cells = table.column(given)
        codes = cells.astype(np.int64)
        hole = cells == table.missing
    else:
        values = np.asarray(given)
        if values.shape != (table.n_rows,):
            raise TableError(f"{option}=: {values.size} labels for {table.n_rows} rows; one each is needed")
        codes = np.unique(values.astype(str), return_inverse=True)[1].astype(np.int64)
        hole = np.zeros(len(codes), bool)
    if hole.any():
        raise TableError(f"{option}=: row {int(np.argmax(hole)) + 1} has none; fill it, or leave the row out")
    return codes


def _number(table: Table, name: str) -> Floats:
    if name not in table.numbers:
        raise OptionError(f"{name!r} must hold numbers, and holds {', '.join(map(str, table.states[name][:4]))}")
    return table.numbers[name].astype(np.float64)


def _item(table: Table, name: str, kind: str | None, asked: Asked) -> Item:
    item = make_item(table, name, IndicatorKind.named(kind) if kind else IndicatorKind.NOMINAL)
    inner = (asked.regress or {}).get(name, ())
    if not inner:
        return item
    terms = terms_of(table, inner, "regressor")
    own = np.where(terms.held[:, None], terms.values, np.nan)
    return Item(
        item.name,
        item.kind,
        item.values,
        item.states,
        own,
        terms.names,
        shift=item.shift,
        scale=item.scale,
        limits=item.limits,
        back=terms.back,
    )


def make_item(table: Table, name: str, kind: IndicatorKind) -> Item:
    if kind.categorical:
        cells = table.column(name)
        values = np.where(cells == table.missing, np.nan, cells.astype(np.float64))
        if kind is not IndicatorKind.NOMINAL and len(table.states[name]) < 2:
            raise TableError(f"{name!r} has one state only: it has no order")
        return Item(name, kind, values, table.states[name])
    values = _number(table, name)
    seen = values[~np.isnan(values)]
    if kind.count:
        if np.any(seen < 0) or np.any(seen != np.floor(seen)):
            raise TableError(f"{name!r} is to be counts, and holds {seen[(seen < 0) | (seen != np.floor(seen))][0]}")
        return Item(name, kind, values)
    spread = float(seen.std())
    if not spread > 0:
        raise TableError(f"{name!r} has one value only: it tells no classes apart; leave it out")
    limits = (float(seen.min()), float(seen.max())) if kind is IndicatorKind.CENSORED else (-np.inf, np.inf)
    if kind is IndicatorKind.CENSORED:  # a limit is one only where rows heap up
        low, high = (float(np.mean(seen == limit)) > 0.02 for limit in limits)
        limits = (limits[0] if low else -np.inf, limits[1] if high else np.inf)
    return Item(name, kind, values, shift=float(seen.mean()), scale=spread, limits=limits)


def _outcome(table: Table, name: str, kind: str | None) -> Item:
    if kind:
        return make_item(table, name, IndicatorKind.named(kind))
    numeric = name in table.numbers and len(np.unique(table.numbers[name][~np.isnan(table.numbers[name])])) > 2
    return make_item(table, name, IndicatorKind.NORMAL if numeric else IndicatorKind.NOMINAL)


def with_dependences(items: Iterable[Item], pairs: Collection[tuple[str, str]]) -> tuple[Item, ...]:
    """Of each pair, the column that comes later depends on the earlier one, alike in every class."""
    known = {item.name: item for item in items}
    order = list(known)
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1] or any(name not in known for name in pair):
            raise OptionError(f"dependent={pair!r}: expected two different indicators; they are {', '.join(order)}")
        first, second = sorted(pair, key=order.index)
        known[second] = known[second].depending_on(known[first])
    return tuple(known.values())


def _holes(table: Table, asked: Asked, items: tuple[Item, ...]) -> tuple[Note | str, ...]:
    notes: list[Note | str] = [LeftAside(name, why) for name, why in table.aside.items()]
    for name in asked.predictors:
        holes = int((table.column(name) == table.missing).sum())
        if holes:
            notes.append(WithoutPredictor(holes, name))
    for item in items:
        if item.on and not item.own_names[1:]:
            lost = int(np.isnan(item.shared).any(axis=1).sum()) if item.shared is not None else 0
            if lost:
                notes.append(NotUsedWithout(item.name, lost, tuple(item.on)))
    if asked.by_group is not None:
        codes = table.column(asked.by_group)
        for place, label in enumerate(table.states[asked.by_group]):
            rows = int((codes == place).sum())
            if rows < FEW_ROWS:
                notes.append(SmallGroup(rows, asked.by_group, label))
    return tuple(notes)
