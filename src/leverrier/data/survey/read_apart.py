"""The process in which pyreadstat reads. It is started as a script and imports nothing of ours, so that it starts fast.

A request is a line of JSON on the standard input: the function to call, the path, the options, how much is plausible.
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
from typing import Any, TextIO

import pyreadstat

if sys.platform == "win32":
    import msvcrt
else:
    import resource

SECONDS = 1.0
"""Of the processor for any file, and a file's size and cells give it more."""
PER_BYTE, PER_CELL = 2e-6, 6e-6
MEMORY = 2**29
MEMORY_PER_BYTE, MEMORY_PER_CELL = 40, 250


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
    own = tuple(getattr(pyreadstat, name) for name in ("ReadstatError", "PyreadstatError") if hasattr(pyreadstat, name))
    try:
        return _read(asked, limited)
    except own as problem:
        return (_wrong("damaged", str(problem).strip()),)
    except MemoryError:
        return (_wrong("memory", ""),)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as problem:
        return (_wrong("unreadable", str(problem).strip() or type(problem).__name__),)


def _wrong(kind: str, words: str) -> str:
    return json.dumps({"wrong": kind, "words": words})


def _read(asked: dict[str, Any], limited: bool) -> list[str]:
    read, path, how = getattr(pyreadstat, asked["read"]), asked["path"], asked["how"]
    size = os.stat(path).st_size
    if limited:
        _limit(size, 0)
    rows, columns = _shape(read(path, **how, metadataonly=True)[1])
    if rows < 0 or rows * max(columns, 1) > max(1000 * size, 10_000) or rows * columns > asked["most_cells"]:
        # (compressed cells take at least a bit each: a header that says more than its file can hold is damaged)
        return [_wrong("implausible", f"{rows:,}")]
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
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return {type(cell).__name__: cell.isoformat()}
    return str(cell)


if __name__ == "__main__":
    main()
