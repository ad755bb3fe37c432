"""Are several traits real? The light search on tables with nothing hidden, shared by all; the whole procedure on
folds; each left out in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.numbers.number_rival import NumberRival
from leverrier.discovery.numbers.number_tests import by_folds, rows_of_fold
from leverrier.discovery.traits.trait_search import WithTraits, first_rival, rival_of, with_traits, without_trait
from leverrier.learning.mixed.learn_mixed import mixed_network, space_of
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_space import Space
from leverrier.models.mixed_network import MixedNetwork
from leverrier.run.one_thread import one_thread
from leverrier.run.run import UNBOUNDED, Run


@dataclass(frozen=True, eq=False)
class TraitNull:
    """Tables drawn from the best network without traits, as many rows as the data."""

    network: MixedNetwork
    parents: tuple[tuple[int, ...], ...]
    items: tuple[str, ...]
    n_rows: int
    run: Run = UNBOUNDED

    @one_thread
    def gain(self, seed: np.random.SeedSequence) -> float:
        """What the light search gains over the network that the table came from, fitted again: a search could only
        find a better one, so that simulated gains are rather too large. NaN if time ran out."""
        space = space_of(self.network.sample(self.n_rows, np.random.default_rng(seed)))
        place = {name: at for at, name in enumerate(space.names)}
        names = tuple(self.network.graph)
        scores = MixedScores(space)
        own = [(name, [names[p] for p in above]) for name, above in zip(names, self.parents, strict=True)]
        rival = sum(
            scores.family(place[name], [place[p] for p in above if p in place]) for name, above in own if name in place
        )
        found = with_traits(space, [name for name in self.items if name in place], light=True, run=self.run)
        return float("nan") if self.run.spent else found.score - rival


def trait_null(rival: NumberRival, items: tuple[str, ...], run: Run) -> TraitNull:
    number = rival.numbers
    parents = tuple(tuple(number[p] for p in rival.parents[name]) for name in rival.space.names)
    network = mixed_network(rival.scores, parents)
    order = {name: at for at, name in enumerate(network.graph)}
    own = tuple(tuple(order[p] for p in rival.parents[name]) for name in order)
    return TraitNull(network, own, items, rival.space.n_rows, run.silent())


def null_traits(job: TraitNull, gain: float, draws: int, level: float, seed: int, run: Run) -> Evidence:
    """`gain` is that of the light search in the data."""
    seeds = np.random.SeedSequence([seed, 79]).spawn(draws)
    keys = [("traits null", each.spawn_key, job.parents, job.items) for each in seeds]
    return drawn_evidence(gain, job.gain, seeds, keys, level, run)


def left_out(hidden: WithTraits, traits: tuple[int, ...], run: Run) -> dict[int, float]:
    """By trait, what the table's score falls by without it, everything else said again as well as it can be."""
    calls = [(hidden, trait) for trait in traits]
    keys = [("trait left out", trait, hidden.traits.columns, hidden.may) for trait in traits]
    scores = run.map(without_trait, calls, keys)
    return {trait: hidden.score - score for trait, score in zip(traits, scores, strict=False)}


def held_out_traits(space: Space, items: tuple[str, ...], seed: int, run: Run) -> Floats | None:
    """By row, what the whole procedure gained over its rival on rows that it had not seen."""
    return by_folds(space, seed, run, fold_gains, (space, items, seed), "traits fold")


@one_thread
def fold_gains(space: Space, items: tuple[str, ...], seed: int, fold: int) -> Floats:
    test = rows_of_fold(space, seed, fold)
    train = space.take(np.setdiff1d(np.arange(space.n_rows), test))
    hidden = with_traits(train, items)
    rival = rival_of(first_rival(train, seed), hidden, seed)
    rows = space.take(test)
    return hidden.row_logs(rows) - sum(rival.row_logs(rows, name, own) for name, own in rival.parents.items())
