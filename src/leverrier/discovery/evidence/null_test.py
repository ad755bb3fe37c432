"""Is it real? What a sceptic asks of a hidden variable, answered by running the whole procedure again.

The gate is the null test: simulate tables from the best network *without* the hidden variable, and search those and the
data in the same way, a quick one (docs/decisions/0016-a-light-statistic.md). A gain that such tables show as well is no
evidence of a hidden cause: the variable then only compresses a large table. The rest is information: gain on held-out
rows, and how often it comes back in resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence, evidence_of, unseen
from leverrier.discovery.evidence.evidence import LEVEL, Evidence
from leverrier.discovery.evidence.whole_groups import Groups, Likeness, likeness
from leverrier.discovery.places.deepening import Found
from leverrier.discovery.places.search import Search, begin, next_hidden, resume_from
from leverrier.discovery.plan import Plan
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.codecs import name_of
from leverrier.run.run import UNBOUNDED, Run

WORTH_A_TEST = 1.0
"""Nats below which a gain is not worth a test: docs/decisions/0015-a-level-instead-of-a-floor.md."""


def null_test(search: Search, draws: int, level: float = LEVEL, groups: Groups | None = None) -> Evidence:
    """The light search on the data and on tables simulated from the model without the newest hidden variable, until it
    is clear. The evidence's gain is the light search's; where that is none no table can gain less, so none is drawn."""
    known = search.found[-2] if len(search.found) > 1 else None
    gain = _data_gain(search, search.networks[-2], known)
    if np.isnan(gain):
        return evidence_of(search.found[-1].gain, [], None, level)
    if gain <= 0:
        return unseen(level)
    silent = search.run.silent()
    job = Null(search.networks[-2], search.table, search.score, search.plan, known and known.sizes, silent, groups)
    seeds = np.random.SeedSequence([search.plan.seed, 7]).spawn(draws)
    about = ("null", len(search.found), job.network.graph.parent_map)
    return drawn_evidence(gain, job.gain, seeds, [(*about, seed.spawn_key) for seed in seeds], level, search.run)


def one_more(search: Search) -> bool:
    """Whether the light search sees one more hidden variable in the data than were found: else no whole search could
    find one that the test would believe."""
    return not _data_gain(search, search.networks[-1], search.found[-1] if search.found else None) <= 0


def _data_gain(search: Search, network: Network, known: Found | None) -> float:
    """What one more hidden variable gains in the data by the light search, given those before it; NaN if time ran
    out."""
    if known is None and search.light_gain is not None and not search.table.n_missing:
        return float("nan") if search.run.spent else search.light_gain
    key = name_of(("light", network.graph.parent_map, known and tuple(known.sizes.items())))
    if key not in search.light:
        alone = search.run.unkept()
        job = Null(network, search.table, search.score, search.plan, known and known.sizes, alone)
        gain = search.run.once(("light", key), partial(job.statistic, search.table), otherwise=lambda: float("nan"))
        if np.isnan(gain):
            return gain
        search.light[key] = gain
    return search.light[key]


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
    groups: Groups | None = None
    """By row, the group that it is one of: simulated rows are as alike within it."""

    def gain(self, seed: np.random.SeedSequence) -> float:
        """The best gain of one more hidden variable in a simulated table; 0 if nothing helped, NaN if time ran out."""
        return float(np.max([self.statistic(table) for table in self.tables(seed)]))  # (NaN if any is)

    def statistic(self, table: Table) -> float:
        """The same of any table, by the light search."""
        search = begin(table, self.score, self.plan.light(), self.run)
        if self.sizes:
            resume_from(search, self.network.graph, self.sizes)
        gain = search.found[-1].gain if next_hidden(search, fitted=False) else 0.0
        return float("nan") if self.run.spent else gain

    def tables(self, seed: np.random.SeedSequence) -> list[Table]:
        """One simulated table. With groups two, of which the larger gain counts, so that neither explains it: arcs and
        likeness beyond them; or likeness alone, since arcs take up what all columns of a group share."""
        if self.groups is None:
            return [self.simulated(seed)]
        rng = np.random.default_rng(seed)
        return [alike.simulated(network, self.table, rng) for network, alike in self.likenesses]

    def simulated(self, seed: np.random.SeedSequence) -> Table:
        rows = round(self.table.total)
        drawn = self.network.sample(rows, seed=np.random.default_rng(seed)).select(self.table.variables)
        if not self.table.n_missing or rows != self.table.n_rows:
            return drawn
        codes = drawn.codes.astype(self.table.codes.dtype)
        codes[self.table.codes == self.table.missing] = self.table.missing
        return Table(drawn.columns, codes)

    @cached_property
    def likenesses(self) -> list[tuple[Network, Likeness]]:
        assert self.groups is not None
        models = [self.network]
        if not self.sizes:
            bare = Graph.from_edges(self.table.variables, ())
            models.append(fit(bare, self.table, prior=self.score, jobs=1).network)
        seed = [self.plan.seed, 79]
        return [(each, likeness(each, self.table, self.groups, np.random.default_rng(seed))) for each in models]
