"""A chain on the past without what it no longer needs: terms that stood for the hidden state before it was there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.regimes.column_laws import emission_of, fitted_emission
from leverrier.learning.regimes.regime_em import Designs, RegimeClimb, climb
from leverrier.models.regimes.emission import Emission
from leverrier.models.regimes.terms import Term
from leverrier.run.run import Run

ROUNDS = 2


def without_idle_terms(
    found: RegimeClimb, designs: Designs, iterations: int, tolerance: float, run: Run
) -> RegimeClimb:
    """The same climb, or a better one with fewer terms: those go that do not pay given where slices are."""
    for _ in range(ROUNDS):
        fewer = tuple(_slimmer(each, designs, found.posterior) for each in found.model.emissions)
        if all(a is b for a, b in zip(fewer, found.model.emissions, strict=True)) or run.late:
            break
        other = replace(found.model, emissions=fewer)
        again = climb(other, designs, max_iterations=iterations, tolerance=tolerance, run=run)
        if again.worth <= found.worth:
            break
        found = again
    return found


def _slimmer(each: Emission, designs: Designs, weights: Floats) -> Emission:
    """One block of terms after another taken out, the one that costs least first, as long as that pays."""
    y = designs.panel.values[each.name]
    price = 0.5 * float(np.log(max(len(y), 2)))

    def worth(one: Emission) -> float:
        return float((one.logs(y, designs.of(one.terms)) * weights).sum()) - price * one.dimension

    now, most = each, worth(each)
    while now.terms:
        tried = [_without(now, block, designs, y, weights) for block in dict.fromkeys(_block(t) for t in now.terms)]
        best = max(tried, key=worth)
        if worth(best) <= most:
            break
        now, most = best, worth(best)
    return now


def _block(term: Term) -> tuple[str, int, str, float]:
    """What belongs together: states of one column, parts of the calendar, both waves of a season."""
    return term.source, term.lag, term.part, term.period or -term.power


def _without(
    each: Emission, block: tuple[str, int, str, float], designs: Designs, y: Floats, weights: Floats
) -> Emission:
    kept = [place for place, term in enumerate(each.terms) if _block(term) != block]
    terms = tuple(each.terms[place] for place in kept)
    shared = tuple(each.shared[place] for place in kept)
    start = emission_of(designs.panel, each.name, each.family, terms, shared).spread_over(weights.shape[1])
    return fitted_emission(start, y, designs.of(terms), weights)
