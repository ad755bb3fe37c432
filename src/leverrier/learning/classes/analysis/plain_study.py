"""A study of plain classes that were fitted by counting; posteriors of rows that a fit left out; a study as text."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.errors import TooLargeError
from leverrier.learning.classes.analysis.class_roles import make_item
from leverrier.learning.classes.analysis.class_study import ClassStudy
from leverrier.learning.classes.class_fit import FitTable
from leverrier.learning.classes.class_tables import ProfileRow
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from
from leverrier.learning.classes.fitting.class_spec import ClassSpec, Sampling
from leverrier.learning.classes.parts.indicator import IndicatorKind
from leverrier.learning.classes.parts.terms import constant

MOST_PARAMETERS = 3000
"""The information of more parameters than this is not made: it has their number squared."""
SHOWN_COLUMNS = 40


def plain_study(table: Table, posterior: Floats, variable: str) -> ClassStudy:
    """The study of a fit by counting, begun at its posteriors."""
    classes = posterior.shape[1]
    size = classes - 1 + classes * int((table.cardinalities - 1).sum())
    if size > MOST_PARAMETERS:
        raise TooLargeError(
            f"{size} parameters: errors, residuals and tests are made for up to {MOST_PARAMETERS}; use fewer columns"
        )
    items = tuple(make_item(table, name, IndicatorKind.NOMINAL) for name in table.variables)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
    spec = ClassSpec(items, constant(table.n_rows), Sampling(weights))
    return ClassStudy(climbed_from(spec, classes, posterior), variable)


def every_posterior(fitted: ClassFitted) -> Floats:
    """(rows, classes). Rows left out of the fit (no weight, a hole in a predictor) get the classes' overall sizes, and
    what their columns say."""
    found = fitted.posterior
    lost = np.flatnonzero(np.isnan(found[:, 0]))
    if not len(lost):
        return found
    logs = np.tile(np.log(fitted.shares), (len(lost), 1))
    for place, indicator in enumerate(fitted.likelihood.indicators, 1):
        each = indicator.log_density(fitted.likelihood.part(fitted.theta, place))
        logs += np.vstack([each, np.zeros((1, fitted.classes))])[indicator.cell_of_row[lost]]
    logs -= logs.max(axis=1, keepdims=True)
    shares = np.exp(logs)
    found[lost] = shares / shares.sum(axis=1, keepdims=True)
    return found


def study_text(table: FitTable, why: str, study: ClassStudy) -> str:
    """The whole analysis for a terminal."""
    spec = study.fitted.spec
    rows = int(np.count_nonzero(spec.row_weights))
    parts = [f"Latent classes of {rows} rows and {len(spec.items)} columns", "", str(table), "", why, ""]
    parts.append(_profile_lines(study))
    if study.predictors:
        parts += ["", "Predictors of the class, against class 0 (log odds)", str(study.coefficients)]
    if len(study.regressions):
        parts += ["", "Regressions within classes", str(study.regressions)]
    if study.outcomes:
        parts += ["", "Outcomes by class", str(study.outcome_table)]
    if study.groups is not None and study.invariance is not None:
        parts += ["", f"Profiles in the groups of {study.groups.name}", str(study.invariance.table)]
        parts += ["", "Class sizes", str(study.sizes)]
    if len(study.tests):
        parts += ["", "Tests", str(study.tests)]
    if study.warnings:
        parts += ["", *study.warnings]
    return "\n".join(parts)


def _profile_lines(study: ClassStudy) -> str:
    """Figures with their standard errors, a column for each class."""
    classes = study.fitted.classes
    wide: dict[tuple[str, object], list[str]] = {}
    names = [study.variable, *[item.name for item in study.fitted.spec.items][:SHOWN_COLUMNS]]
    for row in study.profile_table():
        if row.column in names:
            wide.setdefault((row.column, row.of), [""] * classes)[row.state_class] = _figure(row)
    lines = [["", *(f"class {k}" for k in range(classes))]]
    counts = {name: sum(1 for key in wide if key[0] == name) for name in names}
    for (name, of), cells in wide.items():
        first = next(key[1] for key in wide if key[0] == name)
        if counts[name] == 2 and of == first and of != "mean":
            continue  # of two states one says it all
        lines.append([of if name == study.variable else f"{name} = {of}", *cells])  # type: ignore[list-item]
    width = max(len(str(line[0])) for line in lines)
    rest = max(len(cell) for line in lines for cell in line[1:])
    return "\n".join("  ".join([str(line[0]).ljust(width), *(cell.rjust(rest) for cell in line[1:])]) for line in lines)


def _figure(row: ProfileRow) -> str:
    return f"{row.estimate:.4g} ({row.standard_error:.2g})"
