"""Files that pyreadstat reads, in a process of their own: a crash, a hang or runaway memory there is one line here."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

from leverrier.errors import TableError

MOST_CELLS = 2**28
"""A file that says it has more is not believed before its size is looked at."""
_BEGINNINGS = {
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL2", b"$FL3"),
    ".sas7bdat": (b"\0" * 12 + b"\xc2\xea\x81\x60",),
    ".xpt": (b"HEADER RECORD*******",),
}
_SCRIPT = Path(__file__).with_name("read_apart.py")
_PATIENCE = 30.0
"""Seconds by the clock, beyond those that a file's size gives: a last resort, for where processor time is not limited
or is not what is spent."""
_PATIENCE_PER_BYTE = 50e-6


@dataclass(frozen=True)
class SurveyFile:
    """All that such a file says, column by column."""

    columns: dict[str, Sequence[Any]]
    labels: Mapping[str, dict[Any, str]]
    missing: Mapping[str, list[tuple[Any, Any]]]
    """Codes that mean missing, as ranges from, to."""
    measures: Mapping[str, str]
    questions: Mapping[str, str | None]


class ReadingProcess:
    """A process that reads files until it is closed, or one of them kills it."""

    def __init__(self) -> None:
        seen = os.pathsep.join(place for place in sys.path if place)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": seen, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def ask(self, request: Mapping[str, Any], seconds: float) -> list[Any] | None:
        """The lines of the answer; None if the process ended before all were there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        watch = Timer(seconds, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            lines: list[Any] = [self._line()]
            while len(lines) <= len(lines[0].get("names", ())):
                lines.append(self._line())
        except (OSError, EOFError):
            self.close()
            return None
        finally:
            watch.cancel()
        return lines

    def _line(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return json.loads(line)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for end in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # (a pipe to a process that is gone cannot be flushed)
                if end is not None:
                    end.close()


_kept: ContextVar[list[ReadingProcess] | None] = ContextVar("_kept", default=None)


@contextmanager
def one_process() -> Iterator[None]:
    """Within, one process reads all files, and another takes over only where it dies: for very many files."""
    processes: list[ReadingProcess] = []
    token = _kept.set(processes)
    try:
        yield
    finally:
        _kept.reset(token)
        for each in processes:
            each.close()


def read_survey_file(path: Path, read: str, how: Mapping[str, Any]) -> SurveyFile:
    """Everything in a file that pyreadstat's function `read` reads, with these options."""
    size = _require_beginning(path)
    if find_spec("pyreadstat") is None:
        raise TableError(f"{path}: pyreadstat reads {path.suffix} files and is not installed: pip install pyreadstat")
    request = {"read": read, "path": os.path.abspath(path), "how": dict(how), "most_cells": MOST_CELLS}
    answer = _asked(request, _PATIENCE + size * _PATIENCE_PER_BYTE)
    if answer is None:
        raise TableError(
            f"{path}: damaged: reading it crashed, took too long or asked for too much memory; "
            "save it again with the program that made it, or as .csv"
        )
    about = answer[0]
    if "wrong" in about:
        raise TableError(f"{path}: {_complaint(about['wrong'], about['words'], path.suffix, size)}")
    ranges = {name: [(_cell(low), _cell(high)) for low, high in each] for name, each in about["missing_ranges"].items()}
    for name, codes in about["missing_codes"].items():
        ranges.setdefault(name, []).extend((_cell(code), _cell(code)) for code in codes)
    return SurveyFile(
        {name: _cells(line) for name, line in zip(about["names"], answer[1:], strict=True)},
        {name: {_cell(code): label for code, label in pairs} for name, pairs in about["labels"].items()},
        ranges,
        about["measures"],
        about["questions"],
    )


def _asked(request: Mapping[str, Any], seconds: float) -> list[Any] | None:
    if not sys.executable or getattr(sys, "frozen", False) or sys.platform == "emscripten":
        from leverrier.data.survey.read_apart import answers  # no interpreter to start: read here, without the shelter

        return [json.loads(line) for line in answers(dict(request), limited=False)]
    kept = _kept.get()
    if kept is not None and kept and kept[-1].alive:
        return kept[-1].ask(request, seconds)
    try:
        process = ReadingProcess()
    except OSError as problem:
        raise TableError(f"{request['path']}: no process could be started to read it ({problem.strerror})") from None
    if kept is not None:
        kept[:] = [process]
        return process.ask(request, seconds)
    try:
        return process.ask(request, seconds)
    finally:
        process.close()


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


def _complaint(wrong: str, words: str, suffix: str, size: int) -> str:
    if wrong == "damaged":
        return f"not a whole {suffix} file ({_one_line(words) or 'cannot be read'})"
    if wrong == "implausible":
        return f"says that it has {words} rows, which its {size:,} bytes cannot hold"
    if wrong == "memory":
        return f"not a whole {suffix} file (its {size:,} bytes ask for more memory than they can need)"
    return f"cannot be read ({_one_line(words)})"


def _one_line(words: str) -> str:
    return " ".join(words.split())


def _cells(line: Any) -> Sequence[Any]:
    if isinstance(line, str):
        return array("d", base64.b64decode(line)).tolist()
    return [_cell(each) for each in line]


def _cell(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    ((kind, text),) = plain.items()
    return {"date": date, "datetime": datetime, "time": time}[kind].fromisoformat(text)
