"""Is it real? What a sceptic asks of a hidden variable, answered by running the whole procedure again.

The gate is the null test: simulate tables from the best network *without* the hidden variable and search those in the
same way. A gain that such tables show as well is no evidence of a hidden cause: the variable then only compresses a
large table. The rest is information: gain on held-out rows, and how often it comes back in resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.evidence import ENOUGH, Evidence, Stopped
from leverrier.discovery.places.search import Search, begin, next_hidden, resume_from
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

MARGIN = 2.0
SPREADS = 2.5
FLOOR = 10.0
"""A gain is clear of the null draws when it exceeds the largest of them, and their mean by SPREADS standard deviations,
by MARGIN nats; and FLOOR in any case."""
CLEAR = 2.0
"""After ENOUGH draws a gain this many times the threshold needs no more of them."""
BATCH = 4
"""Draws between two looks at whether the answer is clear: the same whatever the number of workers."""


def threshold(null_gains: Sequence[float]) -> float:
    """What a gain must exceed: what nothing hidden produced, with room to spare.

    A network that stands in for a hidden variable imitates it, and tables drawn from it show some of its gain: the
    draws' spread says how much by chance, so the room is measured in it.
    """
    if not null_gains:
        return FLOOR
    usual = float(np.mean(null_gains)) + SPREADS * float(np.std(null_gains, ddof=len(null_gains) > 1))
    return max(max(null_gains) + MARGIN, usual + MARGIN, FLOOR)


def null_test(search: Search, draws: int, *, early: bool = True) -> Evidence:
    """The whole procedure on tables simulated from the model without the newest hidden variable, until it is clear."""
    gain = search.found[-1].gain
    known = search.found[-2] if len(search.found) > 1 else None
    silent = search.run.silent()
    job = Null(search.networks[-2], search.table, search.score, search.plan, known and known.sizes, silent)
    gains: list[float] = []
    stopped: Stopped | None = None
    level = len(search.found)
    for batch in _batches(np.random.SeedSequence([search.plan.seed, 7]).spawn(draws)):
        keys = [("null", level, seed.spawn_key, job.network.graph.parent_map) for seed in batch]
        drawn = search.run.map(job.gain, [(seed,) for seed in batch], keys)
        gains += [each for each in drawn if not np.isnan(each)]
        search.run.tell(Event.NULL_TABLES, len(gains) / draws)
        stopped = decided(gain, gains) if early else None
        if len(drawn) < len(batch) and not stopped:
            stopped = Stopped.BUDGET
        if stopped:
            break
    p = (1 + sum(each >= gain for each in gains)) / (1 + len(gains))
    whole = None if len(gains) == draws else stopped
    tested = bool(gains)  # (in no time at all nothing is tested)
    return Evidence(gain, tuple(gains), p if tested else None, gain > threshold(gains), tested, whole)


@dataclass(frozen=True, eq=False)
class Null:
    """Tables with nothing new hidden, shaped like the data: as many rows, the same holes."""

    network: Network
    table: Table
    score: Score
    plan: Plan
    sizes: Mapping[str, int] | None
    """Hidden variables that the simulated tables do have."""
    run: Run = UNBOUNDED

    def gain(self, seed: np.random.SeedSequence) -> float:
        """The best gain of one more hidden variable in a simulated table; 0 if nothing helped, NaN if time ran out."""
        search = begin(self.simulated(seed), self.score, replace(self.plan, max_hidden=1), self.run)
        if self.sizes:
            resume_from(search, self.network.graph, self.sizes)
        gain = search.found[-1].gain if next_hidden(search) else 0.0
        return float("nan") if self.run.spent else gain

    def simulated(self, seed: np.random.SeedSequence) -> Table:
        rows = round(self.table.total)
        drawn = self.network.sample(rows, seed=np.random.default_rng(seed)).select(self.table.variables)
        if not self.table.n_missing or rows != self.table.n_rows:
            return drawn
        codes = drawn.codes.astype(self.table.codes.dtype)
        codes[self.table.codes == self.table.missing] = self.table.missing
        return Table(drawn.columns, codes)


def _batches(seeds: Sequence[np.random.SeedSequence]) -> Iterator[Sequence[np.random.SeedSequence]]:
    for first in range(0, len(seeds), BATCH):
        yield seeds[first : first + BATCH]


def decided(gain: float, gains: Sequence[float]) -> Stopped | None:
    """Two draws that gain as much leave no hope; nor does a gain amid many draws. Far above several, it is clear."""
    amid = len(gains) >= ENOUGH and gain <= np.mean(gains) + np.std(gains)
    if sum(each >= gain for each in gains) >= 2 or amid:
        return Stopped.ALIKE
    if len(gains) >= ENOUGH and gain > CLEAR * threshold(gains):
        return Stopped.CLEAR
    return None
