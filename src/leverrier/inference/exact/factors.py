"""Factors over integer variables, and what inference does to them: logarithms, conditioning, alignment.

Inside inference every array carries its rows on the *last* axis, of length m, or 1 when all rows agree: the inner
loops then run over rows, and what no evidence touches is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.errors import OptionError

Codes = NDArray[np.integer]
Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """Non-negative values over `scope`, axes in that order. One leading axis more gives each row its own values."""

    scope: Scope
    values: Floats

    @property
    def by_row(self) -> bool:
        return self.values.ndim > len(self.scope)


def count_cells(scope: Iterable[int], cardinalities: Sequence[int]) -> int:
    """Cells of a table over these variables, as an exact integer however large."""
    return math.prod(int(cardinalities[variable]) for variable in scope)


def check_factors(factors: Sequence[Factor], cardinalities: Sequence[int]) -> None:
    """Say in one line which factor does not fit its variables."""
    for factor in factors:
        expected = tuple(int(cardinalities[variable]) for variable in factor.scope)
        if factor.values.shape[int(factor.by_row) :] != expected:
            raise OptionError(
                f"the factor over variables {factor.scope} has shape {factor.values.shape}, expected {expected}"
                " (or one axis more in front, for values by row)"
            )


def log(values: Floats) -> Floats:
    """Natural logarithm with log 0 = −∞, silently."""
    result = np.full(values.shape, -np.inf)
    np.log(values, out=result, where=values > 0)
    return result


def mixed_radix(codes: Sequence[Codes] | Codes, cardinalities: Iterable[int]) -> NDArray[np.int64]:
    """One number for each column of codes, the last variable turning fastest (as in a C-ordered table)."""
    number = np.zeros(np.shape(codes)[1], dtype=np.int64)
    for row, cardinality in zip(codes, cardinalities, strict=True):
        number *= int(cardinality)
        number += row
    return number


def condition(factor: Factor, evidence: Codes, observed: Collection[int]) -> tuple[Scope, Floats]:
    """The factor at the observed states of each row: what is left of its scope, and values with rows last."""
    left = [axis for axis, variable in enumerate(factor.scope) if variable not in observed]
    seen = [axis for axis, variable in enumerate(factor.scope) if variable in observed]
    scope = tuple(factor.scope[axis] for axis in left)
    values = np.moveaxis(factor.values, 0, -1) if factor.by_row else factor.values[..., None]
    values = values.transpose([*left, *seen, values.ndim - 1])
    if not seen:
        return scope, np.ascontiguousarray(values)
    shape = values.shape[: len(left)]
    key = mixed_radix(
        [evidence[factor.scope[axis]] for axis in seen], [factor.values.shape[axis + factor.by_row] for axis in seen]
    )
    flat = values.reshape(*shape, -1, values.shape[-1])
    if factor.by_row:
        return scope, flat[..., key, np.arange(len(key))]
    return scope, flat[..., 0].take(key, axis=-1)


def aligned(values: Floats, scope: Scope, target: Scope) -> Floats:
    """A view with the axes of `target` (length 1 where the scope lacks one), rows last."""
    kept = [variable for variable in target if variable in scope]
    moved = values.transpose([*(scope.index(variable) for variable in kept), len(scope)])
    sizes = iter(moved.shape)
    return moved.reshape([*(next(sizes) if variable in scope else 1 for variable in target), values.shape[-1]])
