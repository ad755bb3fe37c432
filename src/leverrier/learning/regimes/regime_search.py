"""One number of states fitted well: several beginnings, a few steps each, the best of them to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.regimes.column_laws import best_law, fitted_emission
from leverrier.learning.regimes.regime_em import Designs, RegimeClimb, begun, climb
from leverrier.learning.regimes.regime_starts import WINDOWS, grouped, grouped_persons, residuals, scaled, scores
from leverrier.models.regimes.emission import Emission
from leverrier.models.regimes.moves import Moves, Stay, even_moves, with_inputs, with_stays
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import Term
from leverrier.run.run import UNBOUNDED, Run

SHORT = 6
HOPE = 40.0
"""What EM has been seen to gain after its first steps is far less, in samples of this size."""
STEPS = (2, 3, 5, 8)
"""Steps of a negative binomial length of stay that are tried (1 is geometric)."""
LONGEST = 60


def one_state(model: RegimeModel, designs: Designs, live: Floats | None = None) -> RegimeClimb:
    """Every column by itself: the model without anything hidden."""
    weights = np.ones((designs.panel.n_slices, 1)) if live is None else live[:, None]
    made = []
    for each in model.emissions:
        y, z = designs.panel.values[each.name], designs.of(each.terms)
        made.append(fitted_emission(each, y, z, weights, 30))
    return climb(replace(model, emissions=tuple(made)), designs, live=live, max_iterations=0)


def several_states(
    base: RegimeModel,
    designs: Designs,
    states: int,
    *,
    rng: np.random.Generator,
    stays: bool = False,
    starts: int = 1,
    windows: Sequence[int] = WINDOWS,
    live: Floats | None = None,
    max_iterations: int = 200,
    tolerance: float = 0.01,
    pseudo: float = 0.0,
    reach: float = -np.inf,
    guessed: Sequence[Floats] = (),
    run: Run = UNBOUNDED,
) -> RegimeClimb:
    """So many states with the laws and terms of `base`, which has one; `guessed` are more beginnings, as posteriors.

    Where after a few steps no beginning is within HOPE nats of a worth of `reach`, none is run to the end.
    """
    if states == 1:
        return one_state(base, designs, live)
    reached = []
    for guess in [*guesses(base, designs, states, rng, stays=stays, starts=starts, windows=windows), *guessed]:
        weights = guess if live is None else guess * live[:, None]
        model = replace(base, moves=even_moves(states, stays=stays, pseudo=pseudo))
        point = begun(model, designs, weights)
        reached.append(climb(point, designs, live=live, max_iterations=SHORT, tolerance=tolerance, run=run))
    reached.sort(key=lambda one: -one.log_likelihood)
    if max(one.worth for one in reached) + HOPE < reach:
        return max(reached, key=lambda one: one.log_likelihood)
    ends = [
        climb(one.model, designs, live=live, max_iterations=max_iterations, tolerance=tolerance, run=run)
        for one in reached[:starts]
    ]
    return max(ends, key=lambda one: one.log_likelihood)


def guesses(
    base: RegimeModel,
    designs: Designs,
    states: int,
    rng: np.random.Generator,
    *,
    stays: bool,
    starts: int,
    windows: Sequence[int],
) -> list[Floats]:
    """Where slices might be: by groups of residuals over windows, with and without their size; then at random."""
    panel = designs.panel
    cells = residuals(base.emissions, designs)
    if stays:
        found = [grouped_persons(cells, panel, states, rng) for _ in range(max(2, starts))]
        own = scores(base.emissions, designs)
        return found if own is None else [*found, grouped_persons(own, panel, states, rng)]
    longest = int(np.diff(panel.starts).max())
    fitting = [w for w in windows if w == 1 or w < longest]
    found = [grouped(cells, panel, states, window, rng) for window in fitting]
    found += [grouped(scaled(cells), panel, states, window, rng) for window in fitting[1:2]]
    while len(found) < starts:
        found.append(rng.dirichlet(np.ones(states), panel.n_slices))
    return found


def with_laws(climbed: RegimeClimb, designs: Designs, fixed: Sequence[str] = ()) -> RegimeModel:
    """The same states with the law of each column chosen anew, given where slices are."""
    made: list[Emission] = []
    for each in climbed.model.emissions:
        if each.name in fixed:
            made.append(each)
            continue
        z = designs.of(each.terms)
        made.append(best_law(designs.panel, each.name, each.terms, each.shared, z, climbed.posterior))
    return replace(climbed.model, emissions=tuple(made))


def with_duration(
    climbed: RegimeClimb, designs: Designs, stay: Stay, max_iterations: int, tolerance: float, run: Run
) -> RegimeClimb:
    """Other lengths of stay, begun from the geometric ones."""
    if stay is Stay.GEOMETRIC or climbed.model.states == 1:
        return climbed
    moves = climbed.model.moves
    if stay is Stay.WEIBULL:
        points = [with_stays(moves, stay, longest=_longest(moves))]
    else:
        points = [with_stays(moves, stay, steps) for steps in STEPS]
    ends = [
        climb(replace(climbed.model, moves=point), designs, max_iterations=max_iterations, tolerance=tolerance, run=run)
        for point in points
    ]
    return max(ends, key=lambda one: one.log_likelihood)


def _longest(moves: Moves) -> int:
    finite = moves.dwell[np.isfinite(moves.dwell)]
    return int(np.clip(3 * (finite.max() if len(finite) else 10), 8, LONGEST))


def turned_by(model: RegimeModel, terms: tuple[Term, ...]) -> RegimeModel:
    """Inputs on the moves."""
    return replace(model, moves=with_inputs(model.moves, terms)) if model.states > 1 and terms else model
