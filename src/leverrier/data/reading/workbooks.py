"""Sheets of Excel and OpenDocument files. calamine reads them; how much they unpack to is looked at before."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leverrier.data.column import Column, Source, from_objects
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.text_forms import Writing, as_form
from leverrier.data.reading.text_types import MARKS, Texts, parse, what_texts_are
from leverrier.errors import TableError, TooLargeError
from leverrier.hints import option

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MOST_BYTES = 2**30
"""A sheet that unpacks to more is not read: save it as CSV or Parquet."""
MOST_CELLS = 30_000_000
_BLOCK = 1 << 20
_CELL = re.compile(
    rb'<(?:\w+:)?(?:c|row|dimension)(?:\s[^<>]{0,200}?)?\s(?:r|ref)="([A-Za-z]{1,99})?([0-9]{1,20})'
    rb'(?::([A-Za-z]{1,99})([0-9]{1,20}))?"'
)
_REPEATED = re.compile(rb'<[^<>]*number-(?:columns|rows)-repeated="([0-9]{1,9})"[^<>]*>')
_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A", "#GETTING_DATA")


def workbook_source(path: Path, files: FileOptions, asked: Any) -> Source:
    """The columns of a sheet: its first row that is filled is the header; lines above it are said."""
    files.only(f"a {path.suffix} file", "sheet", "decimal")
    rows, name, others = _sheet(path, files.sheet)
    rows = [row for row in rows if any(cell not in ("", None) for cell in row)]
    what = f"{path}, sheet {name!r}"
    if not rows:
        raise TableError(f"{what} is empty: expected a header line and rows; {option('sheet')} names another one")
    head = _header(rows)
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell not in ("", None)), default=0)
    names = tuple(_name(rows[head], place) for place in range(width))
    body = rows[head + 1 :]
    noticed = [Noticed(Notice.SHEET, values=others, count=len(body), name=name)]
    writing = Writing(files.decimal)

    def column(wanted: str) -> Column:
        place = names.index(wanted)
        cells = [_cell(row[place]) if place < len(row) else None for row in body]
        return _typed(wanted, cells, writing, asked.get(wanted))

    return Source(what, names, len(body), column, tuple(noticed))


def _sheet(path: Path, sheet: str | int | None) -> tuple[list[list[Any]], str, tuple[str, ...]]:
    import python_calamine as calamine

    if path.suffix.lower() != ".xls":
        _require_small(path)
    try:
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            names = list(book.sheet_names)
            chosen = _chosen(path, names, sheet)
            found = book.get_sheet_by_name(chosen)
            if found.total_height * found.total_width > MOST_CELLS:
                raise TooLargeError(f"{path}: {found.total_height:,} rows of {found.total_width:,} columns in a sheet")
            rows = found.to_python(skip_empty_area=False)
            if sheet is None and not any(cell != "" for row in rows for cell in row):
                filled = [each for each in names if book.get_sheet_by_name(each).total_height]
                chosen = filled[0] if filled else chosen
                rows = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
            return rows, chosen, tuple(each for each in names if each != chosen)
    except calamine.PasswordError:
        raise TableError(f"{path}: protected by a password: save it without one") from None
    except (calamine.CalamineError, OSError, ValueError, OverflowError) as problem:
        if isinstance(problem, TableError | TooLargeError):
            raise
        raise TableError(f"{path}: cannot be read as a workbook ({str(problem).strip()[:200]})") from None
    except BaseException as problem:  # calamine's own breakdowns come as no Exception
        if type(problem).__name__ != "PanicException":
            raise
        raise TableError(f"{path}: cannot be read as a workbook (it is damaged)") from None


def _chosen(path: Path, names: Sequence[str], sheet: str | int | None) -> str:
    """The sheet of this name, or at this place counted from 1; the first one where nothing is said."""
    if not names:
        raise TableError(f"{path} has no sheet")
    if sheet is None:
        return names[0]
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    shown = ", ".join(repr(name) for name in names[:8])
    raise TableError(f"{path} has no sheet {sheet!r}; its sheets are {shown}")


def _require_small(path: Path) -> None:
    """Unpacks every part once, keeping nothing: what it says of its size may be a lie."""
    try:
        with zipfile.ZipFile(path) as packed:
            total = 0
            for part in packed.infolist():
                total += _unpacked(packed, part, MOST_BYTES - total, path)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        ValueError,
    ) as problem:
        if isinstance(problem, TooLargeError):
            raise
        raise TableError(f"{path}: not a whole {path.suffix} file ({str(problem).strip()[:200]})") from None


def _unpacked(packed: zipfile.ZipFile, part: zipfile.ZipInfo, most: int, path: Path) -> int:
    size, tail, across, down, repeated = 0, b"", 0, 0, 0
    is_sheet = part.filename.lower().endswith(".xml")
    with packed.open(part) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > most:
                raise TooLargeError(
                    f"{path}: unpacks to more than {MOST_BYTES // 2**20:,} MB: save it as CSV or Parquet"
                )
            if not is_sheet:
                continue
            text = tail + block
            for found in _CELL.finditer(text):
                letters, number, last_letters, last_number = found.groups()
                across = max(across, _place(letters), _place(last_letters) if last_letters else 0)
                down = max(down, int(number or 0), int(last_number or 0))
            for found in _REPEATED.finditer(text):
                if not found[0].endswith(b"/>") or b"value" in found[0]:
                    repeated += int(found[1])
            tail = text[-300:]
    if across * down > MOST_CELLS or repeated > MOST_CELLS:
        raise TooLargeError(f"{path}: a sheet of {down:,} rows and {across:,} columns: save it as CSV or Parquet")
    return size


def _place(letters: bytes | None) -> int:
    place = 0
    for letter in (letters or b"").upper():  # (calamine takes either case, and any length)
        place = 26 * place + letter - 64
    return place


def _header(rows: Sequence[Sequence[Any]]) -> int:
    """The first row that fills at least half of what the fullest of the next rows does: titles stand above it."""
    filled = [sum(cell not in ("", None) for cell in row) for row in rows[:50]]
    return next(place for place, count in enumerate(filled) if 2 * count >= max(filled))


def _name(row: Sequence[Any], place: int) -> str:
    cell = _cell(row[place]) if place < len(row) else None
    return str(cell).strip() if cell is not None and str(cell).strip() else f"column {place + 1}"


def _cell(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, str):
        text = cell.strip()
        return None if not text or text in _ERRORS else text
    return cell


def _typed(name: str, cells: list[Any], writing: Writing, asked: object) -> Column:
    """Texts are asked what they are texts of, as those of a CSV are; a mark such as NA among numbers is a hole."""
    texts = {cell for cell in cells if isinstance(cell, str)}
    others = any(cell is not None and not isinstance(cell, str) for cell in cells)
    if not texts:
        return from_objects(name, cells)
    if others:
        marks = all(text.lower() in MARKS for text in texts)
        return from_objects(name, [None if marks and isinstance(cell, str) else cell for cell in cells])
    came, notes = what_texts_are(name, Texts.of(texts))
    form = writing.form(texts, came, asked)
    value = parse(texts, "text" if form else came)
    column = from_objects(name, [value.get(cell) for cell in cells])
    column = as_form(column, form) if form else column
    return Column(**{**column.__dict__, "notes": (*column.notes, *(() if form else notes))})
