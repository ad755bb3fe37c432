"""A sheet of a workbook, as calamine reads it apart. How much it unpacks to is looked at before, here."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leverrier.data.apart.read_apart import Wrong
from leverrier.data.apart.reading_process import cells_of, read_apart, wrong_of
from leverrier.errors import TableError, TooLargeError

MOST_BYTES = 2**30
"""A sheet that unpacks to more is not read: save it as CSV or Parquet."""
MOST_CELLS = 30_000_000
_BLOCK = 1 << 20
_CELL = re.compile(
    rb'<(?:\w+:)?(?:c|row|dimension)(?:\s[^<>]{0,200}?)?\s(?:r|ref)="([A-Za-z]{1,99})?([0-9]{1,20})'
    rb'(?::([A-Za-z]{1,99})([0-9]{1,20}))?"'
)
_REPEATED = re.compile(rb'<[^<>]*number-(?:columns|rows)-repeated="([0-9]{1,9})"[^<>]*>')


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How a package begins that is no zip: an .xls, or a workbook under a password."""
_XLS_CELLS = 2**24
"""Rows times columns of the largest sheet that an .xls can hold."""


@dataclass(frozen=True)
class Sheet:
    """The cells of a sheet as calamine gives them, "" where there is none."""

    rows: list[tuple[Any, ...]]
    name: str
    others: tuple[str, ...]
    """The names of the other sheets."""


def read_sheet(path: Path, sheet: str | int | None) -> Sheet:
    """The sheet of this name, or at this place counted from 1; where nothing is said, the first that holds anything."""
    size, cells = _looked_at(path)
    request = {"read": "sheet", "sheet": None if sheet is None else str(sheet), "bytes": size, "cells": cells}
    about, *lines = read_apart(path, {**request, "most_cells": MOST_CELLS}, size)
    match wrong_of(about):
        case Wrong.PASSWORD:
            raise TableError(f"{path}: protected by a password: save it without one")
        case Wrong.LARGE:
            raise TooLargeError(f"{path}: {about['words']} in a sheet: save it as CSV or Parquet")
        case Wrong.SHEET:
            there = f"; its sheets are {about['words']}" if about["words"] else ""
            raise TableError(f"{path} has no sheet{'' if sheet is None else f' {str(sheet)!r}'}{there}")
    rows = list(zip(*map(cells_of, lines), strict=True))
    return Sheet(rows, about["sheet"], tuple(about["others"]))


def _looked_at(path: Path) -> tuple[int, int]:
    """To how many bytes a workbook unpacks, and how many cells a sheet of it may span, if that is no bomb."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_OLE))
        if not begins:
            raise TableError(f"{path}: not a whole {path.suffix} file (empty)")
        if begins == _OLE:
            return path.stat().st_size, _XLS_CELLS
        if path.suffix.lower() == ".xls" and not begins.startswith(b"PK"):  # (before 1995 they were not packed at all)
            return path.stat().st_size, _XLS_CELLS
        if not begins.startswith(b"PK"):
            raise TableError(f"{path}: not a whole {path.suffix} file (begins as another: if it is text, call it .csv)")
        return _sizes(path)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        ValueError,
    ) as problem:
        if isinstance(problem, TableError | TooLargeError):
            raise
        raise TableError(f"{path}: not a whole {path.suffix} file ({str(problem).strip()[:200]})") from None


def _sizes(path: Path) -> tuple[int, int]:
    """Unpacks every part once, keeping nothing: what it says of its size may be a lie."""
    total = cells = 0
    with zipfile.ZipFile(path) as packed:
        for part in packed.infolist():
            size, spans = _unpacked(packed, part, MOST_BYTES - total, path)
            total, cells = total + size, max(cells, spans)
    return total, cells


def _unpacked(packed: zipfile.ZipFile, part: zipfile.ZipInfo, most: int, path: Path) -> tuple[int, int]:
    """To how many bytes a part unpacks, and how many cells lie between its first and its last."""
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
    return size, max(across * down, repeated)


def _place(letters: bytes | None) -> int:
    place = 0
    for letter in (letters or b"").upper():  # (calamine takes either case, and any length)
        place = 26 * place + letter - 64
    return place
