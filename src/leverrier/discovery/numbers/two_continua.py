"""Two continua that go together: of these, one alone takes a column of the other, or gains nothing at all.

The first is what one continuum found, without one of its children, or what is found beside that. The second stands
below it. Each column then hangs on one of them, and what joins the two groups is one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from leverrier.discovery.numbers.hunt import VIEWS, hunt_continuum
from leverrier.discovery.numbers.number_rival import NumberRival, beside_known
from leverrier.learning.behind.factor_ascent import Factor
from leverrier.learning.behind.restructure import SHORT, refit
from leverrier.learning.behind.standing import Standing, descendants, stood, with_links
from leverrier.models.behind.block import Block
from leverrier.run.run import UNBOUNDED, Run

LEAST_COLUMNS = 2 * VIEWS


@dataclass(frozen=True, eq=False)
class TwoContinua:
    """The second is told by itself; `gain` is of both over the rival."""

    first: Standing
    second: Standing
    gain: float


def two_continua(block: Block, rival: NumberRival, single: Standing, run: Run = UNBOUNDED) -> TwoContinua | None:
    """The best two behind numbers, begun from the best one."""
    if len(block.columns) < LEAST_COLUMNS or not isinstance(single.behind, Factor):
        return None
    found = []
    for first in _firsts(block, rival, single, run):
        if first.views() < VIEWS or run.spent:
            continue
        base = beside_known(rival, first)
        second, _ = hunt_continuum(block, base, base.parents, frozenset(first.children), run, [first])
        if second is not None and second.views() >= VIEWS:
            found.append(TwoContinua(first, second, first.score - rival.total + second.score - base.total))
    return max(found, key=lambda each: each.gain, default=None)


def _firsts(block: Block, rival: NumberRival, single: Standing, run: Run) -> Iterator[Standing]:
    """One of its children given back, or none; and the best behind what these leave. Each also without the arcs into
    its children: those from columns of the second only stand in for it."""
    for each in _groups(block, rival, single, run):
        yield each
        if any(link.parents for link in each.behind.links):
            yield _bared(block, rival, each)


def _bared(block: Block, rival: NumberRival, found: Standing) -> Standing:
    links = tuple(replace(link, parents=()) for link in found.behind.links)
    return stood(block, rival, refit(block, found.behind, links, SHORT), with_links(found.parents, links))


def _groups(block: Block, rival: NumberRival, single: Standing, run: Run) -> Iterator[Standing]:
    yield single
    seen = {frozenset(single.children)}
    for child in single.children if len(single.children) > VIEWS else ():
        fewer = _without(block, rival, single, child)
        if fewer is None:
            continue
        yield fewer
        if run.spent:
            break
        other, _ = hunt_continuum(block, rival, rival.parents, frozenset(fewer.children), run)
        if other is not None and frozenset(other.children) not in seen:
            seen.add(frozenset(other.children))
            yield other


def _without(block: Block, rival: NumberRival, single: Standing, child: str) -> Standing | None:
    """A continuum without one of its children, which has its parents in the rival again."""
    own = rival.parents[child]
    if descendants(single.parents, child).intersection(own):
        return None
    links = tuple(link for link in single.behind.links if link.column != child)
    return stood(block, rival, refit(block, single.behind, links, SHORT), {**single.parents, child: own})
