"""Groups of columns tried side by side: each where the others are hidden variables already.

Where the hidden variables behind groups are linked, arcs between columns of different groups stand in for the links.
One hidden variable alone cannot replace them: it takes on columns of its cousins, and all of them overlap. So a class
is fitted behind each group, its states are drawn, and each group is tried in a small table of its own: its columns, the
drawn states of the groups it is linked to, and columns of no group that depend on it. Done where more groups gain so
than by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.many.one_or_two import OneOrTwo
from leverrier.discovery.many.scene import Scene, drawn_states, glanced_scene, in_order, scene_of
from leverrier.discovery.many.sibling_groups import sibling_groups
from leverrier.discovery.many.spots import NEW, Spot, screening_of, try_group
from leverrier.discovery.plan import WORTH, Plan
from leverrier.learning.structure.score import Score
from leverrier.run.event import Event
from leverrier.run.run import Run

LINKS, LOOSE = 8, 4
"""Of the groups linked to one, and of columns of no group, so many are in its small table: those that share most."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The largest groups that one class is enough for, in a table with the best network of its columns."""

    scene: Scene
    judge: OneOrTwo
    groups: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, scene: Scene, free: list[str]) -> Sides:
        judge = OneOrTwo(scene.ground)
        single = [each.columns for each in sibling_groups(scene.pairs, free) if judge.one_is_enough(each)]
        largest = [each for each in single if not any(each < other for other in single)]
        return cls(scene, judge, tuple(sorted(largest, key=sorted)))

    def links(self) -> np.ndarray:
        """(groups, groups): what an arc between two of the classes gains at least."""
        return self.judge.arcs(self.groups)


Least = Callable[[frozenset[str]], float]
"""What a try among these columns must gain to matter; infinite where none does."""


def tried_side_by_side(sides: Sides, plan: Plan, run: Run, strong: bool, least: Least = lambda _: WORTH) -> list[Spot]:
    """A quick try of every group in its small table, those that gain, the largest gain first.

    First against a network found at a glance, over which a try gains rather too much; the best network is searched
    for, which takes far longer, where that is as much as it must gain to matter.
    """
    scene, links = sides.scene, sides.links()
    rng = np.random.default_rng([plan.seed, 73])
    drawn = [drawn_states(sides.judge.of_class(each)[1], rng) for each in sides.groups]
    claimed = frozenset().union(*sides.groups) if sides.groups else frozenset()
    found = []
    for number, group in enumerate(sides.groups):
        if run.late or run.stopped:
            break
        near = [j for j in np.argsort(-links[number], kind="stable").tolist()[:LINKS] if links[number, j] > 0]
        columns = sorted(group) + _loose(scene, group, claimed)
        table = _small(scene.table, columns, {f"{NEW} {j}": drawn[j] for j in near})
        enough = least(frozenset(columns))
        if enough < np.inf:
            spot = _tried(table, group, scene.ground.scores.score, plan, run, strong, enough)
            found += [] if spot is None else [spot]
        run.tell(Event.CANDIDATES, (number + 1) / len(sides.groups))
    return sorted(found, key=lambda one: (-one.gain, sorted(one.members)))


def _tried(
    table: Table, group: frozenset[str], score: Score, plan: Plan, run: Run, strong: bool, enough: float
) -> Spot | None:
    light, here = plan.light(), run.unkept()  # (baselines are known by the whole table, of which there is one)
    glanced = glanced_scene(table, score, plan, here)
    spot = try_group(screening_of(glanced, light, run), group, glanced, alone=True, least=enough)
    if spot is None or spot.gain < enough or run.late or run.stopped:
        return spot
    local = scene_of(table, None, score, plan, here, strong=strong, seed=plan.seed)
    return try_group(screening_of(local, light, run), group, local, alone=True)


def _loose(scene: Scene, group: frozenset[str], claimed: frozenset[str]) -> list[str]:
    """Columns of no group that share most with this one."""
    place = {name: v for v, name in enumerate(scene.pairs.names)}
    own = [place[name] for name in sorted(group)]
    worth = scene.pairs.worth[own].max(axis=0)
    others = [name for name in scene.pairs.names if name not in claimed and worth[place[name]] > 0]
    return sorted(sorted(others, key=lambda name: (-worth[place[name]], name))[:LOOSE])


def _small(table: Table, columns: list[str], drawn: dict[str, np.ndarray]) -> Table:
    part = table.select(columns)
    states = {**part.states, **{name: tuple(range(int(each.max()) + 1)) for name, each in drawn.items()}}
    codes = np.concatenate([part.codes.astype(np.int64), *(each[None] for each in drawn.values())])
    return in_order(Table.from_codes(states, codes, table.weights))
