"""Results on disk: one JSON line for each unit that is done, the whole file in place or the old one, never half."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.experiment import Json, Unit
from leverrier.errors import FormatError
from leverrier.run.atomic_file import fill, put


@dataclass(frozen=True)
class Kept:
    """A result with where it came from."""

    identity: str
    """Of the unit: its key, call and arguments."""
    version: str
    """Of the package: another version's results are not taken up."""
    result: Json
    seconds: float
    date: str
    commit: str


class Store:
    """The file of one experiment's results. Lines of other settings or versions, and of other runs, stay in it."""

    def __init__(self, path: Path, version: str) -> None:
        self.path = path
        self.version = version
        self._lines = self._on_disk()
        self._forgotten: set[tuple[str, str]] = set()

    def _on_disk(self) -> dict[tuple[str, str], Kept]:
        if not self.path.exists():
            return {}
        texts = self.path.read_text(encoding="utf-8").splitlines()
        lines = [_read(text, self.path, number) for number, text in enumerate(texts, start=1)]
        return {(line.identity, line.version): line for line in lines}

    def get(self, unit: Unit) -> Kept | None:
        """What was kept of the unit, by this version."""
        return self._lines.get((unit.identity, self.version))

    def keep(self, unit: Unit, result: Json, seconds: float, date: str, commit: str) -> None:
        """Write a result to the disk, beside what another run may have put there meanwhile."""
        place = unit.identity, self.version
        self._lines[place] = Kept(*place, result, round(seconds, 2), date, commit)
        self._forgotten.discard(place)
        others = {key: line for key, line in self._on_disk().items() if key not in self._forgotten}
        self._lines = {**others, **self._lines}
        text = "".join(json.dumps(asdict(self._lines[key]), sort_keys=True) + "\n" for key in sorted(self._lines))
        put(self.path, lambda part: fill(part, text.encode()))

    def forget(self, units: Sequence[Unit]) -> None:
        """Results that are to be made anew; the file changes with the next one kept."""
        for unit in units:
            self._lines.pop((unit.identity, self.version), None)
            self._forgotten.add((unit.identity, self.version))


def _read(text: str, path: Path, number: int) -> Kept:
    try:
        return Kept(**json.loads(text))
    except (ValueError, TypeError) as problem:
        words = "this is no result of an earlier run: move the file away, or choose another --output"
        raise FormatError(words, path=str(path), line=number) from problem
