"""How columns hang on a hidden variable and on observed ones beside it: what is fitted, and each fit as a value.

The hidden variable takes K places. A class has free shares and a basis of K − 1 contrasts; a continuum has fixed
shares (those of a standard normal on nodes) and the node itself as its basis. So a shift is one regression for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kinds import Kinds
from leverrier.models.behind.block import Block, Codes
from leverrier.plain_values import Plain

NODES, REACH = 25, 4.2
"""A continuum's places: the trapezoid rule on ±4.2 is exact to 1e-3 where a row says its place within 0.2."""


class Mode(Kinds):
    """How a column hangs on a hidden variable."""

    SHIFT = "shift"
    """A number: its mean is shifted, slopes and variance are shared."""
    ALL = "all"
    """A number: all of it by class."""
    TABLE = "table"
    """States: a table."""
    LOGIT = "logit"

    @property
    def of_number(self) -> bool:
        return self in (Mode.SHIFT, Mode.ALL)


@dataclass(frozen=True, eq=False)
class Latent:
    """The places a hidden variable takes."""

    shares: Floats
    basis: Floats
    """(places, contrasts)."""
    fixed: bool

    @property
    def places(self) -> int:
        return len(self.shares)

    @property
    def dimension(self) -> int:
        return 0 if self.fixed else self.places - 1


def classes(shares: Floats) -> Latent:
    k = len(shares)
    return Latent(shares, np.concatenate([np.zeros((1, k - 1)), np.eye(k - 1)]), fixed=False)


def continuum(nodes: int = NODES) -> Latent:
    """A standard normal on evenly spaced nodes."""
    t = np.linspace(-REACH, REACH, nodes)
    shares = np.exp(-0.5 * t * t)
    return Latent(shares / shares.sum(), t[:, None], fixed=True)


@dataclass(frozen=True)
class Link:
    """A child of the hidden variable, its observed parents, and the shape of its distribution."""

    column: str
    parents: tuple[str, ...] = ()
    face: int = 0
    mode: Mode = Mode.SHIFT

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", Mode(self.mode))


@dataclass(frozen=True, eq=False)
class NumberFit(Plain):
    """mean = constant of the place + slopes · terms; one variance a place."""

    terms: NDArray[np.intp]
    constants: Floats
    slopes: Floats
    """(terms,) if shared, (places, terms) if by class."""
    variances: Floats
    kind: ClassVar[str] = "number"

    @property
    def shared(self) -> bool:
        return self.slopes.ndim == 1


@dataclass(frozen=True, eq=False)
class TableFit(Plain):
    """P(state | place, configuration of the parents): (places, configurations, states)."""

    table: Floats
    parents: tuple[int, ...]
    """Their numbers of states: a configuration is a mixed-radix number."""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, eq=False)
class LogitFit(Plain):
    """A logit in the place's basis and the parents' terms."""

    theta: Floats
    terms: NDArray[np.intp]
    states: int
    ordered: bool
    kind: ClassVar[str] = "logit"


Fit = NumberFit | TableFit | LogitFit


def read_fit(content: Mapping[str, Any]) -> Fit:
    """What `content` made of a fit."""
    return {each.kind: each for each in get_args(Fit)}[content["kind"]].of_content(content)


def own_terms(block: Block, parent: str, face: int) -> tuple[int, ...]:
    """A parent's columns of the design, for a child with this face: raw shapes go with raw shapes."""
    seen = block.columns[parent]
    return seen.raw_terms if face and seen.raw_terms else seen.terms


def terms_of(block: Block, link: Link) -> NDArray[np.intp]:
    return np.array([t for name in link.parents for t in own_terms(block, name, link.face)], dtype=np.intp)


def configurations(block: Block, parents: tuple[str, ...]) -> tuple[Codes, tuple[int, ...]]:
    """The parents' states as one number a row."""
    place = np.zeros(block.rows, dtype=np.int64)
    sizes = []
    for name in parents:
        seen = block.columns[name]
        assert seen.codes is not None
        place = place * seen.states + seen.codes
        sizes.append(seen.states)
    return place, tuple(sizes)


def dimension_of(block: Block, latent: Latent, link: Link) -> int:
    """The number of free parameters of a child."""
    seen, k, q = block.columns[link.column], latent.places, latent.basis.shape[1]
    p = len(terms_of(block, link))
    if link.mode is Mode.SHIFT:
        return p + q + 2
    if link.mode is Mode.ALL:
        return k * (p + 2)
    if link.mode is Mode.TABLE:
        return k * int(np.prod([block.columns[name].states for name in link.parents])) * (seen.states - 1)
    return seen.states - 1 + p + q if seen.ordered else (seen.states - 1) * (1 + p + q)
