"""`hidden_causes`: several chains at once, one answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from typing import Any, Literal, Unpack

import numpy as np

from leverrier.data.reading.file_options import ReadingOptions
from leverrier.data.reading.read_table import as_asked
from leverrier.errors import OptionError, TooLargeError
from leverrier.models.noisy_or.causes_prior import Beta, Gamma
from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.noisy_or.chain import ChainRun, Sweeping, run_chain
from leverrier.noisy_or.chain_summary import make_result
from leverrier.noisy_or.draws import every
from leverrier.noisy_or.gibbs import gibbs
from leverrier.noisy_or.observations import Observations
from leverrier.noisy_or.rjmcmc import rjmcmc
from leverrier.noisy_or.sampler_state import Method, Settings
from leverrier.noisy_or.signs import read_signs
from leverrier.run.cluster import held, on_cluster
from leverrier.run.event import Event, Progress
from leverrier.run.run import Run

MOST_CELLS = 2**28
"""Split–merge holds a number for every cell: two gigabytes."""
Prior = float | tuple[float, float] | None


def hidden_causes(
    x: Any,
    method: Method = "gibbs",
    sweeps: int = 500,
    chains: int = 2,
    seed: int = 0,
    *,
    warmup: int | None = None,
    sampler: Literal["default", "wood2006"] = "default",
    epsilon: Prior | Beta = None,
    lam: Prior | Beta = None,
    p: Prior | Beta = None,
    alpha: Prior | Gamma = None,
    per_cause: Collection[str] = (),
    start: int = 0,
    decay: float = 0.9,
    split_merge: int = 10,
    jobs: int | None = None,
    budget: float | None = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    **reading: Unpack[ReadingOptions],
) -> HiddenCausesResult:
    """Hidden causes behind yes/no signs: how many, which signs each reaches, and when each is active.

    x           (trials, observed) of 0, 1 and missing; or a table, dataframe or file with yes/no columns
    method      "gibbs": unboundedly many causes; "rjmcmc": finitely many, their number unknown
    sweeps      of each chain; the first `warmup` (half, unless given) are left out of the summary
    sampler     "wood2006" makes the source's moves only, for comparison: it mixes badly beyond toy sizes
    epsilon, lam, p, alpha   a number is fixed; two numbers are a Beta prior (Gamma shape and rate for alpha);
                None is Beta(1, 1) and Gamma(1, 1)
    per_cause   "lambda", "p" or both: every cause has its own
    start       0 starts without links, a number with so many random causes
    decay       rjmcmc: the number of causes is geometric a priori, P(K) ∝ decay^K
    split_merge proposals a sweep to split or merge causes with their activity summed out
    jobs        chains that run at once, each in a thread (the answer does not depend on it): all cores unless given;
                `budget` is in seconds for all chains together
    client      a Dask client, or its address, whose workers run the chains; the answer is that of one machine
    progress    is called with a line, "chain 1: …", and the share of that chain's sweeps done
    checkpoint  a folder that chains are saved to every few seconds and at the end; with resume=True they go on
                from there, bit for bit as if they had never stopped
    reading     how a table is read, as in `read_table`: types, ignore, missing, weights, encoding, …
    """
    _check(method, sweeps, chains, sampler, decay, split_merge, jobs, budget)
    warmup = sweeps // 2 if warmup is None else warmup
    if not 0 <= warmup < sweeps:
        raise OptionError(f"warmup={warmup} with {sweeps} sweeps: at least one sweep must be left to summarise")
    signs = read_signs(as_asked(x, reading))
    if signs.cells.size > MOST_CELLS:
        raise TooLargeError(f"{signs.cells.size} cells; at most {MOST_CELLS} can be sampled: take a sample of the rows")
    observations = Observations.of(signs.cells)
    own = {per_cause} if isinstance(per_cause, str) else set(per_cause)
    settings = Settings(
        method,
        _gamma(alpha),
        _beta("epsilon", epsilon),
        _beta("lam", lam),
        _beta("p", p),
        "lambda" in own,
        "p" in own,
        decay,
        split_merge,
    )
    if own - {"lambda", "p"}:
        raise OptionError(f"per_cause={per_cause!r}: 'lambda' and 'p' are possible")
    if (settings.each_lam and isinstance(settings.lam, float)) or (settings.each_p and isinstance(settings.p, float)):
        raise OptionError("a number that is fixed cannot also be per cause: give a prior, or leave it out of per_cause")
    if sampler == "wood2006":
        settings = settings.plain()
    if client is not None and checkpoint is not None:
        raise OptionError("checkpoint= saves chains that run here: leave it out, or client=")
    whole = Run.of(budget, jobs=jobs, client=client, progress=progress).stoppable()
    turns = -(-chains // whole.workers.count)
    kept = every(sweeps - warmup, observations.n_trials)
    how = Sweeping(sweeps, warmup, kept, start, float("inf") if budget is None else budget / turns)
    belongs = ((settings, sweeps, warmup, start, seed), observations.cells)
    with whole.kept_in(checkpoint, resume, "causes", *belongs) as run:
        ended = (_run if client is None else _run_there)(observations, settings, how, chains, seed, run)
    return make_result(ended, signs, observations, settings, warmup)


def _run(
    observations: Observations, settings: Settings, how: Sweeping, chains: int, seed: int, run: Run
) -> list[ChainRun]:
    """Every chain, its own generator spawned from the seed; kernels let go of the interpreter, so threads serve."""
    made = (gibbs if settings.unbounded else rjmcmc)(observations, settings)
    seeds = np.random.SeedSequence(seed).spawn(chains)
    ended: dict[int, ChainRun] = {}
    busy: set[int] = set()

    def one(number: int) -> None:
        busy.add(number)
        try:
            ended[number] = run_chain(made, how, number, seeds[number], run)
        finally:
            busy.discard(number)

    try:
        _each(one, chains, min(run.workers.jobs, chains))
    except KeyboardInterrupt:
        if run.stop is not None:
            run.stop.spread()
        while busy:  # each ends after its sweep, and saves
            time.sleep(0.01)
    done = [ended[number] for number in sorted(ended) if ended[number].n_sweeps]
    if not done:
        raise KeyboardInterrupt
    return done


def _each(one: Callable[[int], None], chains: int, jobs: int) -> None:
    if jobs == 1:
        for number in range(chains):
            one(number)
        return
    from joblib import Parallel, delayed  # (late: who works alone does not wait for it)

    Parallel(n_jobs=jobs, backend="threading")(delayed(one)(number) for number in range(chains))


def _run_there(
    observations: Observations, settings: Settings, how: Sweeping, chains: int, seed: int, run: Run
) -> list[ChainRun]:
    """Every chain as a task with its own generator: one whose worker dies begins again, and comes out the same."""
    client, silent = run.workers.client, run.silent()
    rows = held(client, observations)
    calls = [(rows, settings, how, silent, *each) for each in enumerate(np.random.SeedSequence(seed).spawn(chains))]
    ended = on_cluster(client, _one_there, calls)
    for chain in ended:
        run.tell(Event.SAMPLED_CHAIN, 1.0, chain.number + 1, said=f"{chain.status}, {chain.state.count} causes")
    return ended


def _one_there(
    observations: Observations, settings: Settings, how: Sweeping, run: Run, number: int, seed: np.random.SeedSequence
) -> ChainRun:
    return run_chain((gibbs if settings.unbounded else rjmcmc)(observations, settings), how, number, seed, run)


def _check(
    method: str,
    sweeps: int,
    chains: int,
    sampler: str,
    decay: float,
    split_merge: int,
    jobs: int | None,
    budget: float | None,
) -> None:
    for name, value, known in (("method", method, ("gibbs", "rjmcmc")), ("sampler", sampler, ("default", "wood2006"))):
        if value not in known:
            raise OptionError(f"{name}={value!r}: {' or '.join(map(repr, known))} is expected")
    for name, value in (("sweeps", sweeps), ("chains", chains), ("jobs", jobs)):
        if value is not None and (not isinstance(value, int | np.integer) or value < 1):
            raise OptionError(f"{name}={value!r}: a whole number of at least 1 is expected")
    if not 0 < decay < 1:
        raise OptionError(f"decay={decay}: the geometric prior of the number of causes needs 0 < decay < 1")
    if split_merge < 0:
        raise OptionError(f"split_merge={split_merge}: 0 or more proposals a sweep are possible")
    if budget is not None and not budget > 0:
        raise OptionError(f"budget={budget}: a positive number of seconds is expected")


def _beta(name: str, given: Prior | Beta) -> Beta | float:
    """A prior, or a fixed number strictly between 0 and 1."""
    if given is None:
        return Beta(1.0, 1.0)
    if isinstance(given, Beta):
        return given
    if isinstance(given, tuple):
        return Beta(*_two(name, given))
    if not 0 < given < 1:
        raise OptionError(f"{name}={given}: a number strictly between 0 and 1, or a Beta prior as two numbers")
    return float(given)


def _gamma(given: Prior | Gamma) -> Gamma | float:
    if given is None:
        return Gamma(1.0, 1.0)
    if isinstance(given, Gamma):
        return given
    if isinstance(given, tuple):
        return Gamma(*_two("alpha", given))
    if not given > 0:
        raise OptionError(f"alpha={given}: a positive number, or a Gamma prior as two numbers")
    return float(given)


def _two(name: str, given: tuple[float, ...]) -> tuple[float, float]:
    if len(given) != 2:
        raise OptionError(f"{name}={given}: a prior is two numbers")
    return float(given[0]), float(given[1])
