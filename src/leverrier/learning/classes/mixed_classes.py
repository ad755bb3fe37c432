"""`mixed_classes`: one hidden class behind columns of numbers and categories, the number of classes chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.arrays import Floats
from leverrier.data.card import card
from leverrier.data.matrix import as_matrix, row_weights
from leverrier.data.paper_table import Papers
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.inference.gaussian.gaussian_rows import stretches_of_posteriors
from leverrier.inference.gaussian.mixed_rows import Categories
from leverrier.learning.classes.mixed_climb import ClassClimb, ClassParameters, ClassProblem
from leverrier.learning.criteria import aic, bic
from leverrier.learning.em.climb import Climb, climb
from leverrier.learning.em.fit_result import Start, Starts
from leverrier.learning.em.in_turn import counted, ends_in_turn
from leverrier.learning.mixtures.mixture_ascent import CollapsedError
from leverrier.learning.mixtures.mixture_choice import CRITERIA, Criterion, FitRow, MixtureTable, candidates, rank
from leverrier.learning.mixtures.mixture_climb import MixtureProblem
from leverrier.learning.mixtures.mixture_notes import ClassColumns
from leverrier.learning.mixtures.mixture_prior import Components, weak_prior
from leverrier.learning.mixtures.mixture_start import from_labels, group, typical_spread
from leverrier.learning.mixtures.mixture_view import View, look
from leverrier.learning.noted import LeftAside
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.models.mixture import CovarianceKind, Mixture
from leverrier.run.event import Event, Progress
from leverrier.run.run import Run
from leverrier.status import Status
from leverrier.words_of import told

Covariance = Literal["auto", "full", "tied", "diagonal", "spherical"]


@dataclass(frozen=True, eq=False)
class MixedClassResult(Papers):
    """The best number of classes (and kind of covariance), from its best start."""

    model: MixedClasses
    states: int
    log_likelihood: float
    """Of the observed cells, in nats, over all rows."""
    gain: float
    """How much better than the best model with one class, in nats: half the difference of their criteria."""
    trace: tuple[float, ...]
    status: Status
    iterations: int
    starts: Starts
    table: MixtureTable
    """For each number of classes and kind of covariance: log-likelihood, BIC, ICL, AIC (smaller is better)."""
    criterion: Criterion
    posterior: Floats
    """(rows, classes): P(class | row) for every row that was fitted, in order."""
    notes: tuple[str, ...]

    @property
    def profiles(self) -> list[dict[str, Any]]:
        return self.model.profiles()

    def _repr_html_(self) -> str:
        facts = {"classes": self.states, "gain, nats": f"{self.gain:,.2f}", "status": self.status}
        rows = []
        for number, profile in enumerate(self.profiles):
            means = [f"{name} {value[0]:.4g}" for name, value in profile.items() if isinstance(value, tuple)]
            rows.append((number, f"{profile['share']:.1%}", ", ".join(means[:4])))
        return card("Classes of numbers and categories", facts, ("class", "share", "means"), rows, self.notes[:4])

    def __repr__(self) -> str:
        return (
            f"MixedClassResult({self.model!r}, {self.model.numbers.kind} covariances, log-likelihood "
            f"{self.log_likelihood:.4f}, gain {self.gain:.2f} nats, {self.status}, best reached "
            f"{self.starts.best_count} of {len(self.starts)} times)"
        )


@dataclass(frozen=True, eq=False)
class _Task:
    view: View
    table: Table
    categories: Categories
    features: Floats
    """Numbers over their spread and indicators of states, for the sample: where k-means looks."""
    seen: Floats
    prior: Literal["weak"] | None
    starts: int
    tolerance: float
    max_iterations: int
    seed: int
    run: Run


@dataclass(frozen=True, eq=False)
class _Ended:
    climber: ClassClimb
    climb: Climb

    @property
    def start(self) -> Start:
        reached = self.climber.likelihoods
        return Start(self.climb.value, reached[-1], len(reached) - 1, self.climb.status)


@dataclass(frozen=True, eq=False)
class _Fit:
    model: MixedClasses
    row: FitRow
    climb: Climb
    posterior: Floats
    log_likelihood: float
    starts: Starts


def mixed_classes(
    data: Any,
    states: int | Iterable[int] = range(1, 7),
    *,
    numbers: Sequence[str] | None = None,
    covariance: Covariance = "auto",
    weights: str | ArrayLike | None = None,
    starts: int = 10,
    prior: Literal["weak"] | None = "weak",
    criterion: Criterion = "bic",
    tolerance: float = 1e-6,
    max_iterations: int = 10_000,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> MixedClassResult:
    """Fit one hidden class over all columns for each number of classes, and choose one.

    data        a dataframe, a Table, a dict of columns, or a path; holes are summed out, no row is dropped
    states      numbers of classes to try
    numbers     the columns that are Gaussian given the class; by default those that a table would cut into bins
    weights     how often each row counts: a column, or the weights themselves; a Table has its own
    covariance  of the numbers given the class: "diagonal" (locally independent), "full", "tied", "spherical", or
                "auto": diagonal or full, as the criterion prefers. Without full, mere correlation looks like classes
    prior       "weak" (one row's worth for each class), or None for maximum likelihood
    """
    if covariance not in ("auto", *CovarianceKind):
        raise OptionError(f"covariance={covariance!r}: expected auto, {', '.join(CovarianceKind)}")
    if criterion not in CRITERIA:
        raise OptionError(f"criterion={criterion!r}: expected one of {', '.join(CRITERIA)}")
    if prior not in ("weak", None):
        raise OptionError(f'prior={prior!r}: expected "weak", or None for maximum likelihood')
    run = Run.of(budget, progress=progress)
    task, notes = _task(data, numbers, weights, starts, prior, tolerance, max_iterations, seed, run)
    wanted = candidates(states, len(task.view.rows.x), None)
    either = (CovarianceKind.DIAGONAL, CovarianceKind.FULL)[: 1 if task.view.d == 1 else 2]
    kinds = either if covariance == "auto" else (CovarianceKind(covariance),)
    fits: list[_Fit] = []
    rows: list[FitRow] = []
    for k in wanted:
        for kind in kinds:
            fit = _fit(task, k, kind)
            if isinstance(fit, str):
                rows.append(FitRow.failed(k, kind, fit))
            else:
                fits.append(fit)
                rows.append(fit.row)
        if run.late and fits:
            break
    if not fits:
        raise OptionError(rows[0].note)
    best = min(fits, key=lambda fit: rank(fit.row, criterion))
    single = [rank(fit.row, criterion)[1] for fit in fits if fit.row.components == 1]
    gain = 0.5 * (min(single) - rank(best.row, criterion)[1]) if single else np.nan
    return MixedClassResult(
        model=best.model,
        states=best.model.n_classes,
        log_likelihood=best.log_likelihood,
        gain=gain,
        trace=best.climb.trace,
        status=best.climb.status,
        iterations=len(best.climb.trace) - 1,
        starts=best.starts,
        table=MixtureTable(tuple(rows)),
        criterion=criterion,
        posterior=best.posterior,
        notes=notes,
    )


def _task(
    data: Any,
    numbers: Sequence[str] | None,
    weights: str | ArrayLike | None,
    starts: int,
    prior: Literal["weak"] | None,
    tolerance: float,
    max_iterations: int,
    seed: int,
    run: Run,
) -> tuple[_Task, tuple[str, ...]]:
    """Read the columns, numbers as numbers and the rest as states."""
    if starts < 1 or max_iterations < 1 or not tolerance >= 0:
        raise OptionError(f"starts={starts!r}, max_iterations={max_iterations!r}, tolerance={tolerance!r}: too small")
    whole = _read(data, numbers, weights)
    if numbers is None:
        numbers = gaussian_columns(whole)
    if not numbers:
        raise TableError("no column holds numbers to be taken as Gaussian: latent_classes is for categories alone")
    matrix = as_matrix(whole, numbers)
    rest = [name for name in whole.variables if name not in numbers]
    table = whole.select(rest)
    view = look(matrix, row_weights(whole.weights, matrix.n_rows), False, np.random.default_rng([seed, 0]))
    features, seen = _features(view, table)
    task = _Task(view, table, Categories.of(table), features, seen, prior, starts, tolerance, max_iterations, seed, run)
    aside = [LeftAside(name, why) for name, why in whole.aside.items()]
    return task, told([ClassColumns(tuple(numbers), tuple(rest)), *aside])


def gaussian_columns(table: Table) -> list[str]:
    """The columns that are numbers to be taken as they are: those that were cut into bins, if the numbers are kept."""
    return list(table.measured)


def _read(data: Any, numbers: Sequence[str] | None, weights: str | ArrayLike | None) -> Table:
    """The data as a table, read once; columns that are named numbers are numbers, however few values they have."""
    if isinstance(data, Table):
        if weights is not None:
            raise OptionError("the data are a Table already: weights= belongs to read_table")
        return data
    return read_table(data, types=dict.fromkeys(numbers or (), "number"), weights=weights)


def _features(view: View, table: Table) -> tuple[Floats, Floats]:
    """Every column on one footing: two rows drawn at random differ by 2 in the square, in each column."""
    cells = [view.cells / np.sqrt(np.maximum(view.variances, 1e-300))]
    seen = [view.seen.astype(np.float64)]
    for column, codes in zip(table.columns, table.codes[:, view.places], strict=True):
        there = codes != table.missing
        shares = np.bincount(codes[there], minlength=column.cardinality) / max(there.sum(), 1)
        size = 1 / np.sqrt(max(1 - float(shares @ shares), 1e-6))
        cells.append(size * (codes[:, None] == np.arange(column.cardinality)))
        seen.append(np.repeat(there[:, None], column.cardinality, axis=1).astype(np.float64))
    return np.hstack(cells), np.hstack(seen)


def _fit(task: _Task, k: int, kind: CovarianceKind) -> _Fit | str:
    """Every start with k classes, and the best end; a sentence where every start failed."""
    view, starts = task.view, task.starts if k > 1 else 1
    generators = np.random.default_rng([task.seed, k]).spawn(starts)
    labels = [group(task.features, task.seen, view.sample_weights, k, rng) for rng in generators]
    spread = typical_spread(view, labels[0], k)
    overall = _cells(task, np.zeros(len(view.places), np.int64), 1)
    offsets = task.categories.offsets
    pseudo = np.zeros(task.categories.places)
    if task.prior is not None:
        for lo, hi in pairwise(offsets):
            pseudo[lo:hi] = (overall[lo:hi, 0] + 1 / (hi - lo)) / (overall[lo:hi, 0].sum() + 1)
    whole = view.pivots if kind.wide else view.variances
    numbers = MixtureProblem(view.rows, kind, weak_prior(spread) if task.prior else None, whole, task.tolerance)
    problem = ClassProblem(numbers, task.categories, pseudo)

    def go(own: NDArray[np.int64]) -> _Ended | None:
        theta = problem.theta(_cells(task, own, k) + 1 / max(1, k))
        climber = ClassClimb(problem, ClassParameters(from_labels(view, own, k, kind, spread), theta))
        try:
            return _Ended(climber, climb(climber, max_iterations=task.max_iterations, run=task.run))
        except CollapsedError:
            return None

    tried = ends_in_turn(task.run, Event.CLASSES_START, (k, kind), labels, go)
    ends = [end for end in tried if end is not None]
    if not ends:
        return f"with {k} classes every start collapsed onto a few rows: use fewer classes, or prior='weak'"
    return _best(task, problem, ends)


def _cells(task: _Task, labels: NDArray[np.int64], k: int) -> Floats:
    """Counts (states, classes) of the sample under these labels."""
    cells = np.zeros((task.categories.places, k))
    for v, begin in enumerate(task.categories.offsets[:-1]):
        codes = task.table.codes[v, task.view.places]
        there = codes != task.table.missing
        np.add.at(cells, (begin + codes[there].astype(np.int64), labels[there]), task.view.sample_weights[there])
    return cells


def _best(task: _Task, problem: ClassProblem, ends: list[_Ended]) -> _Fit:
    winner = max(ends, key=lambda end: end.climb.value)
    climber, found = winner.climber, winner.climb
    starts = counted([end.start for end in ends], max(100 * task.tolerance, 1e-8 * abs(found.value)))
    likelihood = climber.likelihoods[-1]
    order = np.argsort(-climber.model.numbers.weights, kind="stable")
    now = climber.model.numbers
    listed = ClassParameters(
        Components(now.weights[order], now.means[order], now.covariances[order]),
        np.ascontiguousarray(climber.model.theta[:, order]),
    )
    model = _model(task, problem, listed)
    rows, size = problem.numbers.rows, model.dimension
    posterior = np.empty((len(rows.x), model.n_classes))
    for places, shares, _ in stretches_of_posteriors(rows, problem.ready(listed)):
        posterior[places] = shares.T
    certainty = np.log(posterior.max(axis=1))
    sure = float(certainty @ rows.weights) if len(rows.weights) else float(certainty.sum())
    weighed = bic(likelihood, size, rows.total)
    row = FitRow(
        components=model.n_classes,
        covariance=problem.numbers.kind,
        log_likelihood=likelihood,
        parameters=size,
        bic=weighed,
        icl=weighed - 2 * sure,
        aic=aic(likelihood, size),
        status=found.status,
        best_count=starts.best_count,
    )
    return _Fit(model, row, found, posterior, likelihood, starts)


def _model(task: _Task, problem: ClassProblem, found: ClassParameters) -> MixedClasses:
    """The parameters in the rows' own units, by name."""
    shift, scale = task.view.rows.shift, task.view.rows.scale
    numbers, kind = found.numbers, problem.numbers.kind
    spread = numbers.covariances / (np.outer(scale, scale) if kind.wide else scale**2)
    mixture = Mixture(numbers.weights, numbers.means / scale + shift, kind.compact(spread), kind, task.view.names)
    offsets = task.categories.offsets
    tables = {column.name: found.theta[offsets[v] : offsets[v + 1]].T for v, column in enumerate(task.table.columns)}
    return MixedClasses(mixture, tables, task.table.states)
