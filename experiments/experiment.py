"""What an experiment is: units of work that are kept one by one, and a function that shows them beside the source."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leverrier.report.parts.page_parts import Grid

if TYPE_CHECKING:
    import altair

Json = Any
"""What a JSON file holds: dicts, lists, texts, numbers, true, false, null."""
Results = Mapping[str, Json]
"""Results by the key of their unit; what was not run is not there."""


@dataclass(frozen=True)
class Unit:
    """One call with fixed arguments and a fixed seed: run, kept and taken up again by itself."""

    key: str
    call: Callable[..., Json]
    """A plain function of a module. Its arguments and its result are JSON."""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Files of the data folder that it reads; then it is given `data=`, the folder."""
    cost: float = 1.0
    """About how many seconds of a core it takes: only for the time left."""

    @property
    def identity(self) -> str:
        """What it does, as one line of text: another call, or other arguments, are other work."""
        call = f"{self.call.__module__}.{self.call.__qualname__}"
        return json.dumps({"key": self.key, "call": call, "arguments": dict(self.arguments)}, sort_keys=True)

    def run(self, data: Path | None) -> Json:
        """The result, as it will be read from the file: so a resumed run has the very same numbers."""
        given = {"data": data} if self.needs else {}
        return json.loads(json.dumps(self.call(**self.arguments, **given), allow_nan=False))

    def missing(self, data: Path | None) -> tuple[str, ...]:
        """The files that are not there."""
        return tuple(name for name in self.needs if data is None or not (data / name).is_file())


@dataclass(frozen=True)
class Claim:
    """A sentence of the source, its figure, ours, and whether it holds for us (None: not run)."""

    claim: str
    source: str
    ours: str
    holds: bool | None
    reason: str = ""
    """Why it does not hold, or what to know of it."""

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "does not hold", None: "not run"}[self.holds]


def not_run(claim: str, source: str, reason: str = "the units it rests on were not run") -> Claim:
    """A claim whose numbers are not there."""
    return Claim(claim, source, "–", None, reason)


def none_run(claims: Sequence[str], sources: Sequence[str]) -> list[Claim]:
    """The same for several claims."""
    return [not_run(claim, source) for claim, source in zip(claims, sources, strict=True)]


def beginning(results: Results, words: str) -> dict[str, Json]:
    """The results whose key begins with these words, by the rest of it."""
    return {key.removeprefix(words).strip(): found for key, found in results.items() if key.startswith(words)}


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture of the source's, made with our numbers."""

    name: str
    chart: altair.TopLevelMixin
    caption: str
    wide: bool = False
    """Whether it needs the page's whole width."""


@dataclass(frozen=True, eq=False)
class Section:
    """One table or figure of the source."""

    heading: str
    words: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, eq=False)
class Shown:
    """All of an experiment: its sections and its claims."""

    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Experiment:
    """A source's experiments."""

    name: str
    title: str
    data: str
    """In words: which data stand for the source's."""
    units: Callable[[bool, int], Sequence[Unit]]
    """From quick or full, and the seed."""
    show: Callable[[Results, bool], Shown]
    """From the results by key, and quick or full. Copes with any of them missing."""


def drawn(spec: Mapping[str, Any]) -> altair.TopLevelMixin:
    """A chart that a unit kept as JSON."""
    import altair as alt

    return alt.Chart.from_dict(dict(spec))
