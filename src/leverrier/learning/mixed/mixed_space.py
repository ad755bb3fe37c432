"""One space for every model: numbers as normal scores, atoms as ordered codes, categories as their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.data.table import Label
from leverrier.errors import TableError
from leverrier.models.curve import LEAST_RISE, Curve
from leverrier.models.margin import ATOM_SHARE, MOST_VALUES, Margin

Codes = NDArray[np.int64]

FEW_VALUES = 7
"""A number with at most so many different values is atomic, and an atomic number has at most so many codes."""
HEAVY = 0.12
"""A number with one value in more than this share of its rows is atomic."""
SMOOTH_KNOTS = 17
MOST_POINTS = 20_000
"""Of more rows than twice this, evenly spread ones are enough for a curve through 17 quantiles."""
SAME_SHAPE = 0.998
"""Where the raw shape correlates more than this with the normal scores it is left out."""
PIECES = 8
"""Quantile codes of a number."""
_PIECE_CUTS = ndtri(np.arange(1, PIECES) / PIECES)


@dataclass(frozen=True)
class Unvarying:
    """Why a column is set aside: no value at all (None), or only this one."""

    value: str | None


@dataclass(frozen=True, eq=False)
class SpaceColumn:
    """One column of the space. Holes are NaN in `scores` and −1 in `codes`."""

    name: str
    scores: Floats | None
    """Normal scores of a number; mid-rank scores of an atomic number or of ordered states; None for a category."""
    codes: Codes
    """The states, the ordered codes of an atomic number, or eight quantile codes of any other number."""
    n_codes: int
    discrete: bool
    """Whether it is a child by its codes (states, atomic numbers), not by its density."""
    labels: tuple[Label, ...] = ()
    """The states; empty for a number."""
    margin: Margin | None = None
    raw: Floats | None = None
    """A number in the user's units."""
    state_scores: tuple[float, ...] = ()
    """The mid-rank score of each ordered state."""

    @property
    def ordered(self) -> bool:
        return self.scores is not None

    @property
    def number(self) -> bool:
        return self.margin is not None

    @cached_property
    def cells(self) -> NDArray[Any]:
        """As families see it: scores of a number, codes of states."""
        if self.number:
            assert self.scores is not None
            return self.scores
        return self.codes

    @cached_property
    def bend(self) -> Curve | None:
        """From cells to what "curve" terms use: the second representation of a number, the scores of ordered states."""
        if self.number:
            assert self.margin is not None
            return None if self.w is None else self.margin.curve
        if self.scores is None:
            return None
        return Curve(tuple(range(self.n_codes)), self.state_scores)

    @cached_property
    def w(self) -> Floats | None:
        if self.discrete or self.margin is None or self.margin.curve is None or self.scores is None:
            return None
        w = self.margin.curve(self.scores)
        seen = ~np.isnan(w)
        return None if np.corrcoef(w[seen], self.scores[seen])[0, 1] > SAME_SHAPE else w

    @cached_property
    def log_slope(self) -> Floats:
        """log g′(z) by row."""
        assert self.margin is not None
        assert self.margin.curve is not None
        assert self.scores is not None
        return self.margin.curve.log_slope(self.scores)

    @cached_property
    def holes(self) -> NDArray[np.bool_]:
        return self.codes < 0

    @cached_property
    def complete(self) -> bool:
        return not self.holes.any()

    @cached_property
    def told_by_codes(self) -> bool:
        """Whether rows with the same code are alike in it: states, and atomic numbers with a code for every value."""
        if not self.number or not self.discrete:
            return not self.number
        assert self.scores is not None
        return len(np.unique(self.scores[~self.holes])) <= self.n_codes

    @cached_property
    def bounds(self) -> tuple[float, ...]:
        """What parts its codes among its cells."""
        if not self.number:
            return tuple(k + 0.5 for k in range(self.n_codes - 1))
        assert self.margin is not None
        return self.margin.cuts if self.discrete else tuple(_PIECE_CUTS.tolist())


