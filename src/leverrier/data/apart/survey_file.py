"""Files of SPSS, Stata and SAS, as pyreadstat reads them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from leverrier.data.apart.reading_process import cell_of, cells_of, read_apart
from leverrier.errors import TableError

MOST_CELLS = 2**28
"""A file that says it has more is not believed before its size is looked at."""
_BEGINNINGS = {
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL2", b"$FL3"),
    ".sas7bdat": (b"\0" * 12 + b"\xc2\xea\x81\x60",),
    ".xpt": (b"HEADER RECORD*******",),
}


@dataclass(frozen=True)
class SurveyFile:
    """All that such a file says, column by column."""

    columns: dict[str, Sequence[Any]]
    labels: Mapping[str, dict[Any, str]]
    missing: Mapping[str, list[tuple[Any, Any]]]
    """Codes that mean missing, as ranges from, to."""
    measures: Mapping[str, str]
    questions: Mapping[str, str | None]


def read_survey_file(path: Path, read: str, how: Mapping[str, Any]) -> SurveyFile:
    """Everything in a file that pyreadstat's function `read` reads, with these options."""
    size = _require_beginning(path)
    if find_spec("pyreadstat") is None:
        raise TableError(f"{path}: pyreadstat reads {path.suffix} files and is not installed: pip install pyreadstat")
    about, *lines = read_apart(path, {"read": read, "how": dict(how), "most_cells": MOST_CELLS}, size)
    ranges = {
        name: [(cell_of(low), cell_of(high)) for low, high in each] for name, each in about["missing_ranges"].items()
    }
    for name, codes in about["missing_codes"].items():
        ranges.setdefault(name, []).extend((cell_of(code), cell_of(code)) for code in codes)
    return SurveyFile(
        {name: cells_of(line) for name, line in zip(about["names"], lines, strict=True)},
        {name: {cell_of(code): label for code, label in pairs} for name, pairs in about["labels"].items()},
        ranges,
        about["measures"],
        about["questions"],
    )


def _require_beginning(path: Path) -> int:
    """The file's size, if it begins as such files do."""
    suffix = path.suffix.lower()
    try:
        with path.open("rb") as file:
            begins = file.read(32)
        size = path.stat().st_size
    except OSError as problem:
        raise TableError(f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()})") from None
    sound = begins.startswith(_BEGINNINGS.get(suffix, (b"",)))
    if suffix == ".dta":  # (Stata's older versions begin with their number)
        sound = begins.startswith(b"<stata_dta>") or begins[:1] in [bytes([version]) for version in range(102, 120)]
    if not begins or not sound:
        raise TableError(f"{path}: not a whole {path.suffix} file ({'empty' if not begins else 'begins as another'})")
    return size
