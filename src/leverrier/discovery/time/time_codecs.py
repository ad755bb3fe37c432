"""Pieces of a search through sequences as plain values for a checkpoint, and back, bit for bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Variable
from leverrier.discovery.network_codecs import States
from leverrier.formats.slice_models import parts_content, read_chained
from leverrier.learning.chains.chain_em import Halfway
from leverrier.learning.slices.column_fit import Smoothing
from leverrier.learning.slices.slice_choice import Choice
from leverrier.models.dynamic.cpd import TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.slices.chain_model import ChainModel
from leverrier.models.slices.tree_cpd import SliceShape
from leverrier.run.codecs import Key, name_of
from leverrier.run.run import Run

Piece = Mapping[str, Any]
Result = TypeVar("Result")
SLOW = 5.0
"""Seconds after which a fit says where it stands."""


def grouping(sequences: Sequences) -> tuple[Any, ...]:
    """What a checkpoint belongs to beside the cells: where sequences begin, their names, times and order."""
    return (
        sequences.starts,
        sequences.names,
        sequences.times,
        sequences.rows,
        sequences.by,
        sequences.time,
        sequences.time_kind,
        sequences.time_labels,
    )


def if_there_is_time(
    run: Run,
    key: Key,
    compute: Callable[[], Result | None],
    write: Callable[[Result], Any],
    read: Callable[[Any], Result],
) -> Result | None:
    """What `compute` gives, kept or worked out; None where it gives nothing, or where time has run out before it."""
    return run.once(
        key,
        compute,
        lambda found: {"found": None if found is None else write(found)},
        lambda piece: None if piece["found"] is None else read(piece["found"]),
        lambda: None,
    )


def write_choice(choice: Choice) -> dict[str, Any]:
    return {
        "shapes": choice.shapes,
        "strength": choice.smoothing.strength,
        "floor": choice.smoothing.floor,
        "leaf": choice.leaf_count,
        "blocks": choice.block_bits,
        "columns": choice.column_bits,
        "slices": choice.n_slices,
    }


def read_choice(piece: Piece) -> Choice:
    smoothing = Smoothing(float(piece["strength"]), float(piece["floor"]))
    return Choice(
        {name: SliceShape(shape) for name, shape in piece["shapes"].items()},
        smoothing,
        float(piece["leaf"]),
        np.asarray(piece["blocks"]),
        dict(piece["columns"]),
        int(piece["slices"]),
    )


def write_model(model: ChainModel) -> dict[str, Any]:
    return parts_content(model)


def read_model(piece: Piece, columns: tuple[Variable, ...]) -> ChainModel:
    return read_chained(piece, columns)


def write_chains(found: tuple[ChainModel, float]) -> dict[str, Any]:
    """A model and its worth; posteriors follow from the model."""
    return {"model": write_model(found[0]), "worth": float(found[1])}


def read_chains(piece: Piece, columns: tuple[Variable, ...]) -> tuple[ChainModel, float]:
    return read_model(piece["model"], columns), float(piece["worth"])


class Halfways:
    """Where a slow fit stands, kept under one name while it runs."""

    def __init__(self, run: Run, key: Key, columns: tuple[Variable, ...]) -> None:
        self.run, self.key = run, ("halfway", *key)
        self.begun = run.kept(
            self.key, lambda piece: Halfway(read_model(piece["model"], columns), tuple(map(float, piece["trace"])))
        )
        self._last = time.monotonic()

    def keep(self, halfway: Halfway) -> None:
        """Not that of a quick fit: it would only make files larger."""
        if self.run.journal is None or self.run.spent or time.monotonic() - self._last < SLOW:
            return
        piece = {"model": write_model(halfway.model), "trace": list(halfway.trace)}
        self.run.journal.add(name_of(self.key), piece)
        self._last = time.monotonic()

    def done(self) -> None:
        if self.run.journal is not None:
            self.run.journal.drop(name_of(self.key))


def costs_of(piece: Any) -> NDArray[np.float64]:
    """Bits by block, as they were written."""
    return np.asarray(piece, dtype=np.float64)


def write_dynamic_network(network: DynamicNetwork, known: States) -> dict[str, Any]:
    """Tables with their parents; a variable that the data do not show has the states of one that they do."""
    parts = [
        {name: {"parents": [list(node) for node in cpd.parents], "values": cpd.table()} for name, cpd in part.items()}
        for part in (*network.stages, network.transition)
    ]
    like = {
        name: next(one for one in (name, *known) if known.get(one) == labels) for name, labels in network.states.items()
    }
    return {"parts": parts, "like": like, "hidden": list(network.hidden), "notes": dict(network.notes)}


def read_dynamic_network(piece: Piece, known: States) -> DynamicNetwork:
    states = {name: known[one] for name, one in piece["like"].items()}
    parts = [
        {
            name: TableCPD(tuple((parent, lag) for parent, lag in cpd["parents"]), cpd["values"])
            for name, cpd in part.items()
        }
        for part in piece["parts"]
    ]
    return DynamicNetwork(states, tuple(parts[:-1]), parts[-1], tuple(piece["hidden"]), {}, dict(piece["notes"]))
