"""`fit_mixture`: a mixture of Gaussians by EM, with the failures of plain EM found and cured."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.data.matrix import as_matrix, row_weights
from leverrier.errors import OptionError, TableError
from leverrier.learning.climb import Progress
from leverrier.learning.fit import Start, Starts
from leverrier.learning.mixture_choice import Criterion, FitRow, candidates, finished, fit_row, value_of
from leverrier.learning.mixture_climb import MixtureProblem
from leverrier.learning.mixture_prior import Components, NormalInverseWishart, weak_prior
from leverrier.learning.mixture_repair import Ended, remarks, run_start
from leverrier.learning.mixture_start import from_labels, from_means, k_means, random_rows, typical_spread, wide
from leverrier.learning.mixture_view import View, look
from leverrier.model.mixture import KINDS, Kind, Mixture
from leverrier.status import Status

Floats = NDArray[np.float64]

MANY_CELLS = 200_000
"""Below so many cells a pass is too short to be shared out over threads."""


@dataclass(frozen=True, eq=False)
class MixtureResult:
    """The mixture with the best criterion, from its best start."""

    mixture: Mixture
    log_likelihood: float
    """Of the observed cells, in nats, over all rows."""
    log_posterior: float | None
    """The log-likelihood plus the log prior density less that at its mode; None without a prior."""
    trace: tuple[float, ...]
    """What was climbed, at the start and after each step: the log-likelihood, or with a prior the log posterior."""
    likelihoods: tuple[float, ...]
    """The log-likelihood at the same steps."""
    status: Status
    iterations: int
    starts: Starts
    table: tuple[FitRow, ...]
    """For each number of components that was tried: log-likelihood, parameters, BIC, ICL, AIC (smaller is better)."""
    criterion: Criterion
    prior: NormalInverseWishart | None
    events: tuple[str, ...]
    """What happened on the way: collapses, mergers, restarts, and what is odd about the answer."""

    @property
    def components(self) -> int:
        """How many components were chosen."""
        return self.mixture.n_components

    def __repr__(self) -> str:
        tried = f", chosen by {self.criterion} from {len(self.table)} numbers" if len(self.table) > 1 else ""
        return (
            f"MixtureResult({self.mixture!r}{tried}, log-likelihood {self.log_likelihood:.4f}, {self.status} after "
            f"{self.iterations} iterations, best of {len(self.starts)} starts, reached {self.starts.best_count} times)"
        )


@dataclass(frozen=True, eq=False)
class _Task:
    """What the fits of all numbers of components share."""

    view: View
    kind: Kind
    init: Any
    prior: Any
    starts: int
    tolerance: float
    max_iterations: int
    seed: int
    deadline: float
    pool: ThreadPoolExecutor | None
    progress: Progress | None


@dataclass(frozen=True, eq=False)
class _Fit:
    """One number of components, fitted."""

    mixture: Mixture
    problem: MixtureProblem
    ended: Ended
    starts: Starts
    events: tuple[str, ...]


def fit_mixture(
    x: Any,
    components: int | Literal["auto"] | Iterable[int] = "auto",
    covariance: Kind = "full",
    *,
    columns: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
    starts: int | None = None,
    init: Any = "k-means++",
    prior: Literal["weak"] | NormalInverseWishart | None = "weak",
    criterion: Criterion = "bic",
    tolerance: float = 1e-6,
    max_iterations: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
    budget: float | None = None,
    progress: Progress | None = None,
) -> MixtureResult:
    """A mixture of Gaussians by EM; the objective never falls, and no component is lost without a word.

    x           an array, a dataframe, or a path; NaN is a hole, summed out exactly. `columns` picks some of a frame
    components  how many; several numbers, or "auto", to have the best by `criterion` ("bic", "icl", "aic")
    covariance  "full", "tied" (one for all), "diagonal" or "spherical"
    weights     how often each row counts
    starts      how many starts are run to the end (5; 1 if `init` says where to begin)
    init        "k-means++", "random" (means at random rows), the means, or a Mixture
    prior       "weak": one row's worth of a typical component's covariance, so that none can shrink to nothing;
                a NormalInverseWishart; or None for maximum likelihood
    tolerance   stop when what is still to be gained is estimated to be below this, in nats
    jobs, budget    threads (the answer does not depend on them); seconds
    """
    if covariance not in KINDS:
        raise OptionError(f"covariance={covariance!r}: expected one of {', '.join(KINDS)}")
    if not tolerance >= 0 or max_iterations < 1 or (starts is not None and starts < 1):
        raise OptionError(
            f"tolerance={tolerance!r}, max_iterations={max_iterations!r}, starts={starts!r}: "
            "expected at least 0 nats, 1 iteration and 1 start"
        )
    matrix = as_matrix(x, columns)
    each = row_weights(weights, matrix.n_rows)
    given = isinstance(init, Mixture) or not isinstance(init, str)
    numbers = candidates(components, matrix.n_rows, len(init.means if isinstance(init, Mixture) else init) if given else None)
    view = look(matrix, each, np.random.default_rng([seed, 0]))
    _check_prior(prior, view)
    deadline = np.inf if budget is None else time.monotonic() + budget
    workers = jobs or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(workers) as pool:
        shared = pool if workers > 1 and matrix.values.size > MANY_CELLS else None
        task = _Task(
            view, covariance, init, prior, starts or (1 if given else 5), tolerance, max_iterations, seed, deadline,
            shared, progress,
        )  # fmt: skip
        return _chosen(task, numbers, components == "auto", criterion)


def _check_prior(prior: Any, view: View) -> None:
    if isinstance(prior, NormalInverseWishart):
        if prior.mean.size != view.d:
            raise OptionError(f"the prior is over {prior.mean.size} columns and the data has {view.d}")
    elif prior is None:
        if view.collinear is not None:
            raise TableError(
                f"column {view.collinear!r} is determined by the others, so the likelihood has no maximum: "
                'leave it out, or keep the prior (prior="weak")'
            )
    elif prior != "weak":
        raise OptionError(f'prior={prior!r}: expected "weak", a NormalInverseWishart, or None for maximum likelihood')


def _chosen(task: _Task, numbers: Iterable[int], patient: bool, criterion: Criterion) -> MixtureResult:
    """Fit each number of components and keep the best."""
    best: _Fit | None = None
    table: list[FitRow] = []
    failure: OptionError | None = None
    for k in numbers:
        try:
            fit = _fit(task, k)
        except OptionError as problem:
            failure = problem
            table.append(FitRow.failed(k, str(problem)))
        else:
            row = fit_row(fit.mixture, fit.ended.log_likelihood, fit.problem, fit.ended, fit.starts)
            if all(value_of(row, criterion) < value_of(other, criterion) for other in table):
                best = fit
            table.append(row)
            if fit.ended.climb.status is Status.INTERRUPTED:
                break
        if time.monotonic() > task.deadline or (patient and finished(table, criterion)):
            break
    if best is None:
        assert failure is not None
        raise failure
    found = best.ended
    prior = best.problem.prior
    rows = task.view.rows
    return MixtureResult(
        mixture=best.mixture,
        log_likelihood=found.log_likelihood,
        log_posterior=None if prior is None else found.climb.value,
        trace=found.climb.trace,
        likelihoods=found.likelihoods,
        status=found.climb.status,
        iterations=found.climb.iterations,
        starts=best.starts,
        table=tuple(table),
        criterion=criterion,
        prior=None if prior is None else prior.moved_back(rows.shift, rows.scale),
        events=best.events,
    )


def _fit(task: _Task, k: int) -> _Fit:
    """Every start of k components, and the best end."""
    view = task.view
    generators = np.random.default_rng([task.seed, k]).spawn(task.starts + 1)
    groupings = [k_means(view, k, generators[-1]) for _ in range(1 if k == 1 else 3)]
    spread = min((typical_spread(view, labels, k) for labels in groupings), key=lambda s: float(np.linalg.slogdet(s)[1]))
    prior = task.prior
    if prior == "weak":
        prior = weak_prior(spread)
    elif prior is not None:
        prior = prior.moved(view.rows.shift, view.rows.scale)
    problem = MixtureProblem(view.rows, task.kind, prior, view.pivots if wide(task.kind) else view.variances, task.tolerance, task.pool)
    ends: list[Ended | None] = []
    for number, rng in enumerate(generators[: task.starts]):
        begin = _begin(task, k, rng, spread, first=number == 0)
        ends.append(run_start(problem, begin, rng, task.max_iterations, task.deadline))
        end = ends[-1]
        if task.progress is not None and end is not None:
            task.progress(f"{k} components, start {number + 1} of {task.starts}: {end.climb.status}", end.climb.value)
        stopped = end is not None and end.climb.status in (Status.INTERRUPTED, Status.BUDGET)
        if stopped or (time.monotonic() > task.deadline and any(ends)):
            break
    return _best(task, k, problem, ends)


def _begin(task: _Task, k: int, rng: np.random.Generator, spread: Floats, first: bool) -> Components:
    view, init = task.view, task.init
    shift, scale = view.rows.shift, view.rows.scale
    if isinstance(init, str):
        if init == "random":
            return from_means(random_rows(view, k, rng), spread * k ** (2 / view.d), task.kind)
        if init != "k-means++":
            raise OptionError(f'init={init!r}: expected "k-means++", "random", the means, or a Mixture')
        return from_labels(view, k_means(view, k, rng), k, task.kind, spread)
    if not first:
        return from_labels(view, k_means(view, k, rng), k, task.kind, spread)
    if isinstance(init, Mixture):
        if init.n_columns != view.d:
            raise OptionError(f"init: the mixture is over {init.n_columns} columns and the data has {view.d}")
        matrices = init.matrices * np.outer(scale, scale)
        own = matrices if wide(task.kind) else np.diagonal(matrices, axis1=1, axis2=2).copy()
        return Components(init.weights, (init.means - shift) * scale, own)
    means = np.array(init, dtype=np.float64)
    means = means[:, None] if means.ndim == 1 else means
    if means.shape != (k, view.d) or not np.all(np.isfinite(means)):
        raise OptionError(f"init: means of shape {means.shape} were given, expected finite numbers ({k}, {view.d})")
    return from_means((means - shift) * scale, spread, task.kind)


def _best(task: _Task, k: int, problem: MixtureProblem, ends: list[Ended | None]) -> _Fit:
    """The highest sound end; where there is none, the highest; where every start collapsed, one clear line."""
    alive = [end for end in ends if end is not None]
    if not alive:
        raise OptionError(
            f"with {k} components and no prior every start collapsed onto a few rows, where the likelihood has no bound: "
            'use fewer components, or prior="weak"'
        )
    best = max(alive, key=lambda end: (end.sound, end.climb.value))
    same = max(100 * task.tolerance, 1e-8 * abs(best.climb.value))
    count = sum(end.sound == best.sound and end.climb.value >= best.climb.value - same for end in alive)
    runs = tuple(Start(end.climb.value, end.log_likelihood, end.climb.iterations, end.climb.status) for end in alive)
    order = np.argsort(-best.components.weights, kind="stable")
    listed = Components(best.components.weights[order], best.components.means[order], best.components.covariances[order])
    best = Ended(listed, best.counts[order], best.climb, best.likelihoods, best.sound, best.events)
    lost = len(ends) - len(alive)
    events = [*best.events, *([f"{lost} of {len(ends)} starts were given up: their components kept collapsing"] if lost else [])]
    return _Fit(_mixture(task, listed), problem, best, Starts(runs, count), (*events, *remarks(problem, best)))


def _mixture(task: _Task, found: Components) -> Mixture:
    """The components in the rows' own units."""
    shift, scale = task.view.rows.shift, task.view.rows.scale
    means = found.means / scale + shift
    match task.kind:
        case "full":
            spread = found.covariances / np.outer(scale, scale)
        case "tied":
            spread = found.covariances[0] / np.outer(scale, scale)
        case "diagonal":
            spread = found.covariances / scale**2
        case _:
            spread = found.covariances[:, 0] / scale[0] ** 2
    return Mixture(found.weights, means, spread, task.kind, task.view.names)
