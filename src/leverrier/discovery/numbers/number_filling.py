"""Empty cells of a mixed table filled by draws from a network without anything hidden, for the search only.

A cell is drawn given its whole row: some values from its own family, one of them chosen by how well the row's other
columns go with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from leverrier.learning.mixed.learn_mixed import mixed_network
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_search import Limits, mixed_search
from leverrier.learning.mixed.mixed_space import Space, SpaceColumn
from leverrier.models.families.conditional import Cells
from leverrier.models.mixed_network import MixedNetwork
from leverrier.run.run import UNBOUNDED, Run

OFFERED, SWEEPS = 12, 4


def filled(space: Space, seed: int, run: Run = UNBOUNDED) -> Space:
    """The same space without holes; as it is if it has none. The network that fills them is the one reached in time."""
    if all(column.complete for column in space.columns):
        return space
    rng = np.random.default_rng([seed, 61])
    scores = MixedScores(space)
    network = mixed_network(scores, mixed_search(scores, limits=Limits(stop=lambda: run.spent), shakes=0, seed=seed))
    cells = {column.name: _donated(column, rng) for column in space.columns}
    holes = {column.name: np.flatnonzero(column.holes) for column in space.columns if not column.complete}
    for _ in range(SWEEPS):
        for name, rows in holes.items():
            cells[name][rows] = _drawn(network, cells, name, rows, rng)
    return Space(tuple(_with_cells(column, cells[column.name]) for column in space.columns), space.n_rows, space.aside)


def _donated(column: SpaceColumn, rng: np.random.Generator) -> Cells:
    """Holes take the cells of other rows, at random."""
    cells = column.cells.copy()
    seen = np.flatnonzero(~column.holes)
    cells[column.holes] = cells[rng.choice(seen, int(column.holes.sum()))]
    return cells


def _drawn(
    network: MixedNetwork, cells: Mapping[str, Cells], name: str, rows: np.ndarray, rng: np.random.Generator
) -> Cells:
    """A cell for each of these rows, given all of the row."""
    many = np.repeat(rows, OFFERED)
    above = [cells[p][many] for p in network.parents(name)]
    offered = network.families[name].draw(above, len(many), rng)
    if name in network.margins:
        offered = network.margins[name].settled(np.asarray(offered, dtype=np.float64))
    logs = np.zeros(len(many))
    for child in network.children(name):
        own = [offered if p == name else cells[p][many] for p in network.parents(child)]
        logs += network.families[child].log_density(cells[child][many], own)
    spread = logs.reshape(len(rows), OFFERED) + rng.gumbel(size=(len(rows), OFFERED))
    return offered.reshape(len(rows), OFFERED)[np.arange(len(rows)), spread.argmax(axis=1)]


def _with_cells(column: SpaceColumn, cells: Cells) -> SpaceColumn:
    if column.complete:
        return column
    if not column.number:
        scores = None if column.scores is None else np.array(column.state_scores)[cells]
        return replace(column, codes=np.asarray(cells, dtype=np.int64), scores=scores)
    assert column.margin is not None
    codes = np.searchsorted(np.array(column.bounds), cells, side="right")
    return replace(column, scores=np.asarray(cells, dtype=np.float64), codes=codes.astype(np.int64))
