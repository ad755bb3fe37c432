"""A group's rows as lookups: factors gathered in packs with few distinct evidences, equal rows merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.inference.exact.parameter_layout import Layout, c_strides
from leverrier.inference.exact.unobserved import Evidence, Group

TABLE_CELLS = 2048
"""A pack's table may have about this many cells: all packs together should stay in the second-level cache."""
GATHER, LOOKUP = 2.0, 0.6
"""Rough cost of one cell gathered from the parameters, and of one read from a pack's table (nanoseconds)."""


MOST_CONFIGURATIONS = 2**16
"""A pack's configurations are numbered in two bytes."""


@dataclass(frozen=True, eq=False)
class Pack:
    """Factors, and by distinct evidence on them where each begins in the parameter vector."""

    factors: tuple[int, ...]
    bases: Integers
    """(configurations, factors)"""

    def __len__(self) -> int:
        return len(self.bases)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Distinct rows: row i has configuration ids[i, k] of pack k. `place` says which of them an original row became."""

    packs: tuple[Pack, ...]
    ids: NDArray[np.uint16] | None
    """None where there is one pack: row i is then its configuration i."""
    weights: Floats
    place: Integers


def pack_rows(evidence: Evidence, layout: Layout, group: Group, factors: Sequence[int], states: int) -> PackedRows:
    """Distinct evidence of a group that has many rows, in the cheapest form found."""
    weights = evidence.weights if group.rows is None or evidence.weights is None else evidence.weights[group.rows]
    n = evidence.n_rows if group.rows is None else len(group.rows)
    most = int(np.clip(TABLE_CELLS // states, 16, max(n // 8, 16)))
    building: list[tuple[list[int], list[Integers], Integers, Integers]] = []
    for j in factors:
        codes, bases = _factor_codes(evidence, layout, group, j)
        if building:
            joined = _join(building[-1], j, codes, bases, most)
            if joined is not None:
                building[-1] = joined
                continue
        if building:
            building[-1] = (*building[-1][:2], _small(building[-1][2]), building[-1][3])
        ids, kept = _ranked(codes, len(bases))
        building.append(([j], [bases[kept]], ids, np.arange(len(kept))))
    packs = tuple(Pack(tuple(js), np.stack(columns, axis=1)) for js, columns, _, _ in building)
    ids = [entry[2] for entry in building]
    if len(packs) == 1:
        total = np.bincount(ids[0], weights=weights, minlength=len(packs[0])).astype(np.float64)
        return PackedRows(packs, None, total, ids[0])
    return _merged(packs, ids, weights, states, n)


def _factor_codes(evidence: Evidence, layout: Layout, group: Group, j: int) -> tuple[Integers, Integers]:
    """Each row's evidence on factor j as a small number, and by that number where the factor begins.

    The number after the last stands for "absent": the factor's child is unobserved and outside the group.
    """
    scope = layout.scopes[j]
    strides = c_strides(layout.shapes[j])
    seen = [k for k, v in enumerate(scope) if v not in group.members]
    n = evidence.n_rows if group.rows is None else len(group.rows)
    codes = np.zeros(n, dtype=np.int64)
    bases = np.array([layout.begins[j]], dtype=np.int64)
    absent = None
    for k in seen:
        states = layout.cardinalities[scope[k]]
        bases = (bases[:, None] + np.arange(states) * strides[k]).ravel()
        codes *= states
        if evidence.column_of[scope[k]] < 0:
            absent = np.ones(n, dtype=np.bool_)
            continue
        column = evidence.column(scope[k])
        if group.rows is not None:
            column = column[group.rows]
        codes += column
        holes = column == evidence.hole
        if holes.any():
            absent = holes if absent is None else absent | holes
    if absent is not None:
        codes[absent] = len(bases)
        bases = np.append(bases, layout.size)
    return codes, bases


def _join(
    entry: tuple[list[int], list[Integers], Integers, Integers], j: int, codes: Integers, bases: Integers, most: int
) -> tuple[list[int], list[Integers], Integers, Integers] | None:
    """The pack with one factor more, or None if it would have more than `most` configurations."""
    js, columns, ids, _ = entry
    width = len(bases)
    joint, kept = _ranked(ids * width + codes, len(columns[0]) * width, most)
    if len(kept) > most:
        return None
    return [*js, j], [*(column[kept // width] for column in columns), bases[kept % width]], joint, kept


def _ranked(keys: Integers, size: int, most: int | None = None) -> tuple[Integers, Integers]:
    """Keys replaced by their rank among those present, and the present ones; ranks are left undone beyond `most`."""
    if size > 4 * len(keys) + 65536:
        kept, ranks = np.unique(keys, return_inverse=True)
        return ranks.astype(np.int64), kept
    kept = np.flatnonzero(np.bincount(keys, minlength=size))
    if most is not None and len(kept) > most:
        return keys, kept
    rank = np.zeros(size, dtype=np.int64)
    rank[kept] = np.arange(len(kept))
    return rank[keys], kept


def _small(ids: Integers) -> Integers:
    """In two bytes, if they fit: a million rows have as many numbers for each pack."""
    return ids.astype(np.uint16) if ids.max(initial=0) < MOST_CONFIGURATIONS else ids  # type: ignore[return-value]


def _merged(
    packs: tuple[Pack, ...], ids: Sequence[Integers], weights: Floats | None, states: int, n: int
) -> PackedRows:
    """Equal rows merged where that pays; one pack of all factors where few distinct rows are left."""
    place = np.arange(n)
    keep = place
    if _worth_merging(packs, ids):
        keep, place = _distinct(packs, ids)
    total = np.bincount(place, weights=weights, minlength=len(keep)).astype(np.float64)
    factors = sum(len(pack.factors) for pack in packs)
    stride = -(-states // 4) * 4
    single = GATHER * len(keep) * factors * states
    several = GATHER * states * sum(pack.bases.size for pack in packs) + LOOKUP * len(keep) * len(packs) * stride
    if single < several or max(map(len, packs)) > MOST_CONFIGURATIONS:
        whole = Pack(
            tuple(j for pack in packs for j in pack.factors),
            np.concatenate([pack.bases[rows[keep]] for pack, rows in zip(packs, ids, strict=True)], axis=1),
        )
        return PackedRows((whole,), None, total, place)
    return PackedRows(packs, np.stack([rows[keep] for rows in ids], axis=1).astype(np.uint16), total, place)


def _worth_merging(packs: Sequence[Pack], ids: Sequence[Integers]) -> bool:
    """Whether at least a fifth of the rows would go, judged from how often rows of a sample coincide."""
    n = len(ids[0])
    if n <= 20_000:
        return True
    sample = np.linspace(0, n - 1, 10_000).astype(np.int64)
    keep, place = _distinct(packs, [rows[sample] for rows in ids])
    repeats = np.bincount(place, minlength=len(keep)).astype(np.float64)
    coincide = float((repeats * (repeats - 1)).sum()) / (len(sample) * (len(sample) - 1))
    if coincide == 0:
        return False
    effective = 1 / coincide  # as many equally frequent rows would coincide as often
    return effective * -np.expm1(-n / effective) < 0.8 * n


def _distinct(packs: Sequence[Pack], ids: Sequence[Integers]) -> tuple[Integers, Integers]:
    """The first of each set of equal rows, and the set each row belongs to."""
    key = np.zeros(len(ids[0]), dtype=np.int64)
    size = 1
    for pack, rows in zip(packs, ids, strict=True):
        if size > 2**62 // len(pack):  # the number would overflow: rank what there is, then go on
            present, key = np.unique(key, return_inverse=True)
            size = len(present)
        key = key * len(pack) + rows
        size *= len(pack)
    _, keep, place = np.unique(key, return_index=True, return_inverse=True)
    return keep.astype(np.int64), place.astype(np.int64)
