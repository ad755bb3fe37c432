"""The process in which pyreadstat, calamine and pyreadr read. It is started as a script and imports nothing of ours, so
that it starts fast.

A request is a line of JSON on the standard input: what reads, the path, the options, how much is plausible.
The answer is a line that says what was found or what is wrong, and then a line for each column.
"""

from __future__ import annotations

import base64
import datetime
import json
import math
import os
import sys
import time
from array import array
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TextIO

if sys.platform == "win32":
    import msvcrt
else:
    import resource

SECONDS = 1.0
"""Of the processor for any file, and a file's size and cells give it more."""
PER_BYTE, PER_CELL = 2e-6, 6e-6
MEMORY = 2**29
MEMORY_PER_BYTE, MEMORY_PER_CELL = 40, 250
SHEET_PER_BYTE, SHEET_PER_CELL = 8, 100
"""Of a sheet: by what it unpacks to, and by the cells between its first and its last, most of them perhaps empty."""


class Wrong(StrEnum):
    """What may be wrong with a file."""

    DAMAGED = "damaged"
    IMPLAUSIBLE = "implausible"
    """It says that it holds more than its bytes can."""
    MEMORY = "memory"
    MISSING = "missing"
    """The library that reads such files."""
    UNREADABLE = "unreadable"
    PASSWORD = "password"
    SHEET = "sheet"
    """There is none of this name."""
    LARGE = "large"


def main() -> None:
    out = _private_output()
    _no_dialogues()
    for line in sys.stdin:
        out.writelines(f"{answer}\n" for answer in answers(json.loads(line)))
        out.flush()


