"""Is a group of columns better explained by one hidden variable, or by two that are linked?

Liu and others (2014) ask this while a group grows, and stop when two are better. Here it is asked of every branch whose
two parts are groups themselves: a class behind all of it, against a class behind each part with an arc between the two
(the arc's gain from the parts' posteriors, which is less than what fitting both together would give). Groups under one
class of a higher layer stay apart by that, and wait for their parent until they are columns themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import xlogy

from leverrier.arrays import Floats
from leverrier.discovery.many.sibling_groups import SMALLEST, Branch
from leverrier.discovery.many.spots import NEW, STATES, TOLERANCE
from leverrier.discovery.places.region import Ground, try_region
from leverrier.models.graph import Graph

EVALUATIONS = 300
"""Of one EM run: the scores are compared, not kept."""


@dataclass(frozen=True, eq=False)
class OneOrTwo:
    """Scores of single classes behind groups of columns of one table; each is worked out once."""

    ground: Ground
    _known: dict[frozenset[str], tuple[float, Floats]] = field(default_factory=dict)

    def one_is_enough(self, branch: Branch) -> bool:
        """Whether one class behind the branch scores at least as well as one behind each of its parts."""
        if min(map(len, branch.parts)) < SMALLEST:
            return True
        apart = sum(self.of_class(part)[0] for part in branch.parts) + self.arc(*branch.parts)
        return self.of_class(branch.columns)[0] >= apart

    def of_class(self, columns: frozenset[str]) -> tuple[float, Floats]:
        """The score of one class behind these columns, and its posterior by row."""
        known = self._known.get(columns)
        if known is None:
            graph = Graph.from_parents({**dict.fromkeys(sorted(columns), (NEW,)), NEW: ()})
            ends = [
                try_region(
                    self.ground,
                    graph,
                    {NEW: k},
                    columns,
                    merged=NEW,
                    max_rounds=0,
                    tolerance=TOLERANCE,
                    evaluations=EVALUATIONS,
                )
                for k in STATES
            ]
            best = max(ends, key=lambda end: end.score)
            known = self._known[columns] = (best.score, self.ground.posterior(best, NEW))
        return known

    def arc(self, one: frozenset[str], other: frozenset[str]) -> float:
        """What an arc between the classes of two groups gains at least: shared information less its parameters (BIC);
        0 where it does not pay."""
        first, second = self.of_class(one)[1], self.of_class(other)[1]
        weights = self.ground.table.weights
        return worth_of_arc(first.T @ (second if weights is None else second * weights[:, None]))

    def arcs(self, groups: Sequence[frozenset[str]]) -> Floats:
        """(groups, groups): the same of every two of them, counted at once."""
        states = [self.of_class(each)[1] for each in groups]
        ends = np.cumsum([0, *(each.shape[1] for each in states)])
        found = np.zeros((len(groups), len(groups)))
        if not groups:
            return found
        all_of_them = np.concatenate(states, axis=1)
        weights = self.ground.table.weights
        joint = all_of_them.T @ (all_of_them if weights is None else all_of_them * weights[:, None])
        for i, j in zip(*np.tril_indices(len(groups), -1), strict=True):
            found[i, j] = found[j, i] = worth_of_arc(joint[ends[i] : ends[i + 1], ends[j] : ends[j + 1]])
        return found


def worth_of_arc(joint: Floats) -> float:
    """Rows × mutual information of two variables' joint counts, less the arc's parameters; 0 where that is negative."""
    total = joint.sum()
    shared = xlogy(joint, joint).sum() - sum(xlogy(joint.sum(axis=a), joint.sum(axis=a)).sum() for a in (0, 1))
    cost = 0.5 * (joint.shape[0] - 1) * (joint.shape[1] - 1) * np.log(max(total, 2.0))
    return max(float(shared + xlogy(total, total) - cost), 0.0)
