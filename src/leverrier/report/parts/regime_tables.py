"""A column's law by hidden state, as a grid: its mean and spread, or the chances of its states, and its slopes."""

from __future__ import annotations

import calendar
import math

from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.state_emissions import StateEmission
from leverrier.models.regimes.terms import Term
from leverrier.report.parts.page_parts import Grid, percent, shortened

MOST = 8


def emission_grid(model: RegimeModel, name: str) -> Grid:
    """By state of what is hidden, what the column shows."""
    each = next(one for one in model.emissions if one.name == name)
    if isinstance(each, StateEmission):
        return _shares(model, each)
    number = each.family in (Family.NORMAL, Family.STUDENT)
    width = "spread" if number else "size" if each.family is Family.NEGATIVE_BINOMIAL else ""
    head = ("state", "law", "mean", *([width] if width else []), *(term_name(term) for term in each.terms[:MOST]))
    rows = tuple(
        (
            f"state {k}" if model.states > 1 else "always",
            each.family.value,
            f"{each.coefficients[k, 0] if number else math.exp(each.coefficients[k, 0]):.4g}",
            *([f"{each.spread[k]:.4g}"] if width else []),
            *(f"{slope:+.3g}" for slope in each.coefficients[k, 1 : MOST + 1]),
        )
        for k in range(model.states)
    )
    return Grid(head, rows, _slopes(each, number), stack=True)


def _slopes(each: Emission, number: bool) -> str:
    """What the slopes are, where there are any."""
    if not each.terms:
        return ""
    of = "" if number else ", of the mean's logarithm"
    return f"Slopes{of} are for one standard deviation of what is named, means at usual values."


def _shares(model: RegimeModel, each: StateEmission) -> Grid:
    labels = next(column.states for column in model.variables if column.name == each.name)
    head = ("state", *(shortened(str(label), 24) for label in labels[:MOST]))
    rows = tuple(
        (f"state {k}" if model.states > 1 else "always", *(percent(float(share)) for share in each.table[k, :MOST]))
        for k in range(model.states)
    )
    asked = ", ".join(term_name(term) for term in each.terms[:MOST])
    return Grid(head, rows, f"At usual values of {asked}." if asked else "", stack=True)


def calendar_name(term: Term) -> str:
    """January, Monday, 7 h."""
    k = term.state or 0
    names = {"month": calendar.month_name[1:], "weekday": calendar.day_name}
    return names[term.part][k] if term.part in names else f"{k} h"


def term_name(term: Term) -> str:
    """A regressor as people say it."""
    if term.shrink:
        return f"the person's level of {term.source}"
    if term.part:
        return calendar_name(term)
    if not term.source:
        return f"season of {term.period:.4g}" if term.period else "time" if term.power == 1 else f"time^{term.power}"
    before = f"[-{term.lag}]" if term.lag else ""
    power = f"^{term.power}" if term.power > 1 else ""
    state = "" if term.state is None else f" (state {term.state})"
    if term.over:
        return f"{term.source}{state}, mean of the last {term.over}"
    return f"{term.source}{before}{power}{state}"
