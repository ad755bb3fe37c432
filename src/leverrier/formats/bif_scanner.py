"""The words and marks of BIF, one at a time, each with its line."""

from __future__ import annotations

import math
import re

from leverrier.errors import FormatError
from leverrier.formats.draft import Source, shown
from leverrier.kinds import Kinds

_TOKEN = re.compile(
    r"""(?:\s++|//[^\n]*+|/\*.*?\*/)*+                       # blanks and comments
        (?: "(?P<quoted>[^"\n]*)"
          | (?P<mark>[{}()\[\],;|])
          | (?P<word>(?:[^\s{}()\[\],;|"/]++|/(?![/*]))++)
          | (?P<end>\Z) )""",
    re.VERBOSE | re.DOTALL,
)
_PROPERTY = re.compile(r"""(?:"[^"\n]*"|[^;"])*+;|[^;]*;""")
_NUMBERS = re.compile(r"[0-9.eE+,\s-]*+;")
_BETWEEN = str.maketrans(",()", "   ")
"""What may stand between numbers."""
_BLANKS = re.compile(r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
WORD = re.compile(r"""(?:[^\s{}()\[\],;|"/]|/(?![/*]))+""")
"""What needs no quotes."""


class Token(Kinds):
    """What was scanned; the groups of the expressions are called so."""

    WORD = "word"
    QUOTED = "quoted"
    MARK = "mark"
    END = "end"


class Scanner:
    """One word or mark at a time, with its place."""

    TOKEN, BLANKS, COMMENT, NUMBERS = _TOKEN, _BLANKS, "/*", _NUMBERS

    def __init__(self, text: str, source: Source) -> None:
        self.text = text
        self.source = source
        self._seen = (0, 1)  # an offset and its line, so that lines are counted once
        self.kind, self.value = Token.END, ""
        self.start = self.stop = 0
        self.advance()

    def advance(self) -> None:
        found = self.TOKEN.match(self.text, self.stop)
        if found is None:
            blank = self.BLANKS.match(self.text, self.stop)
            self.start = blank.end() if blank else self.stop
            what = "comment" if self.text.startswith(self.COMMENT, self.start) else "quote"
            raise self.source.error(f"the {what} that begins here is not closed", self.line)
        self.kind = Token(found.lastgroup)
        self.value = found[self.kind]
        self.start, self.stop = found.start(self.kind), found.end()

    @property
    def line(self) -> int:
        offset, line = self._seen
        line += self.text.count("\n", offset, self.start)
        self._seen = (self.start, line)
        return line

    def unexpected(self, expected: str) -> FormatError:
        found = "the file ends" if self.kind is Token.END else f"{shown(self.value)} was found"
        return self.source.error(f"{found} where {expected} was expected", self.line)

    def keyword(self, *words: str) -> str:
        """One of these words, taken; a `property` is taken with all of its text."""
        if self.kind is not Token.WORD or self.value not in (*words, "property"):
            raise self.unexpected(" or ".join(words))
        return self._take_property() if self.value == "property" else self.take()

    def mark(self, mark: str) -> None:
        if not self.at(mark):
            raise self.unexpected(f"'{mark}'")
        self.advance()

    def at(self, mark: str) -> bool:
        return self.kind is Token.MARK and self.value == mark

    def take(self) -> str:
        value = self.value
        self.advance()
        return value

    def word(self, expected: str) -> str:
        if self.kind not in (Token.WORD, Token.QUOTED):
            raise self.unexpected(expected)
        return self.take()

    def words(self, closing: str, expected: str) -> list[list[str]]:
        """Words up to the closing mark, which is taken too; each comma begins a new group."""
        groups: list[list[str]] = [[]]
        while not self.at(closing):
            if self.at(","):
                groups.append([])
                self.advance()
            else:
                groups[-1].append(self.word(expected))
        self.advance()
        return groups

    def numbers(self) -> tuple[list[float], int]:
        """Probabilities up to the semicolon, which is taken too, and their first line."""
        line = self.line
        found = self.plain_numbers()
        if found is not None:
            return found, line
        found = []
        while not self.at(";"):
            if self.at(","):
                self.advance()
                continue
            here = self.line
            found.append(self.source.number(self.word("a probability or ';'"), here))
        self.advance()
        return found, line

    def plain_numbers(self) -> list[float] | None:
        """The same in one stroke where all is plain, as in most files; None where words must be looked at."""
        plain = self.NUMBERS.match(self.text, self.start)
        if plain is None or plain[0].count("(") != plain[0].count(")"):
            return None
        try:
            found = [float(word) for word in plain[0][:-1].translate(_BETWEEN).split()]
        except ValueError:
            return None
        if not found or min(found) < 0 or max(found) == math.inf:
            return None
        self.stop = plain.end()
        self.advance()
        return found

    def _take_property(self) -> str:
        """What follows `property` up to its semicolon is free text, quotes and all."""
        found = _PROPERTY.match(self.text, self.stop)
        if found is None:
            raise self.source.error("the property that begins here has no ';'", self.line)
        self.stop = found.end()
        self.advance()
        return "property"
