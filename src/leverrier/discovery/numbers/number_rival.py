"""The rival: the best network without anything hidden, and who scores a column by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.behind.standing import Parents, Standing
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_search import SHAKES, Limits, mixed_search
from leverrier.learning.mixed.mixed_space import Space
from leverrier.run.run import UNBOUNDED, Run

WORTH = 0.05


@dataclass(frozen=True, eq=False)
class NumberRival:
    """A network over the columns of a space, by name."""

    scores: MixedScores
    parents: Parents
    total: float

    @property
    def space(self) -> Space:
        return self.scores.space

    def score(self, column: str, parents: tuple[str, ...]) -> float:
        """Of a column on which nothing hidden works: nats of z, parameters paid for."""
        number = self.numbers
        return self.scores.family(number[column], [number[p] for p in parents])

    @property
    def numbers(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.space.names)}

    def row_logs(self, space: Space, column: str, parents: tuple[str, ...]) -> Floats:
        """log P(cell | parents) of other rows of the same space."""
        number = self.numbers
        own = sorted(number[p] for p in parents)
        family = self.scores.fitted(number[column], own).family
        return family.log_density(space.columns[number[column]].cells, [space.columns[p].cells for p in own])


def learn_rival(
    scores: MixedScores, seed: int, starts: Sequence[Parents] = (), shakes: int = SHAKES, run: Run = UNBOUNDED
) -> NumberRival:
    """The best network that a search finds, from these graphs too, shaken so often."""
    return _searched(scores, starts, Limits(stop=lambda: run.spent), seed, shakes)


def _searched(scores: MixedScores, starts: Sequence[Parents], limits: Limits, seed: int, shakes: int) -> NumberRival:
    names = scores.space.names
    number = {name: place for place, name in enumerate(names)}
    begun = [[tuple(number[p] for p in graph[name]) for name in names] for graph in starts]
    found = mixed_search(scores, seed=seed, starts=begun, shakes=shakes, limits=limits)
    parents = {names[child]: tuple(names[p] for p in above) for child, above in enumerate(found)}
    return NumberRival(scores, parents, scores.total(found))


def repaired(
    rival: NumberRival, hidden: Standing, posterior: Floats, seed: int, shakes: int = SHAKES, run: Run = UNBOUNDED
) -> NumberRival:
    """The search again from where a hidden variable led it; the same rival if that finds nothing better."""
    starts = [rival.parents, *graphs_without(rival, hidden, posterior)]
    found = learn_rival(rival.scores, seed, starts, shakes, run)
    return found if found.total > rival.total + WORTH else rival


def beside_known(rival: NumberRival, known: Standing) -> NumberRival:
    """The network with the observed arcs that stand beside a hidden variable, as they are."""
    total = sum(rival.score(name, own) for name, own in known.parents.items())
    return NumberRival(rival.scores, known.parents, total)


def best_beside(rival: NumberRival, known: Sequence[Standing], seed: int, run: Run = UNBOUNDED) -> NumberRival:
    """The best network beside hidden variables, whose children keep the observed parents that they have there: what one
    more is weighed against. It is searched for as strongly as any rival, lest one more only repairs it."""
    number, parents = rival.numbers, known[-1].parents
    settled = {number[child]: {number[p] for p in parents[child]} for each in known for child in each.children}
    limits = Limits(
        required=frozenset((p, child) for child, above in settled.items() for p in above),
        forbidden=frozenset((p, c) for c, above in settled.items() for p in number.values() if p not in above),
        stop=lambda: run.spent,
    )
    return _searched(rival.scores, [parents], limits, seed, SHAKES)


def graphs_without(rival: NumberRival, hidden: Standing, posterior: Floats) -> list[Parents]:
    """The observed arcs of a hidden model as they are, with its children all linked, and with the column that knows
    most of the hidden variable in its place, or the two that do: beside the hidden model's arcs, and beside the
    rival's."""
    children = sorted(hidden.children, key=_order(hidden.parents).index)
    clique = dict(hidden.parents)
    for place, child in enumerate(children[1:], start=1):
        clique[child] = tuple(dict.fromkeys((*clique[child], *children[:place])))[:4]
    centres = stand_ins(rival.space, posterior)
    graphs = (hidden.parents, rival.parents)
    stars = [_star(parents, children, centres[:count]) for parents in graphs for count in (1, 2)]
    return [hidden.parents, clique, *stars]


def _star(parents: Parents, children: Sequence[str], centres: tuple[str, ...]) -> Parents:
    """One column, or two, above all of these, and nothing above them."""
    above = {name: tuple(dict.fromkeys((*centres, *own)))[:4] for name, own in parents.items() if name in children}
    return {**parents, **above, **{centre: centres[:at] for at, centre in enumerate(centres)}}


def stand_ins(space: Space, posterior: Floats) -> tuple[str, str]:
    """The column whose codes know most of where rows stand, and the one that knows most beside it."""
    first = max(space.columns, key=lambda column: _shared(column.codes, column.n_codes, posterior))
    others = [column for column in space.columns if column is not first]
    second = max(
        others,
        key=lambda each: _shared(first.codes * each.n_codes + each.codes, first.n_codes * each.n_codes, posterior),
    )
    return first.name, second.name


def _shared(codes: NDArray[np.int64], n_codes: int, posterior: Floats) -> float:
    """The mutual information of codes and places, in nats."""
    joint = np.stack([np.bincount(codes, share, n_codes) for share in posterior.T]) / len(codes)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float((joint * np.log(np.maximum(joint, 1e-300) / np.maximum(apart, 1e-300))).sum())


def _order(parents: Parents) -> list[str]:
    """Parents before children."""
    placed: list[str] = []
    while len(placed) < len(parents):
        placed += [name for name, own in parents.items() if name not in placed and all(p in placed for p in own)]
    return placed
