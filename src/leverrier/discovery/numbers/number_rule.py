"""The rule: what gains over the rival make a class, a continuum, something of undecided kind, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leverrier.discovery.numbers.hunt import VIEWS, Hunted, hunt, hunt_class
from leverrier.discovery.numbers.number_rival import NumberRival, best_beside, learn_rival, repaired
from leverrier.discovery.numbers.two_continua import TwoContinua, two_continua
from leverrier.kinds import Kinds
from leverrier.learning.behind.placed import places_of
from leverrier.learning.behind.space_block import block_of
from leverrier.learning.behind.standing import Standing
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_search import SHAKES
from leverrier.learning.mixed.mixed_space import Space
from leverrier.models.behind.block import Block
from leverrier.run.run import UNBOUNDED, Run

CLASS_ROOM = 2.0
"""Nats that a class must have over the rival: simulated tables and held-out rows are asked besides."""
ROOM = 3.0
"""The same of a continuum, which simulated tables cannot test. Its gain is parsimony and has an end (6.9 nats behind
four columns of 1,000 rows)."""
REPAIRS = 8


class Ruling(Kinds):
    """What the rule says of a table."""

    CLASS = "class"
    CONTINUUM = "continuum"
    UNDECIDED = "undecided"
    """Either of the two."""
    NOTHING = "nothing"


@dataclass(frozen=True, eq=False)
class Weighed:
    """The rival, the best hidden class and continuum, and what the rule says of them."""

    rival: NumberRival
    hunted: Hunted
    repaired: float
    """What searching on from where a hidden variable stood added to the rival, in nats."""
    two: TwoContinua | None = None
    """Where two continua that go together say more than one."""

    @property
    def class_gain(self) -> float:
        """Over the rival; a class that fewer than three views show does not count."""
        found = self.hunted.of_class
        return float("-inf") if found is None or found.views() < VIEWS else found.score - self.rival.total

    @property
    def continuum_gain(self) -> float:
        """Of one continuum, or of two that go together."""
        if self.two is not None:
            return self.two.gain
        found = self.hunted.of_continuum
        return float("-inf") if found is None or found.views() < VIEWS else found.score - self.rival.total

    @property
    def bare_gain(self) -> float:
        """Of the best class, however few views show it."""
        found = self.hunted.bare
        return float("-inf") if found is None else found.score - self.rival.total

    @property
    def told(self) -> Ruling:
        of_class, of_continuum = self.class_gain, self.continuum_gain
        if of_class > CLASS_ROOM and of_class > of_continuum:
            return Ruling.CLASS
        if of_continuum > ROOM:
            return Ruling.CONTINUUM if of_continuum - of_class > CLASS_ROOM else Ruling.UNDECIDED
        return Ruling.NOTHING

    @property
    def gain(self) -> float:
        """Of the better one over the rival; two continua share what they gain."""
        if self.two is not None and self.chosen is self.two.first:
            return self.two.gain / 2
        return max(self.class_gain, self.continuum_gain)

    @property
    def excess(self) -> float:
        """What a class gains beyond a continuum: arcs that imitate a continuum gain little of it."""
        return self.class_gain - max(0.0, self.continuum_gain)

    @property
    def chosen(self) -> Standing | None:
        """The one that the rule prefers: of an undecided pair the better."""
        if self.told is Ruling.NOTHING:
            return None
        if self.class_gain >= self.continuum_gain:
            return self.hunted.of_class
        return self.hunted.of_continuum if self.two is None else self.two.first


def weigh(space: Space, seed: int, run: Run = UNBOUNDED) -> Weighed:
    """The whole procedure on a space without holes: rival, hunt, repair, and over again if the rival got better.

    A rival that one climb finds is enough where nothing hidden comes up to it: a better one could only be farther
    ahead. It is searched for in earnest as soon as something does. A run that is spent ends where it is.
    """
    rival = learn_rival(MixedScores(space), seed, shakes=0, run=run)
    block = block_of(space)
    found = _weighed(rival, block, seed, run)
    single = found.hunted.of_continuum
    if single is None or found.class_gain > max(found.continuum_gain, CLASS_ROOM) or run.spent:
        return found
    two = two_continua(block, found.rival, single, run)
    better = two is not None and two.gain > max(found.continuum_gain, 0.0) + ROOM
    return replace(found, two=two) if better else found


def _weighed(rival: NumberRival, block: Block, seed: int, run: Run) -> Weighed:
    first, earnest = rival.total, False
    hunted = hunt(block, rival, rival.parents, seed, run=run)
    for _ in range(REPAIRS):
        best = hunted.better_of()
        if best is None or best.score <= rival.total or run.spent:
            break
        better = repaired(rival, best, places_of(block, best), seed, 0 if earnest else SHAKES, run)
        if better is rival:
            break
        rival, earnest = better, True
        hunted = hunt(block, rival, rival.parents, seed, run=run, before=hunted.bare)
    return Weighed(rival, hunted, rival.total - first)


def light_gain(space: Space, seed: int, run: Run = UNBOUNDED) -> float:
    """What the class of a light hunt gains over a rival from one climb, with no continuum beside it."""
    return _bound(learn_rival(MixedScores(space), seed, shakes=0, run=run), block_of(space), seed, 0.0, run, light=True)


def excess_within(space: Space, seed: int, aim: float, light: bool = False, run: Run = UNBOUNDED) -> float:
    """What a class gains beyond a continuum, by the same procedure; where it is sure to stay below `aim`, a bound of it
    that does too: the gain of a class over a rival from one climb, with no continuum beside it, can only be larger.
    With `light` it is the smaller one of that and of what a light hunt gains, which mostly settles it."""
    rival = learn_rival(MixedScores(space), seed, shakes=0, run=run)
    block = block_of(space)
    for lightly in (True, False) if light else (False,):
        bound = _bound(
            rival, block, seed, 0.0 if lightly else aim, run, lightly
        )  # (light: the same whatever is aimed at)
        if bound < aim:
            return bound
    return _weighed(rival, block, seed, run).excess


def _bound(rival: NumberRival, block: Block, seed: int, aim: float, run: Run, light: bool) -> float:
    of_class, _, _ = hunt_class(block, rival, rival.parents, seed, run=run, aim=aim, light=light)
    return Weighed(rival, Hunted(of_class, None, 0), 0.0).class_gain


def weigh_more(found: Weighed, known: Sequence[Standing], seed: int, run: Run = UNBOUNDED) -> Weighed:
    """One more hidden variable, behind columns that hang on none yet; those may still drive them, and a continuum may
    go together with those that are known."""
    rival = best_beside(found.rival, known, seed, run=run)
    taken = frozenset(child for each in known for child in each.children)
    hunted = hunt(block_of(rival.space), rival, rival.parents, seed, taken, run, known=known)
    return Weighed(rival, hunted, found.repaired)
