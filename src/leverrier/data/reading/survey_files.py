"""Files of SPSS, Stata and SAS: labels of values become states, their order and measurement level are kept, and codes
that mean missing are holes. pyreadstat reads them, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from leverrier.data.apart.survey_file import SurveyFile, read_survey_file
from leverrier.data.column import About, Came, Column, Source, from_array, from_objects, listed
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.file_options import FileOptions

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_MOST_LABELLED = 30
"""Numbers of which only some have labels are states up to this many different ones; beyond, they are numbers."""
_MOST_CODES = 255


def survey_source(path: Path, files: FileOptions) -> Source:
    """The columns of such a file, with all that it says of them."""
    files.only(f"a {path.suffix} file", *(() if path.suffix.lower() == ".por" else ("encoding",)))
    how: dict[str, Any] = {"output_format": "dict"}
    if files.encoding is not None:
        how["encoding"] = files.encoding
    if path.suffix.lower() in (".sav", ".zsav", ".dta"):
        how["user_missing"] = True
    found = read_survey_file(path, READERS[path.suffix.lower()], how)
    names = tuple(found.columns)
    rows = max((len(each) for each in found.columns.values()), default=0)
    return Source(str(path), names, rows, lambda name: survey_column(name, found))


def failures() -> tuple[type[Exception], ...]:
    """What pyreadstat raises of its own; earlier versions name fewer of them."""
    import pyreadstat

    named = (getattr(pyreadstat, name, None) for name in ("ReadstatError", "PyreadstatError"))
    return tuple(each for each in named if each is not None)


def survey_column(name: str, file: SurveyFile) -> Column:
    """A column of the file with its labels."""
    cells, labels, ranges = file.columns[name], file.labels.get(name) or {}, file.missing.get(name) or []
    lost = [cell is not None and any(_within(cell, *each) for each in ranges) for cell in cells]
    kept = [None if gone else cell for cell, gone in zip(cells, lost, strict=True)]
    means_missing = {code for code in labels if any(_within(code, *each) for each in ranges)}
    reasons = np.array([cell if gone else None for cell, gone in zip(cells, lost, strict=True)], dtype=object)
    measure = str(file.measures.get(name) or "")
    spelt = _distinct({code: label for code, label in labels.items() if code not in means_missing})
    known = About(
        label=str(file.questions.get(name) or ""),
        codes={label: code for code, label in spelt.items()},
        missing=tuple(ranges),
        missing_labels={labels[code]: code for code in means_missing},
        measure=measure if measure != "unknown" else "",
        reasons=reasons if any(lost) else None,
    )
    column = _column(name, kept, spelt, measure)
    noticed: tuple[Noticed, ...] = ()
    if any(lost):
        codes = sorted({cell for cell, gone in zip(cells, lost, strict=True) if gone}, key=str)
        shown = tuple(f"{_text(code)} {labels[code]}" if code in labels else _text(code) for code in codes[:6])
        noticed = (Noticed(Notice.USER_MISSING, (name,), shown, sum(lost)),)
    return Column(**{**column.__dict__, "about": known, "noticed": (*column.noticed, *noticed)})


def _within(cell: Any, low: Any, high: Any) -> bool:
    try:
        return bool(low <= cell <= high)
    except TypeError:  # a text among numbers: Stata's .a to .z
        return bool(cell == low)


def _distinct(labels: Mapping[Any, str]) -> dict[Any, str]:
    """Labels by code, in the order of the codes; two codes with one label keep apart."""
    texts = [str(label).strip() for label in labels.values()]
    named = {
        code: str(label).strip() if texts.count(str(label).strip()) == 1 else f"{str(label).strip()} ({_text(code)})"
        for code, label in labels.items()
    }
    return dict(sorted(named.items(), key=lambda each: (isinstance(each[0], str), each[0])))


def _column(name: str, cells: list[Any], labels: Mapping[Any, str], measure: str) -> Column:
    numeric = all(cell is None or isinstance(cell, int | float) for cell in cells)
    different = {cell for cell in cells if cell is not None and cell == cell}
    if labels and _as_states(different, labels, measure):
        order = [*labels, *sorted(different - set(labels), key=lambda code: (isinstance(code, str), code))]
        order = sorted(order) if numeric else order
        return _categories(name, cells, {code: labels.get(code) or _text(code) for code in order}, measure)
    if numeric and measure == "nominal" and 12 < len(different) <= _MOST_CODES and len(different) < len(cells) / 2:
        return _categories(name, cells, {code: _text(code) for code in sorted(different)}, measure)
    if numeric:
        return from_array(name, np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64))
    return from_objects(name, cells)


def _as_states(different: set[Any], labels: Mapping[Any, str], measure: str) -> bool:
    """Whether cells are codes of labels: all have one, or some have and it is no scale."""
    if different <= set(labels):
        return True
    return measure != "scale" and len(different) <= _MOST_LABELLED and bool(different & set(labels))


def _categories(name: str, cells: list[Any], labels: Mapping[Any, str], measure: str) -> Column:
    place = {code: index for index, code in enumerate(labels)}
    codes = np.fromiter((place.get(cell, -1) for cell in cells), np.int32, len(cells))
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    came = Came.ORDERED if measure == "ordinal" else Came.CATEGORY
    return listed(name, came, list(labels.values()), counts, len(cells), lambda: codes)


def _text(code: Any) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
