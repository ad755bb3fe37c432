"""JSON lines, Arrow and R: files that other libraries hand over as records or frames."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from leverrier.data.apart.reading_process import cells_of, read_apart
from leverrier.data.column import Came, Column, Source
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.frames import categories, dict_source, frame_source
from leverrier.errors import MissingExtraError, TableError

JSON, ARROW, R = (".jsonl", ".ndjson"), (".feather", ".arrow", ".ipc"), (".rds", ".rda", ".rdata")


def record_source(path: Path, files: FileOptions) -> Source:
    """The columns of such a file."""
    suffix = path.suffix.lower()
    if suffix in JSON:
        files.only("a file of JSON lines", "encoding", "decimal")
        return _named(_json_lines(path, files.encoding or "utf-8-sig"), path)
    files.only(f"a {suffix} file", "decimal")
    return _named(frame_source(_arrow(path)) if suffix in ARROW else _r_frame(path), path)


def _named(source: Source, path: Path) -> Source:
    return Source(str(path), source.names, source.n_rows, source.column, source.noticed)


def _json_lines(path: Path, encoding: str) -> Source:
    """One object a line; a key that an object lacks is a hole."""
    columns: dict[str, list[Any]] = {}
    rows = number = 0
    try:
        with open(path, encoding=encoding) as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise TableError(
                        f"{path}, line {number}: expected an object, {{…}}, with the cells of a row by name"
                    )
                for name in record:
                    if name not in columns:
                        columns[name] = [None] * rows
                rows += 1
                for name, cells in columns.items():
                    cells.append(record.get(name))
    except UnicodeDecodeError:
        raise TableError(f"{path}: not {encoding} text: save it as UTF-8") from None
    except (json.JSONDecodeError, RecursionError) as problem:
        said = f"line {number}: {problem.msg}" if isinstance(problem, json.JSONDecodeError) else "nested too deeply"
        raise TableError(f"{path}, {said}") from None
    if not columns:
        raise TableError(f"{path} is empty: expected an object, {{…}}, on each line")
    return dict_source(columns)


def _arrow(path: Path) -> Any:
    """By pyarrow or polars, whichever is there."""
    try:
        import pyarrow
    except ImportError:
        return _polars_arrow(path)
    try:
        import pyarrow.feather

        return _plain_texts(pyarrow.feather.read_table(str(path)))
    except (pyarrow.ArrowException, OSError) as problem:
        try:  # a stream of batches rather than a file of them
            with pyarrow.OSFile(str(path)) as file:
                return _plain_texts(pyarrow.ipc.open_stream(file).read_all())
        except (pyarrow.ArrowException, OSError):
            raise TableError(f"{path}: cannot be read as Arrow ({str(problem).strip()[:200]})") from None


def _plain_texts(table: Any) -> Any:
    """Texts as most of Arrow's functions know them: polars writes views."""
    import pyarrow

    views = [place for place, field in enumerate(table.schema) if str(field.type) in ("string_view", "binary_view")]
    for place in views:
        field = table.schema.field(place)
        plain = pyarrow.string() if str(field.type) == "string_view" else pyarrow.binary()
        try:
            texts = table.column(place).cast(plain)
        except pyarrow.ArrowNotImplementedError:  # (before version 17)
            texts = pyarrow.array(table.column(place).to_pylist(), plain)
        table = table.set_column(place, field.name, texts)
    return table


def _polars_arrow(path: Path) -> Any:
    try:
        import polars
    except ImportError:
        raise MissingExtraError(f"{path}: Arrow files need pyarrow: pip install pyarrow") from None
    try:
        return polars.read_ipc(path)
    except (polars.exceptions.PolarsError, OSError) as problem:
        raise TableError(f"{path}: cannot be read as Arrow ({str(problem).strip()[:200]})") from None


def _r_frame(path: Path) -> Source:
    """The data frame in a file of R; of several, none is chosen in silence."""
    if find_spec("pyreadr") is None:
        raise MissingExtraError(f"{path}: R's files need pyreadr: pip install pyreadr (or in R: write.csv(x, 'x.csv'))")
    about, *lines = read_apart(path, {"read": "r"}, path.stat().st_size)
    frames = about.get("frames")
    if frames is not None:
        names = ", ".join(repr(name) for name in frames)
        raise TableError(
            f"{path} holds {len(frames)} data frames{f' ({names})' if names else ''}: save the one that is meant with "
            "saveRDS"
        )
    cells = {name: cells_of(line) for name, line in zip(about["names"], lines, strict=True)}
    source = dict_source(cells)

    def column(name: str) -> Column:
        """A factor brings its levels, in their order."""
        if name not in about["levels"]:
            return source.column(name)
        levels = about["levels"][name]
        place = {level: code for code, level in enumerate(levels)}
        codes = np.array([place.get(cell, -1) for cell in cells[name]], dtype=np.int64)
        return categories(name, Came.ORDERED if name in about["ordered"] else Came.CATEGORY, levels, codes)

    return replace(source, column=column)
