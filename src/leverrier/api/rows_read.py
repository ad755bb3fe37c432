"""New rows read as those were from which something was found; what they hold and those did not is said."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from leverrier.data.labels import Unseen
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.file_options import ReadingOptions
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table, code_type
from leverrier.discovery.asked import Asked
from leverrier.discovery.result import Result
from leverrier.errors import OptionError
from leverrier.report.words.quality_words import quality_line

Rows = TypeVar("Rows")


def kept_reading(
    missing: Collection[Any], join: Mapping[str, Sequence[str]] | None, decimal: str | None
) -> dict[str, Any]:
    """What was said of the data and holds for new ones too, by the names of `Asked`."""
    marks = [missing] if isinstance(missing, str) else missing
    joins = {name: tuple(members) for name, members in (join or {}).items()}
    return {"missing": tuple(map(str, marks)), "join": joins, "decimal": decimal}


def as_before(settings: Asked, reading: ReadingOptions | None) -> dict[str, Any]:
    """How new data are read: as those before, but for what is said anew."""
    before = {name: said for name, said in (("missing", settings.missing), ("join", settings.join)) if said}
    given = {name: value for name, value in (reading or {}).items() if value is not None}
    return {**before, **given}


def rows_read(result: Result, data: Any, unseen: Unseen, reading: ReadingOptions | None) -> Table:
    """The data in the columns that were learnt from."""
    if data is None:
        raise OptionError("the rows are not kept: give the data")
    columns = result.shape.variables
    kind = code_type(max((column.cardinality for column in columns), default=1))
    empty = Table(columns, np.zeros((len(columns), 0), dtype=kind))
    how = as_before(Asked() if isinstance(data, Table) else result.settings, reading)
    how = {name: value for name, value in how.items() if name not in ("by", "time")}
    table = read_table(data, like=empty, unseen=unseen, **how)
    return warned(table, table.noticed)


def warned(rows: Rows, noticed: Sequence[Noticed]) -> Rows:
    """The rows; labels that became holes are a warning with their counts."""
    for each in noticed:
        if each.kind is Notice.UNSEEN:
            warnings.warn(quality_line(each), UserWarning, stacklevel=4)
    return rows
