"""How a column of states may hang on a hidden variable and on observed parents, and what that is worth."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.state_children import fit_states
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Latent, Link, Mode, dimension_of

MOST_CELLS = 48


def state_links(block: Block, continuous: bool, child: str, own: tuple[str, ...]) -> list[Link]:
    """A table where all parents have states and few cells; a logit where it is not the same with the same parameters.
    Behind a continuum a logit of it alone."""
    if continuous:
        return [Link(child, (), 0, Mode.LOGIT)]
    cells = [block.columns[p].states if block.columns[p].codes is not None else MOST_CELLS + 1 for p in own]
    logit = Link(child, own, 0, Mode.LOGIT)
    if np.prod([1, *cells]) > MOST_CELLS:
        return [logit]
    table = Link(child, own, 0, Mode.TABLE)
    ordered = block.columns[child].ordered and block.columns[child].states > 2
    return [table, logit] if own or ordered else [table]


def expected_score(block: Block, latent: Latent, share: Floats, link: Link) -> float:
    """The expected log density where rows stand by `share` (places, rows), parameters paid for."""
    return fit_states(block, latent, link, share).value - dimension_of(block, latent, link) * block.price
