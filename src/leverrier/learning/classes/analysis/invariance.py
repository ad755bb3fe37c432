"""Groups: are the classes the same in all of them? Free, partly and fully equal profiles, compared by likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from leverrier.arrays import Floats, Integers
from leverrier.data.variable import Label
from leverrier.learning.classes.analysis.class_estimates import wald
from leverrier.learning.classes.analysis.drawn_rows import drawn_with_classes
from leverrier.learning.classes.class_tables import InvarianceRow, RowTable, TestRow
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from
from leverrier.learning.classes.fitting.class_covariance import ClassCovariance, ErrorsFrom
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.learning.classes.parts.indicator import Role
from leverrier.learning.classes.parts.indicator_making import Item
from leverrier.learning.classes.parts.terms import Terms
from leverrier.learning.criteria import aic, bic

LEVEL = 0.05
ROWS_A_PARAMETER, DRAWS = 100, 50
"""With fewer rows for each parameter that a test frees its statistic is scaled by drawing so many tables ..."""
MOST_WORK = 2_000_000
"""... unless rows times parameters are more than this: then only on request."""


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
    scaled: tuple[int, float] | None = None
    """How many tables were drawn for the test of all columns together, and what its statistic was divided by."""


def compare_groups(fitted: ClassFitted, groups: GroupColumn, draws: int = 0, seed: int = 0) -> Invariance:
    """`fitted` has equal profiles and sizes by group. Every other model begins where it ended. Where rows are
    few for the parameters, and with `draws`, the test of all columns together is scaled by its mean over tables drawn
    from the equal model [bartlett1937]: the ratio itself is too large there."""
    spec, shares, k = fitted.spec, np.nan_to_num(fitted.posterior), fitted.classes

    def other(items: Sequence[Item], terms: Terms | None = None) -> ClassFitted:
        own = ClassSpec(tuple(items), spec.terms if terms is None else terms, spec.sampling)
        return climbed_from(own, k, shares)

    free = other([groups.freed(item) for item in spec.items])
    method = "likelihood ratio" if spec.sampling.plain else "Wald"
    tests, p_values = [], {}
    for place, item in enumerate(spec.items):
        items = [groups.freed(each) if i == place else each for i, each in enumerate(spec.items)]
        one = other(items)
        statistic, freedom, p = _compared(one, fitted, [place])
        p_values[item.name] = p
        tests.append(TestRow(item.name, f"same profile in every {groups.name}", method, statistic, freedom, p))
    differing = _holm(p_values)
    rows, every = [_row("free", free, None, "")], list(range(len(spec.items)))
    if 0 < len(differing) < len(spec.items):
        partly = other([groups.freed(item) if item.name in differing else item for item in spec.items])
        loose = [i for i, item in enumerate(spec.items) if item.name in differing]
        tied = [i for i in every if i not in loose]
        rows.append(_row(f"partly: {', '.join(differing)} free", partly, free, "free", tied))
        rows.append(_row("equal", fitted, partly, "partly", loose))
        rows.append(_row("equal", fitted, free, "free", every))
    else:
        rows.append(_row("equal", fitted, free, "free", every))
    draws = draws or (DRAWS if _sparse(free, fitted) else 0)
    factor = _bartlett(fitted, groups, draws, seed) if draws and spec.sampling.plain else None
    if factor is not None:
        rows = [_scaled(row, factor) if (row.model, row.against) == ("equal", "free") else row for row in rows]
    same = other(spec.items, spec.terms.without(groups.name))
    rows.append(_row("equal, sizes too", same, fitted, "equal"))
    if not spec.sampling.plain and k > 1:
        statistic, freedom, p = _sizes(fitted, groups.name)
        rows[-1] = replace(rows[-1], statistic=statistic, degrees_of_freedom=freedom, p_value=p)
    table, scaled = RowTable(InvarianceRow, tuple(rows)), None if factor is None else (draws, factor)
    return Invariance(table, RowTable(TestRow, tuple(tests)), differing, scaled)


def _sparse(free: ClassFitted, equal: ClassFitted) -> bool:
    """Whether rows are too few for the ratio of all columns together to have its large-sample distribution."""
    total, freed = free.likelihood.total, free.likelihood.size - equal.likelihood.size
    return total < ROWS_A_PARAMETER * freed and total * free.likelihood.size < MOST_WORK


def _compared(larger: ClassFitted, smaller: ClassFitted, freed: Sequence[int]) -> tuple[float, int, float]:
    """The likelihood ratio where rows are drawn one by one; else Wald's test that the freed columns' profiles agree."""
    if larger.spec.sampling.plain or not freed:
        return _ratio(larger, smaller)
    matrix = ClassCovariance(larger).matrix(ErrorsFrom.ROBUST)
    contrasts = []
    for place in freed:
        offset, groups = larger.likelihood.offsets[place + 1], len(larger.spec.items[place].own_names)
        named = larger.likelihood.indicators[place].parameters
        own = [offset + i for i, each in enumerate(named) if each.role is Role.PROFILE]
        for first in range(0, len(own), groups):  # a class's (and state's) groups lie in a row
            for other in range(1, groups):
                if not (larger.edge[own[first]] or larger.edge[own[first + other]]):
                    contrasts.append((own[first], own[first + other]))
    turn = np.zeros((len(contrasts), larger.likelihood.size))
    for row, (one, two) in enumerate(contrasts):
        turn[row, one], turn[row, two] = -1, 1
    return wald(turn @ larger.theta, turn @ matrix @ turn.T, larger.spec.sampling.draws)


def _bartlett(fitted: ClassFitted, groups: GroupColumn, draws: int, seed: int) -> float:
    """The mean of the ratio over tables drawn with equal profiles, over its degrees of freedom. Fits begin at the
    classes that rows were drawn from: there the likelihood has its maximum, up to what chance moves it."""
    found, freedom = [], 1
    for rng in np.random.default_rng([seed, 7]).spawn(draws):
        drawn, member = drawn_with_classes(fitted, rng)
        equal = climbed_from(drawn, fitted.classes, np.eye(fitted.classes)[member])
        freed = drawn.with_items([groups.freed(item) for item in drawn.items])
        larger = climbed_from(freed, fitted.classes, np.nan_to_num(equal.posterior))
        statistic, freedom, _ = _ratio(larger, equal)
        found.append(statistic)
    return float(np.mean(found)) / freedom


def _scaled(row: InvarianceRow, factor: float) -> InvarianceRow:
    assert row.statistic is not None
    assert row.degrees_of_freedom is not None
    statistic = row.statistic / factor
    return replace(row, statistic=statistic, p_value=float(chdtrc(row.degrees_of_freedom, statistic)))


def _sizes(fitted: ClassFitted, name: str) -> tuple[float, int, float]:
    """Wald's test that the groups have the same sizes of classes."""
    terms = fitted.spec.terms
    places = [k * terms.size + t for k in range(fitted.classes - 1) for t in terms.places(name)]
    matrix = ClassCovariance(fitted).matrix(ErrorsFrom.ROBUST)[np.ix_(places, places)]
    return wald(fitted.theta[places], matrix, fitted.spec.sampling.draws)


def _ratio(larger: ClassFitted, smaller: ClassFitted) -> tuple[float, int, float]:
    """Twice the difference, and the parameters it is for: those at an edge in the larger alone count all the same."""
    statistic = max(0.0, 2 * (larger.log_likelihood - smaller.log_likelihood))
    freedom = larger.likelihood.size - smaller.likelihood.size
    return statistic, freedom, float(chdtrc(freedom, statistic))


def _row(
    model: str, fitted: ClassFitted, larger: ClassFitted | None, against: str, freed: Sequence[int] = ()
) -> InvarianceRow:
    """`freed`: the columns that differ between groups in the larger model and not in this one."""
    value, size = fitted.log_likelihood, fitted.likelihood.size
    figures = (None, None, None) if larger is None else _compared(larger, fitted, freed)
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
