"""Rows drawn from a fitted latent class model, with the data's predictors, designs and holes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.learning.classes.fitting.class_climb import ClassFitted
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.learning.classes.parts.indicator import Indicator, IndicatorKind
from leverrier.learning.classes.parts.indicator_making import Item, make_indicator


def drawn_like(fitted: ClassFitted, rng: np.random.Generator) -> ClassSpec:
    """The specification with values drawn from the model: everything else, holes too, is as it was."""
    return drawn_with_classes(fitted, rng)[0]


def drawn_with_classes(fitted: ClassFitted, rng: np.random.Generator) -> tuple[ClassSpec, Integers]:
    """The same, and the class that each row was drawn from."""
    likelihood, spec = fitted.likelihood, fitted.spec
    shares = np.exp(likelihood.logit.log_shares(likelihood.part(fitted.theta, 0)))[likelihood.logit.cell_of_row]
    rows = len(shares)
    member = (rng.random(rows)[:, None] >= np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    done: dict[str, Item] = {}
    for place, (item, indicator) in enumerate(zip(spec.items, likelihood.indicators, strict=True)):
        own = _moved(item, done)
        predictors = row_predictors(own, indicator, likelihood.part(fitted.theta, place + 1), member)
        values = np.where(np.isnan(item.values), np.nan, indicator.density.draw(predictors, rng))
        done[item.name] = replace(own, values=values)
    return spec.with_items(tuple(done.values())), member


def _moved(item: Item, done: dict[str, Item]) -> Item:
    """The item with what it depends on as drawn."""
    if not item.on or item.shared is None:
        return item
    drawn = np.hstack([done[name].columns[0] for name in item.on])
    return replace(item, shared=np.hstack([item.shared[:, : item.shared.shape[1] - drawn.shape[1]], drawn]))


def row_predictors(item: Item, indicator: Indicator, theta: Floats, member: Integers) -> Floats:
    """(channels, rows): the linear predictors of every row in its class, for this item's designs."""
    references = None if indicator.kind is not IndicatorKind.NOMINAL else reference_states(indicator)
    blank = replace(item, values=np.zeros(len(item.values)))
    if item.own is not None:
        blank = replace(blank, own=np.nan_to_num(item.own))
    if item.shared is not None:
        blank = replace(blank, shared=np.nan_to_num(item.shared))
    other = make_indicator(blank, indicator.classes, references)
    return other.predictors(theta)[member, :, other.cell_of_row].T


def reference_states(indicator: Indicator) -> Integers:
    """Of a nominal indicator: the state of each class without a parameter of its own."""
    free = np.abs(indicator.design).sum(axis=2)  # (classes, channels, parameters)
    own = np.array([parameter.state_class is not None for parameter in indicator.parameters], dtype=bool)
    return (free[:, :, own].sum(axis=2) == 0).argmax(axis=1).astype(np.int64)
