"""A number given its parents: a small tree of splits, a line with its own scatter at each leaf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.models.curve import Curve
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_regression import GAUSSIAN, Noise
from leverrier.models.families.number_terms import Term


@dataclass(frozen=True)
class Split:
    """Cells of one parent in [low, high) go left. Children are numbers of splits, or −1 − leaf."""

    parent: int
    low: float
    high: float
    left: int
    right: int


@dataclass(frozen=True)
class NumberTree:
    """z or w = g(z) has at each leaf its own line and deviation; the noise is one. Densities are of z."""

    splits: tuple[Split, ...]
    terms: tuple[Term, ...]
    lines: tuple[tuple[float, ...], ...]
    """By leaf: the constant, then one for each term."""
    deviations: tuple[float, ...]
    noise: Noise = GAUSSIAN
    curve: Curve | None = None
    parent_curves: tuple[Curve | None, ...] = ()

    @property
    def kind(self) -> str:
        return "tree"

    @property
    def dimension(self) -> int:
        return len(self.lines) * (len(self.terms) + 2) + len(self.splits) + self.noise.dimension

    def leaves(self, parents: Sequence[Cells], n_rows: int) -> NDArray[np.int64]:
        """Each row's leaf."""
        at = np.zeros(n_rows, dtype=np.int64)
        if not self.splits:
            return at
        for number, split in enumerate(self.splits):  # parents come before their children
            here = at == number
            cells = parents[split.parent]
            left = (cells >= split.low) & (cells < split.high)
            at = np.where(here, np.where(left, split.left, split.right), at)
        return -1 - at

    def mean_and_scale(self, parents: Sequence[Cells], n_rows: int) -> tuple[Floats, Floats]:
        leaf = self.leaves(parents, n_rows)
        lines = np.array(self.lines)
        mean = lines[leaf, 0]
        for at, term in enumerate(self.terms, start=1):
            mean = mean + lines[leaf, at] * term.column(parents, self.parent_curves)
        return mean, np.array(self.deviations)[leaf]

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        z = np.asarray(child, dtype=np.float64)
        mean, scale = self.mean_and_scale(parents, len(z))
        y = z if self.curve is None else self.curve(z)
        logs = self.noise.log_density((y - mean) / scale) - np.log(scale)
        return logs if self.curve is None else logs + self.curve.log_slope(z)

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        mean, scale = self.mean_and_scale(parents, n_rows)
        y = mean + scale * self.noise.draw(n_rows, rng)
        return y if self.curve is None else self.curve.inverse(y)

    def content(self) -> Mapping[str, Any]:
        return {
            "kind": "tree",
            "splits": [[s.parent, str(s.low), str(s.high), s.left, s.right] for s in self.splits],
            "terms": [term.content() for term in self.terms],
            "lines": [list(line) for line in self.lines],
            "deviations": list(self.deviations),
            "noise": [list(self.noise.weights), list(self.noise.means), list(self.noise.deviations)],
            "curve": None if self.curve is None else self.curve.content(),
            "parent_curves": [None if c is None else c.content() for c in self.parent_curves],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> NumberTree:
        curves = [None if c is None else Curve.of_content(c) for c in (content["curve"], *content["parent_curves"])]
        return cls(
            tuple(Split(int(p), float(lo), float(hi), int(l), int(r)) for p, lo, hi, l, r in content["splits"]),
            tuple(Term.of_content(term) for term in content["terms"]),
            tuple(tuple(map(float, line)) for line in content["lines"]),
            tuple(map(float, content["deviations"])),
            Noise(*(tuple(map(float, part)) for part in content["noise"])),
            curves[0],
            tuple(curves[1:]),
        )
