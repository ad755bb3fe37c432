"""`hidden_markov`: one hidden chain behind all columns, its number of states given or chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from leverrier.data.sequences.read_sequences import Sequences, read_sequences
from leverrier.errors import OptionError
from leverrier.learning.chains.chain_networks import chain_names, split_columns
from leverrier.learning.chains.fit_dynamic import DynamicFit
from leverrier.learning.chains.hidden_markov_result import Criterion, HiddenMarkov, StatesRow
from leverrier.learning.chains.plain_chain_fit import ChainTask, fit_chain, held_out
from leverrier.learning.regimes.hidden_regimes import HiddenRegimes, hidden_regimes
from leverrier.run.event import Event, Progress
from leverrier.run.run import Run

MOST = 20
PATIENCE = 2
"""`states="auto"` stops after so many numbers of states without an improvement, and at MOST."""
MOST_REGIMES = 8


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
    task = ChainTask(
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
        fits[k] = fit_chain(task, k)
        held = held_out(task, k) if several and criterion == "held-out" else None
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
