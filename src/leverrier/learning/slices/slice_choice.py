"""Choosing how each column of a slice is learnt, by cross-validation over blocks of the training part alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.learning.slices.column_fit import (
    SMOOTHINGS,
    Grown,
    Smoothing,
    bag_column,
    grow_column,
    smoothed_probabilities,
)
from leverrier.learning.slices.slice_design import Design, make_blocks
from leverrier.learning.slices.tree_growing import LEAF_COUNT
from leverrier.models.slices.shaped_cpd import AveragedCPD
from leverrier.models.slices.slice_model import SliceModel
from leverrier.models.slices.tree_cpd import SliceShape

LN2 = float(np.log(2))
NEARLY = 1.1
AVERAGED = (0.1, 0.25, 0.5, 1.0)
"""Bagged trees are smoothed by one of these shares of a single tree's strength: averaging smooths already."""
PART, LENGTH = 0.63, 25
"""The share of blocks that each bagged tree sees when none repeats, and a block's slices."""
SHAPES = tuple(SliceShape)


@dataclass(frozen=True, eq=False)
class Choice:
    """A way to learn a design, and what it cost on blocks that were held out."""

    shapes: Mapping[str, SliceShape]
    smoothing: Smoothing
    leaf_count: float
    block_bits: Floats
    """By block, the bits it cost when held out."""
    column_bits: Mapping[str, Mapping[SliceShape, float]]
    """By column, bits per slice of each shape that was tried."""
    n_slices: int

    @property
    def bits(self) -> float:
        """Bits per slice, held out."""
        return float(self.block_bits.sum()) / self.n_slices

    def good_shapes(self, name: str) -> tuple[SliceShape, ...]:
        """The shapes nearly as good as the best: averages gain from their being wrong in different places."""
        costs = self.column_bits[name]
        return tuple(shape for shape in costs if costs[shape] <= NEARLY * costs[self.shapes[name]])


@dataclass(frozen=True)
class Comparison:
    """How much fewer bits a slice costs, and how many standard errors (over blocks) that is."""

    gain: float
    z: float

    def clear(self, z: float = 3.0, gain: float = 0.005) -> bool:
        return self.z > z and self.gain >= gain


def compare(before: Floats, after: Floats, n_slices: int) -> Comparison:
    """The gain of `after` over `before`, paired by block."""
    gains = before - after
    spread = float(np.std(gains, ddof=1) * np.sqrt(len(gains))) if len(gains) > 1 else np.inf
    total = float(gains.sum())
    return Comparison(total / n_slices, total / spread if spread > 0 else 0.0)


def choose(
    design: Design,
    folds: NDArray[np.int64],
    shapes: Sequence[SliceShape] = SHAPES,
    leaf_counts: Sequence[float] = (LEAF_COUNT,),
    smoothings: Sequence[Smoothing] = SMOOTHINGS,
) -> Choice:
    """The smoothing of the whole data set and the shape of each column that cost least on held-out blocks."""
    blocks = make_blocks(design.sequences, folds)
    made = []
    for leaf_count in leaf_counts:
        costs: dict[tuple[str, SliceShape], Floats] = {
            (name, shape): _held_out(design, name, shape, leaf_count, folds, blocks, smoothings)
            for name in design.variables
            for shape in shapes
            if shape in design.shapes(name)
        }
        made.append(_chosen(design, costs, leaf_count, smoothings))
    return min(made, key=lambda choice: choice.bits)


def _chosen(
    design: Design, costs: Mapping[tuple[str, SliceShape], Floats], leaf_count: float, smoothings: Sequence[Smoothing]
) -> Choice:
    """Smoothing first under the best shape of each column, so that one number serves the whole data set."""
    names = design.variables
    options: dict[str, list[SliceShape]] = {name: [shape for n, shape in costs if n == name] for name in names}
    totals = np.sum([np.min([costs[name, s].sum(axis=1) for s in options[name]], axis=0) for name in names], axis=0)
    best = int(np.argmin(totals))
    shapes: dict[str, SliceShape] = {
        name: min(options[name], key=lambda shape: costs[name, shape][best].sum()) for name in names
    }
    chosen = {name: costs[name, shapes[name]][best] for name in names}
    return Choice(
        shapes,
        smoothings[best],
        leaf_count,
        np.sum(list(chosen.values()), axis=0),
        {n: {s: float(costs[n, s][best].sum()) / design.n_slices for s in options[n]} for n in names},
        design.n_slices,
    )


