"""How one variable of a dynamic network depends on its parents, now and some slices ago."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.arrays import Floats
from leverrier.errors import NetworkError
from leverrier.models.network import NEARLY_ONE, normalised

Node = tuple[str, int]
"""A variable and how many slices ago: ("X", 0) is now, ("X", 1) the slice before."""


@runtime_checkable
class CPD(Protocol):
    """P(child | parents), whatever shape it is kept in."""

    @property
    def parents(self) -> tuple[Any, ...]: ...

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        ...

    def table(self) -> Floats:
        """Axes are the parents in order, then the child."""
        ...

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        """(rows, states): the whole distribution for each column of (parents, rows)."""
        ...

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        """P(child = its code | parents) for each row."""
        ...


@dataclass(frozen=True, eq=False)
class TableCPD:
    """One distribution for each configuration of the parents."""

    parents: tuple[Node, ...]
    values: Floats

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64, ndmin=1)
        if values.ndim != len(self.parents) + 1:
            raise NetworkError(
                f"a table of shape {values.shape} for {len(self.parents)} parents: one axis each, then the child's"
            )
        if not (np.all(values >= 0) and np.all(np.abs(values.sum(axis=-1) - 1) <= NEARLY_ONE)):
            raise NetworkError("a table's entries must be at least 0 and sum to 1 for each parent configuration")
        values = normalised(values, NEARLY_ONE)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "parents", tuple((str(name), int(lag)) for name, lag in self.parents))

    @property
    def dimension(self) -> int:
        return int(np.prod(self.values.shape[:-1], dtype=np.int64)) * (self.values.shape[-1] - 1)

    def table(self) -> Floats:
        return self.values

    def _place(self, parent_codes: NDArray[Any]) -> NDArray[np.int64]:
        place = np.zeros(parent_codes.shape[1] if len(self.parents) else 1, dtype=np.int64)
        for codes, size in zip(parent_codes, self.values.shape[:-1], strict=True):
            place *= size
            place += codes
        return place

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        flat = self.values.reshape(-1, self.values.shape[-1])[self._place(parent_codes)]
        return np.broadcast_to(flat, (parent_codes.shape[1], flat.shape[1]))

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        return self.values.reshape(-1, self.values.shape[-1])[self._place(parent_codes), child_codes]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableCPD):
            return NotImplemented
        return self.parents == other.parents and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.parents, self.values.shape))


@dataclass(frozen=True, eq=False)
class GaussianCPD:
    """A number that is normal given its parents' states, all of the same slice. It has no children."""

    parents: tuple[str, ...]
    means: Floats
    """Axes are the parents in order."""
    deviations: Floats

    def __post_init__(self) -> None:
        for name in ("means", "deviations"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.means.shape != self.deviations.shape or self.means.ndim != len(self.parents):
            raise NetworkError(
                f"means of shape {self.means.shape} and deviations of shape {self.deviations.shape} "
                f"for {len(self.parents)} parents: one axis each"
            )
        if not (np.isfinite(self.means).all() and np.all(self.deviations > 0) and np.isfinite(self.deviations).all()):
            raise NetworkError("means must be finite, and standard deviations positive")

    @classmethod
    def given(cls, parents: tuple[str, ...], means: ArrayLike, deviations: ArrayLike) -> GaussianCPD:
        return cls(parents, np.asarray(means, dtype=np.float64), np.asarray(deviations, dtype=np.float64))

    @property
    def dimension(self) -> int:
        return 2 * self.means.size

    def log_densities(self, values: Floats) -> Floats:
        """(rows, *parents' states); 0 where a number is missing."""
        shape = (len(values), *(1,) * self.means.ndim)
        with np.errstate(invalid="ignore"):
            z = (values.reshape(shape) - self.means) / self.deviations
            log = -0.5 * z * z - np.log(self.deviations) - 0.5 * np.log(2 * np.pi)
        return np.where(np.isnan(log), 0.0, log)
