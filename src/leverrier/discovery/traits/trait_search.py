"""The best model with several traits, and the best network of the same columns without anything hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.discovery.numbers.number_rival import WORTH, NumberRival, learn_rival
from leverrier.discovery.traits.first_traits import begun_traits, minimum_partial, standard_scores
from leverrier.learning.behind.standing import Parents
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_search import SHAKES, Limits, climb
from leverrier.learning.mixed.mixed_space import Space
from leverrier.learning.traits.item_block import ItemBlock, item_block
from leverrier.learning.traits.trait_arcs import ROUNDS, structured
from leverrier.learning.traits.trait_ascent import FINE, Ascended, ascend_traits, placed
from leverrier.models.behind.traits import Traits
from leverrier.run.one_thread import one_thread
from leverrier.run.run import UNBOUNDED, Run

LEAST_VIEWS = 3
"""A trait is shown by three items."""
MORE = 1
"""So many traits beyond what the glance says are tried: a way of answering that all items share is one."""
HOPELESS = -100.0
"""Nats over the first network: where a light search ends below, a whole one is not begun."""
NEAR = 60.0
"""Nats: where traits come so near to the first network, a better one is searched for in earnest."""


@dataclass(frozen=True, eq=False)
class WithTraits:
    """All traits together, and families of the columns that are no items: before the items, or after them."""

    block: ItemBlock
    ascended: Ascended
    beside: NumberRival
    """`parents` of the columns that are no items."""
    items: tuple[str, ...]
    may: tuple[str, ...]
    """Columns that items may hang on."""

    @property
    def score(self) -> float:
        """Of the whole table, in nats of z."""
        return self.ascended.score(self.block) + self.beside.total

    @property
    def traits(self) -> Traits:
        return self.ascended.traits

    def parents(self) -> dict[str, tuple[str, ...]]:
        """The observed arcs."""
        return {**self.traits.parents(), **self.beside.parents}

    def row_logs(self, space: Space) -> Floats:
        """log P of other rows of the same space."""
        logs = placed(item_block(space, self.block), self.traits, FINE).logs
        return logs + sum(self.beside.row_logs(space, name, own) for name, own in self.beside.parents.items())


def with_traits(space: Space, items: Sequence[str], *, light: bool = False, run: Run = UNBOUNDED) -> WithTraits:
    """From as many traits as a glance says, with other columns before the items and after them; and from one more. A
    `light` search has one structural step of each kind, and begins once."""
    scores, block = MixedScores(space), item_block(space)
    count = max(1, minimum_partial(standard_scores(space, items)))
    rounds = 1 if light else ROUNDS
    best = _searched(scores, block, items, count, True, rounds, run)
    if light:
        return best
    first = True
    if len(items) < len(space) and not run.spent:
        after = _searched(scores, block, items, count, False, rounds, run)
        best, first = (after, False) if after.score > best.score else (best, True)
    if 2 * (count + MORE) <= len(items) and not run.spent:
        more = _searched(scores, block, items, count + MORE, first, rounds, run)
        best = more if more.score > best.score else best
    return best


def _searched(
    scores: MixedScores, block: ItemBlock, items: Sequence[str], count: int, first: bool, rounds: int, run: Run
) -> WithTraits:
    """From so many traits; `first` says whether columns that are no items come before them."""
    space = scores.space
    may = space.names if first else tuple(items)
    begun, places = begun_traits(block, space, items, count)
    end = structured(block, ascend_traits(block, begun, places), may, rounds, lambda: run.spent)
    return WithTraits(block, end, _beside(scores, items, first, run), tuple(items), may)


def _beside(scores: MixedScores, items: Sequence[str], first: bool, run: Run) -> NumberRival:
    """The best families of the columns that are no items, by one climb."""
    names = scores.space.names
    number = {name: place for place, name in enumerate(names)}
    own = [number[name] for name in items]
    barred = {(p, c) for c in own for p in range(len(names))}
    if first:
        barred |= {(p, c) for p in own for c in range(len(names))}
    limits = Limits(forbidden=frozenset(barred), stop=lambda: run.spent)
    found = climb(scores, tuple(frozenset() for _ in names), limits)
    others = [at for at, name in enumerate(names) if name not in items]
    parents = {names[at]: tuple(names[p] for p in sorted(found[at])) for at in others}
    return NumberRival(scores, parents, sum(scores.family(at, found[at]) for at in others))


def first_rival(space: Space, seed: int, run: Run = UNBOUNDED) -> NumberRival:
    """The network without traits that one climb finds."""
    return learn_rival(MixedScores(space), seed, shakes=0, run=run)


def rival_of(first: NumberRival, hidden: WithTraits, seed: int, run: Run = UNBOUNDED) -> NumberRival:
    """The best network without traits: where traits come near to the first, from their arcs, from the items of each
    trait tied to each other, and shaken."""
    if hidden.score < first.total - NEAR or run.spent:
        return first
    starts = [first.parents, *_without_traits(hidden)]
    better = learn_rival(first.scores, seed, starts, SHAKES, run)
    return better if better.total > first.total + WORTH else first


def _without_traits(hidden: WithTraits) -> list[Parents]:
    """The observed arcs as they are; and with each trait's items all below its two clearest ones."""
    bare = hidden.parents()
    tied = dict(bare)
    loads = np.abs(hidden.traits.loads)
    for v in range(hidden.traits.count):
        own = sorted(hidden.traits.children(v), key=lambda name: -loads[hidden.traits.columns.index(name), v])
        for place, name in enumerate(own):
            tied[name] = tuple(dict.fromkeys((*own[: min(place, 2)], *(p for p in bare[name] if p not in own))))
    return [graph for graph in (bare, tied) if _acyclic(graph)]


def _acyclic(parents: Parents) -> bool:
    placed_: set[str] = set()
    while len(placed_) < len(parents):
        ready = {name for name, own in parents.items() if name not in placed_ and placed_.issuperset(own)}
        if not ready:
            return False
        placed_ |= ready
    return True


def shown(traits: Traits) -> tuple[int, ...]:
    """Traits that enough items show; others are ways of answering, which are not told."""
    return tuple(v for v in range(traits.count) if len(traits.children(v)) >= LEAST_VIEWS)


@one_thread
def without_trait(hidden: WithTraits, trait: int) -> float:
    """The score of the table where its items hang on observed columns and other traits alone, as well as they can."""
    block, traits = hidden.block, hidden.traits
    left = [v for v in range(traits.count) if v != trait]
    place = {v: at for at, v in enumerate(left)}
    items = []
    for each in traits.items:
        kept = [k for k, v in enumerate(each.on) if v != trait]
        slopes = np.concatenate([each.slopes[kept], each.slopes[len(each.on) :]])
        items.append(replace(each, on=tuple(place[each.on[k]] for k in kept), slopes=slopes))
    fewer = Traits(
        tuple(items),
        traits.correlation[np.ix_(left, left)],
        tuple(traits.drivers[v] for v in left),
        tuple(traits.effects[v] for v in left),
    )
    begun = ascend_traits(block, fewer, hidden.ascended.placed.modes[:, left])
    end = structured(block, begun, hidden.may)
    return end.score(block) + hidden.beside.total
