"""Panels with nothing hidden that moves (or nothing hidden at all), like the one at hand in all else.

Lengths, holes and inputs stay; numbers have the rival's own residuals, drawn in whole rows: their margins and
what columns of one slice have in common are as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.discovery.regimes.regime_attempts import NUMBERS, Examined, Hidden
from leverrier.learning.regimes.person_levels import Levels
from leverrier.learning.regimes.regime_em import Designs
from leverrier.models.regimes.regime_draws import drawn_like
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import Term

LEAST_ROWS = 30


def null_panel(found: Examined, rng: np.random.Generator, *, stays: bool) -> Panel:
    """Drawn from the best model without a state that moves; `stays` allows it levels and classes of persons."""
    best = found.best(Hidden.CLASSES, Hidden.LEVELS) if stays else None
    if best is not None and best.worth > found.rival_worth:
        if best.climb is not None:
            drawn = drawn_like(best.climb.model, found.panel, rng, bounded=True)[0]
            return _plain(drawn, found.panel)
        model, panel = _with_levels(found, rng)
    else:
        model, panel = found.rival, found.panel
    names = [each.name for each in found.rival.emissions if each.family in NUMBERS]
    noise = residual_rows(found, names, levels=best is not None and best.worth > found.rival_worth)
    return _plain(drawn_like(model, panel, rng, noise, bounded=True)[0], found.panel)


def _plain(drawn: Panel, like: Panel) -> Panel:
    return replace(drawn, values={name: drawn.values[name] for name in like.values})


def _with_levels(found: Examined, rng: np.random.Generator) -> tuple[RegimeModel, Panel]:
    """The rival with a level drawn anew for every person."""
    level = {each.name: each for each in found.levels}
    panel, extra, emissions = found.panel, {}, []
    for each in found.rival.emissions:
        own = level.get(each.name)
        if own is None:
            emissions.append(each)
            continue
        source = f"@{each.name}"
        extra[source] = (own.between * rng.standard_normal(panel.persons))[panel.person]
        emissions.append(
            replace(
                each,
                terms=(*found.level_terms[each.name], Term(source)),
                shared=(True,) * (1 + len(found.level_terms[each.name])),
                coefficients=np.append(own.coefficients, 1.0)[None],
                spread=np.array([own.spread]),
            )
        )
    return replace(found.rival, emissions=tuple(emissions)), panel.with_values(extra)


def residual_rows(found: Examined, names: list[str], *, levels: bool) -> dict[str, Floats] | None:
    """Standardised residuals of the columns of numbers, rows that have them all; None where there are too few."""
    if not names:
        return None
    designs = Designs(found.panel)
    own = {each.name: each for each in found.levels} if levels else {}
    parts = {}
    for each in found.rival.emissions:
        if each.name not in names:
            continue
        y = found.panel.values[each.name]
        if each.name in own:
            parts[each.name] = _beyond_levels(found, own[each.name], y, designs)
        else:
            parts[each.name] = (y - each.means(designs.of(each.terms))[:, 0]) / each.spread[0]
    whole = np.all([~np.isnan(part) for part in parts.values()], axis=0)
    if whole.sum() < LEAST_ROWS:
        return None
    kept = {name: part[whole] for name, part in parts.items()}
    return {name: part - part.mean() for name, part in kept.items()}


def _beyond_levels(found: Examined, level: Levels, y: Floats, designs: Designs) -> Floats:
    r = (y - designs.of(found.level_terms[level.name]) @ level.coefficients) / level.spread
    seen = ~np.isnan(r)
    who = found.panel.person
    count = np.bincount(who[seen], minlength=found.panel.persons)
    mean = np.bincount(who[seen], r[seen], found.panel.persons) / np.maximum(count, 1)
    lost = np.sqrt(np.maximum(1 - 1 / np.maximum(count, 2), 0.25))  # (a person's own mean takes some of the spread)
    return (r - mean[who]) / lost[who]
