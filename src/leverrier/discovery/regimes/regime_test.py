"""Could chance look like it? The whole search on panels drawn without it, until the test is decided."""

from __future__ import annotations

from functools import partial

import numpy as np

from leverrier.data.variable import Variable
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence
from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.regimes.column_roles import Roles
from leverrier.discovery.regimes.regime_attempts import Examined, examined
from leverrier.discovery.regimes.regime_null import null_panel
from leverrier.run.event import Event
from leverrier.run.run import Run


def tested(
    found: Examined,
    variables: tuple[Variable, ...],
    roles: Roles,
    *,
    moving: bool,
    draws: int,
    level: float,
    seed: int,
    run: Run,
) -> Evidence:
    """Of a state that moves against the best that stays; of what stays against the rival without anything hidden."""
    gain = found.moving if moving else found.staying
    seeds = np.random.SeedSequence([seed, 11 + moving]).spawn(draws)
    draw = partial(_drawn, found, variables, roles, moving, seed, run.silent())
    keys = [("regime draw", moving, place) for place in range(draws)]
    return drawn_evidence(gain, draw, seeds, keys, level, run, Event.NULL_TABLES, Compared.TIME)


def _drawn(
    found: Examined,
    variables: tuple[Variable, ...],
    roles: Roles,
    moving: bool,
    seed: int,
    run: Run,
    stream: np.random.SeedSequence,
) -> float:
    panel = null_panel(found, np.random.default_rng(stream), stays=moving)
    gain = found.moving if moving else found.staying
    stays = found.best_stay is not None or not moving
    again = examined(panel, variables, roles, seed, staying=stays, moving=moving, beat=gain, run=run)
    if run.late:
        return float("nan")
    value = again.moving if moving else again.staying
    return float(value) if np.isfinite(value) else -1e9
