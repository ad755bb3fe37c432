"""A dynamic network laid out beside the sequences it is asked about: from names to the numbers that inference takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import Sequences
from leverrier.inference.chains.unrolled_rows import SliceFamily, Unrolled
from leverrier.inference.exact.factors import log
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.sliced import Sliced


@dataclass(frozen=True, eq=False)
class Section:
    """One family's table among the parameters."""

    stage: int
    name: str
    base: int
    shape: tuple[int, ...]
    hole: int = -1
    """Where its table with the child summed out lies, if slices are to use that where they do not show the child."""

    def of(self, theta: Floats) -> Floats:
        """Its part of the parameters (or of counts laid out as they are): parents' axes, then the child's."""
        return theta[self.base : self.base + int(np.prod(self.shape, dtype=np.int64))].reshape(self.shape)


@dataclass(frozen=True, eq=False)
class Density:
    """Numbers with the same parents: one factor of each slice, after the tables."""

    names: tuple[str, ...]
    parents: tuple[str, ...]
    base: int
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def of(self, theta: Floats, n_slices: int) -> Floats:
        """(slices, *parents' states)."""
        return theta[self.base : self.base + n_slices * self.cells].reshape(n_slices, *self.shape)


@dataclass(frozen=True, eq=False)
class Laid:
    """The layout. Parameters of any network of the same structure fit it."""

    network: Sliced
    sequences: Sequences
    unrolled: Unrolled
    sections: tuple[Section, ...]
    densities: tuple[Density, ...]
    direct: Floats
    """log P of families whose CPD is not a table and which every slice shows, by slice."""
    size: int

    @property
    def n_slices(self) -> int:
        return self.sequences.n_slices

    def theta(self, network: Sliced) -> tuple[Floats, Floats]:
        """The parameters, and what was taken out of each slice's densities so that the largest is 1 (as a log)."""
        theta = np.empty(self.size)
        for section in self.sections:
            section.of(theta)[...] = network.slice(section.stage)[section.name].table()
        self.put_holes(theta)
        return theta, self.put_densities(theta, network.numbers)

    def put_holes(self, theta: Floats, *, maximise: bool = False) -> None:
        """What a slice that does not show a child without children says of its parents: the sum, or the largest."""
        for section in self.sections:
            if section.hole >= 0:
                table = section.of(theta)
                kept = theta[section.hole : section.hole + table.size].reshape(table.shape)
                kept[...] = table.max(axis=-1, keepdims=True) if maximise else 1.0

    def put_densities(self, theta: Floats, numbers: Mapping[str, GaussianCPD]) -> Floats:
        taken = np.zeros(self.n_slices)
        for density in self.densities:
            total = np.zeros((self.n_slices, *density.shape))
            for name in density.names:
                total += numbers[name].log_densities(self.sequences.numbers[name])
            peak = total.reshape(self.n_slices, -1).max(axis=1)
            density.of(theta, self.n_slices)[...] = np.exp(total - peak.reshape(-1, *(1,) * len(density.shape)))
            taken += peak
        return taken

    @cached_property
    def place(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.network.variables)}


def lay(network: Sliced, sequences: Sequences, wanted: Sequence[str] = ()) -> Laid:
    """`sequences` are those that `network.read` gives; `wanted` variables are kept whatever depends on them."""
    place = {name: number for number, name in enumerate(network.variables)}
    codes = _codes(sequences, place)
    uncertain = {name for name in place if np.any(codes[place[name]] < 0)}
    inner = parents_in(network) | set(wanted)
    direct = np.zeros(sequences.n_slices)
    sections: list[Section] = []
    stages: list[list[SliceFamily]] = []
    size = 0
    for stage in range(len(network.stages) + 1):
        part = network.slice(stage)
        families: list[SliceFamily] = []
        last = stage == len(network.stages)
        here = np.flatnonzero(sequences.position >= stage if last else sequences.position == stage)
        for name in network.variables:
            cpd = part[name]
            if not isinstance(cpd, TableCPD) and not uncertain.intersection((name, *(p for p, _ in cpd.parents))):
                direct[here] += _direct(cpd, name, codes, place, here)
                continue
            nodes = tuple((place[parent], lag) for parent, lag in cpd.parents)
            shape = tuple(network.cardinality(other) for other in (*(p for p, _ in cpd.parents), name))
            cells = int(np.prod(shape, dtype=np.int64))
            summed = name in uncertain and name not in inner and bool(np.any(codes[place[name]] >= 0))
            hole = size + cells if summed else -1
            sections.append(Section(stage, name, size, shape, hole))
            families.append(SliceFamily((*nodes, (place[name], 0)), size, _strides(shape), hole=hole))
            size += cells * (2 if summed else 1)
        stages.append(families)
    densities, size = _densities(network, sequences, place, stages, size)
    unrolled = Unrolled(
        tuple(network.cardinality(name) for name in network.variables),
        tuple(tuple(families) for families in stages),
        codes,
        sequences.starts,
        frozenset(place[name] for name in wanted),
    )
    return Laid(network, sequences, unrolled, tuple(sections), tuple(densities), direct, size)


def _codes(sequences: Sequences, place: Mapping[str, int]) -> NDArray[np.int32]:
    """(variables, slices), −1 for holes and for variables that the sequences do not have."""
    codes = np.full((len(place), sequences.n_slices), -1, dtype=np.int32)
    for name, cells in zip(sequences.variables, sequences.table.codes, strict=True):
        codes[place[name]] = np.where(cells == sequences.table.missing, -1, cells.astype(np.int32))
    return codes


def _densities(
    network: Sliced, sequences: Sequences, place: Mapping[str, int], stages: Sequence[list[SliceFamily]], size: int
) -> tuple[list[Density], int]:
    """Columns of numbers that the sequences have, by their parents; each becomes a family of every stage."""
    found: list[Density] = []
    for parents in dict.fromkeys(cpd.parents for cpd in network.numbers.values()):
        names = tuple(n for n, c in network.numbers.items() if c.parents == parents and n in sequences.numbers)
        if not names:
            continue
        shape = tuple(network.cardinality(parent) for parent in parents)
        found.append(Density(names, parents, size, shape))
        family = SliceFamily(tuple((place[p], 0) for p in parents), size, _strides(shape), found[-1].cells)
        for families in stages:
            families.append(family)
        size += sequences.n_slices * found[-1].cells
    return found, size


def parents_in(network: Sliced) -> set[str]:
    """Variables that something depends on, in any slice."""
    parts = (*network.stages, network.transition)
    found = {parent for part in parts for cpd in part.values() for parent, _ in cpd.parents}
    return found | {parent for cpd in network.numbers.values() for parent in cpd.parents}


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[place + 1 :], dtype=np.int64)) for place in range(len(shape)))


def _direct(cpd: CPD, name: str, codes: NDArray[np.int32], place: Mapping[str, int], here: NDArray[np.int64]) -> Floats:
    small = np.uint8 if codes.max(initial=0) < 255 else np.uint16
    given = np.array([codes[place[p], here - lag] for p, lag in cpd.parents], dtype=small).reshape(-1, len(here))
    return log(cpd.probabilities(codes[place[name], here], given))
