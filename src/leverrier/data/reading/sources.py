"""Whatever a user has, opened as named columns: a path's suffix says how, and what the user says of it is obeyed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leverrier.data.column import Came, Column, Source
from leverrier.data.labels import text_of
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.quality.odd_values import odd_texts
from leverrier.data.reading.column_files import TEXT_AND_PARQUET, file_source, kind_of, require_file
from leverrier.data.reading.encoding import Options
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.frames import dict_source, frame_source
from leverrier.data.reading.joining import joined
from leverrier.data.reading.record_files import ARROW, JSON, R, record_source
from leverrier.data.reading.survey_files import READERS, survey_source
from leverrier.data.reading.texts.moment_forms import mixed_dates
from leverrier.data.reading.texts.text_forms import (
    AS_WRITTEN,
    MOST_LOOKED,
    Writing,
    as_form,
    as_moments,
    mixed_units,
    text_numbers,
    words_in_numbers,
)
from leverrier.data.reading.workbooks import SUFFIXES, workbook_source
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError

KNOWN = (*TEXT_AND_PARQUET, *READERS, *SUFFIXES, *JSON, *ARROW, *R)


@contextmanager
def opened(
    source: Any,
    options: Options,
    missing: Collection[Any] = (),
    files: FileOptions | None = None,
    join: Mapping[str, Sequence[str]] | None = None,
    most: float = math.inf,
) -> Iterator[Source]:
    """The source's columns as the user wants them read, with the extra marks of a hole taken out."""
    how = files or FileOptions()
    marks = {text_of(mark) for mark in ([missing] if isinstance(missing, str) else missing)}
    named = (*options.types, *(options.bins if isinstance(options.bins, Mapping) else ()))
    asked: dict[str, object] = {name: options.asked(name) for name in named}
    with _plain(source, how, marks, asked, most) as data:
        written = replace(data, column=lambda name: _as_written(data.column(name), how, asked.get(name)))
        yield joined(_marked(written, marks), join or {})


@contextmanager
def _plain(
    source: Any, files: FileOptions, marks: set[str], asked: Mapping[str, object], most: float
) -> Iterator[Source]:
    if isinstance(source, str | os.PathLike):
        if isinstance(source, str) and re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", source):
            raise TableError(f"{source} is an address: download the file first, and give its path")
        with _file(Path(source).expanduser(), files, marks, asked, most) as data:
            yield data
        return
    if isinstance(source, Table):
        raise OptionError("the source is a Table already: its columns are table.columns")
    files.only("data in memory", "decimal")
    if isinstance(source, Mapping):
        yield dict_source(source)
    elif isinstance(source, np.ndarray):
        if source.ndim != 2:
            raise TableError(f"an array of shape {source.shape}: expected (rows, columns)")
        yield dict_source({f"x{place}": cells for place, cells in enumerate(source.T, 1)})
    else:
        yield frame_source(source)


@contextmanager
def _file(
    path: Path, files: FileOptions, marks: set[str], asked: Mapping[str, object], most: float
) -> Iterator[Source]:
    try:
        folder = path.is_dir()
    except (OSError, ValueError) as problem:  # too long, or with a sign that no file's name has
        raise TableError(f"{str(path)[:80]}: no file can be called so ({problem})") from None
    if folder:
        require_file(path)
    kind = kind_of(path)
    if kind in TEXT_AND_PARQUET:
        with file_source(path, files, marks, asked, most) as data:
            yield data
        return
    if kind not in KNOWN:
        raise TableError(f"{path}: cannot tell what it holds: {EXPECTED}")
    require_file(path)
    if kind in READERS:
        yield survey_source(path, files)
    elif kind in SUFFIXES:
        yield workbook_source(path, files, asked)
    else:
        yield record_source(path, files)


EXPECTED = (
    "expected .csv, .tsv, .txt (also .gz), .parquet, .sav, .zsav, .por, .dta, .sas7bdat, .xpt, .xlsx, .xls, .ods, "
    ".jsonl, .feather, .arrow, .rds or .rda"
)


def _as_written(column: Column, files: FileOptions, asked: object) -> Column:
    """A column of texts that nobody asked yet what they are texts of: read so where the user says it, else said."""
    if column.came not in (Came.TEXT, Came.MIXED) or not len(column.values) or len(column.values) > 60_000:
        return column
    texts = [str(value) for value in column.values]
    if files.decimal is not None or asked in AS_WRITTEN:
        form = Writing(files.decimal).form([text.strip() for text in texts], Came.TEXT, asked)
        return column if form is None else as_form(column, form)
    if asked is not None:
        return column
    dates = as_moments(column) if column.came is Came.TEXT else None
    if dates is not None:
        return dates
    few = texts[:MOST_LOOKED]
    units = mixed_units(few)
    if units:
        return replace(column, noticed=(*column.noticed, Noticed(Notice.MIXED_UNITS, (column.name,), tuple(units))))
    ways = mixed_dates([text.strip() for text in few])
    if ways:
        return replace(column, noticed=(*column.noticed, Noticed(Notice.MIXED_DATES, (column.name,), tuple(ways))))
    odd = words_in_numbers(column) or odd_texts(column, few)
    if odd is not None:
        return replace(column, noticed=(*column.noticed, odd))
    if text_numbers(few):
        return replace(
            column, noticed=(*column.noticed, Noticed(Notice.TEXT_NUMBERS, (column.name,), tuple(sorted(few)[:2])))
        )
    return column


def _marked(data: Source, marks: set[str]) -> Source:
    if not marks:
        return data
    part = data.part
    return replace(
        data,
        column=lambda name: data.column(name).without(marks),
        part=None if part is None else lambda start, stop, names: _marked(part(start, stop, names), marks),
    )
