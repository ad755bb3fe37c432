"""The columns of a regression, each a small function of the parents' cells: scores, squares, hinges, products…"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.kinds import Kinds
from leverrier.models.curve import Curve
from leverrier.models.families.conditional import Cells
from leverrier.plain_values import Plain


class TermShape(Kinds):
    """What function of the cells a column is."""

    SCORE = "score"
    SQUARE = "square"
    CURVE = "curve"
    CURVE_SQUARE = "curve square"
    HINGE = "hinge"
    STEP = "step"
    CODE = "code"
    PRODUCT = "product"
    CURVE_PRODUCT = "curve product"
    SLOPE = "slope"
    ABOVE = "above"
    TOGETHER = "together"
    BOTH = "both"


@dataclass(frozen=True)
class Term(Plain):
    """One column. `parents` are places among the family's parents (or among all columns, in a design)."""

    shape: TermShape
    parents: tuple[int, ...]
    low: float = 0.0
    """The knot of a hinge or a step; the lower bound of a code's cells."""
    high: float = 0.0
    """The upper bound of a code's cells."""
    other: tuple[float, float] = (0.0, 0.0)
    """The bounds of a code of the second parent."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", TermShape(self.shape))

    def moved(self, places: Mapping[int, int]) -> Term:
        """The same column where parents have other numbers."""
        return replace(self, parents=tuple(places[p] for p in self.parents))

    def column(self, cells: Sequence[Cells], curves: Sequence[Curve | None]) -> Floats:
        """By row; NaN where a parent's cell is."""
        first = cells[self.parents[0]]
        match self.shape:
            case TermShape.SCORE:
                return np.asarray(first, dtype=np.float64)
            case TermShape.SQUARE:
                return np.asarray(first, dtype=np.float64) ** 2 - 1
            case TermShape.CURVE:
                return _bent(first, curves[self.parents[0]])
            case TermShape.CURVE_SQUARE:
                return _bent(first, curves[self.parents[0]]) ** 2 - 1
            case TermShape.HINGE:
                return np.maximum(first - self.low, 0.0)
            case TermShape.STEP:
                return (first >= self.low).astype(np.float64)
            case TermShape.CODE:
                return self._inside(first)
            case TermShape.PRODUCT:
                return np.asarray(first, dtype=np.float64) * cells[self.parents[1]]
            case TermShape.CURVE_PRODUCT:
                second = _bent(cells[self.parents[1]], curves[self.parents[1]])
                return _bent(first, curves[self.parents[0]]) * second
            case TermShape.SLOPE:
                return self._inside(first) * cells[self.parents[1]]
            case TermShape.ABOVE:
                return np.maximum(first - cells[self.parents[1]], 0.0)
            case TermShape.TOGETHER:
                return np.maximum(first + cells[self.parents[1]], 0.0)
            case TermShape.BOTH:
                low, high = self.other
                second = cells[self.parents[1]]
                return self._inside(first) * ((second >= low) & (second < high))

    def _inside(self, cells: Cells) -> Floats:
        return ((cells >= self.low) & (cells < self.high)).astype(np.float64)

    def content(self) -> list[Any]:
        own = [self.shape, list(self.parents), _plain(self.low), _plain(self.high)]
        return [*own, *map(_plain, self.other)] if self.shape is TermShape.BOTH else own

    @classmethod
    def of_content(cls, content: Sequence[Any]) -> Term:
        shape, parents, low, high, *other = content
        bounds = (float(other[0]), float(other[1])) if other else (0.0, 0.0)
        return cls(shape, tuple(map(int, parents)), float(low), float(high), bounds)


def _bent(cells: Cells, curve: Curve | None) -> Floats:
    return np.asarray(cells, dtype=np.float64) if curve is None else curve(np.asarray(cells, dtype=np.float64))


def _plain(bound: float) -> float | str:
    """JSON has no infinity: text says it."""
    return bound if np.isfinite(bound) else ("inf" if bound > 0 else "-inf")


def code_bounds(bounds: Sequence[float], code: int) -> tuple[float, float]:
    """The cells that have this code, as an interval closed below and open above."""
    edges = (-np.inf, *bounds, np.inf)
    return float(edges[code]), float(edges[code + 1])
