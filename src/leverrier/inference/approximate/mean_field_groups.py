"""Groups too large for exact inference: the product of single posteriors that bounds their likelihood best.

Mean field: q = Π q_v is raised coordinate by coordinate to the largest E_q[ln p(row, unobserved)] + H(q), a lower
bound of ln p(row). EM on that bound never falls, and the expected counts are those of the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.inference.exact.packs import PackedRows
from leverrier.inference.exact.parameter_layout import Layout
from leverrier.kernels.em.mean_field import pass_products
from leverrier.kernels.em.plan_columns import (
    AXIS_STATES,
    MEMBER_STATES,
    PRODUCT_FIRST_MEMBER,
    PRODUCT_MEMBERS,
    PRODUCT_ROWS,
    TOUCH_AXES,
    TOUCH_AXIS,
)

SWEEPS = 100
TOLERANCE = 1e-6
"""A row's posteriors are settled when none moves by more than this in a sweep."""
SMALLEST = 1e-300
"""Stands for probability zero, whose logarithm no average can hold."""


@dataclass(frozen=True, eq=False)
class Products:
    """What kernels/em/mean_field.py reads."""

    groups: Integers
    members: Integers
    touches: Integers
    axes: Integers
    bases: Integers
    weights: Floats
    variables: tuple[tuple[int, ...], ...]
    """By group."""

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def work(self) -> float:
        """Roughly the nanoseconds of one pass."""
        axes = self.axes[:, AXIS_STATES]
        cells = sum(float(np.prod(axes[t[TOUCH_AXIS] : t[TOUCH_AXIS] + t[TOUCH_AXES]])) for t in self.touches)
        rows = int(self.groups[:, PRODUCT_ROWS].max(initial=0))
        return 30.0 * rows * cells

    def start(self) -> Floats:
        """Every row's posteriors before the first pass: uniform."""
        parts = [np.zeros(0)]
        for group in self.groups:
            first = group[PRODUCT_FIRST_MEMBER]
            sizes = self.members[first : first + group[PRODUCT_MEMBERS], MEMBER_STATES]
            parts.append(np.tile(np.repeat(1.0 / sizes, sizes), int(group[PRODUCT_ROWS])))
        return np.concatenate(parts)

    def expect(self, theta: Floats, counts: Floats, singles: Floats) -> float:
        """The bound at these parameters, after `singles` have been raised to it; adds expected counts."""
        if not len(self):
            return 0.0
        logs = np.log(np.maximum(theta, SMALLEST))
        return pass_products(
            self.groups,
            self.members,
            self.touches,
            self.axes,
            self.bases,
            self.weights,
            logs,
            int(self.members[:, MEMBER_STATES].max()),
            SWEEPS,
            TOLERANCE,
            singles,
            counts,
        )

    def of(self, singles: Floats, g: int, m: int) -> Floats:
        """(rows, states): the posterior of member m of group g."""
        first, _, _, rows, _, _, begin, width = self.groups[g].tolist()
        at, states, _, _ = self.members[first + m].tolist()
        return singles[begin : begin + rows * width].reshape(rows, width)[:, at : at + states]


def plan_products(layout: Layout, members: Sequence[tuple[int, ...]], rows: Sequence[PackedRows]) -> Products:
    """Lay out these groups, from their members and located rows."""
    groups, singles, touches, axes = [], [], [], []
    row = base = single = 0
    for group, located in zip(members, rows, strict=True):
        factors = located.packs[0].factors
        cards = [layout.cardinalities[v] for v in group]
        place = dict(zip(group, np.cumsum([0, *cards[:-1]]).tolist(), strict=True))
        own: dict[int, list[tuple[int, ...]]] = {v: [] for v in group}
        for column, j in enumerate(factors):
            inside = [v for v in layout.scopes[j] if v in place]
            for k, v in enumerate(inside):
                own[v].append((len(axes), len(inside), k, column))
            axes += [(place[v], layout.cardinalities[v], layout.stride_of[j][v]) for v in inside]
        n, width = len(located.weights), sum(cards)
        groups.append((len(singles), len(group), row, n, len(factors), base, single, width))
        for v, states in zip(group, cards, strict=True):
            singles.append((place[v], states, len(touches), len(own[v])))
            touches += own[v]
        row, base, single = row + n, base + n * len(factors), single + n * width
    return Products(
        np.array(groups, dtype=np.int64).reshape(-1, 8),
        np.array(singles, dtype=np.int64).reshape(-1, 4),
        np.array(touches, dtype=np.int64).reshape(-1, 4),
        np.array(axes, dtype=np.int64).reshape(-1, 3),
        np.concatenate([np.zeros(0, np.int64), *(r.packs[0].bases.ravel() for r in rows)]),
        np.concatenate([np.zeros(0), *(r.weights for r in rows)]),
        tuple(members),
    )
