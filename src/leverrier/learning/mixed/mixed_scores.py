"""Scores of families over states and numbers, kept by child and parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.subset_sweeps import partial_gains
from leverrier.learning.mixed.coded_fit import fit_by_codes
from leverrier.learning.mixed.count_fit import fit_counts
from leverrier.learning.mixed.fitted import Fitted, gaussian
from leverrier.learning.mixed.line_trees import fit_trees
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.mixed_space import PIECES, Space
from leverrier.learning.mixed.offset_fit import fit_offsets
from leverrier.learning.mixed.regression_fit import fit_regressions
from leverrier.learning.mixed.state_fit import fit_histogram, fit_states
from leverrier.models.families.number_terms import TermShape

TRIED = 4
"""Parents tried in full at each step of the search, the most promising ones."""
HOPE = 0.5
"""A parent whose screened gain is below this share of one parameter's price is not tried."""


class MixedScores:
    """Children and parents are column numbers of the space; scores are nats of z (and of codes)."""

    def __init__(self, space: Space, arc_price: float = 0.0, responding: frozenset[int] = frozenset()) -> None:
        self.space = space
        self.arc_price = arc_price
        self._responding = responding
        self.log_n = float(np.log(max(space.n_rows, 2)))
        self._fitted: dict[tuple[int, frozenset[int]], Fitted] = {}
        self._scores: dict[tuple[int, frozenset[int]], float] = {}
        self._screened: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._alone: dict[tuple[int, frozenset[int]], float] = {}
        self.families_scored = 0

    @cached_property
    def design(self) -> Design:
        return Design(self.space, self._responding)

    def fitted(self, child: int, parents: Iterable[int]) -> Fitted:
        """The best family of this child and these parents."""
        key = child, frozenset(parents)
        if key not in self._fitted:
            self._fitted[key] = self._best(child, sorted(key[1]))
            self.families_scored += 1
        return self._fitted[key]

    def family(self, child: int, parents: Iterable[int]) -> float:
        """Its score. With holes: what these parents gain in the rows that show all of them, over the child alone."""
        key = child, frozenset(parents)
        known = self._scores.get(key)
        if known is None:
            known = self._scores[key] = self._scored(*key)
        return known

    def _scored(self, child: int, above: frozenset[int]) -> float:
        score = self.fitted(child, above).score - self.arc_price * len(above)
        if not above or all(self.space.columns[v].complete for v in (child, *above)):
            return score
        return self.fitted(child, ()).score + score - self._alone_in(child, above)

    def total(self, parents: Sequence[Iterable[int]]) -> float:
        return sum(self.family(child, above) for child, above in enumerate(parents))

    def promising(self, child: int, parents: Iterable[int]) -> list[int]:
        """The columns that may be worth a try as one more parent, best first, by cheap tests."""
        key = child, frozenset(parents)
        if key not in self._screened:
            gains = self._screen(child, key[1])
            order = np.argsort(-gains, kind="stable")
            least = HOPE * 0.5 * self.log_n
            self._screened[key] = [int(p) for p in order if gains[p] > least]
        return self._screened[key]

    def _best(self, child: int, parents: Sequence[int]) -> Fitted:
        if self.space.columns[child].discrete:
            states = fit_states(self.design, child, parents) + self._whole(child, parents)
            if not states:  # (too many states of both for a table, and for a logit's slopes)
                return replace(self.fitted(child, ()), log_likelihood=-np.inf)
            best = max(states, key=lambda fitted: fitted.score)
            by_codes = fit_by_codes(self.design, child, parents, best.score)
            return best if by_codes is None else by_codes
        found = fit_regressions(self.design, child, parents) + self._whole(child, parents)
        best = max(found, key=lambda fitted: fitted.score)
        if parents and self._left_over(child, parents, best):
            bends = (False, True) if self.space.columns[child].w is not None else (False,)
            trees = [fit_trees(self.design, child, parents, bent) for bent in bends]
            others = [*trees, fit_histogram(self.design, child, parents)]
            best = max([best, *(each for each in others if each is not None)], key=lambda fitted: fitted.score)
        return best

    def _whole(self, child: int, parents: Sequence[int]) -> list[Fitted]:
        """Kinds for whole numbers."""
        return fit_counts(self.design, child, parents) + fit_offsets(self.design, child, parents)

    def _left_over(self, child: int, parents: Sequence[int], best: Fitted) -> bool:
        """Whether the residuals still depend on a parent, or on two together."""
        assert best.residuals is not None
        rows = self.design.rows_of((child, *parents))
        e = _quantile_codes(best.residuals, 4)
        codes = []
        for p in parents:
            column = self.space.columns[p]
            each = column.codes if rows is None else column.codes[rows]
            if _asks(e, 4, each, column.n_codes):
                return True
            small = (each // 2, 4) if not column.discrete else (each, column.n_codes)
            codes.append(small)
        for at, (first, k) in enumerate(codes):
            for second, l in codes[at + 1 :]:
                if k * l <= 32 and _asks(e, 4, first * l + second, k * l):
                    return True
        return False

    def _screen(self, child: int, parents: frozenset[int]) -> Floats:
        """About how many nats each column would gain as one more parent: linear, squared, and by residual codes."""
        design, space = self.design, self.space
        inside = [0, *(j for p in sorted(parents) for j in self._cheap(p))]
        others = [p for p in range(len(space)) if p != child and p not in parents]
        columns = {p: self._cheap(p) for p in others}
        column = space.columns[child]
        responses = self._cheap(child) if column.discrete else design.mains(child, False) + design.mains(child, True)
        places = list(dict.fromkeys((*inside, *(j for p in others for j in columns[p]), *responses)))
        at = {j: k for k, j in enumerate(places)}
        mask = np.zeros(len(places), dtype=np.bool_)
        mask[[at[j] for j in inside]] = True
        which = np.array(sorted({at[j] for j in responses}))
        each = partial_gains(design.whole_gram(places), mask, which) * space.n_rows
        gains = np.full(len(space), -np.inf)
        residuals = None if column.discrete else self.fitted(child, parents).residuals
        rows = design.rows_of((child, *parents))
        codes = column.codes if residuals is None else _quantile_codes(residuals, PIECES)
        n_codes = column.n_codes if residuals is None else PIECES
        for p in others:
            gains[p] = max(each[at[j]] for j in columns[p])
            if residuals is not None or not parents:
                theirs = space.columns[p].codes if rows is None or residuals is None else space.columns[p].codes[rows]
                gains[p] = max(gains[p], _excess(codes, n_codes, theirs, space.columns[p].n_codes))
        return gains

    def _cheap(self, p: int) -> list[int]:
        """Lines and squares of a column, or its codes."""
        design = self.design
        squares = [
            j
            for j in design.extras(p)
            if (t := design.terms[j]) is not None and t.shape in (TermShape.SQUARE, TermShape.CODE)
        ]
        return list(dict.fromkeys((*design.mains(p, False), *design.mains(p, True), *squares)))

    def _alone_in(self, child: int, parents: frozenset[int]) -> float:
        """The score of the child without parents in the rows that show the family."""
        key = child, parents
        if key not in self._alone:
            rows = self.space.rows_of((child, *sorted(parents)))
            column = self.space.columns[child]
            n = self.space.n_rows if rows is None else len(rows)
            if column.discrete:
                counts = np.bincount(column.codes[rows], minlength=column.n_codes) + 0.5 / column.n_codes
                logs = float((counts * np.log(counts / counts.sum())).sum())
                self._alone[key] = logs - 0.5 * (column.n_codes - 1) * float(np.log(max(n, 2)))
            else:
                assert column.scores is not None
                z = column.scores[rows]
                rest = float(((z - z.mean()) ** 2).sum())
                self._alone[key] = gaussian(rest, n)[1] - float(np.log(max(n, 2)))
        return self._alone[key]


class EachAlone(MixedScores):
    """The same for a few families of very many rows: each is fitted by columns of its own, and no others are made."""

    def _best(self, child: int, parents: Sequence[int]) -> Fitted:
        columns = tuple(self.space.columns[v] for v in (*parents, child))
        last = len(parents)
        alone = MixedScores(Space(columns, self.space.n_rows, {}), responding=frozenset({last}))
        return alone._best(last, range(last))


def _quantile_codes(values: Floats, pieces: int) -> np.ndarray:
    cuts = np.quantile(values, np.arange(1, pieces) / pieces)
    return np.searchsorted(cuts, values, side="right")


def _g_test(a: np.ndarray, n_a: int, b: np.ndarray, n_b: int) -> tuple[float, int]:
    """Half the G statistic of two columns of codes, holes left aside, and half its degrees of freedom."""
    seen = (a >= 0) & (b >= 0)
    if not seen.all():
        a, b = a[seen], b[seen]
    counts = np.bincount(a * n_b + b, minlength=n_a * n_b).reshape(n_a, n_b).astype(np.float64)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = counts * counts.sum() / np.outer(rows, columns)
        g = np.where(counts > 0, counts * np.log(ratio), 0.0).sum()
    return float(g), max(int((np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)), 1)


def _excess(a: np.ndarray, n_a: int, b: np.ndarray, n_b: int) -> float:
    g, freedom = _g_test(a, n_a, b, n_b)
    return g - 0.5 * freedom - np.sqrt(0.5 * freedom)


def _asks(a: np.ndarray, n_a: int, b: np.ndarray, n_b: int) -> bool:
    """Whether two columns of codes depend on each other by two deviations or more."""
    g, freedom = _g_test(a, n_a, b, n_b)
    return 2 * g > freedom + 2 * np.sqrt(2 * freedom)
