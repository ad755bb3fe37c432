"""A whole number that follows from others by counting: one of them, a sum or a difference, and a step drawn beside it.

Steps share one distribution of no given form. What would lie beyond the smallest or the largest value belongs to that
value: totals with a cap, answers that are cut off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leverrier.arrays import Floats
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_count import LEAST, Counted

OFFSET = "offset"


@dataclass(frozen=True)
class StepLaw:
    """P(step = first + k) = shares[k]; the face of a law of counts, whose "mean" is where the step begins."""

    first: int
    shares: tuple[float, ...]

    @cached_property
    def _upto(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.shares)])

    def log_chance(self, y: Floats, mean: Floats) -> Floats:
        at = np.rint(y - mean).astype(np.int64) - self.first
        inside = (at >= 0) & (at < len(self.shares))
        chance = np.where(inside, np.array(self.shares)[np.clip(at, 0, len(self.shares) - 1)], 0.0)
        return np.log(np.maximum(chance, LEAST))

    def up_to(self, y: Floats, mean: Floats) -> Floats:
        """P(at most y); 0 below zero, where no count is."""
        steps = np.clip(np.where(np.isinf(y), 0.0, y) - mean - self.first + 1, 0, len(self.shares))
        found = self._upto[np.rint(steps).astype(np.int64)]
        return np.where(y < 0, 0.0, np.where(np.isinf(y), 1.0, found))


@dataclass(frozen=True)
class Whole:
    """What a parent's cells stand for: values by code, or with edges (shares of rows between values) by score."""

    values: tuple[float, ...]
    edges: tuple[float, ...] = ()

    def of(self, cells: Cells) -> Floats:
        place = np.searchsorted(np.array(self.edges), ndtr(cells), side="left") if self.edges else cells
        return np.array(self.values)[np.asarray(place, dtype=np.int64)]


def middles(counted: Counted) -> Floats:
    """By value, the score in the middle of its share of rows."""
    ends = np.concatenate([[0.0], counted.edges, [1.0]])
    return ndtri((ends[1:] + ends[:-1]) / 2)


@dataclass(frozen=True)
class NumberOffset:
    """The child is Σ sign · parent + step."""

    law: StepLaw
    counted: Counted
    signs: tuple[int, ...]
    parents: tuple[Whole, ...]
    coded: bool = False
    """Whether the child's cells are codes of its values, not scores."""

    @property
    def kind(self) -> str:
        return OFFSET

    @property
    def dimension(self) -> int:
        return len(self.law.shares) - 1

    def begun(self, parents: Sequence[Cells]) -> Floats:
        """Where each row's step begins."""
        return np.sum(
            [s * own.of(cells) for s, own, cells in zip(self.signs, self.parents, parents, strict=True)], axis=0
        )

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        scores = (
            middles(self.counted)[np.asarray(child, dtype=np.int64)] if self.coded else np.asarray(child, np.float64)
        )
        return self.counted.log_density(self.law, scores, self.begun(parents))

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        steps = self.law.first + rng.choice(len(self.law.shares), n_rows, p=np.array(self.law.shares))
        scores = self.counted.scores(self.begun(parents) + steps, rng)
        return self.counted.place(scores) if self.coded else scores

    def content(self) -> Mapping[str, Any]:
        return {
            "kind": self.kind,
            "first": self.law.first,
            "shares": list(self.law.shares),
            "values": list(self.counted.values),
            "edges": list(self.counted.edges),
            "cuts": list(self.counted.cuts),
            "signs": list(self.signs),
            "coded": self.coded,
            "parents": [{"values": list(own.values), "edges": list(own.edges)} for own in self.parents],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> NumberOffset:
        shares, values, edges, cuts = (tuple(map(float, content[key])) for key in ("shares", "values", "edges", "cuts"))
        parents = tuple(
            Whole(tuple(map(float, p["values"])), tuple(map(float, p["edges"]))) for p in content["parents"]
        )
        signs = tuple(map(int, content["signs"]))
        if len(values) != len(edges) + 1 or len(signs) != len(parents) or not shares:
            raise ValueError(
                "an offset needs a share for each step, an edge between values, and a sign for each parent"
            )
        return cls(
            StepLaw(int(content["first"]), shares), Counted(values, edges, cuts), signs, parents, bool(content["coded"])
        )
