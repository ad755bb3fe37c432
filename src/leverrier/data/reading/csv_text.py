"""The text of a CSV file: its header, its separator, and what is wrong with it, by line.

DuckDB parses the rows. Here are the things it will not say: names given twice, the line of a bad row when cells hold
line breaks, the byte that is not UTF-8. A file DuckDB refuses and this finds sound (mixed line ends) is copied clean.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import IO

from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.formulas import as_it_was
from leverrier.errors import OptionError, TableError
from leverrier.hints import option

_ROWS = 20_000  # at a time
SEPARATORS = (",", ";", "\t", "|")
_SAID = re.compile(r"(?i)sep=.")
"""What Excel writes, and heeds, in a first line."""
_PREAMBLE = 200
"""Lines among which the header is looked for."""
_OTHERS = {
    b"PK\x03\x04": "a workbook (.xlsx, .ods) or another packed file",
    b"\xd0\xcf\x11\xe0": "an old workbook (.xls) or another document",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"$FL2": "a file of SPSS (.sav)",
    b"$FL3": "a file of SPSS (.zsav)",
    b"%PDF": "a PDF",
}
"""How files begin that are sometimes called .csv."""


@dataclass(frozen=True)
class Header:
    """The column names, what parts the cells, and the lines before the header."""

    names: tuple[str, ...]
    delimiter: str
    skip: int
    remarks: tuple[str, ...] = ()
    """Of those lines the ones that are not blank: remarks after a #, or what parts the cells (sep=;)."""
    blanks: bool = False
    """Whether blanks part the cells, which nobody said."""

    @property
    def noticed(self) -> tuple[Noticed, ...]:
        """Lines that were passed over; names that look like a row of numbers."""
        passed = (Noticed(Notice.REMARKS, values=self.remarks[:2], count=len(self.remarks)),) if self.remarks else ()
        blanks = (Noticed(Notice.BLANKS, count=len(self.names)),) if self.blanks else ()
        return (*passed, *blanks, *names_like_cells(self.names))


