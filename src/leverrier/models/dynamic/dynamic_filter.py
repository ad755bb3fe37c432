"""Filtering one row at a time: what is known now of everything not seen, given the rows so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.column import is_hole, is_number
from leverrier.data.labels import lookup
from leverrier.data.reading.binning import cuts_of
from leverrier.data.variable import Label
from leverrier.errors import TableError
from leverrier.inference.chains.arriving_slices import Online
from leverrier.models.dynamic.dynamic_unrolled import lay
from leverrier.models.dynamic.sliced import Sliced


@dataclass(frozen=True, eq=False)
class Known:
    """What is known after a row."""

    posterior: Mapping[str, Floats]
    """P(variable now | rows so far), for every variable that the row does not show."""
    log_likelihood: float
    """log P(row | rows before it), in nats."""

    @property
    def surprise(self) -> float:
        """In bits."""
        return -self.log_likelihood / float(np.log(2))

    def __getitem__(self, variable: str) -> Floats:
        return self.posterior[variable]


def arriving_code(name: str, labels: Sequence[Label], cuts: Sequence[float], value: Any) -> int:
    """A cell's place among the states of its column; of a number that is cut into bins, its bin."""
    if len(cuts) and is_number(value):
        return int(np.searchsorted(cuts, float(value), side="right"))
    code = int(lookup([value], labels)[0])
    if code < 0:
        shown = ", ".join(map(repr, labels[:6]))
        raise TableError(f"{name!r} is {value!r}, which is none of its states ({shown}); leave it out if unknown")
    return code


class Filter:
    """Follows one sequence. `step` takes a row as a mapping; what it lacks is a hole."""

    def __init__(self, network: Sliced) -> None:
        from leverrier.data.sequences.read_sequences import Sequences
        from leverrier.data.table import Table

        self.network = network
        nothing = Sequences.from_table(Table.from_codes({}, np.empty((0, 1), dtype=np.int64)))
        laid = lay(network, nothing, network.variables)
        stages = tuple(tuple(f for f in families if not f.by_slice) for families in laid.unrolled.stages)
        theta = np.ones(laid.size)
        for section in laid.sections:
            section.of(theta)[...] = network.slice(section.stage)[section.name].table()
        self._online = Online(laid.unrolled.cardinalities, stages, theta)
        self._cuts = {name: cuts_of(labels) for name, labels in network.states.items()}

    def step(self, row: Mapping[str, Any]) -> Known:
        """Take one row more."""
        known = {name: row[name] for name in self.network.observed if name in row and not is_hole(row[name])}
        states = self.network.states
        codes = np.array(
            [arriving_code(n, states[n], self._cuts[n], known[n]) if n in known else -1 for n in self.network.variables]
        )
        densities, taken = self._densities(row)
        log_likelihood, found = self._online.step(codes, densities)
        names = self.network.variables
        return Known({names[variable]: table for variable, table in found.items()}, log_likelihood + taken)

    def _densities(self, row: Mapping[str, Any]) -> tuple[list[tuple[tuple[int, ...], Floats]], float]:
        place = {name: number for number, name in enumerate(self.network.variables)}
        found, taken = [], 0.0
        for name, cpd in self.network.numbers.items():
            if name in row and not is_hole(row[name]):
                logs = cpd.log_densities(np.array([float(row[name])]))[0]
                taken += float(logs.max())
                found.append((tuple(place[parent] for parent in cpd.parents), np.exp(logs - logs.max())))
        return found, taken
