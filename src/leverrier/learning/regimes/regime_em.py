"""EM for a model with a hidden state: the E-step runs along the walk, each column makes its own weighted M-step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.learning.criteria import bic
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.regime_passes import by_state, passed, smoothed
from leverrier.models.regimes.terms import Term, design
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status


@dataclass(frozen=True, eq=False)
class RegimeClimb:
    """Where EM ended."""

    model: RegimeModel
    log_likelihood: float
    trace: tuple[float, ...]
    status: Status
    posterior: Floats
    """(slices, states)"""
    slices: int

    @property
    def bic(self) -> float:
        return bic(self.log_likelihood, self.model.dimension, self.slices)

    @property
    def worth(self) -> float:
        """Log-likelihood less ½ ln(slices) for each parameter: −½ of the BIC."""
        return -0.5 * self.bic


class Designs:
    """Designs of a panel by their terms, each made once for all fits."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self._made: dict[tuple[Term, ...], Floats] = {}

    def of(self, terms: tuple[Term, ...]) -> Floats:
        if terms not in self._made:
            self._made[terms] = design(self.panel, terms)
        return self._made[terms]


def climb(
    model: RegimeModel,
    designs: Designs,
    *,
    live: Floats | None = None,
    max_iterations: int = 200,
    tolerance: float = 0.01,
    run: Run = UNBOUNDED,
) -> RegimeClimb:
    """EM until what is still to be gained is estimated to be below `tolerance` nats.

    `live` is 1 where a slice may be learnt from, 0 where it is to be taken as a hole.
    """
    panel = designs.panel
    zs = [designs.of(each.terms) for each in model.emissions]
    ys = [panel.values[each.name] for each in model.emissions]
    trace: list[float] = []
    status = Status.ITERATION_LIMIT
    while True:
        walk = model.moves.walk(panel)
        logs = _logs(model, ys, zs, live)
        there = passed(walk, logs, panel.starts)
        trace.append(float(there.slice_logs.sum()))
        if settled(trace, tolerance):
            status = Status.CONVERGED
            break
        if len(trace) > max_iterations:
            break
        if run.late:
            status = Status.BUDGET
            break
        steps, first, joint = smoothed(walk, there, panel.starts)
        weights = by_state(steps, walk, model.states)
        if live is not None:
            weights = weights * live[:, None]
        emissions = tuple(each.fitted(y, z, weights) for each, y, z in zip(model.emissions, ys, zs, strict=True))
        model = replace(model, emissions=emissions, moves=model.moves.fitted(walk, first, joint))
    posterior = by_state(smoothed(walk, there, panel.starts)[0], walk, model.states)
    slices = panel.n_slices if live is None else int(live.sum())
    return RegimeClimb(model, trace[-1], tuple(trace), status, posterior, slices)


def settled(trace: Sequence[float], tolerance: float) -> bool:
    """Whether EM has gained all but `tolerance`: its gains fall off geometrically [Böhning et al. 1994]."""
    if len(trace) < 4:
        return len(trace) >= 2 and abs(trace[-1] - trace[-2]) < 1e-9 * (1 + abs(trace[-1]))
    gain, before = trace[-1] - trace[-2], trace[-2] - trace[-3]
    if gain <= 1e-10 * (1 + abs(trace[-1])):
        return True
    ratio = min(max(gain / before if before > 0 else 0.0, 0.0), 0.999)
    return gain * ratio / (1 - ratio) < tolerance and gain < tolerance * 10


def _logs(model: RegimeModel, ys: list[Floats], zs: list[Floats], live: Floats | None) -> Floats:
    total = np.zeros((len(zs[0]), model.states))
    for each, y, z in zip(model.emissions, ys, zs, strict=True):
        total += each.logs(y, z)
    return total if live is None else total * live[:, None]


def begun(model: RegimeModel, designs: Designs, weights: Floats, moves: bool = True) -> RegimeModel:
    """The model's parameters if slices were in states with these weights (slices, states)."""
    panel = designs.panel
    emissions = []
    for each in model.emissions:
        y, z = panel.values[each.name], designs.of(each.terms)
        emissions.append(each.spread_over(model.states).fitted(y, z, weights).fitted(y, z, weights))
    found = model.moves
    if moves and model.states > 1:
        inside = np.flatnonzero(panel.position > 0)
        pairs = weights[inside - 1].T @ weights[inside] + 1.0 / model.states
        pairs = np.where(found.allowed, pairs, 0.0)
        first = weights[panel.starts[:-1]].sum(axis=0) + 1.0
        found = replace(found, initial=first / first.sum(), matrix=pairs / pairs.sum(axis=1, keepdims=True))
    return replace(model, emissions=tuple(emissions), moves=found)
