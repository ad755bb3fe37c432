"""What was asked of `discover`, as one frozen value: enough to ask it again and to read new rows as those were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

ANSWERED = ("score", "version", "versions", "finished")
"""Parts that say what answered, not what was asked."""


@dataclass(frozen=True)
class Asked:
    """The options of `discover` by their names, and what answered. What does not apply, or was not said, is empty."""

    by: str | tuple[str, ...] | None = None
    time: str | None = None
    method: str = "auto"
    evidence: bool = True
    level: float | None = None
    draws: int | None = None
    resamples: int | None = None
    max_hidden: int | None = None
    groups: str | None = None
    """The column that tells groups of rows apart; None also where they were given as an array."""
    weights: str | None = None
    ignore: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    join: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decimal: str | None = None
    max_parents: int | None = None
    budget: float | None = None
    work: int | None = None
    sample: int | None = None
    seed: int = 0
    score: str = "BDe"
    version: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    finished: bool = True
    """False if time ran out before everything was done."""

    @property
    def options(self) -> dict[str, Any]:
        """What would ask the same again: options that were not left at their defaults, and the seed."""
        given: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in ANSWERED or value is None or value is True or value in ("auto", (), {}):
                continue
            given[each.name] = list(value) if isinstance(value, tuple) else value
        if not self.evidence:
            given.pop("draws", None)
            given.pop("resamples", None)
        return given
