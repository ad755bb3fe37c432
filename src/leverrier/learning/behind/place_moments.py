"""Second moments of the design when the hidden variable's places are known in part, and what a child scores by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.added_terms import add_scores
from leverrier.learning.behind.child_fits import FLOOR, FLOOR_ROWS
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Mode, own_terms


@dataclass(frozen=True, eq=False)
class Moments:
    """`joint`: the Gram matrix of the design and, after it, the expected basis. `places`: one Gram for each class."""

    joint: Floats
    basis: int
    """The number of contrasts at the end of `joint`."""
    places: Floats | None
    rows: float


class Better(NamedTuple):
    """A child with other parents: the expected score, and which parents, face and mode have it."""

    score: float
    parents: tuple[str, ...]
    face: int
    mode: Mode


def moments_of(block: Block, posterior: Floats, basis: Floats, by_place: bool) -> Moments:
    q, d = basis.shape[1], block.design.shape[1]
    joint = np.empty((d + q, d + q))
    joint[:d, :d] = block.gram
    joint[:d, d:] = block.design.T @ (posterior @ basis)
    joint[d:, :d] = joint[:d, d:].T
    joint[d:, d:] = (basis * posterior.sum(axis=0)[:, None]).T @ basis
    places = np.stack([(block.design * share[:, None]).T @ block.design for share in posterior.T]) if by_place else None
    return Moments(joint, q, places, float(block.rows))


def factor_moments(block: Block, a: Floats, spread: float) -> Moments:
    """Of a continuum whose expectation is a · design, with this variance in every row."""
    d = block.design.shape[1]
    joint = np.empty((d + 1, d + 1))
    joint[:d, :d] = block.gram
    joint[:d, d] = joint[d, :d] = block.gram @ a
    joint[d, d] = block.rows * spread + a @ block.gram @ a
    return Moments(joint, 1, None, float(block.rows))


def number_score(block: Block, moments: Moments, column: str, parents: tuple[str, ...], face: int, mode: Mode) -> float:
    """The expected score of a number that hangs on the hidden variable."""
    return additions(block, moments, column, parents, face, mode, ())[0]


def additions(
    block: Block, moments: Moments, column: str, parents: tuple[str, ...], face: int, mode: Mode, more: tuple[str, ...]
) -> Floats:
    """The expected scores as it is, and with each of `more` as one more parent."""
    seen = block.columns[column].faces[face]
    own = [0, *(t for name in parents for t in own_terms(block, name, face))]
    extra = [own_terms(block, name, face) for name in more]
    if mode == Mode.SHIFT:
        d = len(moments.joint) - moments.basis
        parts = [(moments.joint, own + list(range(d, d + moments.basis)), moments.rows)]
    else:
        assert moments.places is not None
        parts = [(gram, own, float(gram[0, 0])) for gram in moments.places]
    sizes = np.array([0, *map(len, extra)])
    counts = len(parts) * (sizes + len(own) + 1) + (moments.basis if mode == Mode.SHIFT else 0)
    total = seen.total - counts * block.price
    new = np.array([t for terms in extra for t in terms], dtype=np.int64)
    starts = np.cumsum(sizes)
    for gram, base, rows in parts:
        add_scores(gram, np.array(base), seen.at, new, starts, rows, FLOOR_ROWS, FLOOR, total)
    return total


def best_number(
    block: Block,
    moments: Moments,
    column: str,
    parents: tuple[str, ...],
    allowed: tuple[str, ...],
    modes: tuple[Mode, ...],
    most: int,
) -> Better:
    """Greedily from these parents: one more or one fewer as long as the expected score rises; every face and mode."""
    best = Better(-np.inf, parents, 0, modes[0])
    for face in range(len(block.columns[column].faces)):
        for mode in modes:
            now, own = -np.inf, parents
            while True:
                more = tuple(each for each in allowed if each not in own) if len(own) < most else ()
                scores = additions(block, moments, column, own, face, mode, more)
                now = float(scores[0])
                fewer = [tuple(p for p in own if p != gone) for gone in own]
                without = [number_score(block, moments, column, each, face, mode) for each in fewer]
                up = float(scores[1:].max()) if len(more) else -np.inf
                down = max(without, default=-np.inf)
                if max(up, down) <= now + 0.1:
                    break
                own = (*own, more[int(scores[1:].argmax())]) if up > down else fewer[int(np.argmax(without))]
            if now > best.score:
                best = Better(now, own, face, mode)
    return best