@dataclass(frozen=True, eq=False)
class Space:
    """The columns that vary, and what was set aside."""

    columns: tuple[SpaceColumn, ...]
    n_rows: int
    aside: Mapping[str, Unvarying]
    """Columns that were left out, and why."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def rows_of(self, places: Sequence[int]) -> NDArray[np.int64] | None:
        """The rows that show all of these columns; None where all rows do."""
        holed = [v for v in places if not self.columns[v].complete]
        return np.flatnonzero(~np.any([self.columns[v].holes for v in holed], axis=0)) if holed else None

    def take(self, rows: NDArray[Any]) -> Space:
        """Some rows of the same space: scores, margins and curves stay as all rows gave them."""
        kept = tuple(_taken(column, rows) for column in self.columns)
        return Space(kept, len(kept[0].codes) if kept else 0, self.aside)


def _taken(column: SpaceColumn, rows: NDArray[Any]) -> SpaceColumn:
    some = SpaceColumn(
        column.name,
        None if column.scores is None else column.scores[rows],
        column.codes[rows],
        column.n_codes,
        column.discrete,
        column.labels,
        column.margin,
        None if column.raw is None else column.raw[rows],
        column.state_scores,
    )
    # whether the second representation is used is a matter of the whole column
    some.__dict__["w"] = None if column.w is None else column.w[rows]
    return some


def number_column(name: str, x: Floats, rng: np.random.Generator) -> SpaceColumn | Unvarying:
    """A number in the space, or why it is left out."""
    x = np.asarray(x, dtype=np.float64)
    if np.isinf(x).any():
        row = int(np.flatnonzero(np.isinf(x))[0])
        raise TableError(f"column {name!r} is infinite in row {row + 1}: numbers must be finite; NaN is a hole")
    seen = np.flatnonzero(~np.isnan(x))
    values, back, counts = np.unique(x[seen], return_inverse=True, return_counts=True)
    if len(values) < 2:
        return Unvarying(f"{values[0]:g}" if len(values) else None)
    n = len(seen)
    upto = np.cumsum(counts) / n
    below = upto - counts / n
    middle = ndtri((below + upto) / 2)
    scores, codes = np.full(len(x), np.nan), np.full(len(x), -1, dtype=np.int64)
    cuts = _atomic_cuts(values, counts)
    if cuts:
        scores[seen] = middle[back]
        codes[seen] = np.searchsorted(np.array(cuts), scores[seen], side="right")
    else:
        order = np.lexsort((rng.random(n), x[seen]))  # ties at random
        scores[seen[order]] = ndtri((np.arange(n) + 0.5) / n)
        codes[seen] = np.searchsorted(_PIECE_CUTS, scores[seen], side="right")
    curve, centre, spread = _shape(x[seen], scores[seen]) if not cuts else (None, float(x[seen].mean()), 1.0)
    kept, under, over = _kept(values, counts)
    margin = Margin(kept, under, over, cuts, curve, centre, spread, _decimals(values))
    n_codes = len(cuts) + 1 if cuts else PIECES
    return SpaceColumn(name, scores, codes, n_codes, bool(cuts), (), margin, x)


def state_column(name: str, codes: Codes, labels: tuple[Label, ...], ordered: bool) -> SpaceColumn | Unvarying:
    """States in the space, or why they are left out; ordered ones get mid-rank scores."""
    seen = codes >= 0
    counts = np.bincount(codes[seen], minlength=len(labels))
    if np.count_nonzero(counts) < 2:
        return Unvarying(repr(labels[int(counts.argmax())]) if seen.any() else None)
    if not ordered or len(labels) < 3:
        return SpaceColumn(name, None, codes.astype(np.int64), len(labels), True, labels)
    upto = np.cumsum(counts) / counts.sum()
    middle = ndtri(np.clip(upto - counts / counts.sum() / 2, 1e-6, 1 - 1e-6)) + 1e-6 * np.arange(len(labels))
    scores = np.where(seen, middle[np.maximum(codes, 0)], np.nan)
    each = tuple(middle.tolist())
    return SpaceColumn(name, scores, codes.astype(np.int64), len(labels), True, labels, state_scores=each)


def _atomic_cuts(values: Floats, counts: Codes) -> tuple[float, ...]:
    """The scores (of the shares of rows) between the codes of an atomic number; none where the number is not atomic."""
    if len(values) <= FEW_VALUES:
        ends = np.arange(len(values) - 1)
    elif counts.max() > HEAVY * counts.sum():
        ends = _aligned_ends(counts)
    else:
        return ()
    return tuple(ndtri(np.cumsum(counts)[ends] / counts.sum()).tolist())


def _aligned_ends(counts: Codes) -> NDArray[np.int64]:
    """The last value of each code but the last: heavy atoms alone, what lies between them cut evenly."""
    share = counts / counts.sum()
    atoms = np.sort(np.argsort(-share, kind="stable")[: int(min((share > HEAVY).sum(), 3))])
    ends = {int(a) for a in atoms} | {int(a) - 1 for a in atoms}
    free = share.copy()
    free[atoms] = 0
    while len({e for e in ends if 0 <= e < len(counts) - 1}) < FEW_VALUES - 1:
        sides = [-1, *sorted(e for e in ends if 0 <= e < len(counts) - 1), len(counts) - 1]
        heavy = max(range(len(sides) - 1), key=lambda k: free[sides[k] + 1 : sides[k + 1] + 1].sum())
        lo, hi = sides[heavy] + 1, sides[heavy + 1]
        piece = free[lo : hi + 1]
        if hi <= lo or piece.sum() <= 0:
            break
        ends.add(lo + int(np.clip(np.searchsorted(np.cumsum(piece), piece.sum() / 2), 0, hi - lo - 1)))
    return np.array(sorted(e for e in ends if 0 <= e < len(counts) - 1), dtype=np.int64)


def _kept(values: Floats, counts: Codes) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """All values, or the atoms and evenly spread quantiles of very many; what came once is a point, no atom."""
    upto = np.cumsum(counts) / counts.sum()
    below = upto - counts / counts.sum()
    middle = (below + upto) / 2
    atoms = counts > 1
    if len(values) > MOST_VALUES:
        atoms = upto - below >= ATOM_SHARE
        spread = np.searchsorted(upto, (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES)
        ends = [0, len(values) - 1]
        kept = np.unique(np.concatenate([np.flatnonzero(atoms), np.minimum(spread, len(values) - 1), ends]))
        values, below, upto, middle, atoms = values[kept], below[kept], upto[kept], middle[kept], atoms[kept]
    below, upto = np.where(atoms, below, middle), np.where(atoms, upto, middle)
    return tuple(values.tolist()), tuple(below.tolist()), tuple(upto.tolist())


def _decimals(values: Floats) -> int | None:
    """How many places after the point the values have, if they were rounded to few."""
    for places in range(4):
        if np.array_equal(np.round(values, places), values):
            return places
    return None


def _shape(x: Floats, z: Floats) -> tuple[Curve, float, float]:
    """The curve from scores to the raw margin through smoothed quantiles, and the scale it is told in."""
    size = float(np.abs(x).max()) or 1.0  # squares of very large and very small numbers are none
    centre, spread = size * float((x / size).mean()), size * float((x / size).std())
    raw = (x - centre) / spread if spread > 0 else z
    far = float(min(2.6, max(1.0, -ndtri(min(8 / len(z), 0.2)))))
    knots = np.linspace(-far, far, SMOOTH_KNOTS)
    width = 1.2 * (knots[1] - knots[0])
    order = np.argsort(z, kind="stable")[:: max(1, len(z) // MOST_POINTS)]
    levels = np.array([_local_line(z[order], raw[order], knot, width) for knot in knots])
    levels = np.maximum.accumulate(levels) + LEAST_RISE * knots
    curve = Curve(tuple(knots.tolist()), tuple(levels.tolist()))
    w = curve(z)
    shift, scale = float(w.mean()), float(w.std())
    scaled = Curve(curve.knots, tuple(((levels - shift) / scale).tolist()))
    return scaled, centre + spread * shift, spread * scale


def _local_line(z: Floats, y: Floats, at: float, width: float) -> float:
    """The value at `at` of a line fitted with triangular weights to sorted points."""
    lo, hi = np.searchsorted(z, [at - width, at + width])
    if hi - lo < 3:
        return float(np.interp(at, z, y))
    d, part = z[lo:hi] - at, y[lo:hi]
    weight = 1 - np.abs(d) / width
    s0, s1, s2 = weight.sum(), weight @ d, weight @ (d * d)
    t0, t1 = weight @ part, weight @ (d * part)
    determinant = s0 * s2 - s1 * s1
    return float((s2 * t0 - s1 * t1) / determinant) if determinant > 1e-9 * s0 * s2 else float(t0 / s0)


def make_space(
    numbers: Mapping[str, Floats],
    states: Mapping[str, tuple[Codes, tuple[Label, ...], bool]],
    order: tuple[str, ...] = (),
    seed: int = 0,
) -> Space:
    """The space of these columns: numbers by name; states by name with codes (−1 for a hole), labels, and whether they
    are ordered. What does not vary is set aside."""
    names = order or (*numbers, *states)
    streams = dict(zip(names, np.random.default_rng(seed).spawn(len(names)), strict=True))
    columns: list[SpaceColumn] = []
    aside: dict[str, Unvarying] = {}
    rows = 0
    for name in names:
        if name in numbers:
            rows = len(numbers[name])
            column = number_column(name, numbers[name], streams[name])
        else:
            codes, labels, ordered = states[name]
            rows = len(codes)
            column = state_column(name, np.asarray(codes, dtype=np.int64), tuple(labels), ordered)
        if isinstance(column, Unvarying):
            aside[name] = column
        else:
            columns.append(column)
    return Space(tuple(columns), rows, aside)
