"""Where rows stand on a hidden variable, whatever its kind."""

from __future__ import annotations

from leverrier.arrays import Floats
from leverrier.learning.behind.ascent import Behind
from leverrier.learning.behind.factor_ascent import on_nodes
from leverrier.learning.behind.standing import Standing
from leverrier.models.behind.block import Block
from leverrier.models.behind.child_density import posterior_of, row_logs


def as_places(hidden: Standing) -> Behind:
    """On places: a continuum behind numbers on fine nodes."""
    return hidden.behind if isinstance(hidden.behind, Behind) else on_nodes(hidden.behind)


def placed(block: Block, hidden: Standing) -> tuple[Floats, Floats]:
    """P(place | row), and log P(children | parents), by row."""
    behind = as_places(hidden)
    return posterior_of(row_logs(block, behind.latent, behind.links, behind.fits))


def places_of(block: Block, hidden: Standing) -> Floats:
    return placed(block, hidden)[0]
