"""One slice after another as it comes, with everything unobserved kept: exact, programs remembered by pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.errors import TableError
from leverrier.inference.chains.slice_passes import one_cluster
from leverrier.inference.chains.slice_tree import Builder, Program
from leverrier.inference.chains.unrolled_rows import Pattern, SliceFamily, Unrolled
from leverrier.inference.exact.factors import log
from leverrier.kernels.chains.slice_programs import run


class Online:
    """Remembers as many slices as the network looks back, and the joint of what they did not show."""

    def __init__(
        self, cardinalities: tuple[int, ...], stages: tuple[tuple[SliceFamily, ...], ...], theta: Floats
    ) -> None:
        self.cardinalities, self.stages, self.theta = cardinalities, stages, theta
        self.window: list[Integers] = []
        self.message = np.empty(0)
        self.stopped = False
        widths = np.concatenate([[0], np.cumsum(cardinalities)])
        self.columns = {variable: int(widths[variable]) for variable in range(len(cardinalities))}
        self.width = int(widths[-1])
        self.programs: dict[object, tuple[Program, Integers, NDArray[np.int32]]] = {}

    def step(
        self, codes: Integers, densities: Sequence[tuple[tuple[int, ...], Floats]] = ()
    ) -> tuple[float, dict[int, Floats]]:
        """log P(slice | slices before) and P(variable | slices so far) for each that it does not show.

        `densities` are further factors of this slice over variables of it: of numbers that it shows.
        """
        if self.stopped:
            raise TableError("a row before this one cannot happen under the network: begin again with a new filter")
        self.window = [*self.window, np.asarray(codes)][-len(self.stages) :]
        here = len(self.window) - 1
        theta, stage = self.theta, list(self.stages[here])
        for variables, values in densities:
            strides = [int(np.prod(values.shape[axis + 1 :])) for axis in range(values.ndim)]
            base = len(theta) - values.size * here  # so that slice `here` finds it at the end
            stage.append(SliceFamily(tuple((v, 0) for v in variables), base, tuple(strides), values.size))
            theta = np.append(theta, values.ravel())
        stages = (*self.stages[:here], tuple(stage), *self.stages[here + 1 :])
        unrolled = Unrolled(
            self.cardinalities,
            stages,
            np.array(self.window, dtype=np.int32).T,
            np.array([0, here + 1]),
            frozenset(range(len(self.cardinalities))),
        )
        total = sum(
            float(log(theta[unrolled.offsets[number, here]][None])[0])
            for kind, number, slices in unrolled.known()
            if kind == here and len(slices)
        )
        pattern = next((p for p in unrolled.patterns if p.stage == here), None)
        found: dict[int, Floats] = {}
        if pattern is None:
            self.message = np.empty(0)
        else:
            passed, found = self._pass(unrolled, pattern, theta, here)
            total += passed
        self.stopped = not np.isfinite(total)
        return total, found

    def _pass(self, unrolled: Unrolled, pattern: Pattern, theta: Floats, here: int) -> tuple[float, dict[int, Floats]]:
        key = (pattern.stage, pattern.nodes, pattern.families, unrolled.stages[here][len(self.stages[here]) :])
        if key not in self.programs:
            program = Builder(
                self.cardinalities, pattern, unrolled.stages[here], one_cluster, self.columns, tracked=False
            ).program
            operations = np.array(program.forward, dtype=np.int64)
            self.programs[key] = (program, operations, np.concatenate(program.maps))
        program, operations, maps = self.programs[key]
        work, kept = np.zeros(program.work), np.zeros((here + 1, self.width))
        work[: program.n_in] = self.message
        passed = run(operations, maps, unrolled.offsets, here, theta, work, np.empty(0), kept)
        self.message = work[program.n_in : program.n_in + program.n_out].copy()
        open_ = [variable for variable, lag in pattern.nodes if lag == 0]
        return passed, {v: kept[here, self.columns[v] : self.columns[v] + self.cardinalities[v]] for v in open_}
