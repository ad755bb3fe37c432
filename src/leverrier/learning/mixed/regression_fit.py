"""A number's regressions on its parents: lines, squares, hinges, products; spread by pieces; private noise."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.mixed.subset_sweeps import choose_columns
from leverrier.learning.mixed.fitted import ADDED, FLOOR, Fitted, gaussian
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.residual_noise import fit_noise
from leverrier.models.families.number_regression import LOG_2_PI, Noise, NumberRegression, Spread
from leverrier.models.families.number_terms import TermShape

MOST_TERMS = 8
"""Columns beyond the plain line."""
MOST_PIECES = 16
"""Deviations for the states of two categories together, at most."""
_ROUNDS = 2
_NAMED = (
    ("hinges", {TermShape.HINGE}),
    ("steps", {TermShape.STEP}),
    (
        "products",
        {
            TermShape.PRODUCT,
            TermShape.CURVE_PRODUCT,
            TermShape.SLOPE,
            TermShape.ABOVE,
            TermShape.TOGETHER,
            TermShape.BOTH,
        },
    ),
    ("squares", {TermShape.SQUARE, TermShape.CURVE_SQUARE}),
)
"""What a regression is called: by the least plain of its columns."""


@dataclass(frozen=True, eq=False)
class Line:
    """Columns chosen on the Gram matrix for one representation of the child."""

    places: tuple[int, ...]
    """Columns of the design, the constant first."""
    coefficients: Floats
    rest: float
    paid: float
    bent: bool
    """Whether the child is in its second representation."""
    score: float


def fit_regressions(design: Design, child: int, parents: Sequence[int]) -> list[Fitted]:
    """The best regression in each representation of the child, with its spread and noise chosen."""
    column = design.space.columns[child]
    family = (child, *parents)
    rows = design.rows_of(family)
    n = design.space.n_rows if rows is None else len(rows)
    slopes = column.log_slope if column.w is not None else np.zeros(0)
    jacobian = float((slopes if rows is None or not len(slopes) else slopes[rows]).sum())
    found = []
    for bent in (False, True) if column.w is not None else (False,):
        line = _best_line(design, child, parents, bent, n, jacobian if bent else 0.0)
        found.append(_with_scatter(design, child, parents, line, rows, n, jacobian if bent else 0.0))
    return found


def _best_line(design: Design, child: int, parents: Sequence[int], bent: bool, n: int, jacobian: float) -> Line:
    """Forward from the plain line in scores, and from that in raw shapes, with hinges or with steps; then pruned."""
    straight = [j for p in parents for j in design.mains(p, False)]
    others = [j for p in parents for j in design.extras(p)] + design.pairs(parents)
    places = list(dict.fromkeys((0, *straight, *others)))
    gram = design.gram([*places, design.response(child, bent)], (child, *parents))
    log_n = float(np.log(n))
    plain = set(straight) | {j for p in parents for j in design.mains(p, True)}
    shapes = [None if (term := design.terms[j]) is None else term.shape for j in places]
    bends = (False, True) if any(design.space.columns[p].w is not None for p in parents) else (False,)
    lines = []
    for shape, without in itertools.product(
        bends, (TermShape.STEP, TermShape.HINGE) if TermShape.STEP in shapes else ("",)
    ):
        mains = {j for p in parents for j in design.mains(p, shape)}
        forced = np.array([j in mains for j in places])
        left_out = np.array([each == without for each in shapes])
        search = 0.5 * float(np.log(max(np.count_nonzero(~left_out) - 1, 1)))
        costs = 0.5 * log_n + np.where([j in plain for j in places], 0.0, search)
        allowed = np.where(left_out, -1.0, costs)
        inside, coefficients, rest, paid = choose_columns(gram, forced, allowed, float(n), MOST_TERMS, ADDED, FLOOR)
        _, logs = gaussian(rest, n)
        chosen = np.flatnonzero(inside)
        score = logs + jacobian - paid - log_n
        lines.append(Line(tuple(places[j] for j in chosen), coefficients[chosen], rest, paid + log_n, bent, score))
    return max(lines, key=lambda line: line.score)


def _with_scatter(
    design: Design,
    child: int,
    parents: Sequence[int],
    line: Line,
    rows: NDArray[np.int64] | None,
    n: int,
    jacobian: float,
) -> Fitted:
    """The line with one Gaussian scatter, or with a spread by pieces, with noise, or with both where they pay."""
    s2, logs = gaussian(line.rest, n)
    base = _family(design, parents, line, child, line.coefficients, Spread((float(np.sqrt(s2)),)), Noise(), n)
    x = design.columns(line.places, rows)
    y = design.columns([design.response(child, line.bent)], rows)[0]
    e = y - line.coefficients @ x
    if not parents and not line.bent:
        return Fitted(base, logs, line.paid, e / np.sqrt(s2))  # scores alone are Gaussian as they are
    log_n = float(np.log(n))
    best = Fitted(base, logs + jacobian, line.paid, e / np.sqrt(s2))
    for spread, coefficients in (
        (base.spread, line.coefficients),
        _spread_by_pieces(design, parents, x, y, line, rows),
    ):
        if spread is None:
            continue
        mean = coefficients @ x
        cells = [design.cells[p] if rows is None else design.cells[p][rows] for p in parents]
        scale = spread.each(cells, mean)
        standard = (y - mean) / scale
        noise, gain = fit_noise(standard, log_n)
        logs = -0.5 * (n * LOG_2_PI + float(standard @ standard)) - float(np.log(scale).sum()) + jacobian
        paid = line.paid + 0.5 * (len(spread.deviations) - 1) * log_n
        if spread.follows is not None:
            paid += float(np.log(len(parents) + 1))  # what the spread follows was chosen
        total = logs + gain - paid
        if total > best.score:
            family = replace(base, spread=spread, noise=noise, coefficients=tuple(coefficients.tolist()))
            more = 0.5 * noise.dimension * log_n
            best = Fitted(family, logs + gain + more, paid + more, standard)
    return best


def _spread_by_pieces(
    design: Design, parents: Sequence[int], x: Floats, y: Floats, line: Line, rows: NDArray[np.int64] | None
) -> tuple[Spread | None, Floats]:
    """A deviation for each piece of the parent (or of the prediction) with which the scatter changes most."""
    n, coefficients = len(y), line.coefficients
    mean = coefficients @ x
    squares = (y - mean) ** 2
    log_n = float(np.log(n))
    best, gain = None, 0.0
    base = -0.5 * n * np.log(gaussian(line.rest, n)[0])
    found: list[tuple[Spread, NDArray[np.int64], int]] = []
    for follows, cuts in _pieces(design, parents, mean):
        by = mean if follows < 0 else design.cells_of(parents[follows], rows)
        codes = np.searchsorted(cuts, by, side="right")
        found.append((Spread((), follows, tuple(cuts.tolist())), codes, len(cuts) + 1))
    categories = [each for each in found if _category(design, parents, each[0])]
    for (one, first, k), (other, second, l) in itertools.combinations(categories, 2):
        if k * l <= MOST_PIECES:
            found.append((replace(one, beside=other.follows, beside_cuts=other.cuts), first * l + second, k * l))
    for spread, codes, pieces in found:
        variances, counts = _variances(codes, squares, pieces)
        better = -0.5 * counts @ np.log(variances) - base - 0.5 * (pieces - 1) * log_n
        if better > gain:
            best, gain = (spread, codes, pieces), better
    if best is None:
        return None, coefficients
    spread, codes, pieces = best
    for _ in range(0 if spread.follows == -1 else _ROUNDS):
        variances, _ = _variances(codes, (y - coefficients @ x) ** 2, pieces)
        weighed = x / variances[codes]
        coefficients = np.asarray(np.linalg.lstsq(weighed @ x.T, weighed @ y, rcond=1e-10)[0], dtype=np.float64)
    variances, _ = _variances(codes, (y - coefficients @ x) ** 2, pieces)
    return replace(spread, deviations=tuple(np.sqrt(variances).tolist())), coefficients


def _category(design: Design, parents: Sequence[int], spread: Spread) -> bool:
    return spread.follows is not None and spread.follows >= 0 and design.few_states(parents[spread.follows])


def _pieces(design: Design, parents: Sequence[int], mean: Floats) -> list[tuple[int, Floats]]:
    """What a spread may follow, with its cuts: quarters of a number or of the prediction, the codes of any other."""
    found: list[tuple[int, Floats]] = []
    for at, p in enumerate(parents):
        column = design.space.columns[p]
        bounds = np.array(column.bounds)
        found.append((at, bounds if column.discrete else bounds[1::2]))
    if mean.std() > 1e-9 and len(parents) > 1:
        found.append((-1, np.unique(np.quantile(mean, [0.25, 0.5, 0.75]))))
    return found


def _variances(codes: NDArray[np.int64], squares: Floats, pieces: int) -> tuple[Floats, Floats]:
    counts = np.bincount(codes, minlength=pieces).astype(np.float64)
    sums = np.bincount(codes, weights=squares, minlength=pieces)
    return (sums + ADDED * FLOOR) / (counts + ADDED), counts


def _family(
    design: Design,
    parents: Sequence[int],
    line: Line,
    child: int,
    coefficients: Floats,
    spread: Spread,
    noise: Noise,
    n: int,
) -> NumberRegression:
    """The fitted line as a value over the family's own parents."""
    places = {p: at for at, p in enumerate(parents)}
    terms = [design.terms[j] for j in line.places[1:]]
    moved = tuple(term.moved(places) for term in terms if term is not None)
    shapes = {term.shape for term in moved}
    kind = next((name for name, some in _NAMED if shapes & some), "linear")
    return NumberRegression(
        kind,
        moved,
        tuple(coefficients.tolist()),
        spread,
        noise,
        design.curves[child] if line.bent else None,
        tuple(design.curves[p] for p in parents),
        max(0.0, 1.0 - line.rest / n),
    )
