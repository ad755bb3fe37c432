"""`hidden_markov`: one hidden chain behind all columns, its number of states given or chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np

from leverrier.data.sequences.read_sequences import Sequences, read_sequences
from leverrier.errors import OptionError
from leverrier.learning.chains.chain_networks import chain_names, chain_network, grouped_slices, split_columns
from leverrier.learning.chains.drawn_starts import WINDOWS
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.chains.exact_climb import ExactClimb
from leverrier.learning.chains.fit_dynamic import DynamicFit, climb_all
from leverrier.learning.regimes.hidden_regimes import HiddenRegimes, hidden_regimes
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_unrolled import Laid, lay
from leverrier.models.regimes.plain_chain import laws_of
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.run.event import Event, Progress
from leverrier.run.run import Run
from leverrier.status import Status

Criterion = Literal["bic", "held-out"]
SHORT = 8
"""Steps of each candidate start before the better half is chosen."""
CANDIDATES = 2 * len(WINDOWS)
"""Half of them from groups of slices, half of them random."""
MOST = 20
PATIENCE = 2
"""`states="auto"` stops after so many numbers of states without an improvement, and at MOST."""
FOLDS = 5
MOST_REGIMES = 8


@dataclass(frozen=True)
class StatesRow:
    """One number of states."""

    states: int
    log_likelihood: float
    parameters: int
    bic: float
    """−2 log-likelihood + ln(slices) for each parameter: smaller is better."""
    held_out: float | None
    """Nats a slice on parts left out of the fit (five of them in turn): larger is better."""
    status: Status


@dataclass(frozen=True, eq=False)
class HiddenMarkov(DynamicFit):
    """A fitted hidden Markov model. `table` tells of every number of states that was tried."""

    states: int = 0
    criterion: Criterion = "bic"
    table: tuple[StatesRow, ...] = ()
    sequences: Sequences | None = None

    @property
    def name(self) -> str:
        """The hidden variable."""
        return self.network.hidden[0]

    @property
    def transition(self) -> np.ndarray:
        """P(state | state before)."""
        return self.network.transition[self.name].table()

    @property
    def dwell(self) -> np.ndarray:
        """How many slices a state lasts on average, once begun."""
        stay = np.diagonal(self.transition)
        return np.divide(1.0, 1 - stay, out=np.full(len(stay), np.inf), where=stay < 1)

    @property
    def posterior(self) -> np.ndarray:
        """(slices, states) for the sequences that were fitted."""
        return self.network.posterior(self.sequences)

    @property
    def filtered(self) -> np.ndarray:
        """(slices, states): P(state | the slices so far)."""
        return self.network.posterior(self.sequences, filtered=True)

    @property
    def path(self) -> np.ndarray:
        """The most probable path, by slice."""
        return self.network.most_probable_path(self.sequences).table.column(self.name).astype(np.int64)

    @property
    def time_spent(self) -> np.ndarray:
        """(sequences, states): slices spent in each state, as expected."""
        assert self.sequences is not None
        return np.add.reduceat(self.posterior, self.sequences.starts[:-1], axis=0)

    @cached_property
    def laws(self) -> RegimeModel:
        """The same chain as a model of laws: futures that are simulated, and what is unlike all states."""
        assert self.sequences is not None
        return laws_of(self.network, self.sequences.table.columns)

    def __repr__(self) -> str:
        among = [row.states for row in self.table]
        tried = f", chosen by {self.criterion} among {among}" if len(among) > 1 else ""
        return (
            f"HiddenMarkov({self.states} states{tried}, log-likelihood {self.log_likelihood:.4f}, {self.status} after "
            f"{self.iterations} iterations)"
        )


@dataclass(frozen=True)
class _Task:
    sequences: Sequences
    categories: tuple[str, ...]
    numbers: tuple[str, ...]
    name: str
    starts: int
    prior: float
    max_iterations: int
    tolerance: float
    run: Run
    seed: int


@overload
def hidden_markov(  # pyright: ignore[reportOverlappingOverload]: without them a call means a plain chain
    sequences: Any,
    states: int | str | Iterable[int] = "auto",
    starts: int = 1,
    seed: int = 0,
    *,
    numbers: Sequence[str] | None = None,
    criterion: Criterion = "bic",
    name: str = "state",
    prior: float | None = None,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> HiddenMarkov: ...


@overload
def hidden_markov(
    sequences: Any,
    states: int | str | Iterable[int] = "auto",
    starts: int = 1,
    seed: int = 0,
    *,
    inputs: Sequence[str] | Mapping[str, str] = (),
    acts: str = "transitions",
    emissions: str | Mapping[str, str] | None = None,
    durations: str | None = None,
    lags: int = 0,
    numbers: Sequence[str] | None = None,
    criterion: Criterion = "bic",
    name: str = "state",
    prior: float | None = None,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> HiddenRegimes: ...


def hidden_markov(
    sequences: Any,
    states: int | str | Iterable[int] = "auto",
    starts: int = 1,
    seed: int = 0,
    *,
    inputs: Sequence[str] | Mapping[str, str] = (),
    acts: str = "transitions",
    emissions: str | Mapping[str, str] | None = None,
    durations: str | None = None,
    lags: int = 0,
    numbers: Sequence[str] | None = None,
    criterion: Criterion = "bic",
    name: str = "state",
    prior: float | None = None,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> HiddenMarkov | HiddenRegimes:
    """A hidden Markov model over all columns, given the state independent of each other; holes are summed out.

    states      how many; several to choose among; or "auto": more and more, until two more do not help
    starts      how many starts are run to the end: the best of several (k-means over windows, random) after a few steps
    inputs      columns that are given, not explained; by name, or {name: "transitions" | "emissions" | "both"}
    acts        what inputs act on, where they do not say: transitions are then multinomial logits of the inputs of the
                slice before, emissions have a slope for each state
    emissions   the law of each column given the state: "auto" chooses (normal, Student's t, Poisson, negative binomial,
                zero-inflated, category), one law for all columns of numbers, or {column: law}; None: normal and tables
    durations   how long states last: "geometric", "negative binomial" or "weibull"
    lags        how many of its own past values a column is regressed on, with slopes of their own in each state
    numbers     columns that are normal given the state; by default those that a table would cut into bins
    criterion   "bic", or "held-out": five parts left out in turn, whole sequences where there are enough
    prior       a pseudo-count in every cell, so that nothing is impossible that the data did not show
    tolerance   stop when what is still to be gained is estimated to be below so many nats

    With inputs=, emissions=, durations= or lags= the answer is a `HiddenRegimes`, chosen by BIC.
    """
    data = sequences if isinstance(sequences, Sequences) else read_sequences(sequences)
    if criterion not in ("bic", "held-out"):
        raise OptionError(f'criterion={criterion!r}: expected "bic" or "held-out"')
    if starts < 1 or max_iterations < 1:
        raise OptionError(f"starts={starts}, max_iterations={max_iterations}: expected at least 1 of each")
    run = Run.of(budget, progress=progress)
    if inputs or emissions is not None or durations is not None or lags:
        if criterion != "bic":
            raise OptionError('criterion="held-out" is for plain chains: with inputs, laws or durations it is "bic"')
        return hidden_regimes(
            data,
            [k for k in _candidates(states) if k <= (MOST_REGIMES if states == "auto" else k)],
            inputs=inputs,
            acts=acts,
            emissions="normal" if emissions is None else emissions,
            durations=durations or "geometric",
            lags=lags,
            numbers=numbers,
            starts=starts,
            name=name,
            prior=prior or 0.0,
            max_iterations=max_iterations,
            tolerance=tolerance,
            seed=seed,
            run=run.untold(),
        )
    categories, normal = split_columns(data, numbers)
    task = _Task(
        data,
        categories,
        normal,
        chain_names(data, name, 1)[0],
        starts,
        prior or 0.0,
        max_iterations,
        tolerance,
        run.untold(),
        seed,
    )
    fits: dict[int, DynamicFit] = {}
    rows: list[StatesRow] = []
    several = not isinstance(states, int)
    wanted = _candidates(states)
    for number, k in enumerate(wanted, 1):
        fits[k] = _fit(task, k)
        held = _held_out(task, k) if several and criterion == "held-out" else None
        fit = fits[k]
        rows.append(StatesRow(k, fit.log_likelihood, fit.network.dimension, fit.bic, held, fit.status))
        run.tell(Event.STATES, number / len(wanted), k, said=f"{fit.status}, {fit.log_likelihood:.4f}")
        if states == "auto" and _settled(rows, criterion):
            break
        if run.late:
            break
    best = max(rows, key=lambda row: _value(row, criterion))
    fit = fits[best.states]
    return HiddenMarkov(
        fit.network,
        fit.log_likelihood,
        fit.trace,
        fit.status,
        fit.iterations,
        fit.starts,
        fit.n_slices,
        fit.inference,
        data.notes,
        best.states,
        criterion,
        tuple(rows),
        data,
    )


def _candidates(states: int | str | Iterable[int]) -> list[int]:
    if states == "auto":
        return list(range(1, MOST + 1))
    if isinstance(states, str):
        raise OptionError(f'states={states!r}: expected a number, several numbers, or "auto"')
    found = [states] if isinstance(states, int) else sorted({int(k) for k in states})
    if not found or found[0] < 1 or found[-1] > 255:
        raise OptionError(f"states={found}: expected numbers from 1 to 255")
    return found


def _value(row: StatesRow, criterion: Criterion) -> float:
    """What is largest for the row to choose."""
    return -row.bic if criterion == "bic" or row.held_out is None else row.held_out


def _settled(rows: Sequence[StatesRow], criterion: Criterion) -> bool:
    best = max(range(len(rows)), key=lambda place: _value(rows[place], criterion))
    return len(rows) - 1 - best >= PATIENCE


def _fit(task: _Task, k: int) -> DynamicFit:
    points = _starts(task, task.sequences, k)
    network = points[0]
    laid = lay(network, network.read(task.sequences))
    if len(points) > task.starts:
        points = _best_after_a_few(task, laid, points)
    return climb_all(
        laid, points, prior=task.prior, max_iterations=task.max_iterations, tolerance=task.tolerance, run=task.run
    )


def _starts(task: _Task, sequences: Sequences, k: int) -> list[DynamicNetwork]:
    """Candidates: slices grouped over windows of several widths, then random ones."""
    if k == 1:
        return [chain_network(sequences, [task.name], [1], task.categories, task.numbers)]
    streams = np.random.SeedSequence([task.seed, k]).spawn(max(task.starts, CANDIDATES))
    found = []
    for place, stream in enumerate(streams):
        rng = np.random.default_rng(stream)
        weights = None
        if place % CANDIDATES < len(WINDOWS):
            window = WINDOWS[place % CANDIDATES]
            labels = grouped_slices(sequences, task.categories, task.numbers, k, window, rng)
            weights = 0.9 * np.eye(k)[labels] + 0.1 / k
        found.append(chain_network(sequences, [task.name], [k], task.categories, task.numbers, weights, rng))
    return found


def _best_after_a_few(task: _Task, laid: Laid, points: list[DynamicNetwork]) -> list[DynamicNetwork]:
    """All go a few steps, the better half twice as many more, and so on: what rises first need not end highest."""
    steps = DynamicSteps(laid, points[0], prior=task.prior)
    climbers = [ExactClimb(steps.begun_at(point), task.tolerance) for point in points]
    many = SHORT
    while len(climbers) > task.starts:
        for climber in climbers:
            if task.run.late and climber is not climbers[0]:
                break
            climber.climb(many)
        kept = max(task.starts, len(climbers) // 2)
        climbers = sorted(climbers, key=lambda each: -each.last)[:kept]
        many = 2 * many
    return [climber.result() for climber in climbers]


def _held_out(task: _Task, k: int) -> float:
    """Nats a slice on what was left out."""
    data, total = task.sequences, 0.0
    blocks = held_out_parts(data)
    for train, test in blocks:
        part = replace(task, sequences=train, prior=max(task.prior, 1e-3))
        total += _fit(part, k).network.log_likelihood(test)
    return total / data.n_slices


def held_out_parts(data: Sequences) -> list[tuple[Sequences, Sequences]]:
    """Five parts left out in turn: every fifth sequence, or where there are few a fifth of the slices in a row."""
    if len(data) >= FOLDS:
        which = np.arange(len(data)) % FOLDS
        return [(data.take(np.flatnonzero(which != f)), data.take(np.flatnonzero(which == f))) for f in range(FOLDS)]
    cuts = np.linspace(0, data.n_slices, FOLDS + 1).astype(int).tolist()
    if len(set(cuts)) <= FOLDS:
        raise OptionError(f'criterion="held-out" needs at least {FOLDS} slices; there are {data.n_slices}')
    return [
        (data.stretches([(0, low), (high, data.n_slices)]), data.stretches([(low, high)]))
        for low, high in pairwise(cuts)
    ]
