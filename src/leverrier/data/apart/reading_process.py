"""The process that reads for us, from this side: a crash, a hang or runaway memory there is one line here."""

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
from datetime import date, datetime, time
from pathlib import Path
from threading import Timer
from typing import Any

from leverrier.data.apart.read_apart import Wrong, answers
from leverrier.errors import MissingExtraError, TableError

_SCRIPT = Path(__file__).with_name("read_apart.py")
_PATIENCE = 30.0
"""Seconds by the clock, beyond those that a file's size gives: a last resort, for where processor time is not limited
or is not what is spent."""
_PATIENCE_PER_BYTE = 50e-6


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


def read_apart(path: Path, request: Mapping[str, Any], size: int) -> list[Any]:
    """The lines of the answer about a file; the first says what is there. What is wrong with it is an error here."""
    asked = {**request, "path": os.path.abspath(path)}
    answer = _answer(asked, _PATIENCE + size * _PATIENCE_PER_BYTE)
    if answer is None:
        raise TableError(
            f"{path}: damaged: reading it crashed, took too long or asked for too much memory; "
            "save it again with the program that made it, or as .csv"
        )
    wrong, words = wrong_of(answer[0]), " ".join(str(answer[0].get("words", "")).split())[:200]
    if wrong is Wrong.DAMAGED:
        raise TableError(f"{path}: not a whole {path.suffix} file ({words or 'cannot be read'})")
    if wrong is Wrong.IMPLAUSIBLE:
        raise TableError(f"{path}: says that it has {words} rows, which its {size:,} bytes cannot hold")
    if wrong is Wrong.MEMORY:
        raise TableError(
            f"{path}: not a whole {path.suffix} file (its {size:,} bytes ask for more memory than they can need)"
        )
    if wrong is Wrong.MISSING:
        raise MissingExtraError(f"{path}: reading it needs {words}, which is not installed: pip install {words}")
    if wrong is Wrong.UNREADABLE:
        raise TableError(f"{path}: cannot be read ({words})")
    return answer


def wrong_of(said: Mapping[str, Any]) -> Wrong | None:
    """What an answer's first line says is wrong with the file."""
    return Wrong(said["wrong"]) if "wrong" in said else None


def _answer(request: Mapping[str, Any], seconds: float) -> list[Any] | None:
    if not sys.executable or getattr(sys, "frozen", False) or sys.platform == "emscripten":
        # no interpreter to start: read here, without the shelter
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


def cells_of(line: Any) -> Sequence[Any]:
    """The cells of a column, from its line."""
    if isinstance(line, str):
        return array("d", base64.b64decode(line)).tolist()
    return [cell_of(each) for each in line]


def cell_of(plain: Any) -> Any:
    """A cell, from what JSON holds of it."""
    if not isinstance(plain, dict):
        return plain
    ((kind, text),) = plain.items()
    return {"date": date, "datetime": datetime, "time": time}[kind].fromisoformat(text)
