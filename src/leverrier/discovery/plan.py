"""How much a search for hidden variables tries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Method = Literal["fixed", "region", "full"]
Construction = Literal["default", "elidan2000"]

WORTH = 1e-3
"""Gains below this many nats are none."""


@dataclass(frozen=True)
class Plan:
    """The options of `find_hidden`. The same plan is followed on the data and on every simulated table."""

    method: Method = "region"
    construction: Construction = "default"
    cardinality: int | Literal["auto"] = "auto"
    max_hidden: int = 3
    max_states: int = 12
    baseline_seeds: int = 3
    baseline_rounds: int = 5
    max_parents: int | None = None
    kinds: bool = True
    """Whether the rival's families may be of any kind, or tables alone."""
    placements: int = 4
    """Of the ways to put a candidate in (no arcs kept, or those of one member) this many are climbed, the best ones."""
    random_starts: int = 2
    """Of a climb, beside the one from merged states."""
    evaluations: int = 10_000
    """The most of one EM run in a climb."""
    brief_evaluations: int = 10_000
    """The same where EM alone says which placements are climbed."""
    deepened: int = 24
    """Candidates that get more states, more starts and are centred again."""
    renewed: int = 4
    """So often the best candidates, once deepened, are climbed again from other starts."""
    states_settled: bool = True
    """Whether the number of states is settled at the end, with the arcs that go with it."""
    seed: int = 0

    def light(self) -> Plan:
        """The same search with less effort and with tables alone: the statistic of the null test, for the data and for
        every simulated table alike (docs/decisions/0016-a-light-statistic.md)."""
        return replace(
            self,
            kinds=False,
            max_hidden=1,
            baseline_seeds=1,
            baseline_rounds=1,
            placements=2,
            random_starts=0,
            evaluations=100,
            brief_evaluations=30,
            deepened=12,
            renewed=0,
            states_settled=False,
        )
