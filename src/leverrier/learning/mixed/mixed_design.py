"""Every column that a regression may use, and one Gram matrix of them all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.learning.mixed.mixed_space import FEW_VALUES, Space
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_terms import Term, TermShape, code_bounds

KNOTS = tuple(ndtri(np.arange(1, 10) / 10).tolist())
"""Nine hinges and nine steps a parent."""
BLOCK = 8192
"""Rows taken at a time where columns are multiplied."""
KEPT_GRAMS = 512
MOST_CELLS = 12
"""Columns for the states of two categories together, at most."""
FEW_COLUMNS = 12
"""With at most so many columns all their products are made at once, which is cheaper than one after the other."""


class Design:
    """Columns are made when first asked for and kept with their products: a fit then does not see the rows.

    Where cells are missing, the products are those of the rows that show every variable of the family.
    """

    def __init__(self, space: Space, responding: frozenset[int] = frozenset()) -> None:
        """Columns in `responding` are never parents: they have no columns but those that they are fitted by."""
        self.space = space
        self.cells = [column.cells for column in space.columns]
        self.curves = [column.bend for column in space.columns]
        self.terms: list[Term | None] = [None]
        self._place: dict[Term, int] = {}
        self._x = np.ones((1, space.n_rows))
        self._gram = np.full((1, 1), float(space.n_rows))
        self._pairs: dict[tuple[int, int], list[int]] = {}
        self._holed: dict[tuple[frozenset[int], tuple[int, ...]], Floats] = {}
        self.complete = all(column.complete for column in space.columns)
        self.straight, self.bent, self.more = [], [], []
        for v in range(len(space)):
            straight, bent, more = self._own(v)
            self.straight.append(straight)
            self.bent.append(bent)
            self.more.append(more)
        if not responding:
            self._add([t for v in range(len(space)) for t in self._own_terms(v)])
            if len(space) <= FEW_COLUMNS:
                self.pairs(range(len(space)))
            return
        for v in range(len(space)):
            faces = [] if space.columns[v].discrete else list(dict.fromkeys((*self.straight[v], *self.bent[v])))
            self._add(faces if v in responding else self._own_terms(v))

    def place(self, term: Term) -> int:
        return self._place[term]

    def mains(self, v: int, bent: bool) -> list[int]:
        """The columns of a plain line in this parent."""
        return [self._place[t] for t in (self.bent[v] if bent else self.straight[v])]

    def extras(self, v: int) -> list[int]:
        """Squares, hinges, codes and the other representation."""
        return [self._place[t] for t in self.more[v]]

    def pairs(self, parents: Sequence[int]) -> list[int]:
        """Products of two parents, and lines by the states of one."""
        wanted = [(u, v) for at, u in enumerate(parents) for v in parents[at + 1 :]]
        new = [pair for pair in wanted if pair not in self._pairs]
        if new:
            made = {pair: self._pair_terms(*pair) for pair in new}
            self._add([term for terms in made.values() for term in terms])
            for pair, terms in made.items():
                self._pairs[pair] = [self._place[term] for term in terms]
        return [j for pair in wanted for j in self._pairs[pair]]

    def response(self, v: int, bent: bool) -> int:
        return self._place[Term(TermShape.CURVE if bent else TermShape.SCORE, (v,))]

    def rows_of(self, variables: Sequence[int]) -> NDArray[np.int64] | None:
        """The rows that show all of these; None where all rows do."""
        return self.space.rows_of(variables)

    def cells_of(self, v: int, rows: NDArray[np.int64] | None) -> Cells:
        return self.cells[v] if rows is None else self.cells[v][rows]

    def few_states(self, v: int) -> bool:
        """Whether a column is a category, or has two states: of grades a product says enough."""
        column = self.space.columns[v]
        return column.discrete and (not column.ordered or column.n_codes == 2)

    def columns(self, places: Sequence[int], rows: NDArray[np.int64] | None) -> Floats:
        """(columns, rows)."""
        x = self._x[list(places)]
        return x if rows is None else x[:, rows]

    def gram(self, places: Sequence[int], variables: Sequence[int]) -> Floats:
        """Products of these columns over the rows that show these variables."""
        rows = self.rows_of(variables)
        if rows is None:
            return self._gram[np.ix_(places, places)]
        key = frozenset(variables), tuple(places)
        if key not in self._holed:
            if len(self._holed) >= KEPT_GRAMS:
                self._holed.pop(next(iter(self._holed)))
            x = self._x[list(places)][:, rows]
            self._holed[key] = x @ x.T
        return self._holed[key]

    def whole_gram(self, places: Sequence[int]) -> Floats:
        """The same over all rows, holes counting as zeros: for screening."""
        return self._gram[np.ix_(places, places)]

    def _own(self, v: int) -> tuple[list[Term], list[Term], list[Term]]:
        column = self.space.columns[v]
        codes = [Term(TermShape.CODE, (v,), *code_bounds(column.bounds, k)) for k in range(1, column.n_codes)]
        score, bend = Term(TermShape.SCORE, (v,)), Term(TermShape.CURVE, (v,))
        squares = [Term(TermShape.CURVE_SQUARE, (v,))] if column.bend is not None else []
        if column.number:
            straight, bent = [score], [bend if column.bend is not None else score]
            squares.append(Term(TermShape.SQUARE, (v,)))
            hinges = [Term(TermShape.HINGE, (v,), knot) for knot in KNOTS]
            steps = [Term(TermShape.STEP, (v,), knot) for knot in KNOTS]
            more = [
                *squares,
                *(codes if column.discrete else (*hinges, *steps)),
                *([bend] if column.bend is not None else []),
            ]
            return straight, bent, more
        if column.ordered:
            return [bend], [bend], [*squares, *codes]
        return codes, codes, []

    def _own_terms(self, v: int) -> list[Term]:
        return list(dict.fromkeys((*self.straight[v], *self.bent[v], *self.more[v])))

    def _pair_terms(self, u: int, v: int) -> list[Term]:
        a, b = self.space.columns[u], self.space.columns[v]
        terms: list[Term] = []
        if a.number and b.number:
            terms += [Term(TermShape.PRODUCT, (u, v)), Term(TermShape.ABOVE, (u, v)), Term(TermShape.TOGETHER, (u, v))]
        if a.ordered and b.ordered and (a.bend is not None or b.bend is not None):
            terms.append(Term(TermShape.CURVE_PRODUCT, (u, v)))
        for one, other in ((u, v), (v, u)):
            by, along = self.space.columns[one], self.space.columns[other]
            if by.discrete and by.n_codes <= FEW_VALUES and along.number:
                bounds = [code_bounds(by.bounds, k) for k in range(1, by.n_codes)]
                terms += [Term(TermShape.SLOPE, (one, other), low, high) for low, high in bounds]
        if self.few_states(u) and self.few_states(v) and (a.n_codes - 1) * (b.n_codes - 1) <= MOST_CELLS:
            terms += [
                Term(TermShape.BOTH, (u, v), *code_bounds(a.bounds, k), code_bounds(b.bounds, l))
                for k in range(1, a.n_codes)
                for l in range(1, b.n_codes)
            ]
        return terms

    def _add(self, terms: Sequence[Term]) -> None:
        """New columns with their products with all the others, some rows at a time."""
        if not terms:
            return
        before, after = len(self.terms), len(self.terms) + len(terms)
        if after > len(self._x):
            self._grow(max(after, 2 * before))
        for at, term in enumerate(terms, start=before):
            self._x[at] = np.nan_to_num(term.column(self.cells, self.curves))
            self._place[term] = at
            self.terms.append(term)
        new = self._gram[before:after, :after]
        for lo in range(0, self.space.n_rows, BLOCK):
            some = self._x[:after, lo : lo + BLOCK]
            new += some[before:] @ some.T
        self._gram[:before, before:after] = new[:, :before].T

    def _grow(self, room: int) -> None:
        """Room for more columns."""
        made = len(self.terms)
        x, gram = np.empty((room, self.space.n_rows)), np.zeros((room, room))
        x[:made], gram[:made, :made] = self._x[:made], self._gram[:made, :made]
        self._x, self._gram = x, gram
