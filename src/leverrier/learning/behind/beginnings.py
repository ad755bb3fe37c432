"""Where EM for a class begins: cuts of principal components, of the distance from the middle, and k-means."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.child_fits import solved
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Link, terms_of

SURE = 0.9
MEANS_STEPS = 12


def beginnings(block: Block, links: tuple[Link, ...], states: int, rng: np.random.Generator) -> list[Floats]:
    """Posteriors (rows, states) to begin from."""
    y = residuals(block, links)
    centred = y - y.mean(axis=0)
    squares, turned = np.linalg.eigh(centred.T @ centred)
    size = np.sqrt(np.maximum(squares[::-1], 1e-12))
    left = centred @ turned[:, ::-1] / size  # the principal components, largest first
    first = left[:, 0]
    far = (centred**2 / np.maximum(centred.var(axis=0), 1e-9)).sum(axis=1)
    cuts = [_cut(first, np.arange(1, states) / states), _cut(far, np.arange(1, states) / states)]
    if states == 2:
        cuts += [_cut(first, np.array([0.25])), _cut(first, np.array([0.75]))]
    elif states > 2:
        tails = np.linspace(0.2, 0.8, states - 1)
        cuts.append(_cut(first, tails))
    few = left[:, : min(len(links), 4)] * np.minimum(size[: min(len(links), 4)], 3 * size[0])
    cuts += [_means(few, states, rng) for _ in range(2)]
    return [_soft(each, states) for each in cuts]


def halves(columns: Floats, most: int) -> list[Floats]:
    """Posteriors of two places: below and above the median of each of the first principal components."""
    centred = columns - columns.mean(axis=0)
    _, turned = np.linalg.eigh(centred.T @ centred)
    return [_soft(_cut(centred @ each, np.array([0.5])), 2) for each in turned[:, ::-1].T[:most]]


def residuals(block: Block, links: tuple[Link, ...]) -> Floats:
    """The children less what their observed parents say, each of variance one."""
    found = []
    for link in links:
        seen = block.columns[link.column]
        terms = np.concatenate([[0], terms_of(block, link)]).astype(np.intp)
        sources = [block.design[:, seen.faces[link.face].at]] if seen.faces else list(block.design[:, seen.terms].T)
        for y in sources[:4]:
            x = block.design[:, terms]
            rest = y - x @ solved(block.gram[np.ix_(terms, terms)], x.T @ y)
            found.append(rest / max(float(rest.std()), 1e-9))
    return np.column_stack(found)


def _cut(values: Floats, shares: Floats) -> np.ndarray:
    return np.searchsorted(np.quantile(values, shares), values, side="right")


def _means(points: Floats, states: int, rng: np.random.Generator) -> np.ndarray:
    """Lloyd's k-means from rows drawn far apart."""
    centres = [points[rng.integers(len(points))]]
    while len(centres) < states:
        away = np.min([((points - c) ** 2).sum(axis=1) for c in centres], axis=0)
        centres.append(points[rng.choice(len(points), p=away / away.sum())] if away.sum() > 0 else points[0])
    middle = np.array(centres)
    near = np.zeros(len(points), dtype=np.int64)
    for _ in range(MEANS_STEPS):
        near = (points @ middle.T - 0.5 * (middle**2).sum(axis=1)).argmax(axis=1)
        own = (near == np.arange(states)[:, None]).astype(np.float64)
        rows = own.sum(axis=1)[:, None]
        middle = np.where(rows > 0, (own @ points) / np.maximum(rows, 1.0), middle)
    return near


def _soft(codes: np.ndarray, states: int) -> Floats:
    share = np.full((len(codes), states), (1 - SURE) / (states - 1))
    share[np.arange(len(codes)), codes] = SURE
    return share