def _held_out(
    design: Design,
    name: str,
    shape: SliceShape,
    leaf_count: float,
    folds: NDArray[np.int64],
    blocks: NDArray[np.int64],
    smoothings: Sequence[Smoothing],
) -> Floats:
    """(smoothings, blocks): the bits of one column when its block's fold is left out."""
    cost = np.zeros((len(smoothings), int(blocks[-1]) + 1))
    for fold in np.unique(folds):
        out = np.flatnonzero(folds == fold)
        grown = grow_column(design, name, (folds != fold).astype(np.float64), shape, leaf_count)
        seen = design.child(name)[1][out]
        bits = -np.log2(np.maximum(smoothed_probabilities(design, grown, smoothings, out), 1e-300)) * seen
        for row, each in zip(cost, bits, strict=True):
            row += np.bincount(blocks[out], each, len(row))
    return cost


def fit_slices(design: Design, choice: Choice, weights: Floats | None = None) -> SliceModel:
    """One tree (or "same as before") for each column, on all slices."""
    live = np.ones(design.n_slices) if weights is None else weights
    cpds = {
        name: grow_column(design, name, live, choice.shapes[name], choice.leaf_count)
        .cpd(design, choice.smoothing)
        .compacted()
        for name in design.variables
    }
    return SliceModel(design.sequences.table.columns, cpds)


def bag_slices(design: Design, choice: Choice, draws: int, seed: int) -> SliceModel:
    """The average of trees grown on resampled blocks, in every shape that is nearly best: it predicts better, and is
    harder to read.

    Blocks are drawn with repeats, which grows deeper trees, or without; trees are smoothed less than a single one.
    Both are chosen for each column on the slices that its trees have not seen.
    """
    rng = np.random.default_rng(seed)
    ways = [[resample_blocks(design.sequences, rng, repeats) for _ in range(draws)] for repeats in (True, False)]
    smoothings = [Smoothing(choice.smoothing.strength * share, choice.smoothing.floor) for share in AVERAGED]
    cpds = {}
    for name in design.variables:
        bags = [bag_column(design, name, way, choice.good_shapes(name), choice.leaf_count) for way in ways]
        costs = np.array([unseen_bits(design, bag, way, smoothings) for bag, way in zip(bags, ways, strict=True)])
        way, share = np.unravel_index(int(np.argmin(costs)), costs.shape)
        parts = tuple(grown.cpd(design, smoothings[int(share)]) for grown in bags[int(way)])
        cpds[name] = AveragedCPD(parts).compacted()
    return SliceModel(design.sequences.table.columns, cpds)


def unseen_bits(
    design: Design, bag: Sequence[Grown], parts: Sequence[Floats], smoothings: Sequence[Smoothing]
) -> Floats:
    """By smoothing, the bits of a column averaged over the trees that have not seen the slice."""
    total = np.zeros((len(smoothings), design.n_slices))
    votes = np.zeros(design.n_slices)
    for grown, part in zip(bag, parts, strict=True):
        out = np.flatnonzero(part == 0)
        total[:, out] += smoothed_probabilities(design, grown, smoothings, out)
        votes[out] += 1
    judged = (votes > 0) & design.child(bag[0].name)[1]
    return -np.log2(np.maximum(total[:, judged] / votes[judged], 1e-300)).sum(axis=1)


def resample_blocks(sequences: Sequences, rng: np.random.Generator, repeats: bool = True) -> Floats:
    """How often each slice is drawn, when blocks (or whole short sequences) are drawn with or without repeats.

    A slice that counts twice makes chance look like evidence for a split: for some columns that pays, for others not.
    """
    number = np.concatenate([[0], np.cumsum(-(-sequences.lengths // LENGTH))])
    block = np.repeat(number[:-1], sequences.lengths) + sequences.position // LENGTH
    many = int(number[-1])
    if repeats:
        return np.bincount(rng.integers(0, many, many), minlength=many)[block].astype(np.float64)
    return (rng.permutation(many) < np.ceil(PART * many))[block].astype(np.float64)
