"""Rows that come in groups (households, classes, clinics): whole groups are drawn, held out and simulated.

Thirty households of alike rows are not a hidden variable. Null tables must show as much likeness within groups as the
data do, or whatever sets groups apart looks like something hidden. So every cell of a simulated table is drawn by a
normal score that is in part its group's: z = u + √(1 − ρ) e. The groups' scores u are those of groups of the data, of
whole groups drawn with replacement, so that what moves several columns of a group together does so here too.

With s = E[z | cell] (the cell's mean normal score given its parents) and κ = E[s²], two rows of a group have covariance
κ² ρ of s to first order, and the mean of s over a group's rows, divided by κ, has mean u.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.models.network import Network

Groups = NDArray[np.int64]
"""By row, the number of its group."""
EDGE = 1e-9
MOST = 0.95
"""Of a cell's normal score, the share of its variance that may be its group's."""


def numbered(labels: Any) -> Groups:
    """Groups from 0, in order of their labels; holes are one group each."""
    found = [None if each is None or each != each else str(each) for each in labels]
    places = {label: place for place, label in enumerate(sorted({each for each in found if each is not None}))}
    alone = iter(range(len(places), len(places) + len(found)))
    return np.array([next(alone) if each is None else places[each] for each in found], dtype=np.int64)


def folds_of_groups(groups: Groups, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """By row, the fold that its whole group is held out in."""
    return (rng.permutation(groups.max() + 1) % folds)[groups]


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike rows of one group are beyond what the network says: by group and column its normal score."""

    groups: Groups
    effects: Floats
    """(groups, columns), shrunk to the variance that is the groups'."""
    shares: Floats
    """By column, that variance: ρ."""

    def simulated(self, network: Network, table: Table, rng: np.random.Generator) -> Table:
        """As many rows in as many groups, from the network, with this likeness; hidden variables have none."""
        effects = self.effects[rng.integers(0, len(self.effects), len(self.effects))][self.groups]
        place = {name: v for v, name in enumerate(table.variables)}
        drawn: dict[str, NDArray[np.int64]] = {}
        for name, chances in _families(network, drawn, table.n_rows):
            score = rng.normal(size=table.n_rows)
            if name in place:
                share = self.shares[place[name]]
                score = effects[:, place[name]] + np.sqrt(1 - share) * score
            drawn[name] = _cell_of(chances, ndtr(score))
        codes = np.array([drawn[name] for name in table.variables]).astype(table.codes.dtype)
        codes[table.codes == table.missing] = table.missing
        return Table(table.columns, codes)


def likeness(network: Network, table: Table, groups: Groups, rng: np.random.Generator) -> Likeness:
    """Measured on the rows' normal scores given their parents; what is hidden or empty is drawn from its posterior."""
    codes = _filled(network, table, rng)
    sizes = np.bincount(groups).astype(np.float64)
    effects, shares = np.zeros((len(sizes), len(table.variables))), np.zeros(len(table.variables))
    for place, name in enumerate(table.variables):
        chances = _chances(network, name, codes, table.n_rows)
        score = _mean_scores(chances, codes[name])
        kappa = float(np.mean(score**2))
        if kappa <= EDGE:
            continue
        sums = np.bincount(groups, score, len(sizes))
        squares = np.bincount(groups, score**2, len(sizes))
        pairs = float((sizes * (sizes - 1)).sum())
        if pairs <= 0:
            continue
        shares[place] = np.clip(float((sums**2 - squares).sum()) / pairs / kappa**2, 0.0, MOST)
        means = sums / np.maximum(sizes, 1.0) / kappa
        spread = float(np.mean((means - means.mean()) ** 2))
        if spread > EDGE:
            effects[:, place] = (means - means.mean()) * np.sqrt(shares[place] / spread)
    return Likeness(groups, effects, shares)


def _families(network: Network, drawn: dict[str, NDArray[np.int64]], rows: int) -> Iterator[tuple[str, Floats]]:
    """Parents first: each variable with its distribution by row, given what was drawn."""
    for name in network.graph.order:
        yield name, _chances(network, name, drawn, rows)


def _chances(network: Network, name: str, codes: dict[str, NDArray[np.int64]], rows: int) -> Floats:
    table = network.cpt(name)
    parents = network.parents(name)
    if not parents:
        return np.broadcast_to(table, (rows, len(table)))
    return table[tuple(codes[parent] for parent in parents)]


def _cell_of(chances: Floats, uniform: Floats) -> NDArray[np.int64]:
    below = np.cumsum(chances, axis=1)[:, :-1]
    return (uniform[:, None] > below).sum(axis=1).astype(np.int64)


def _mean_scores(chances: Floats, cells: NDArray[np.int64]) -> Floats:
    """E[z | the cell]: of a standard normal z between the cell's two cuts."""
    above = np.cumsum(chances, axis=1)
    high = np.take_along_axis(above, cells[:, None], axis=1)[:, 0]
    chance = np.take_along_axis(chances, cells[:, None], axis=1)[:, 0]
    density = [np.exp(-0.5 * ndtri(np.clip(cut, EDGE, 1 - EDGE)) ** 2) for cut in (high - chance, high)]
    return (density[0] - density[1]) / np.sqrt(2 * np.pi) / np.maximum(chance, EDGE)


def _filled(network: Network, table: Table, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """The rows' cells; hidden variables and holes drawn from their posteriors, each by itself."""
    cells: dict[str, NDArray[np.int64]] = {}
    for name in network.variables:
        known = table.column(name).astype(np.int64) if name in table.variables else None
        if known is not None and not (known == table.missing).any():
            cells[name] = known
            continue
        drawn = _cell_of(network.posterior(table, name), rng.random(table.n_rows))
        cells[name] = drawn if known is None else np.where(known == table.missing, drawn, known)
    return cells