@contextmanager
def opened(path: Path, encoding: str) -> Iterator[IO[str]]:
    """The file as text; bytes that are not that text, or not gzip, are one clear line."""
    try:
        with open(path, "rb") as plain:
            raw = gzip.GzipFile(fileobj=plain) if path.suffix.lower() == ".gz" else plain
            yield io.TextIOWrapper(raw, encoding=encoding, newline="")  # type: ignore[arg-type]
    except UnicodeDecodeError:
        raise TableError(f"{path}: {_undecodable(path, encoding)}") from None
    except LookupError:
        raise OptionError(
            f"{option('encoding', encoding)} is not known: say utf-8, latin-1, cp1252, utf-16, …"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise TableError(f"{path}: not a whole gzip file; unpack it, or make it again") from None
    except OSError as problem:
        raise TableError(f"{path}: cannot be read ({problem.strerror or problem})") from None


def _undecodable(path: Path, encoding: str) -> str:
    """Where the first byte is that is not text in this encoding, and what to do."""
    with open(path, "rb") as plain:
        raw = gzip.GzipFile(fileobj=plain) if path.suffix.lower() == ".gz" else plain
        start = raw.read(4)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") and "16" not in encoding:
            return f"the file is UTF-16, not {encoding}: save it as UTF-8, or pass {option('encoding', 'utf-16')}"
        offset, line, pending = 0, 1, start
        for block in iter(lambda: raw.readline(), b""):
            pending += block
            try:
                pending.decode(encoding)
            except UnicodeDecodeError as problem:
                byte, at = pending[problem.start], offset + problem.start
                line += pending[: problem.start].count(b"\n")
                advice = f"save it as UTF-8, or pass its encoding (often {option('encoding', 'latin-1')} or cp1252)"
                return f"byte {at} (line {line}) is 0x{byte:02x}, which is not {encoding}: {advice}"
            offset, line, pending = offset + len(pending), line + pending.count(b"\n"), b""
    return f"the file is not {encoding} text"


def read_header(path: Path, encoding: str, delimiter: str | None) -> Header:
    """The names in the first line that is neither blank nor a remark; names left blank are called by their place."""
    _require_text(path)
    with opened(path, encoding) as text:
        first = [line.lstrip("\ufeff") for line in islice(text, _PREAMBLE)]
        skip = _before_header(first, path)
        if skip == len(first):
            raise TableError(f"{path} is empty: expected a header line and rows")
        remarks = tuple(line.strip() for line in first[:skip] if line.strip())
        line = first[skip]
        said = remarks[0][-1] if remarks and _SAID.fullmatch(remarks[0]) else None
        parted = delimiter or said or _separator(line, path)
        blanks = not (delimiter or said or parted in line) and _parted_by_blanks(first[skip:], path)
        parted = " " if blanks else parted
        if len(parted) != 1:
            raise OptionError(f"{option('delimiter', parted)}: expected one character")
        try:
            cells = next(csv.reader(chain(first[skip:], text), delimiter=parted, strict=True))
        except csv.Error as problem:
            raise TableError(f"{path}, line {skip + 1}: the header cannot be parted into names ({problem})") from None
    names = [as_it_was(cell.strip()) or f"column {place}" for place, cell in enumerate(cells, 1)]
    seen: set[str] = set()
    for name in names:
        if name in seen or seen.add(name):
            hint = " (is the first line a header?)" if name.replace(".", "").isdigit() else ""
            raise TableError(f"{path}: two columns are named {name!r}: column names must differ; rename one{hint}")
    return Header(tuple(names), parted, skip, remarks, blanks)


def _before_header(lines: list[str], path: Path) -> int:
    """How many lines come before the header: blank ones, sep=; and remarks after a #. A header may begin with # too:
    it has as many separators as the line below."""
    for place, line in enumerate(lines):
        if not line.strip() or (place == 0 and _SAID.fullmatch(line.strip())):
            continue
        below = next((each for each in lines[place + 1 :] if not each.startswith("#") and each.strip()), "")
        sign = _separator(below, path)
        if not line.startswith("#") or line.count(sign) >= below.count(sign):
            return place
    return len(lines)


def names_like_cells(names: Sequence[str]) -> tuple[Noticed, ...]:
    """Whether all names are numbers that do not count up evenly, as years do: a row, then, rather than names."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return ()
    even = len({round(high - low, 9) for low, high in pairwise(numbers)}) == 1
    return () if len(names) < 2 or even else (Noticed(Notice.NO_HEADER, values=tuple(names[:3])),)


def _require_text(path: Path) -> None:
    """Other files under the name of a text file are said by what they are."""
    try:
        with open(path, "rb") as file:
            begins = file.read(8)
    except OSError:
        return  # (whoever opens it says what is wrong)
    what = next((what for beginning, what in _OTHERS.items() if begins.startswith(beginning)), None)
    if what is not None:
        raise TableError(f"{path}: begins as {what}, not as text: rename it, or save it as CSV")


def _separator(line: str, path: Path) -> str:
    """Tabs for .tsv; else whichever separator is most frequent in the header, outside quotes."""
    if ".tsv" in path.suffixes or ".TSV" in path.suffixes:
        return "\t"
    bare = "".join(line.split('"')[::2])
    return max(SEPARATORS, key=bare.count)


def _parted_by_blanks(lines: list[str], path: Path) -> bool:
    """Whether all lines have as many words as the header, three or more: cells parted by one blank each. A header that
    is one word short is R's, and columns set under each other by blanks are refused, each with the remedy."""
    bare = [line.strip() for line in lines if line.strip()]
    words = [len(next(csv.reader([" ".join(line.split())], delimiter=" "))) for line in bare]
    if len(words) < 5 or words[0] < 3 or len(set(words[1:])) > 1:
        return False
    if words[1] == words[0] + 1:
        raise TableError(
            f"{path}: cells are parted by blanks, and the header names {words[0]} of {words[1]} columns: write it with "
            "row.names=FALSE, or put a name before the others"
        )
    if words[1] == words[0] and any(len(next(csv.reader([line], delimiter=" "))) != words[0] for line in bare):
        raise TableError(f"{path}: cells are parted by several blanks: save it as CSV, or with tabs")
    return words[1] == words[0]


def clean_copy(path: Path, encoding: str, header: Header, target: Path) -> None:
    """The rows as plain UTF-8 CSV with one kind of line end; a row too long or short is an error with its line."""
    with open(target, "w", encoding="utf-8", newline="") as out:
        write = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
        write.writerow(header.names)
        for rows in sound_rows(path, encoding, header, _ROWS):
            write.writerows(rows)


def sound_rows(path: Path, encoding: str, header: Header, most: int) -> Iterator[list[list[str]]]:
    """The rows after the header, so many at a time; one that is too long or short is an error with its line."""
    width = len(header.names)
    block: list[list[str]] = []
    with opened(path, encoding) as text:
        for _ in range(header.skip):
            text.readline()
        reader = csv.reader(text, delimiter=header.delimiter, strict=True)
        line, first = header.skip + 1, True
        try:
            for row in reader:
                if not row and width == 1:
                    row = [""]
                if row and not first:
                    block.append(_fitted(row, width, path, line))
                first = first and not row
                line = header.skip + reader.line_num + 1
                if len(block) >= most:
                    yield block
                    block = []
        except csv.Error as problem:
            what = "a quote is opened and not closed" if "end of data" in str(problem) else str(problem)
            raise TableError(f"{path}, line {line}: {what}") from None
    if block:
        yield block


def _fitted(row: list[str], width: int, path: Path, line: int) -> list[str]:
    if len(row) == width + 1 and not row[-1]:
        return row[:-1]  # a separator after the last cell parts nothing
    if len(row) != width and width == 1:
        raise TableError(
            f"{path}, line {line}: {len(row)} cells below a header of one: take away the lines above the header, "
            f"or say what parts its names with {option('delimiter')}"
        )
    if len(row) != width:
        raise TableError(
            f"{path}, line {line}: {len(row)} cells where the header has {width}: "
            'mend the line (a cell that holds the separator goes in "quotes")'
        )
    return row
