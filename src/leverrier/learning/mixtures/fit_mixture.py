"""`fit_mixture`: a mixture of Gaussians by EM, with the failures of plain EM found and cured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from leverrier.chart_of import chart_of
from leverrier.data.card import card
from leverrier.data.matrix import as_matrix, row_weights, weights_beside
from leverrier.data.paper_table import Papers
from leverrier.errors import OptionError, TableError
from leverrier.learning.em.fit_result import Starts
from leverrier.learning.mixtures.mixture_choice import (
    CRITERIA,
    Criterion,
    FitRow,
    MixtureTable,
    candidates,
    finished,
    fit_row,
    rank,
)
from leverrier.learning.mixtures.mixture_fit import ComponentsFit, MixtureTask, fit_components
from leverrier.learning.mixtures.mixture_prior import NormalInverseWishart
from leverrier.learning.mixtures.mixture_view import View, look
from leverrier.models.mixture import Covariance, CovarianceKind, Mixture
from leverrier.run.event import Progress
from leverrier.run.run import Run
from leverrier.status import Status
from leverrier.words_of import Note, told

if TYPE_CHECKING:
    import altair

MANY_CELLS = 200_000
"""Below so many cells a pass is too short to be shared out over threads."""


@dataclass(frozen=True, eq=False)
class MixtureResult(Papers):
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
    table: MixtureTable
    """For each number of components that was tried: log-likelihood, parameters, BIC, ICL, AIC (smaller is better)."""
    criterion: Criterion
    prior: NormalInverseWishart | None
    noticed: tuple[Note, ...]

    @property
    def events(self) -> tuple[str, ...]:
        """What happened on the way: collapses, mergers, restarts, and what is odd about the answer."""
        return told(self.noticed)

    @property
    def components(self) -> int:
        """How many components were chosen."""
        return self.mixture.n_components

    def plot(self, x: Any = None, columns: Sequence[str] | None = None) -> altair.TopLevelMixin:
        """The components over the rows `x`, in one or two columns, as an Altair chart."""
        return chart_of("mixture_charts.mixture_figure", self, x, columns=columns)

    def plot_trace(self) -> altair.TopLevelMixin:
        """The log-likelihood, iteration by iteration."""
        return chart_of("mixture_charts.climb_figure", self)

    def _repr_html_(self) -> str:
        mixture = self.mixture
        facts = {"components": self.components, "log-likelihood": f"{self.log_likelihood:,.3f}", "status": self.status}
        rows = [
            (c + 1, f"{mixture.weights[c]:.3f}", ", ".join(f"{mean:.4g}" for mean in mixture.means[c][:6]))
            for c in range(self.components)
        ]
        said = f"best of {len(self.starts)} starts, reached {self.starts.best_count} times"
        return card("Mixture of Gaussians", facts, ("component", "weight", "mean"), rows, (said, *self.events[:4]))

    def __repr__(self) -> str:
        tried = f", chosen by {self.criterion} from {len(self.table)} numbers" if len(self.table) > 1 else ""
        return (
            f"MixtureResult({self.mixture!r}{tried}, log-likelihood {self.log_likelihood:.4f}, {self.status} after "
            f"{self.iterations} iterations, best of {len(self.starts)} starts, reached {self.starts.best_count} times)"
        )


def fit_mixture(
    x: Any,
    components: int | Literal["auto"] | Iterable[int] = "auto",
    covariance: Covariance | CovarianceKind = "full",
    *,
    columns: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
    starts: int | None = None,
    init: Any = "k-means++",
    prior: Literal["weak"] | NormalInverseWishart | None = "weak",
    criterion: Criterion = "bic",
    tolerance: float = 1e-6,
    max_iterations: int = 10_000,
    accelerate: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> MixtureResult:
    """A mixture of Gaussians by EM; the objective never falls, and no component is lost without a word.

    x           an array, a dataframe, a Table, or a path; NaN is a hole, summed out exactly. `columns` picks some
    components  how many; several numbers, or "auto", to have the best by `criterion` ("bic", "icl", "aic")
    covariance  "full", "tied" (one for all), "diagonal" or "spherical"
    weights     how often each row counts; those of a Table by default
    starts      how many starts are run to the end (5; 1 if `init` says where to begin)
    init        "k-means++", "random" (means at random rows), the means, or a Mixture
    prior       "weak": one row's worth of a typical component's covariance, so that none can shrink to nothing;
                a NormalInverseWishart; or None for maximum likelihood
    tolerance   stop when what is still to be gained is estimated to be below this, in nats
    accelerate  extrapolate between steps (never downhill); without it, each step is one plain EM step
    jobs        threads that share out many rows (the answer does not depend on them): all cores unless given
    budget      seconds; `progress` is called with a line and the share of starts done, at the end of each
    """
    kind = CovarianceKind.of(covariance, "covariance")
    if criterion not in CRITERIA:
        raise OptionError(f"criterion={criterion!r}: expected one of {', '.join(CRITERIA)}")
    if not tolerance >= 0 or max_iterations < 1 or (starts is not None and starts < 1):
        raise OptionError(
            f"tolerance={tolerance!r}, max_iterations={max_iterations!r}, starts={starts!r}: "
            "expected at least 0 nats, 1 iteration and 1 start"
        )
    matrix = as_matrix(x, columns)
    each = row_weights(weights_beside(x, weights), matrix.n_rows)
    given = None if isinstance(init, str) else len(init.means if isinstance(init, Mixture) else init)
    numbers = candidates(components, matrix.n_rows, given)
    view = look(matrix, each, kind is CovarianceKind.SPHERICAL, np.random.default_rng([seed, 0]))
    _check_prior(prior, view, kind)
    run = Run.of(budget, jobs=jobs, progress=progress)
    workers = run.workers.jobs
    with ThreadPoolExecutor(workers) as pool:
        shared = pool if workers > 1 and matrix.values.size > MANY_CELLS else None
        task = MixtureTask(
            view=view,
            kind=kind,
            init=init,
            prior=prior,
            starts=starts or (5 if given is None else 1),
            tolerance=tolerance,
            max_iterations=max_iterations,
            accelerate=accelerate,
            seed=seed,
            run=run,
            pool=shared,
        )
        return _chosen(task, numbers, isinstance(components, str), criterion)


def _check_prior(prior: Any, view: View, kind: CovarianceKind) -> None:
    if isinstance(prior, NormalInverseWishart):
        if prior.mean.size != view.d:
            raise OptionError(f"the prior is over {prior.mean.size} columns and the data has {view.d}")
    elif prior is None:
        if not kind.wide or view.collinear is None:
            return
        if len(view.rows.x) <= view.d:
            raise TableError(
                f"{len(view.rows.x)} rows cannot fill a covariance matrix of {view.d} columns, so the likelihood has "
                'no maximum: keep the prior (prior="weak"), or covariance="diagonal"'
            )
        raise TableError(
            f"column {view.collinear!r} is determined by the others, so the likelihood has no maximum: "
            'leave it out, or keep the prior (prior="weak")'
        )
    elif prior != "weak":
        raise OptionError(f'prior={prior!r}: expected "weak", a NormalInverseWishart, or None for maximum likelihood')


def _chosen(task: MixtureTask, numbers: Iterable[int], patient: bool, criterion: Criterion) -> MixtureResult:
    """Fit each number of components and keep the best."""
    best: ComponentsFit | None = None
    table: list[FitRow] = []
    failure: OptionError | None = None
    for k in numbers:
        try:
            fit = fit_components(task, k)
        except OptionError as problem:
            failure = problem
            table.append(FitRow.failed(k, task.kind, str(problem)))
        else:
            row = fit_row(fit.mixture, fit.ended.log_likelihood, fit.problem, fit.ended, fit.starts)
            if all(rank(row, criterion) < rank(other, criterion) for other in table):
                best = fit
            table.append(row)
            if fit.ended.climb.status is Status.INTERRUPTED:
                break
        if task.run.late or (patient and finished(table, criterion)):
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
        iterations=found.iterations,
        starts=best.starts,
        table=MixtureTable(tuple(table)),
        criterion=criterion,
        prior=None if prior is None else prior.moved_back(rows.shift, rows.scale),
        noticed=best.events,
    )
