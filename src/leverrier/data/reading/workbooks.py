"""Sheets of Excel and OpenDocument files: where their header is, and what their cells are."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leverrier.data.apart.sheet_rows import read_sheet
from leverrier.data.column import Came, Column, Source, from_objects
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.csv_text import names_like_cells
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.texts.text_forms import Writing, as_form
from leverrier.data.reading.texts.text_types import MARKS, Texts, parse, what_texts_are
from leverrier.errors import TableError
from leverrier.hints import option

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A", "#GETTING_DATA")


def workbook_source(path: Path, files: FileOptions, asked: Any) -> Source:
    """The columns of a sheet: its first row that is filled is the header; lines above it are said."""
    files.only(f"a {path.suffix} file", "sheet", "decimal")
    sheet = read_sheet(path, files.sheet)
    rows = [row for row in sheet.rows if any(cell not in ("", None) for cell in row)]
    what = f"{path}, sheet {sheet.name!r}"
    if not rows:
        raise TableError(f"{what} is empty: expected a header line and rows; {option('sheet')} names another one")
    head = _header(rows)
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell not in ("", None)), default=0)
    names = tuple(_name(rows[head], place) for place in range(width))
    body = rows[head + 1 :]
    noticed = [Noticed(Notice.SHEET, values=sheet.others, count=len(body), name=sheet.name), *names_like_cells(names)]
    if head:
        above = tuple(str(next(cell for cell in row if cell not in ("", None))) for row in rows[:head])
        noticed.append(Noticed(Notice.REMARKS, values=above[:2], count=head))
    noticed += _remark_below(names, body)
    writing = Writing(files.decimal)

    def column(wanted: str) -> Column:
        place = names.index(wanted)
        cells = [_cell(row[place]) if place < len(row) else None for row in body]
        return _typed(wanted, cells, writing, asked.get(wanted))

    return Source(what, names, len(body), column, tuple(noticed))


def _header(rows: Sequence[Sequence[Any]]) -> int:
    """The first row that fills at least half of what the fullest of the next rows does: titles stand above it."""
    filled = [sum(cell not in ("", None) for cell in row) for row in rows[:50]]
    return next(place for place, count in enumerate(filled) if 2 * count >= max(filled))


def _remark_below(names: Sequence[str], body: Sequence[Sequence[Any]]) -> list[Noticed]:
    """A last row that holds one text alone, which no other row has: a source, or a remark."""
    if len(body) < 10 or len(names) < 2:
        return []
    filled = [place for place, cell in enumerate(body[-1]) if cell not in ("", None)]
    alone = len(filled) == 1 and isinstance(body[-1][filled[0]], str)
    if not alone or any(len(row) > filled[0] and row[filled[0]] == body[-1][filled[0]] for row in body[:-1]):
        return []
    return [Noticed(Notice.LAST_REMARK, (names[filled[0]],), (str(body[-1][filled[0]])[:60],))]


def _name(row: Sequence[Any], place: int) -> str:
    cell = _cell(row[place]) if place < len(row) else None
    return str(cell).strip() if cell is not None and str(cell).strip() else f"column {place + 1}"


def _cell(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime.time):
        return cell.isoformat(timespec="seconds")
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
        return _among_numbers(name, cells, {text for text in texts if text.lower() not in MARKS}, asked)
    came, notes = what_texts_are(name, Texts.of(texts))
    form = writing.form(texts, came, asked)
    value = parse(texts, Came.TEXT if form else came)
    column = from_objects(name, [value.get(cell) for cell in cells])
    column = as_form(column, form) if form else column
    return replace(column, notes=(*column.notes, *(() if form else notes)))


def _among_numbers(name: str, cells: list[Any], texts: set[str], asked: object) -> Column:
    """Texts among other cells: marks of a hole are holes, and numbers that were entered as text are numbers."""
    came, _ = what_texts_are(name, Texts.of(texts))
    if texts and (not came.is_number or asked in ("category", "caseless", "ordered")):
        return from_objects(name, cells)
    value = parse(texts, came)
    column = from_objects(name, [value.get(cell) if isinstance(cell, str) else cell for cell in cells])
    count = sum(isinstance(cell, str) and cell in texts for cell in cells)
    note = f"{name!r}: {count} cells hold numbers that were entered as text, read as numbers."
    return replace(column, notes=(*column.notes, note)) if texts else column
