"""How much a search for hidden variables tries."""

from __future__ import annotations

from dataclasses import dataclass
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
    seed: int = 0
