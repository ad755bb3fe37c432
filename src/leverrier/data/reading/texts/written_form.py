"""A way in which all texts of a column are written, and how one of them is read."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from leverrier.data.column import Came
from leverrier.data.quality.noticed import Notice, Noticed


@dataclass(frozen=True)
class Form:
    """How a column's texts are to be read, and what to say of it."""

    kind: Notice
    matches: str
    """What every text must match, as Python and DuckDB read it alike."""
    read: Callable[[str], float | datetime.datetime | None]
    sql: str
    """The same in DuckDB, of the cell v."""
    came: Came = Came.NUMBER
    name: str = ""

    def fits(self, texts: Iterable[str]) -> bool:
        return all(re.fullmatch(self.matches, text) for text in texts)

    def noticed(self, column: str, texts: Collection[str]) -> Noticed:
        return Noticed(self.kind, (column,), tuple(self._shown(texts)), name=self.name)

    def _shown(self, texts: Collection[str]) -> list[str]:
        """Two texts that show what is meant."""
        signs = {Notice.DECIMAL_COMMA: ",", Notice.SIGNS: "−–("}.get(self.kind, "")
        return sorted(text for text in texts if not signs or any(sign in text for sign in signs))[:2]


def quoted(text: str) -> str:
    """A text in DuckDB's SQL."""
    return "'" + text.replace("'", "''") + "'"
