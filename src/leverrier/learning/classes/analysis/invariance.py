"""Groups: are the classes the same in all of them? Free, partly and fully equal profiles, compared by likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from leverrier.arrays import Floats, Integers
from leverrier.data.variable import Label
from leverrier.learning.classes.class_tables import InvarianceRow, RowTable, TestRow
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.learning.classes.parts.indicator_making import Item
from leverrier.learning.classes.parts.terms import Terms
from leverrier.learning.criteria import aic, bic

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """Which group each row is in (−1: none)."""

    name: str
    codes: Integers
    labels: tuple[Label, ...]

    @property
    def member(self) -> Floats:
        """(rows, groups): 1 in the row's own; NaN where it has none."""
        whole = (self.codes[:, None] == np.arange(len(self.labels))).astype(np.float64)
        return np.where(self.codes[:, None] < 0, np.nan, whole)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} = {label}" for label in self.labels)

    def freed(self, item: Item) -> Item:
        return item.by_groups(self.member, self.names)


@dataclass(frozen=True, eq=False)
class Invariance:
    """The table of models, the tests of single columns, and the model of each kind."""

    table: RowTable[InvarianceRow]
    tests: RowTable[TestRow]
    free_columns: tuple[str, ...]
    """Those whose profiles differ between groups, by tests corrected for their number (Holm)."""


def compare_groups(fitted: ClassFitted, groups: GroupColumn) -> Invariance:
    """`fitted` has equal profiles and sizes by group. Every other model begins where it ended."""
    spec, shares, k = fitted.spec, np.nan_to_num(fitted.posterior), fitted.classes

    def other(items: Sequence[Item], terms: Terms | None = None) -> ClassFitted:
        own = ClassSpec(tuple(items), spec.terms if terms is None else terms, spec.sampling)
        return climbed_from(own, k, shares)

    free = other([groups.freed(item) for item in spec.items])
    tests, p_values = [], {}
    for place, item in enumerate(spec.items):
        items = [groups.freed(each) if i == place else each for i, each in enumerate(spec.items)]
        one = other(items)
        statistic, freedom, p = _ratio(one, fitted)
        p_values[item.name] = p
        tests.append(
            TestRow(item.name, f"same profile in every {groups.name}", "likelihood ratio", statistic, freedom, p)
        )
    differing = _holm(p_values)
    rows = [_row("free", free, None, "")]
    if 0 < len(differing) < len(spec.items):
        partly = other([groups.freed(item) if item.name in differing else item for item in spec.items])
        rows.append(_row(f"partly: {', '.join(differing)} free", partly, free, "free"))
        rows.append(_row("equal", fitted, partly, "partly"))
        rows.append(_row("equal", fitted, free, "free"))
    else:
        rows.append(_row("equal", fitted, free, "free"))
    same = other(spec.items, spec.terms.without(groups.name))
    rows.append(_row("equal, sizes too", same, fitted, "equal"))
    return Invariance(RowTable(InvarianceRow, tuple(rows)), RowTable(TestRow, tuple(tests)), differing)


def _ratio(larger: ClassFitted, smaller: ClassFitted) -> tuple[float, int, float]:
    """Twice the difference, and the parameters it is for: those at an edge in the larger alone count all the same."""
    statistic = max(0.0, 2 * (larger.log_likelihood - smaller.log_likelihood))
    freedom = larger.likelihood.size - smaller.likelihood.size
    return statistic, freedom, float(chi2.sf(statistic, freedom))


def _row(model: str, fitted: ClassFitted, larger: ClassFitted | None, against: str) -> InvarianceRow:
    value, size = fitted.log_likelihood, fitted.likelihood.size
    figures = (None, None, None) if larger is None else _ratio(larger, fitted)
    total = fitted.likelihood.total
    return InvarianceRow(model, value, size, aic(value, size), bic(value, size, total), against, *figures)


def _holm(p_values: dict[str, float]) -> tuple[str, ...]:
    found, left = [], len(p_values)
    for name in sorted(p_values, key=lambda each: p_values[each]):
        if p_values[name] > LEVEL / left:
            break
        found.append(name)
        left -= 1
    return tuple(name for name in p_values if name in found)
