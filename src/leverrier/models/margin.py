"""How one column of numbers is spread, as a value: from the user's units to normal scores and back, atoms kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leverrier.arrays import Floats
from leverrier.errors import TableError
from leverrier.models.curve import Curve
from leverrier.plain_values import Plain

MOST_VALUES = 512
"""A column with more different values is kept by this many of its quantiles."""
ATOM_SHARE = 0.005
"""Among many values, one in at least this share of rows stays a value of its own."""
_FAR = 8.0


@dataclass(frozen=True)
class Margin(Plain):
    """Values in ascending order, each with the shares of rows below it and up to it.

    Where the two shares differ the value is an atom; between values the scores are interpolated. Nothing beyond the
    smallest and the largest value seen is ever drawn.
    """

    values: tuple[float, ...]
    below: tuple[float, ...]
    upto: tuple[float, ...]
    cuts: tuple[float, ...] = ()
    """For an atomic number, the normal scores that part its ordered codes; empty for any other."""
    curve: Curve | None = None
    """From normal scores to the raw margin's shape: mean 0 and variance 1 when scaled by `centre` and `spread`."""
    centre: float = 0.0
    spread: float = 1.0
    decimals: int | None = None
    """Places after the point that every value seen has at most; None where they have many."""

    @cached_property
    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        return np.array(self.values), np.array(self.below), np.array(self.upto)

    @property
    def atomic(self) -> bool:
        return bool(self.cuts)

    def scores(self, x: Floats) -> Floats:
        """The normal score of each number, in the middle of its atom; NaN stays NaN."""
        values, below, upto = self._arrays
        numbers = np.asarray(x, dtype=np.float64)
        if np.isinf(numbers).any():
            raise TableError("a number is infinite: numbers must be finite; NaN is a hole")
        share = np.interp(numbers, values, (below + upto) / 2)
        k = np.clip(np.searchsorted(values, numbers, side="right") - 1, 0, len(values) - 2 if len(values) > 1 else 0)
        if len(values) > 1:
            inside = (numbers > values[k]) & (numbers < values[k + 1])
            part = (numbers - values[k]) / (values[k + 1] - values[k])
            share = np.where(inside, upto[k] + part * (below[k + 1] - upto[k]), share)
        return np.where(np.isnan(numbers), np.nan, _normal(share))

    def numbers(self, z: Floats) -> Floats:
        """In the user's units: the value whose share of rows holds this score."""
        values, below, upto = self._arrays
        share = ndtr(np.asarray(z, dtype=np.float64))
        places = np.empty(2 * len(values))
        places[0::2], places[1::2] = below, upto
        # equal places (no gap between atoms) belong to the value that ends there
        found = np.interp(share, places + 1e-15 * np.arange(len(places)), np.repeat(values, 2))
        if self.decimals is not None:
            found = np.round(found, self.decimals)
        return np.where(np.isnan(z), np.nan, found)

    def settled(self, z: Floats) -> Floats:
        """Scores moved to the middle of their atom, as those of data are."""
        return self.scores(self.numbers(z)) if self.atomic else z

    def codes(self, z: Floats) -> NDArray[np.int64]:
        """The ordered code of an atomic number; −1 for a hole."""
        return np.where(np.isnan(z), -1, np.searchsorted(np.array(self.cuts), z, side="right")).astype(np.int64)

    def log_density(self, z: Floats) -> Floats:
        """log dz/dx at each score: added to a density of z it gives one in the user's units.

        By the smooth curve between atoms; 0 where the number is atomic (its cells are probabilities already).
        """
        if self.curve is None or self.atomic:
            return np.zeros(np.shape(z))
        return -self.curve.log_slope(z) - np.log(self.spread)


def _normal(share: Floats) -> Floats:
    return np.clip(ndtri(np.clip(share, 0.0, 1.0)), -_FAR, _FAR)
