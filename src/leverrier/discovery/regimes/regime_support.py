"""Does it come back? The same search on whole persons drawn anew, or with blocks of a long sequence left out.

Persons, or blocks, of a bootstrap draw, each counted once, as for tables. What is left out of a sequence is taken as
holes: the chain goes on through them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.counts.label_agreement import adjusted_rand
from leverrier.data.sequences.panel import Panel
from leverrier.data.variable import Variable
from leverrier.discovery.evidence.resamples import ALIGNED, SHARE, SHARED
from leverrier.discovery.regimes.column_roles import Roles
from leverrier.discovery.regimes.regime_attempts import Examined, Hidden, RegimeAttempt, examined
from leverrier.discovery.regimes.regime_held_out import Parts
from leverrier.discovery.time.tested_slices import FOLDS
from leverrier.learning.regimes.column_laws import emission_of, fitted_emission
from leverrier.learning.regimes.regime_em import Designs
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.run.event import Event
from leverrier.run.run import Run

LEAST_GAIN = 3.0
"""Nats, parameters priced, from which a gain is tested: a Bayes factor of 20. Less is within any rival's own misfit."""


@dataclass(frozen=True)
class CameBack:
    """The share of resamples in which it came back, and by column how often it was driven then."""

    share: float
    links: dict[str, float]


def came_back(
    seen: Examined,
    attempt: RegimeAttempt,
    variables: tuple[Variable, ...],
    roles: Roles,
    cut: Parts,
    resamples: int,
    seed: int,
    run: Run,
) -> CameBack | None:
    """None where time ran out before a resample was searched."""
    moving = attempt.kind is Hidden.REGIME
    seeds = np.random.SeedSequence([seed, 31 + moving]).spawn(resamples)
    again = partial(_again, seen, attempt, variables, roles, cut.block, seed, run.silent())
    keys = [("regime resample", moving, place) for place in range(resamples)]
    whole = [one for one in run.map(again, [(each,) for each in seeds], keys) if one is not None]
    run.tell(Event.RESAMPLES, len(whole) / resamples)
    if not whole:
        return None
    back = [set(one["columns"]) for one in whole if one["back"]]
    columns = sorted(set().union(*back)) if back else []
    links = {name: sum(name in each for each in back) / len(whole) for name in columns}
    return CameBack(len(back) / len(whole), links)


def _again(
    seen: Examined,
    attempt: RegimeAttempt,
    variables: tuple[Variable, ...],
    roles: Roles,
    block: Integers,
    seed: int,
    run: Run,
    stream: np.random.SeedSequence,
) -> dict[str, Any] | None:
    """Whether a hidden variable of that kind comes back with mostly the same columns and states, and its columns."""
    moving = attempt.kind is Hidden.REGIME
    panel = resampled(seen.panel, roles, block, np.random.default_rng(stream))
    stays = seen.best_stay is not None or not moving
    found = examined(panel, variables, roles, seed, staying=stays, moving=moving, run=run)
    if run.late:
        return None
    one = found.best(Hidden.REGIME) if moving else found.best_stay
    gain = found.moving if moving else found.staying
    if one is None or not gain > LEAST_GAIN:
        return {"back": False, "columns": []}
    here, there = columns_of(seen, attempt), columns_of(found, one)
    shared = len(here & there) / max(len(here | there), 1)
    return {"back": shared >= SHARED and _aligned(seen.panel, attempt, one), "columns": sorted(there)}


def resampled(panel: Panel, roles: Roles, block: Integers, rng: np.random.Generator) -> Panel:
    """Some of the persons where there are many, else some of the blocks, the others as holes."""
    if panel.persons >= 4 * FOLDS:
        kept = np.flatnonzero(rng.random(panel.persons) < SHARE)
        return panel.take(kept if len(kept) else np.arange(panel.persons))
    out = ~(rng.random(int(block[-1]) + 1) < SHARE)[block]
    return panel.with_values({name: np.where(out, np.nan, panel.values[name]) for name in roles.outcomes})


def columns_of(seen: Examined, attempt: RegimeAttempt) -> set[str]:
    """What it drives: of levels, the columns in which persons differ."""
    if attempt.climb is None:
        return {each.name for each in seen.levels}
    return set(driven(attempt.climb.model, seen.panel, attempt.climb.posterior))


def _aligned(panel: Panel, one: RegimeAttempt, other: RegimeAttempt) -> bool:
    if one.climb is None or other.climb is None:  # (levels have no states to compare)
        return True
    states = [each.climb.model.posterior(panel).argmax(axis=1) for each in (one, other) if each.climb is not None]
    return adjusted_rand(states[0], states[1]) >= ALIGNED


def driven(model: RegimeModel, panel: Panel, posterior: Floats) -> tuple[str, ...]:
    """Columns for which a law by state is worth its parameters, given where slices are."""
    designs, price = Designs(panel), 0.5 * float(np.log(panel.n_slices))
    drives = []
    for each in model.emissions:
        y, z = panel.values[each.name], designs.of(each.terms)
        alone = fitted_emission(
            emission_of(panel, each.name, each.family, each.terms), y, z, np.ones((panel.n_slices, 1))
        )
        gain = float((posterior * each.logs(y, z)).sum() - alone.logs(y, z).sum())
        if gain > price * (each.dimension - alone.dimension):
            drives.append(each.name)
    return tuple(drives) or tuple(each.name for each in model.emissions)
