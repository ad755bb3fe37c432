"""`latent_classes`: one hidden class behind all columns, for several numbers of classes, with the choice explained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from leverrier.arrays import Floats
from leverrier.counts.rows import Rows, rows_of
from leverrier.data.reading.file_options import ColumnOptions
from leverrier.data.reading.read_table import as_asked
from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.errors import OptionError
from leverrier.learning.classes.analysis.class_analysis import Settings, analyse
from leverrier.learning.classes.analysis.class_roles import Asked
from leverrier.learning.classes.analysis.three_steps import Steps
from leverrier.learning.classes.class_bootstrap import bootstrap_errors, bootstrap_p
from leverrier.learning.classes.class_choice import CRITERIA, Criterion, choose
from leverrier.learning.classes.class_fit import ClassFit, FitTable, class_fit
from leverrier.learning.classes.fitting.class_covariance import ErrorsFrom
from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.learning.em.fit import FitResult, fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.run.event import Event, Progress
from leverrier.run.run import Run


@dataclass(frozen=True)
class _Settings:
    starts: int
    prior: float | Score | None
    tolerance: float
    max_iterations: int
    run: Run

    def fit(self, rows: Rows | Table, name: str, states: int, seed: int, **more: Any) -> FitResult:
        options = {"starts": self.starts if states > 1 else 1, **more}
        return fit(
            star(rows.table if isinstance(rows, Rows) else rows, name),
            rows,
            hidden={name: states},
            prior=self.prior,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            seed=seed,
            jobs=self.run.workers.jobs,
            budget=self.run.seconds_left(),
            client=self.run.workers.client,
            **options,
        )


def latent_classes(
    data: Any,
    states: int | Iterable[int] = range(1, 7),
    *,
    starts: int = 20,
    criterion: Criterion = "bic",
    bootstrap: int = 0,
    errors: int = 0,
    prior: float | Score | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 10_000,
    name: str = "class",
    seed: int = 0,
    jobs: int | None = None,
    budget: float | None = None,
    max_memory: int | str | None = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    predictors: str | Sequence[str] = (),
    outcomes: str | Sequence[str] = (),
    steps: Literal[1, "ml", "bch"] | None = None,
    weights: str | ArrayLike | None = None,
    groups: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    by_group: str | None = None,
    dependent: Sequence[tuple[str, str]] | Literal["search"] = (),
    indicators: Mapping[str, str] | Sequence[str] | None = None,
    regress: Mapping[str, str | Sequence[str]] | None = None,
    errors_from: Literal["observed", "robust", "scores"] | None = None,
    level: float = 0.95,
    **reading: Unpack[ColumnOptions],
) -> LatentClassResult:
    """Fit one hidden class over all columns for each number of classes, and choose one.

    states      numbers of classes to try
    starts      random starts for each, all run to the end: how often the best recurred is in the table
    criterion   what chooses: "bic" (default), "aic", "sabic", "caic", or "score" (Cheeseman–Stutz)
    bootstrap   so many data sets for the likelihood-ratio p-value of each number against one fewer
    errors      so many resamples for standard errors of the chosen model, classes aligned
    prior       a pseudo-count in every cell, against probabilities of exactly 0 and 1
    name        of the class variable
    max_memory  bytes, or "2GB", of a file of any size: docs/large.md
    client      a Dask client, or its address: its workers hold the parts of a Parquet file, or run the starts on a
                table in memory; the answer is that of one machine
    progress    is called with a line and the share done, after each number of classes

    predictors  columns that explain the class (a multinomial logit); numbers as numbers, the rest by their states
    outcomes    columns that the class explains: compared between classes
    steps       1: all in one likelihood; "ml", "bch": classes first, then predictors and outcomes with the errors of
                assigning rows undone. By default 1 for predictors alone, "bch" with outcomes
    weights     sampling weights (a column, or one a row): pseudo-likelihood, linearised errors. For rows that stand
                for several equal ones, read_table(weights=)
    groups      a column whose equal values are drawn together (households): errors allow for it; `strata` likewise
    by_group    a column: are the classes the same in its groups? `invariance`, and sizes by group
    dependent   pairs of columns that depend on one another within classes, or "search"
    indicators  what columns are given the class: {"visits": "poisson", "agree": "ordinal", "pay": "normal"}, further
                "nominal", "cumulative", "negative binomial", "normal, equal variances", "censored"; or the list of
                columns to use
    regress     {"pay": ["age"]}: the column is regressed on others within each class, a mixture of regressions
    errors_from "observed" information (default), "robust" sandwich (default with weights or groups), "scores"
    level       of confidence intervals

    Holes are summed out: no row is dropped. Classes are numbered "0", "1", … from the largest.
    """
    data = as_asked(data, reading, max_memory)
    wanted = _numbers(states)
    if criterion not in CRITERIA:
        raise OptionError(f"criterion={criterion!r}: expected one of {', '.join(CRITERIA)}")
    run = Run.of(budget, jobs=jobs, client=client, progress=progress)
    asked = Asked(
        _several(predictors),
        _several(outcomes),
        weights,
        groups,
        strata,
        by_group,
        () if isinstance(dependent, str) else tuple((str(a), str(b)) for a, b in dependent),
        indicators,
        {name: _several(inner) for name, inner in (regress or {}).items()},
    )
    own = _Settings(starts, prior, tolerance, max_iterations, run)
    if asked.more or dependent or steps is not None:
        return _analysed(
            data,
            asked,
            wanted,
            criterion,
            name,
            _study_settings(own, bootstrap, errors, errors_from, level, steps, dependent, seed),
        )
    source = rows_of(data, max_memory, run.workers.client)
    if not source.here and (bootstrap or errors):
        raise OptionError("bootstrap= and errors= draw tables like this one in memory, and its rows stay in parts")
    settings = own
    variable = free_name(name, source.table.variables)
    seeds = np.random.SeedSequence(seed).generate_state(3)
    fits: dict[int, FitResult] = {}
    rows: list[ClassFit] = []
    for number, k in enumerate(wanted, 1):
        if fits and run.late:
            break
        fits[k] = settings.fit(source, variable, k, int(seeds[0]))
        rows.append(class_fit(fits[k], variable))
        said = f"{fits[k].status}, {fits[k].log_likelihood:.4f}"
        run.tell(Event.CLASSES, number / len(wanted), k, said=said)
    if bootstrap:
        rows = _tested(rows, fits, source.table, variable, settings, bootstrap, int(seeds[1]))
    table = FitTable(tuple(rows))
    choice = choose(table, criterion, {k: found.score for k, found in fits.items()}, wanted)
    chosen = choice.states
    spread = None
    if errors:
        spread = bootstrap_errors(fits[chosen], variable, errors, int(seeds[2]), tolerance=tolerance, jobs=jobs)
    return LatentClassResult(table, choice, variable, fits, spread)


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names)


def _study_settings(
    own: _Settings,
    bootstrap: int,
    errors: int,
    errors_from: str | None,
    level: float,
    steps: int | str | None,
    dependent: Any,
    seed: int,
) -> Settings:
    """The options of an analysis, checked."""
    if steps not in (None, *(each.value for each in Steps)):
        raise OptionError(f'steps={steps!r}: expected 1, "ml" or "bch"')
    kinds = {kind.value: kind for kind in (ErrorsFrom.OBSERVED, ErrorsFrom.ROBUST, ErrorsFrom.SCORES)}
    if errors_from is not None and errors_from not in kinds:
        raise OptionError(f"errors_from={errors_from!r}: expected one of {', '.join(kinds)}")
    if not 0 < level < 1:
        raise OptionError(f"level={level!r}: expected a number between 0 and 1, such as 0.95")
    if isinstance(dependent, str) and dependent != "search":
        raise OptionError(f'dependent={dependent!r}: expected pairs of columns, or "search"')
    if own.prior is not None:
        raise OptionError("prior= is for plain classes: leave it out with predictors, outcomes, weights or groups")

    def simple(table: Table, states: int, at: int, starts: int) -> tuple[Floats, tuple[float, ...]]:
        variable = free_name("class", table.variables)
        used = table if table.weights is None else table.take(table.weights > 0)
        found = own.fit(used, variable, states, at, starts=starts if states > 1 else 1)
        if used.n_rows == table.n_rows:
            shares = found.posterior(variable)
        else:
            shares = found.network.posterior(replace(table, weights=None), variable)
        return shares, tuple(start.log_likelihood for start in found.starts)

    return Settings(
        own.starts,
        seed,
        bootstrap,
        errors,
        kinds.get(errors_from or ""),
        level,
        None if steps is None else Steps(steps),
        dependent == "search",
        own.run,
        simple,
    )


def _analysed(
    data: Any, asked: Asked, wanted: list[int], criterion: Criterion, name: str, settings: Settings
) -> LatentClassResult:
    """The analysis with predictors, outcomes, weights, groups, dependences or columns of other kinds."""
    if criterion == "score":
        raise OptionError('criterion="score" is for plain classes: use "bic"')
    if isinstance(data, Rows) or settings.run.workers.client is not None:
        raise OptionError("predictors=, outcomes=, weights=, groups= and their like need the rows in memory")
    found = analyse(data, asked, wanted, settings)
    table = FitTable(tuple(found.rows))
    choice = choose(table, criterion, {}, wanted)
    study = found.study(choice.states, name)
    return LatentClassResult(table, choice, study.variable, {}, asked=study)


def star(table: Table, name: str) -> Graph:
    """One hidden parent of every column."""
    return Graph.from_edges((name, *table.variables), ((name, variable) for variable in table.variables))


def _numbers(states: int | Iterable[int]) -> list[int]:
    wanted = sorted(set([states] if isinstance(states, int) else states))
    if not wanted or not all(isinstance(k, int | np.integer) and k >= 1 for k in wanted):
        raise OptionError(f"states={states!r}: expected numbers of classes, each at least 1, such as range(1, 7)")
    return [int(k) for k in wanted]


def _tested(
    rows: list[ClassFit],
    fits: dict[int, FitResult],
    table: Table,
    name: str,
    settings: _Settings,
    draws: int,
    seed: int,
) -> list[ClassFit]:
    """The rows with the p-value of each number against one class fewer, where that was fitted too."""
    tested = []
    for number, row in enumerate(rows, 1):
        p = None
        if row.states - 1 in fits:

            def refit(drawn: Table, k: int, at: int) -> float:
                return settings.fit(drawn, name, k, at).log_likelihood

            p = bootstrap_p(fits[row.states - 1], fits[row.states], table, draws, seed + row.states, refit)
            said = f"bootstrap p {p:.4f}"
            settings.run.tell(Event.BOOTSTRAP, number / len(rows), row.states, row.states - 1, said=said)
        tested.append(replace(row, bootstrap_p=p))
    return tested
