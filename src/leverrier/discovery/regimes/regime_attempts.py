"""What could be at work in a panel: nothing hidden, persons' own levels or classes, or a state that moves.

All are weighed on one scale, log-likelihood less ½ ln(slices) for each parameter. What a hidden variable gains over the
best of its rivals is the statistic that simulated panels are compared by; the same search runs on each of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.data.variable import Variable
from leverrier.discovery.regimes.column_roles import Roles
from leverrier.discovery.regimes.rival_terms import ColumnRival, past_terms, rival_columns, trend_terms
from leverrier.learning.regimes.column_laws import emission_of, fitted_emission
from leverrier.learning.regimes.person_levels import Levels, fit_levels
from leverrier.learning.regimes.regime_em import Designs, RegimeClimb
from leverrier.learning.regimes.regime_search import one_state, several_states
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import even_moves
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import CLOCK, Term
from leverrier.run.run import UNBOUNDED, Run

STATES = (2, 3)
LEAST_TO_DIFFER = 4
"""Slices of the longest sequence, so that persons may differ in how they go on."""
LEAST_PERSONS = 6
"""Fewer persons say nothing of how persons differ."""
ITERATIONS, TOLERANCE, PSEUDO = 60, 0.1, 0.5
NUMBERS = (Family.NORMAL, Family.STUDENT)


class Hidden(StrEnum):
    """What kind of hidden variable an attempt has."""

    REGIME = "a state that moves"
    CLASSES = "classes of persons"
    LEVELS = "persons' own levels"


@dataclass(frozen=True, eq=False)
class RegimeAttempt:
    """One model with something hidden. Levels have no chain: their columns are in `Examined.levels`."""

    kind: Hidden
    ground: str
    climb: RegimeClimb | None
    worth: float
    base: RegimeModel | None = None
    """The same without the hidden state."""
    states: int = 0


@dataclass(frozen=True, eq=False)
class Examined:
    """All that was tried on one panel."""

    panel: Panel
    rival: RegimeModel
    columns: tuple[ColumnRival, ...]
    rival_worth: float
    levels: tuple[Levels, ...]
    """Of the columns in which persons differ, each with its own terms in `level_terms`."""
    level_terms: dict[str, tuple[Term, ...]]
    attempts: tuple[RegimeAttempt, ...]

    def best(self, *kinds: Hidden) -> RegimeAttempt | None:
        return max((one for one in self.attempts if one.kind in kinds), key=lambda one: one.worth, default=None)

    @property
    def best_stay(self) -> RegimeAttempt | None:
        """Classes or levels of persons, whichever says more."""
        return self.best(Hidden.CLASSES, Hidden.LEVELS)

    @property
    def staying(self) -> float:
        """What classes or levels of persons gain over the rival."""
        one = self.best(Hidden.CLASSES, Hidden.LEVELS)
        return -np.inf if one is None else float(one.worth - self.rival_worth)

    @property
    def moving(self) -> float:
        """What a state that moves gains over the rival and over whatever only stays."""
        one = self.best(Hidden.REGIME)
        return -np.inf if one is None else float(one.worth - self.rival_worth - max(self.staying, 0.0))


def examined(
    panel: Panel,
    variables: tuple[Variable, ...],
    roles: Roles,
    seed: int,
    *,
    staying: bool = True,
    moving: bool = True,
    beat: float = -np.inf,
    run: Run = UNBOUNDED,
) -> Examined:
    """The whole search on one panel. What is far from a gain of `beat` after a few steps is not followed to its end."""
    designs = Designs(panel)
    columns = rival_columns(designs, roles)
    rival = RegimeModel(variables, tuple(each.emission for each in columns), even_moves(1), "H1")
    one = one_state(rival, designs)
    levels, level_terms = _levels(designs, columns) if panel.persons >= LEAST_PERSONS else ((), {})
    attempts: list[RegimeAttempt] = []
    price = 0.5 * np.log(panel.n_slices)
    level_worth = one.worth
    if levels:
        own = {each.emission.name: each.log_likelihood - price * each.dimension for each in columns}
        level_worth += sum(each.log_likelihood - price * each.dimension - own[each.name] for each in levels)
        attempts.append(RegimeAttempt(Hidden.LEVELS, "levels", None, level_worth, rival))
    grounds = _grounds(designs, rival, levels, level_terms)
    rng = np.random.default_rng([seed, 7])
    if staying and panel.persons >= LEAST_PERSONS:
        attempts += _classes(designs, rival, rng, one.worth + (0.0 if moving else beat), run)
    if moving:
        lone = [one_state(base, designs) for _, base in grounds]
        # (a person's mean is told from all of the person's slices: what that is worth too much is taken off again)
        credit = level_worth - lone[-1].worth if levels else 0.0
        guessed: list[Floats] = []
        for (name, _), alone in zip(grounds, lone, strict=True):
            for states in STATES if name == "plain" else STATES[:1]:
                if run.late:
                    break
                found = several_states(
                    alone.model,
                    designs,
                    states,
                    rng=rng,
                    max_iterations=ITERATIONS,
                    tolerance=TOLERANCE,
                    pseudo=PSEUDO,
                    reach=max(one.worth, level_worth) + beat - credit,
                    guessed=guessed if states == 2 else (),
                    run=run,
                )
                if states == 2:
                    guessed.append(found.posterior)
                attempts.append(RegimeAttempt(Hidden.REGIME, name, found, found.worth + credit, alone.model, states))
    return Examined(panel, one.model, columns, one.worth, levels, level_terms, tuple(attempts))


def without_past(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Terms that are given: inputs and clocks, no lags and nothing of the same slice."""
    return tuple(term for term in terms if term.lag == 0 and term.shrink == 0)


