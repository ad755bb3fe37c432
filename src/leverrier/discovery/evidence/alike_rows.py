"""Do the rows stand for themselves?

Every test here takes rows to be drawn one by one. Members of a household that no column names, or rows that were
written twice, are fewer than they look: what sets households apart is then found as a hidden variable, and chance is
judged as if there were more of it. From the rows alone that can be seen where alike rows stand beside each other though
the table is not sorted, or where rows are copies; then a finding is not believed, unless it is so large that rows
as few as those that stand for themselves would show it, until `groups=` says what belongs
together (or `time=` that the rows have an order). Where alike rows are scattered it cannot be seen: as a table, thirty
households drawn again and again, and a hidden variable of thirty states, are the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.arrays import Integers
from leverrier.data.quality.row_looking import ROWS, rows_for_one
from leverrier.data.table import Table
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import Reason, undecided

ERRORS = 3.0
"""Standard errors that each number of patterns is given."""
LEAST_PATTERNS = 10
LEAST_GAIN = 3.0


def rows_by_themselves(found: Result, table: Table) -> Result:
    """The same result; undecided where something was found in rows that do not stand for themselves."""
    if not found.verdict.found:
        return found
    if table.weights is None and copied(np.unique(table.codes[:, :ROWS], axis=1, return_counts=True)[1]):
        return replace(found, verdict=undecided(Reason.COPIED_ROWS))
    fold = rows_for_one(table)
    if fold > 1 and not all(_large(each, fold) for each in found.believed):
        return replace(found, verdict=undecided(Reason.ALIKE_ROWS))
    return found


def _large(each: HiddenVariable, fold: float) -> bool:
    """Whether it would still gain what chance does not, were the rows so many times fewer: gains are sums over rows."""
    evidence = each.evidence
    return evidence is not None and evidence.gain / fold > max((LEAST_GAIN, *evidence.null_gains))


def copied(counts: Integers) -> bool:
    """Whether rows drawn one by one cannot have come so often, whatever their distribution.

    `counts`: of each pattern of cells, its rows. If f_k patterns come k times, then E f_k = Σ e^(−λ) λ^k / k! over the
    patterns' rates λ, and by Cauchy and Schwarz (E f_k)² ≤ E f_(k−1) E f_(k+1) (k + 1) / k. Rows that were written
    twice make f_2 large beside f_1 and f_3. Where patterns come so often that the f_k are small, all counts have a
    divisor.
    """
    if len(counts) < LEAST_PATTERNS:
        return False
    if np.gcd.reduce(counts) > 1:
        return True
    often = np.bincount(counts, minlength=4).astype(np.float64)
    k = np.arange(2, len(often) - 1)
    most = often + ERRORS * np.sqrt(often + 1)
    least = often[k] - ERRORS * np.sqrt(often[k])
    return bool((np.maximum(least, 0) ** 2 > most[k - 1] * most[k + 1] * (k + 1) / k).any())
