"""Where a search for traits begins: common factors of the items' scores, turned until each item follows few of them.

How many there are is first told by what items share beside so many principal components (Velicer 1976): it is least
where a component stands for several items, and rises where one stands for a single item. Factors are turned by varimax
and promax, so that they may go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.mixed.mixed_space import Space
from leverrier.learning.traits.item_block import ItemBlock
from leverrier.learning.traits.trait_ascent import fresh_item
from leverrier.models.behind.traits import Item, Traits

AXES, CLOSE = 200, 1e-5
POWER = 4
CLEAR = 0.25
"""Loadings from which an item is begun on a factor besides its own."""
STEEP = 1.7
"""Logistic slopes are so many times those of a normal response."""


def standard_scores(space: Space, items: Sequence[str]) -> Floats:
    """(rows, items), each of mean 0 and variance 1."""
    place = {name: at for at, name in enumerate(space.names)}
    columns = [space.columns[place[name]] for name in items]
    z = np.column_stack([c.codes.astype(np.float64) if c.scores is None else c.scores for c in columns])
    z = z - z.mean(axis=0)
    return np.asarray(z / np.maximum(z.std(axis=0), 1e-9), dtype=np.float64)


def minimum_partial(z: Floats) -> int:
    """The number of components beside which items share least on average, by squared partial correlations."""
    r = z.T @ z / len(z)
    values, vectors = np.linalg.eigh(r)
    loads = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    shares = []
    for count in range(len(r) - 1):
        left = r - loads[:, :count] @ loads[:, :count].T
        size = np.sqrt(np.maximum(np.diag(left), 1e-9))
        partial = left / np.outer(size, size)
        shares.append((partial**2).sum() - len(r))
    return int(np.argmin(shares))


def turned_factors(z: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Loadings (items, factors), correlations of factors, and scores (rows, factors)."""
    r = z.T @ z / len(z)
    loads = _principal_axes(r, count)
    if count > 1:
        loads, together = _promax(_varimax(loads))
    else:
        together = np.eye(1)
    scores = z @ np.linalg.solve(r + 1e-6 * np.eye(len(r)), loads @ together)
    return loads, together, scores


def _principal_axes(r: Floats, count: int) -> Floats:
    shared = 1 - 1 / np.diag(np.linalg.inv(r + 1e-6 * np.eye(len(r))))
    loads = np.empty((len(r), count))
    for _ in range(AXES):
        values, vectors = np.linalg.eigh(r - np.diag(1 - shared))
        loads = vectors[:, ::-1][:, :count] * np.sqrt(np.maximum(values[::-1][:count], 1e-6))
        new = np.minimum((loads**2).sum(axis=1), 0.98)
        done = np.abs(new - shared).max() < CLOSE
        shared = new
        if done:
            break
    return loads


def _varimax(loads: Floats) -> Floats:
    turn, before = np.eye(loads.shape[1]), 0.0
    size = np.sqrt(np.maximum((loads**2).sum(axis=1, keepdims=True), 1e-9))
    own = loads / size
    for _ in range(200):
        now = own @ turn
        left, values, right = np.linalg.svd(own.T @ (now**3 - now * (now**2).mean(axis=0)))
        turn = left @ right
        if values.sum() < before * (1 + 1e-8):
            break
        before = values.sum()
    return loads @ turn


def _promax(loads: Floats) -> tuple[Floats, Floats]:
    aim = loads * np.abs(loads) ** (POWER - 1)
    turn = np.linalg.lstsq(loads, aim, rcond=None)[0]
    turn = turn * np.sqrt(np.maximum(np.diag(np.linalg.inv(turn.T @ turn)), 1e-9))
    inverse = np.linalg.inv(turn)
    return loads @ turn, inverse @ inverse.T


def begun_traits(block: ItemBlock, space: Space, items: Sequence[str], count: int) -> tuple[Traits, Floats]:
    """Traits in the place of so many factors, and where rows stand on them."""
    z = standard_scores(space, items)
    loads, together, scores = turned_factors(z, count)
    unique = np.sqrt(np.maximum(1 - ((loads @ together) * loads).sum(axis=1), 0.1))
    found: list[Item] = []
    for name, row, left in zip(items, loads, unique, strict=True):
        order = np.argsort(-np.abs(row), kind="stable").tolist()
        on = (order[0], *(v for v in order[1:3] if abs(row[v]) > CLEAR))
        found.append(replace(fresh_item(block, name, on), slopes=STEEP * row[list(on)] / left))
    none = tuple(() for _ in range(count))
    traits = Traits(tuple(found), 0.9 * together + 0.1 * np.eye(count), none, tuple(np.empty(0) for _ in none))
    return traits, scores