def _given(rival: RegimeModel, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    explained = set(rival.outcomes)
    return tuple(term for term in without_past(terms) if term.source not in explained)


def _grounds(
    designs: Designs, rival: RegimeModel, levels: tuple[Levels, ...], level_terms: dict[str, tuple[Term, ...]]
) -> list[tuple[str, RegimeModel]]:
    """What a chain is built on: inputs alone, with each column's own last value, and all that the rival asks; with
    persons' levels where there are any. The rival's terms stand for a hidden state too, so a chain need not have them
    all."""
    level = {each.name: each for each in levels}
    plain, last, past = [], [], []
    for each in rival.emissions:
        given = _given(rival, each.terms)
        own = _level_term(designs.panel, level[each.name]) if each.name in level else ()
        plain.append(_with_terms(designs, each, (*given, *own)))
        before = tuple(term for term in each.terms if term.source == each.name and term.lag == 1 and not term.over)
        last.append(_with_terms(designs, each, (*given, *before, *own)))
        past.append(_with_terms(designs, each, (*level_terms.get(each.name, each.terms), *own)))
    made = [("plain", replace(rival, emissions=tuple(plain)))]
    if len({tuple(each.terms for each in emissions) for emissions in (plain, last, past)}) == 3:
        made.append(("the last step", replace(rival, emissions=tuple(last))))
    if any(a.terms != b.terms for a, b in zip(plain, past, strict=True)):
        made.append(("the past", replace(rival, emissions=tuple(past))))
    return made


def _with_terms(designs: Designs, each: Emission, terms: tuple[Term, ...]) -> Emission:
    if terms == each.terms:
        return each
    start = emission_of(designs.panel, each.name, each.family, terms)
    y = designs.panel.values[each.name]
    return fitted_emission(start, y, designs.of(terms), np.ones((len(y), 1)))


def _level_term(panel: Panel, levels: Levels) -> tuple[Term, ...]:
    values = panel.values[levels.name]
    centre, scale = float(np.nanmean(values)), float(np.nanstd(values)) or 1.0
    return (Term(levels.name, centre=centre, scale=scale, shrink=1 / levels.ratio),)


def _levels(
    designs: Designs, columns: tuple[ColumnRival, ...]
) -> tuple[tuple[Levels, ...], dict[str, tuple[Term, ...]]]:
    """Columns of numbers in which persons differ for good, by BIC; with the rival's terms, or without the past."""
    panel = designs.panel
    price = 0.5 * np.log(panel.n_slices)
    found: list[Levels] = []
    terms_of: dict[str, tuple[Term, ...]] = {}
    names = {each.emission.name for each in columns}
    for each in columns:
        one = each.emission
        if one.family not in NUMBERS:
            continue
        y = panel.values[one.name]
        given = tuple(term for term in without_past(one.terms) if term.source not in names)
        choices = {terms: fit_levels(one.name, y, designs.of(terms), panel.person) for terms in {one.terms, given}}
        terms, best = max(choices.items(), key=lambda pair: pair[1].log_likelihood - price * pair[1].dimension)
        better = best.log_likelihood - price * best.dimension > each.log_likelihood - price * each.dimension
        if best.ratio > 0 and better:
            found.append(best)
            terms_of[one.name] = terms
    return tuple(found), terms_of


def _classes(
    designs: Designs, rival: RegimeModel, rng: np.random.Generator, reach: float, run: Run
) -> list[RegimeAttempt]:
    """Persons of several kinds: other means, and other trends where sequences are long enough to show them."""
    made = []
    for name, base in _class_grounds(designs, rival):
        for states in STATES:
            if states > designs.panel.persons // 3 or run.late:
                break
            found = several_states(
                base,
                designs,
                states,
                rng=rng,
                stays=True,
                max_iterations=ITERATIONS,
                tolerance=TOLERANCE,
                pseudo=PSEUDO,
                reach=reach,
                run=run,
            )
            made.append(RegimeAttempt(Hidden.CLASSES, name, found, found.worth, base, states))
    return made


def _class_grounds(designs: Designs, rival: RegimeModel) -> list[tuple[str, RegimeModel]]:
    """What classes are built on: inputs alone; the rival's past, the same for all; trends of their own; a past of their
    own: kinds of persons may differ in nothing but how they go on."""
    longest = int(np.diff(designs.panel.starts).max())
    slope = trend_terms(designs.panel, 1)
    given, grown, moved = [], [], []
    for each in rival.emissions:
        terms = _given(rival, each.terms)
        given.append(_with_terms(designs, each, terms))
        bend = [term for term in terms if term.source == CLOCK and term.power == 1 and not (term.period or term.part)]
        grown.append(_own_terms(designs, each, slope, [term for term in terms if term not in bend]))
        before = past_terms(designs.panel, each.name, each.name, 1)
        moved.append(_own_terms(designs, each, before, [term for term in each.terms if term not in before]))
    made = [("levels", replace(rival, emissions=tuple(given)))]
    if any(term.lag for each in rival.emissions for term in each.terms):
        made.append(("the past", rival))
    if longest >= LEAST_TO_DIFFER:
        made.append(("trends", replace(rival, emissions=tuple(grown))))
        made.append(("pasts", replace(rival, emissions=tuple(moved))))
    return made


def _own_terms(designs: Designs, each: Emission, own: Sequence[Term], shared: Sequence[Term]) -> Emission:
    """The column's law with slopes of some terms by class, of the others for all."""
    panel, kinds = designs.panel, (*(False for _ in own), *(True for _ in shared))
    start = emission_of(panel, each.name, each.family, (*own, *shared), kinds)
    y = panel.values[each.name]
    return fitted_emission(start, y, designs.of(start.terms), np.ones((len(y), 1)))
