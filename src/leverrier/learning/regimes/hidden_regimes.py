"""`hidden_markov` with laws, inputs and lengths of stay: numbers, counts and categories given one hidden state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.paper_table import Papers
from leverrier.data.sequences.panel import Panel, panel_of
from leverrier.data.sequences.sequences import Sequences
from leverrier.errors import OptionError, TableError
from leverrier.learning.criteria import bic
from leverrier.learning.regimes.column_laws import COUNTS, asked_laws, candidates, emission_of, is_count
from leverrier.learning.regimes.regime_em import Designs, RegimeClimb, climb
from leverrier.learning.regimes.regime_errors import StandardErrors, standard_errors
from leverrier.learning.regimes.regime_search import one_state, several_states, turned_by, with_duration, with_laws
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Stay, even_moves
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import Term, number_terms
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status

ACTS = ("transitions", "emissions", "both")


@dataclass(frozen=True)
class RegimesRow:
    """One number of states."""

    states: int
    log_likelihood: float
    parameters: int
    bic: float
    status: Status


@dataclass(frozen=True, eq=False)
class HiddenRegimes(Papers):
    """A hidden Markov model whose columns have laws of their own. `network` is the model: it answers for new data."""

    network: RegimeModel
    log_likelihood: float
    trace: tuple[float, ...]
    status: Status
    n_slices: int
    states: int
    table: tuple[RegimesRow, ...]
    sequences: Sequences
    panel: Panel
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> RegimeModel:
        return self.network

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1

    @property
    def bic(self) -> float:
        return bic(self.log_likelihood, self.network.dimension, self.n_slices)

    @property
    def bits_per_slice(self) -> float:
        return -self.log_likelihood / (self.n_slices * float(np.log(2)))

    @property
    def name(self) -> str:
        return self.network.name

    @property
    def families(self) -> dict[str, str]:
        """By column, its law."""
        return {each.name: each.family.value for each in self.network.emissions}

    @property
    def transition(self) -> Floats:
        """P(state | state before), inputs at their usual values."""
        return self.network.moves.usual

    @property
    def initial(self) -> Floats:
        return self.network.moves.initial

    @property
    def dwell(self) -> Floats:
        """How many slices a state lasts on average, once begun."""
        return self.network.dwell

    @cached_property
    def posterior(self) -> Floats:
        """(slices, states): P(state | the whole sequence)."""
        return self.network.posterior(self.panel)

    @cached_property
    def filtered(self) -> Floats:
        """(slices, states): P(state | the slices so far)."""
        return self.network.posterior(self.panel, filtered=True)

    @property
    def path(self) -> Integers:
        """The most probable path, by slice."""
        return self.network.most_probable_path(self.panel)

    @property
    def time_spent(self) -> Floats:
        """(sequences, states): slices spent in each state, as expected."""
        return self.network.time_spent(self.panel)

    @cached_property
    def standard_errors(self) -> StandardErrors:
        """Of every coefficient, from the curvature of the log-likelihood."""
        return standard_errors(self.network, self.panel)

    def __repr__(self) -> str:
        laws = ", ".join(f"{name} {law}" for name, law in list(self.families.items())[:4])
        return (
            f"HiddenRegimes({self.states} states, {laws}, log-likelihood {self.log_likelihood:.4f}, "
            f"{self.status} after {self.iterations} iterations)"
        )


def hidden_regimes(
    data: Sequences,
    states: Sequence[int],
    *,
    inputs: Sequence[str] | Mapping[str, str] = (),
    acts: str = "transitions",
    emissions: str | Mapping[str, str] = "auto",
    durations: str = "geometric",
    lags: int = 0,
    numbers: Sequence[str] | None = None,
    starts: int = 1,
    name: str = "state",
    prior: float = 0.0,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    seed: int = 0,
    run: Run = UNBOUNDED,
) -> HiddenRegimes:
    """The best by BIC of some numbers of states; see `hidden_markov`."""
    given = _inputs(data, inputs, acts)
    stay = _stay(durations, given)
    laws = asked_laws(emissions)
    panel = _panel(data, given, laws, numbers)
    designs = Designs(panel)
    base, fixed = _base(data, panel, given, laws, lags, prior, name)
    turning = _turning(panel, given)
    best: RegimeClimb | None = None
    rows = []
    for k in states:
        rng = np.random.default_rng([seed, k])
        one = several_states(
            base, designs, k, rng=rng, starts=starts, tolerance=1.0, max_iterations=60, pseudo=prior, run=run
        )
        if fixed is not None:
            model = with_laws(one, designs, fixed)
            one = climb(model, designs, max_iterations=30, tolerance=1.0, run=run)
        one = climb(turned_by(one.model, turning), designs, max_iterations=max_iterations, tolerance=tolerance, run=run)
        one = with_duration(one, designs, stay, max_iterations, tolerance, run)
        rows.append(RegimesRow(k, one.log_likelihood, one.model.dimension, one.bic, one.status))
        best = one if best is None or one.bic < best.bic else best
        if run.late:
            break
    assert best is not None
    order = np.argsort(-best.posterior.mean(axis=0), kind="stable")
    model = best.model.reordered(order)
    return HiddenRegimes(
        model,
        best.log_likelihood,
        best.trace,
        best.status,
        panel.n_slices,
        model.states,
        tuple(rows),
        data,
        panel,
        data.notes,
    )


def _inputs(data: Sequences, inputs: Sequence[str] | Mapping[str, str], acts: str) -> dict[str, str]:
    if acts not in ACTS:
        raise OptionError(f"acts={acts!r}: expected one of {', '.join(map(repr, ACTS))}")
    named = {inputs: acts} if isinstance(inputs, str) else {}
    named |= dict(inputs) if isinstance(inputs, Mapping) else {} if named else dict.fromkeys(inputs, acts)
    for each, how in named.items():
        if each not in data.variables:
            raise TableError(f"inputs= names {each!r}, which is no column; those are: {', '.join(data.variables)}")
        if how not in ACTS:
            raise OptionError(f"inputs={{{each!r}: {how!r}}}: expected one of {', '.join(map(repr, ACTS))}")
    if len(named) == len(data.variables):
        raise TableError("every column is an input: something must be left to be explained")
    return named


def _stay(durations: str, given: Mapping[str, str]) -> Stay:
    text = durations.lower().replace("_", " ")
    text = {"negbin": "negative binomial", "nb": "negative binomial"}.get(text, text)
    try:
        stay = Stay(text)
    except ValueError:
        known = ", ".join(repr(each.value) for each in Stay)
        raise OptionError(f"durations={durations!r}: expected one of {known}") from None
    if stay is not Stay.GEOMETRIC and any(how != "emissions" for how in given.values()):
        raise OptionError(f'durations={durations!r} with inputs on transitions: use acts="emissions", or geometric')
    return stay


def _panel(
    data: Sequences, given: Mapping[str, str], laws: Mapping[str, Family] | Family | None, numbers: Sequence[str] | None
) -> Panel:
    """Numbers where the table cut bins, where asked for, and where whole numbers are told to be counts."""
    table = data.table
    columns = {column.name: column for column in table.columns}
    chosen = {name for name in columns if name in data.numbers and columns[name].binned}
    if numbers is not None:
        chosen = set(numbers)
    for name in columns:
        law = laws.get(name) if isinstance(laws, Mapping) else None
        if law is not None and law is not Family.CATEGORY:
            if name not in data.numbers:
                raise TableError(f"emissions= gives {name!r} the law {law.value!r}, but it is no column of numbers")
            chosen.add(name)
        elif law is Family.CATEGORY:
            chosen.discard(name)
        elif laws is None and name not in given and numbers is None and columns[name].whole:
            if is_count(data.numbers[name]) and _rather_counts(data, name):
                chosen.add(name)
        elif isinstance(laws, Family) and laws in COUNTS and name in data.numbers and is_count(data.numbers[name]):
            chosen.add(name)
    return panel_of(data, chosen)


def _rather_counts(data: Sequences, name: str) -> bool:
    """Whether a law of counts says more about whole numbers than a table with a cell for each (BIC)."""
    found = {}
    for counts in (True, False):
        panel = panel_of(data.select([name]), [name] if counts else [])
        designs = Designs(panel)
        laws = COUNTS if counts else (Family.CATEGORY,)
        worths = []
        for law in laws:
            base = RegimeModel(data.table.columns, (emission_of(panel, name, law),), even_moves(1))
            worths.append(one_state(base, designs).worth)
        found[counts] = max(worths)
    return found[True] > found[False]


def _base(
    data: Sequences,
    panel: Panel,
    given: Mapping[str, str],
    laws: Mapping[str, Family] | Family | None,
    lags: int,
    prior: float,
    name: str,
) -> tuple[RegimeModel, tuple[str, ...] | None]:
    """One state; and the columns whose law is settled, None if all are."""
    acting = tuple(term for each, how in given.items() if how != "transitions" for term in number_terms(panel, each))
    made: list[Emission] = []
    settled: list[str] = []
    for column in panel.values:
        if column in given:
            continue
        if not np.any(~np.isnan(panel.values[column])):
            raise TableError(f"the column {column!r} is empty: leave it out (ignore=)")
        past = tuple(term for lag in range(1, lags + 1) for term in number_terms(panel, column, lag))
        terms: tuple[Term, ...] = (*acting, *past)
        law = laws.get(column) if isinstance(laws, Mapping) else laws
        possible = candidates(panel, column)
        if possible == (Family.CATEGORY,):
            law = Family.CATEGORY
        if law is not None:
            settled.append(column)
            if law in COUNTS and not is_whole(panel.values[column]):
                raise TableError(f"the column {column!r} holds no counts: whole numbers from 0 on are needed")
        made.append(emission_of(panel, column, law or possible[0], terms, (False,) * len(terms), prior))
    model = RegimeModel(data.table.columns, tuple(made), even_moves(1), name)
    return model, None if len(settled) == len(made) else tuple(settled)


def is_whole(values: Floats) -> bool:
    seen = values[~np.isnan(values)]
    return bool(np.all(seen >= 0) and np.all(seen == np.round(seen)))


def _turning(panel: Panel, given: Mapping[str, str]) -> tuple[Term, ...]:
    return tuple(term for each, how in given.items() if how != "emissions" for term in number_terms(panel, each))
