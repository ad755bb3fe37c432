"""Is it real? The whole procedure on tables with nothing hidden, on folds, and on resamples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.counts.label_agreement import adjusted_rand
from leverrier.data.table import Table
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence, evidence_of
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.sequential_test import monte_carlo
from leverrier.discovery.numbers.number_filling import filled
from leverrier.discovery.numbers.number_rule import Ruling, Weighed, excess_within, light_gain, weigh
from leverrier.learning.behind.placed import placed, places_of
from leverrier.learning.behind.space_block import block_of
from leverrier.learning.behind.standing import Standing
from leverrier.learning.mixed.learn_mixed import space_of
from leverrier.learning.mixed.mixed_space import Space
from leverrier.models.mixed_network import MixedNetwork
from leverrier.run.codecs import Key
from leverrier.run.one_thread import one_thread
from leverrier.run.run import UNBOUNDED, Run

FOLDS = 4
SHARE = 1 - 1 / np.e
SHARED, ALIGNED = 0.5, 0.3


@dataclass(frozen=True, eq=False)
class NumberNull:
    """Tables with nothing hidden, shaped like the data: as many rows, the margins as they are, the same holes."""

    network: MixedNetwork
    table: Table

    aim: float
    """The gain that simulated tables are compared with: of smaller ones a bound is enough."""
    light: bool = False
    """Whether a light hunt gained as much in the data: then it is asked of simulated tables as well."""
    run: Run = UNBOUNDED

    @one_thread
    def gain(self, seed: np.random.SeedSequence) -> float:
        """What the best class gains beyond a continuum in a simulated table; 0 if none helps, NaN if time ran out."""
        drawn = self.network.sample(self.table.n_rows, np.random.default_rng(seed))
        cells = {**drawn.raw}
        holes = {
            name: self.table.column(name) == self.table.missing for name in drawn.variables if self.table.n_missing
        }
        codes = drawn.codes.copy()
        for place, name in enumerate(drawn.variables):
            if name in holes:
                codes[place, holes[name]] = drawn.missing
                if name in cells:
                    cells[name] = np.where(holes[name], np.nan, cells[name])
        space = filled(space_of(replace(drawn, codes=codes, raw=cells)), 0)
        gain = excess_within(space, 0, self.aim, self.light, self.run)
        return float("nan") if self.run.spent else max(gain, 0.0)


def number_null(network: MixedNetwork, table: Table, whole: Space, found: Weighed, seed: int, run: Run) -> NumberNull:
    """The test of a class that the rule names. What is compared is the smaller one of two gains, that of the whole
    procedure and that of a light hunt, in the data as in simulated tables: most of those are settled by the second.
    Where a light hunt does not gain as much in the data, the whole procedure alone is compared."""
    light = run.made(("numbers light",), lambda: light_gain(whole, seed, run) >= found.excess)
    return NumberNull(network, table, found.excess, light, run.silent())


def null_evidence(job: NumberNull, draws: int, level: float, seed: int, run: Run) -> Evidence:
    """What a class gains beyond a continuum, beside the same in simulated tables, until it is clear."""
    seeds = np.random.SeedSequence([seed, 67]).spawn(draws)
    known = job.network.graph.parent_map, round(job.aim, 6), job.light
    return drawn_evidence(
        job.aim, job.gain, seeds, [("numbers null", each.spawn_key, *known) for each in seeds], level, run
    )


def beside(gain: float, drawn: Evidence, draws: int, level: float) -> Evidence:
    """Another gain beside the same simulated tables: what they gained bounds what one more could gain in them."""
    gains = drawn.null_gains
    return evidence_of(gain, gains, monte_carlo(gain, gains, draws), level)


def held_out_numbers(space: Space, seed: int, run: Run) -> Floats | None:
    """By row, what the whole procedure gained over its rival on rows that it had not seen; 0 where it found nothing."""
    return by_folds(space, seed, run, fold_gains, (space, seed), "numbers fold")


def by_folds(
    space: Space, seed: int, run: Run, gains: Callable[..., Floats], asked: tuple[Any, ...], key: str
) -> Floats | None:
    """What `gains(*asked, fold)` gives for the rows of each fold, all rows in their order; None if time ran out."""
    calls, keys = _folding(asked, key)
    folds = run.map(gains, calls, keys, lambda found: found.tolist(), np.array)
    if len(folds) < FOLDS:
        return None
    gained = np.zeros(space.n_rows)
    for fold, each in enumerate(folds):
        gained[rows_of_fold(space, seed, fold)] = each
    return gained


def _folding(asked: tuple[Any, ...], key: str) -> tuple[list[tuple[Any, ...]], list[Key]]:
    """The calls, with their keys, for each fold."""
    return [(*asked, fold) for fold in range(FOLDS)], [(key, fold) for fold in range(FOLDS)]


def begin_tests(space: Space, weighed: Weighed, folds: bool, resamples: int, seed: int, run: Run) -> None:
    """Have another process begin with resamples and folds, from the last: we begin with the first, and meet it."""
    for function, asked in (
        (came_back, _resampling(space, weighed, resamples, seed) if resamples else None),
        (fold_gains, _folding((space, seed), "numbers fold") if folds else None),
    ):
        if asked is not None:
            run.begin_ahead(function, asked[0][::-1], asked[1][::-1])


@one_thread
def fold_gains(space: Space, seed: int, fold: int) -> Floats:
    """The same for the rows of one fold."""
    test = rows_of_fold(space, seed, fold)
    train = np.setdiff1d(np.arange(space.n_rows), test)
    found = weigh(space.take(train), seed)
    hidden = found.chosen if found.two is None else found.hunted.of_continuum  # (one speaks for both)
    return np.zeros(len(test)) if found.chosen is None or hidden is None else row_gains(found, hidden, space.take(test))


def rows_of_fold(space: Space, seed: int, fold: int) -> NDArray[np.int64]:
    """Those held out in it."""
    return np.sort(np.random.default_rng([seed, 71]).permutation(space.n_rows)[fold::FOLDS])


def row_gains(found: Weighed, hidden: Standing, rows: Space) -> Floats:
    """log P(row) with the hidden variable less that of the rival."""
    rival, children = found.rival, set(hidden.children)
    gained = placed(block_of(rows), hidden)[1]
    for name in rows.names:
        gained -= rival.row_logs(rows, name, rival.parents[name])
        if name not in children:
            gained += rival.row_logs(rows, name, hidden.parents[name])
    return gained


@one_thread
def came_back(
    space: Space, chosen: Standing, told: Ruling, posterior: Floats, seed: np.random.SeedSequence
) -> list[str]:
    """The children of the same hidden variable in a resample; none if it did not come back."""
    kept = np.flatnonzero(np.random.default_rng(seed).random(space.n_rows) < SHARE)
    found = weigh(space.take(kept), 0)
    again = found.chosen
    if again is not None and found.two is not None and again is found.two.first:
        both = set(chosen.children)
        again = max((again, found.two.second), key=lambda each: len(both.intersection(each.children)))
    if again is None or (again.continuum != chosen.continuum and told is not Ruling.UNDECIDED):
        return []
    both = set(again.children) & set(chosen.children)
    if len(both) < SHARED * len(set(again.children) | set(chosen.children)):
        return []
    theirs = places_of(block_of(space), again)
    agree = adjusted_rand(_halves(posterior, chosen), _halves(theirs, again))
    return list(again.children) if agree >= ALIGNED else []


def _halves(posterior: Floats, hidden: Standing) -> NDArray[np.int64]:
    """The state of each row; of a continuum, on which side of its middle."""
    if not hidden.continuum:
        return posterior.argmax(axis=1)
    mean = posterior @ np.arange(posterior.shape[1])
    return (mean > np.median(mean)).astype(np.int64)


def support_of(
    space: Space, weighed: Weighed, resamples: int, seed: int, run: Run
) -> tuple[float, dict[str, float]] | None:
    """The share of resamples in which it came back, and by column how often it was among the children."""
    chosen = weighed.chosen
    assert chosen is not None
    runs = run.map(came_back, *_resampling(space, weighed, resamples, seed))
    if not runs:
        return None
    back = [each for each in runs if each]
    names = sorted({*chosen.children, *(name for each in back for name in each)})
    return len(back) / len(runs), {name: sum(name in each for each in back) / len(runs) for name in names}


def _resampling(space: Space, weighed: Weighed, resamples: int, seed: int) -> tuple[list[tuple[Any, ...]], list[Key]]:
    """The calls, with their keys, of searches in rows drawn anew."""
    chosen = weighed.chosen
    assert chosen is not None
    posterior = places_of(block_of(space), chosen)
    seeds = np.random.SeedSequence([seed, 73]).spawn(resamples)
    calls = [(space, chosen, weighed.told, posterior, each) for each in seeds]
    return calls, [("numbers resample", each.spawn_key) for each in seeds]