def _private_output() -> TextIO:
    """Where answers go; what the C code may print goes to where errors go."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return open(kept, "w", encoding="ascii", newline="\n")


def _no_dialogues() -> None:
    """A crash leaves no core file and shows no window."""
    if sys.platform == "win32":
        msvcrt.SetErrorMode(msvcrt.SEM_NOGPFAULTERRORBOX | msvcrt.SEM_FAILCRITICALERRORS)
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit(size: int, cells: int) -> None:
    """What the next read may take of the processor and of memory, where the system can be told."""
    if sys.platform == "win32":
        return
    seconds = time.process_time() + SECONDS + PER_BYTE * size + PER_CELL * cells
    _soft(resource.RLIMIT_CPU, math.ceil(seconds))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux: a limit of the address space is not obeyed there anyway
        return
    _soft(resource.RLIMIT_AS, held + MEMORY + MEMORY_PER_BYTE * size + MEMORY_PER_CELL * cells)


def _soft(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def answers(asked: dict[str, Any], *, limited: bool = True) -> Iterable[str]:
    """The lines of an answer; `limited` if this process is to be held to what a sound file needs."""
    read = {"sheet": _read_sheet, "r": _read_r}.get(asked["read"], _read_survey)
    try:
        return read(asked, limited)
    except MemoryError:
        return (_wrong(Wrong.MEMORY, ""),)
    except ImportError as problem:
        return (_wrong(Wrong.MISSING, problem.name or str(problem)),)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as problem:
        return (_wrong(Wrong.UNREADABLE, str(problem).strip() or type(problem).__name__),)
    except Exception as problem:  # each library has a tree of its own
        if type(problem).__module__.partition(".")[0] not in ("pyreadstat", "pyreadr", "python_calamine"):
            raise
        kind = Wrong.PASSWORD if type(problem).__name__ == "PasswordError" else Wrong.DAMAGED
        return (_wrong(kind, str(problem).strip()),)
    except BaseException as problem:  # what breaks down inside calamine comes as no Exception
        if type(problem).__name__ != "PanicException":
            raise
        return (_wrong(Wrong.DAMAGED, "it is damaged"),)


def _wrong(kind: Wrong, words: str) -> str:
    return json.dumps({"wrong": kind, "words": words})


def _read_sheet(asked: dict[str, Any], limited: bool) -> list[str]:
    """A sheet of a workbook, column by column: the one at this place or of this name; where nothing is said, the first
    that holds anything."""
    import python_calamine

    if limited:
        _limit(asked["bytes"] * SHEET_PER_BYTE // MEMORY_PER_BYTE, asked["cells"] * SHEET_PER_CELL // MEMORY_PER_CELL)
    with python_calamine.CalamineWorkbook.from_path(asked["path"]) as book:
        names, wanted = list(book.sheet_names), asked["sheet"]
        if not names:
            return [_wrong(Wrong.SHEET, "")]
        chosen = _chosen(names, wanted)
        if chosen is None:
            return [_wrong(Wrong.SHEET, ", ".join(repr(name) for name in names[:8]))]
        rows: list[list[Any]] = []
        for name in [chosen] if wanted is not None else names:
            found = book.get_sheet_by_name(name)
            if found.total_height * found.total_width > asked["most_cells"]:
                return [_wrong(Wrong.LARGE, f"{found.total_height:,} rows of {found.total_width:,} columns")]
            rows = found.to_python(skip_empty_area=False)
            if any(cell != "" for row in rows for cell in row):
                chosen = name
                break
    columns = [list(column) for column in zip(*rows, strict=True)]
    said = {"names": [""] * len(columns), "sheet": chosen, "others": [name for name in names if name != chosen]}
    return [json.dumps(said), *map(_column, columns)]


def _chosen(names: list[str], wanted: str | None) -> str | None:
    """The sheet of this name, or at this place counted from 1; the first one where nothing is said."""
    if wanted is None:
        return names[0]
    if wanted in names:
        return wanted
    return names[int(wanted) - 1] if wanted.isdigit() and 1 <= int(wanted) <= len(names) else None


def _read_r(asked: dict[str, Any], limited: bool) -> list[str]:
    """The data frame in a file of R; of several only the names."""
    import pyreadr  # type: ignore[import-not-found]

    if limited:
        _limit(16 * os.stat(asked["path"]).st_size, 0)  # (they are packed)
    found = pyreadr.read_r(asked["path"])
    if len(found) != 1:
        return [json.dumps({"frames": [str(name) for name in found]})]
    frame = next(iter(found.values()))
    factors = {name: frame[name].cat for name in frame if hasattr(frame[name], "cat")}
    levels = {str(name): [str(each) for each in cat.categories] for name, cat in factors.items()}
    said = {
        "names": [str(name) for name in frame],
        "levels": levels,
        "ordered": [str(name) for name, cat in factors.items() if cat.ordered],
    }
    columns = ([None if cell != cell else cell for cell in frame[name].astype(object).tolist()] for name in frame)
    return [json.dumps(said), *map(_column, columns)]


def _read_survey(asked: dict[str, Any], limited: bool) -> list[str]:
    """Everything that a file of SPSS, Stata or SAS says."""
    import pyreadstat

    read, path, how = getattr(pyreadstat, asked["read"]), asked["path"], asked["how"]
    size = os.stat(path).st_size
    if limited:
        _limit(size, 0)
    rows, columns = _shape(read(path, **how, metadataonly=True)[1])
    if rows < 0 or rows * max(columns, 1) > max(1000 * size, 10_000) or rows * columns > asked["most_cells"]:
        # (compressed cells take at least a bit each: a header that says more than its file can hold is damaged)
        return [_wrong(Wrong.IMPLAUSIBLE, f"{rows:,}")]
    if limited:
        _limit(size, rows * max(columns, 1))
    cells, about = read(path, **how)
    said = {
        "names": [str(name) for name in cells],
        "labels": {name: _pairs(labels) for name, labels in (about.variable_value_labels or {}).items()},
        "missing_ranges": {
            name: [[_plain(each["lo"]), _plain(each["hi"])] for each in ranges]
            for name, ranges in (about.missing_ranges or {}).items()
        },
        "missing_codes": {
            name: [_plain(code) for code in codes] for name, codes in (about.missing_user_values or {}).items()
        },
        "measures": about.variable_measure or {},
        "questions": about.column_names_to_labels or {},
    }
    return [json.dumps(said), *(_column(list(each)) for each in cells.values())]


def _shape(about: Any) -> tuple[int, int]:
    return about.number_rows or 0, about.number_columns or 0


def _pairs(labels: dict[Any, Any]) -> list[list[Any]]:
    return [[_plain(code), str(label)] for code, label in labels.items()]


def _column(cells: list[Any]) -> str:
    if cells and all(type(cell) is float for cell in cells):
        return json.dumps(base64.b64encode(array("d", cells)).decode("ascii"))
    return json.dumps([_plain(cell) for cell in cells])


def _plain(cell: Any) -> Any:
    """A cell as JSON holds it: days and times as a kind and its text."""
    if cell is None or isinstance(cell, str | int | float):
        return cell
    for kind in (datetime.datetime, datetime.date, datetime.time):  # (pandas has kinds of its own below them)
        if isinstance(cell, kind):
            return {kind.__name__: cell.isoformat()}
    return str(cell)


if __name__ == "__main__":
    main()
