"""Which law a column has: told by its cells, or chosen among the laws that could have made them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.errors import OptionError
from leverrier.models.regimes.count_emissions import count_emission
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.number_emissions import number_emission
from leverrier.models.regimes.state_emissions import state_emission
from leverrier.models.regimes.terms import Term

COUNTS = (Family.POISSON, Family.NEGATIVE_BINOMIAL, Family.ZERO_INFLATED)
NUMBERS = (Family.NORMAL, Family.STUDENT)
LEAST_COUNTS = 4
"""So many different whole numbers may be counts; fewer are states."""
TRIES = 12


def asked_laws(emissions: str | Mapping[str, str]) -> Mapping[str, Family] | Family | None:
    """What a user asked for; None for "auto"."""
    if isinstance(emissions, str):
        return None if emissions == "auto" else _family(emissions)
    return {name: _family(law) for name, law in emissions.items() if law != "auto"}


def _family(law: str) -> Family:
    names = {"gaussian": "normal", "t": "student", "nb": "negative binomial", "negbin": "negative binomial"}
    text = names.get(law.lower().replace("_", " "), law.lower().replace("_", " "))
    try:
        return Family(text)
    except ValueError:
        known = ", ".join(each.value for each in Family)
        raise OptionError(f'emissions={law!r}: expected "auto" or one of {known}') from None


def is_count(values: Floats) -> bool:
    """Whether all cells are whole numbers from 0 on, of at least a few kinds."""
    seen = values[~np.isnan(values)]
    whole = len(seen) > 0 and bool(np.all(seen >= 0)) and bool(np.all(seen == np.round(seen)))
    return whole and len(np.unique(seen)) >= LEAST_COUNTS


def candidates(panel: Panel, name: str) -> tuple[Family, ...]:
    """The laws that a column's cells allow, simplest first."""
    if name in panel.labels:
        return (Family.CATEGORY,)
    if is_count(panel.values[name]) and float(np.nanmax(panel.values[name])) < 1e6:
        return (*COUNTS, Family.NORMAL)
    return NUMBERS


def emission_of(
    panel: Panel,
    name: str,
    family: Family,
    terms: tuple[Term, ...] = (),
    shared: tuple[bool, ...] | None = None,
    pseudo: float = 0.0,
) -> Emission:
    """A column in one state, not yet fitted to its terms."""
    y = panel.values[name]
    if family is Family.CATEGORY:
        return state_emission(name, y, len(panel.labels[name]), terms, shared, pseudo)
    if family in COUNTS:
        return count_emission(name, y, terms, shared, family)
    return number_emission(name, y, terms, shared, heavy=family is Family.STUDENT)


def fitted_emission(start: Emission, y: Floats, z: Floats, weights: Floats, tries: int = TRIES) -> Emission:
    """M-steps until they no longer help."""
    exact = start.family is Family.NORMAL and (start.states == 1 or not any(start.shared))
    now, before = start.fitted(y, z, weights), -np.inf
    if exact:
        return now
    for _ in range(tries):
        value = float((now.logs(y, z) * weights).sum())
        if value - before < 0.005:
            break
        before, now = value, now.fitted(y, z, weights)
    return now


def best_law(
    panel: Panel, name: str, terms: tuple[Term, ...], shared: tuple[bool, ...] | None, z: Floats, weights: Floats
) -> Emission:
    """The law with the best BIC if slices are in states with these weights."""
    y = panel.values[name]
    price = 0.5 * np.log(max(len(y), 2))
    best, most = None, -np.inf
    for family in candidates(panel, name):
        start = emission_of(panel, name, family, terms, shared).spread_over(weights.shape[1])
        one = fitted_emission(start, y, z, weights)
        worth = float((one.logs(y, z) * weights).sum()) - price * one.dimension
        if worth > most:
            best, most = one, worth
    assert best is not None
    return best
