"""A study of plain classes that were fitted by counting; posteriors of rows that a fit left out; a study as text."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.errors import TooLargeError
from leverrier.learning.classes.analysis.class_roles import make_item
from leverrier.learning.classes.analysis.class_study import ClassStudy
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from
from leverrier.learning.classes.fitting.class_spec import ClassSpec, Sampling
from leverrier.learning.classes.parts.indicator import IndicatorKind
from leverrier.learning.classes.parts.terms import constant

MOST_PARAMETERS = 3000
"""The information of more parameters than this is not made: it has their number squared."""


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
