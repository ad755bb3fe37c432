"""One set of simulated tables for all candidates of a round.

Tables are drawn from the network that holds whatever was accepted before (at first the best network without hidden
variables) and go through the same pass: pairs, groups, a quick try of each. A candidate's gain is compared with the
largest in its own place of every table, a try that shares two columns with it or more: a strong class elsewhere, which
arcs between its columns mimic and simulated tables therefore show, must not hide a weaker one here. So each candidate
has a p-value of its own, and Benjamini and Hochberg's rule (1995) says which are accepted: of those no larger share
than `level` is false on average. Simulated tables cost the same for twenty candidates as for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.drawn_evidence import evidence_of
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.sequential_test import ENOUGH, draws_needed, monte_carlo
from leverrier.discovery.many.one_or_two import OneOrTwo
from leverrier.discovery.many.scene import Known, Scene, bare_scene, in_order, scene_of
from leverrier.discovery.many.sibling_groups import LARGEST, SMALLEST, sibling_groups
from leverrier.discovery.many.side_by_side import Sides, tried_side_by_side
from leverrier.discovery.many.spots import Spot, tried_spots
from leverrier.discovery.places.semi_clique import semi_cliques
from leverrier.discovery.plan import WORTH, Plan
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.codecs import Key
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

FIRST_BATCH, MOST_BATCH = 4, 16
"""Tables between two looks at whether all is decided, at first and later; the answer does not depend on them."""
MORE = 4
"""Times as many tables as asked for may be drawn where some candidates fail: the others' p-values must then be smaller
than the level (BH), and so many tables show such small ones."""
EVERY_BRANCH = 60
"""In tables with more columns only the largest branches that one class is enough for are tried, side by side."""
OVERLAP = 2
"""Columns that a try must share with a candidate to be in its place."""

Tries = list[tuple[list[str], float]]
"""Of one table, the columns next to each hidden variable that gains, and the gain."""
Claims = list[tuple[frozenset[str], float]]
"""The columns and the gain of each candidate that is not settled yet."""


def free_in(scene: Scene) -> list[str]:
    """Columns that nothing hidden drives yet, and the hidden variables that none of a layer above drives."""
    graph, level = scene.graph, scene.levels
    driven = {v for name in scene.hidden for v in graph.neighbours(name) if v not in scene.hidden}
    driven |= {v for v in scene.hidden if any(level.get(p, 0) > level[v] for p in graph.parents(v))}
    return [name for name in scene.table.variables if name not in driven]


def groups_in(scene: Scene) -> list[frozenset[str]]:
    """Where to look: siblings among columns that nothing hidden drives yet and among the hidden variables themselves,
    whose parents are the next layer; and columns that stay tied to each other whatever is known to drive them."""
    found = sibling_groups(scene.pairs, free_in(scene))
    judge = OneOrTwo(scene.ground)
    single = [each.columns for each in found if judge.one_is_enough(each)]
    tied = [frozenset(each) for each in semi_cliques(scene.graph)]
    tied = [each for each in tied if SMALLEST <= len(each) <= LARGEST and not each & set(scene.hidden)]
    return list(dict.fromkeys([*single, *tied]))


@dataclass(frozen=True, eq=False)
class SharedNull:
    """Tables in which nothing more is hidden than what is known."""

    network: Network
    known: Known | None
    table: Table
    score: Score
    plan: Plan
    run: Run = UNBOUNDED
    beside: bool = False
    """Whether groups are tried side by side, as in the data."""

    def gains(self, seed: np.random.SeedSequence, claims: Claims | None = None) -> Tries | None:
        """The tries that gain in one simulated table: where, and how much; None if time ran out over it. Beside
        `claims`, only those that may reach one of them are looked at closely."""
        rows = round(self.table.total)
        drawn = self.network.sample(rows, seed=np.random.default_rng(seed)).select(self.table.variables)
        return self.tries(in_order(drawn), claims)

    def tries(self, table: Table, claims: Claims | None = None) -> Tries | None:
        """The same of any complete table."""
        if self.beside and self.known is None:
            scene = bare_scene(table, self.score, self.plan, self.run)
        else:
            scene = scene_of(table, self.known, self.score, self.plan, self.run, strong=False, seed=self.plan.seed)
        if self.beside:
            least = partial(least_of, claims)
            spots = tried_side_by_side(Sides.of(scene, free_in(scene)), self.plan, self.run, strong=False, least=least)
        else:
            spots = tried_spots(scene, groups_in(scene), self.plan, self.run)
        return None if self.run.spent else [(sorted(one.neighbours), one.gain) for one in spots]


def shared_tests(
    spots: Sequence[Spot], null: SharedNull, draws: int, level: float, run: Run, about: Key, refused: int = 0
) -> list[Evidence]:
    """For each candidate its gain beside those in its place of simulated tables, and whether it is accepted. So many
    more were `refused` before: they count as candidates that chance explains, lest the choice make p-values small."""
    most = MORE * draws
    seeds = np.random.SeedSequence([null.plan.seed, 67]).spawn(most)
    keys = [("shared null", *about, seed.spawn_key) for seed in seeds]
    gains: list[list[float]] = [[] for _ in spots]
    done, wanted, size = 0, draws, FIRST_BATCH
    while done < wanted:
        batch, size = slice(done, min(done + size, wanted)), min(2 * size, MOST_BATCH)
        claims = _unsettled(spots, gains)
        drawn = run.map(null.gains, [(seed, claims) for seed in seeds[batch]], keys[batch])
        whole = _before_the_end(drawn)
        done += len(whole)
        gains = [[*before, *in_place(one, whole)] for one, before in zip(spots, gains, strict=True)]
        run.tell(Event.NULL_TABLES, done / wanted)
        if len(whole) < batch.stop - batch.start:
            break
        if all(monte_carlo(one.gain, each, wanted) is not None for one, each in zip(spots, gains, strict=True)):
            more = draws_for_all(spots, gains, level, refused)
            wanted = more if wanted < more <= most else wanted
            if done >= wanted or not _open(spots, gains):
                break
    said = [
        evidence_of(one.gain, each, monte_carlo(one.gain, each, done) if done >= draws else None, level)
        for one, each in zip(spots, gains, strict=True)
    ]
    if any(each.p_value is None for each in said):
        return said
    kept = accepted_by_rate([*(each.p_value or 1.0 for each in said), *[1.0] * refused], level, done)
    return [replace(each, accepted=good) for each, good in zip(said, kept, strict=False)]


def _before_the_end(drawn: Sequence[Tries | None]) -> list[Tries]:
    """Those before the first that time cut."""
    found: list[Tries] = []
    for each in drawn:
        if each is None:
            break
        found.append(each)
    return found


def in_place(spot: Spot, tables: Sequence[Tries]) -> list[float]:
    """Of every simulated table the largest gain of a try that shares two columns with the candidate; 0 if none."""
    own = _own(spot)
    return [
        max((gain for near, gain in table if len(own.intersection(near)) >= OVERLAP), default=0.0) for table in tables
    ]


def _own(spot: Spot) -> frozenset[str]:
    return spot.neighbours | spot.members


def _unsettled(spots: Sequence[Spot], gains: Sequence[Sequence[float]]) -> Claims:
    """Candidates that fewer tables reached than settle it."""
    reached = [sum(gain >= one.gain for gain in each) for one, each in zip(spots, gains, strict=True)]
    return [(_own(one), one.gain) for one, many in zip(spots, reached, strict=True) if many < ENOUGH]


def least_of(claims: Claims | None, columns: frozenset[str]) -> float:
    """What a try among these columns must gain to speak against one of the claims; any gain where there are none."""
    if claims is None:
        return WORTH
    return min((gain for own, gain in claims if len(own & columns) >= OVERLAP), default=np.inf)


def draws_for_all(spots: Sequence[Spot], gains: Sequence[Sequence[float]], level: float, refused: int = 0) -> int:
    """Simulated tables with which those that none of them reached so far could be accepted together."""
    clear = sum(max(each, default=0.0) < one.gain for one, each in zip(spots, gains, strict=True))
    return draws_needed(level * clear / (len(spots) + refused)) if clear else 0


def _open(spots: Sequence[Spot], gains: Sequence[Sequence[float]]) -> bool:
    """Whether more tables could change anything: some candidate was reached by none so far."""
    return any(max(each, default=0.0) < one.gain for one, each in zip(spots, gains, strict=True))


def accepted_by_rate(p_values: Sequence[float], level: float, draws: int) -> list[bool]:
    """Which are accepted so that the rate of false ones among them is at most `level` (Benjamini and Hochberg 1995).

    With fewer draws than the level needs, those that no table reached are accepted for the time being: see
    `Evidence.provisional`.
    """
    if draws < draws_needed(level):
        return [p <= 1 / (1 + draws) + 1e-12 for p in p_values]
    ordered = np.sort(np.asarray(p_values))
    passed = np.flatnonzero(ordered <= level * np.arange(1, len(ordered) + 1) / len(ordered) + 1e-12)
    bound = float(ordered[passed[-1]]) if len(passed) else -1.0
    return [bool(p <= bound) for p in p_values]
