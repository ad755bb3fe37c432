"""`latent_transitions`: classes at each wave of a panel and how persons move between them [Collins & Lanza 2010]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.paper_table import Papers
from leverrier.data.sequences.panel import Panel
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.errors import OptionError, TableError
from leverrier.learning.regimes.column_laws import emission_of
from leverrier.learning.regimes.hidden_regimes import HiddenRegimes, hidden_regimes
from leverrier.learning.regimes.regime_em import Designs, RegimeClimb, begun, climb
from leverrier.learning.regimes.regime_errors import StandardErrors
from leverrier.models.regimes.moves import with_inputs
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import Term
from leverrier.run.run import Run
from leverrier.words_of import words_of

WAVE = "@wave"
MOST_WAVES = 20
ITERATIONS, TOLERANCE = 300, 0.001


@dataclass(frozen=True)
class RatioTest:
    """Twice the gain in log-likelihood of a freer model, with its degrees of freedom."""

    statistic: float
    degrees: int
    p_value: float


@dataclass(frozen=True, eq=False)
class LatentTransitions(Papers):
    """Classes at each wave, with the tables between waves."""

    fit: HiddenRegimes
    waves: tuple[str, ...]
    wave_of: Integers
    """By slice, its wave."""
    by_wave: RegimeClimb | None
    """The same classes with a transition table of its own for each wave; None with fewer than three waves."""
    invariance: RatioTest | None
    """Do classes mean the same at every wave? A small p-value says that they do not."""
    homogeneity: RatioTest | None
    """Is the transition table the same at every wave?"""

    @property
    def states(self) -> int:
        return self.fit.states

    @property
    def log_likelihood(self) -> float:
        return self.fit.log_likelihood

    @property
    def bic(self) -> float:
        return self.fit.bic

    @property
    def table(self) -> tuple[Any, ...]:
        """A row for each number of classes that was tried."""
        return self.fit.table

    @property
    def network(self) -> RegimeModel:
        return self.fit.network

    @property
    def posterior(self) -> Floats:
        return self.fit.posterior

    @cached_property
    def shares(self) -> Floats:
        """(waves, classes): how large each class is at each wave."""
        sums = np.stack([np.bincount(self.wave_of, own, len(self.waves)) for own in self.fit.posterior.T], axis=1)
        return sums / sums.sum(axis=1, keepdims=True)

    @property
    def transition(self) -> Floats:
        """(classes, classes): the same between all waves, inputs at their usual values."""
        return self.fit.transition

    @property
    def transitions(self) -> dict[str, Floats]:
        """By wave that is left, its own table; the common one where there are only two waves."""
        if self.by_wave is None:
            return {self.waves[0]: self.transition} if len(self.waves) > 1 else {}
        rows = _wave_rows(self.by_wave.model.moves.terms, len(self.waves))
        tables = self.by_wave.model.moves.at(rows)
        return {wave: tables[place] for place, wave in enumerate(self.waves[:-1])}

    @property
    def profiles(self) -> dict[str, Floats]:
        """By column: (classes, states) for categories, (classes, 2) mean and spread for numbers."""
        made = {}
        for each in self.network.emissions:
            table = getattr(each, "table", None)
            made[each.name] = np.column_stack([each.coefficients[:, 0], each.spread]) if table is None else table
        return made

    @property
    def standard_errors(self) -> StandardErrors:
        return self.fit.standard_errors

    @property
    def coefficients(self) -> Floats | None:
        """(classes, 1 + inputs, classes − 1): logits of the next class against the last one; None without inputs."""
        return self.network.moves.slopes

    def __str__(self) -> str:
        return words_of("transition_words.transition_words", self)

    def __repr__(self) -> str:
        return (
            f"LatentTransitions({self.states} classes at {len(self.waves)} waves, log-likelihood "
            f"{self.log_likelihood:.4f}, {self.fit.status})"
        )


def latent_transitions(
    data: Any,
    by: str | None = None,
    time: str | None = None,
    states: int | Iterable[int] = range(1, 6),
    *,
    inputs: Sequence[str] | Mapping[str, str] = (),
    emissions: str | Mapping[str, str] = "auto",
    starts: int = 5,
    seed: int = 0,
    budget: float | None = None,
) -> LatentTransitions:
    """Latent transition analysis of a panel: the number of classes by BIC, their tables, and two tests.

    by, time    the columns that tell persons and waves apart
    states      numbers of classes to try
    inputs      covariates: on the moves between waves (a multinomial logit of the wave that is left), or
                {column: "transitions" | "emissions" | "both"}
    emissions   the law of each column given the class, as in `hidden_markov`

    `invariance` tests whether classes mean the same at every wave, `homogeneity` whether people move alike between all
    waves; both are likelihood-ratio tests, with as many degrees of freedom as parameters are freed.
    """
    read = data if isinstance(data, Sequences) else read_sequences(data, by=by, time=time)
    if len(read) < 2 or int(read.lengths.max()) < 2:
        raise TableError("latent transitions need several persons, some at two waves or more: give by= and time=")
    tried = [states] if isinstance(states, int) else sorted({int(k) for k in states})
    if not tried or tried[0] < 1:
        raise OptionError(f"states={states!r}: expected numbers of classes from 1 on")
    run = Run.of(budget).untold()
    fit = hidden_regimes(
        read,
        tried,
        inputs=inputs,
        emissions=emissions,
        starts=starts,
        name="class",
        seed=seed,
        tolerance=TOLERANCE,
        run=run,
    )
    wave_of, waves = _waves(read)
    panel = _with_waves(fit.panel, wave_of, waves)
    by_wave = homogeneity = invariance = None
    if 2 <= len(waves) <= MOST_WAVES:
        freed = _free_columns(fit, panel, len(waves))
        invariance = _ratio(fit, freed)
    if 3 <= len(waves) <= MOST_WAVES and fit.states > 1 and fit.network.moves.slopes is None:
        by_wave = _free_moves(fit, panel, len(waves))
        homogeneity = _ratio(fit, by_wave)
    return LatentTransitions(fit, waves, wave_of, by_wave, invariance, homogeneity)


def _waves(read: Sequences) -> tuple[Integers, tuple[str, ...]]:
    times, index = np.unique(read.times, return_inverse=True)
    first = [int(np.flatnonzero(index == place)[0]) for place in range(len(times))]
    if read.time is None:
        return read.position, tuple(str(place) for place in range(int(read.position.max()) + 1))
    return index.ravel(), tuple(read.time_text(slice_) for slice_ in first)


def _with_waves(panel: Panel, wave_of: Integers, waves: tuple[str, ...]) -> Panel:
    values = {**panel.values, WAVE: wave_of.astype(np.float64)}
    return replace(panel, values=values, labels={**panel.labels, WAVE: waves})


def _wave_terms(count: int) -> tuple[Term, ...]:
    return tuple(Term(WAVE, state=place) for place in range(1, count))


def _wave_rows(terms: tuple[Term, ...], count: int) -> Floats:
    """The design at each wave."""
    rows = np.zeros((count, 1 + len(terms)))
    rows[:, 0] = 1.0
    for place, term in enumerate(terms, 1):
        rows[int(term.state or 0), place] = 1.0
    return rows


def _free_moves(fit: HiddenRegimes, panel: Panel, waves: int) -> RegimeClimb:
    """A table for each wave that is left (the last one is never left)."""
    model = replace(fit.network, moves=with_inputs(fit.network.moves, _wave_terms(waves - 1)))
    return climb(model, Designs(panel), max_iterations=ITERATIONS, tolerance=TOLERANCE)


def _free_columns(fit: HiddenRegimes, panel: Panel, waves: int) -> RegimeClimb:
    """The columns' laws at each wave for themselves, begun from the common ones."""
    terms = _wave_terms(waves)
    made = []
    for each in fit.network.emissions:
        whole = (*terms, *each.terms)
        own = emission_of(panel, each.name, each.family, whole, (False,) * len(whole))
        made.append(own.spread_over(fit.states))
    model = begun(replace(fit.network, emissions=tuple(made)), Designs(panel), fit.posterior, moves=False)
    return climb(model, Designs(panel), max_iterations=ITERATIONS, tolerance=TOLERANCE)


def _ratio(fit: HiddenRegimes, freed: RegimeClimb) -> RatioTest:
    from scipy.stats import chi2  # (late: it loads for a third of a second)

    degrees = freed.model.dimension - fit.network.dimension
    statistic = max(2 * (freed.log_likelihood - fit.log_likelihood), 0.0)
    return RatioTest(statistic, degrees, float(chi2.sf(statistic, max(degrees, 1))))
