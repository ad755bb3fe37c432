"""Work in a process of its own, forked from this one so that nothing has to be loaded again; it may be killed."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LOADED = 250.0
"""MiB of a process that has loaded what it needs and done nothing; what it inherits above that is not its own doing."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: an exit code, or minus the signal that ended it."""

    code: int
    out: str
    error: str
    seconds: float
    mebibytes: float
    """The most memory it held beyond what it was forked with, and what a process that only loaded us holds."""


class Fork:
    """A process under way."""

    def __init__(self, work: Callable[[], int | None]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._out, self._error = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._begun = time.monotonic()
        self._inherited = max(_resident() - LOADED, 0.0)
        self.pid = os.fork()
        if self.pid == 0:
            self._inside(work)

    def _inside(self, work: Callable[[], int | None]) -> None:
        code = 99
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.setpgid(0, 0)
            os.dup2(self._out.fileno(), 1)
            os.dup2(self._error.fileno(), 2)
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            try:
                code = work() or 0
            except SystemExit as leaving:
                code = leaving.code if isinstance(leaving.code, int) else 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def kill(self, how: int = signal.SIGKILL) -> None:
        try:
            os.kill(self.pid, how)
        except ProcessLookupError:
            return

    def wait(self, seconds: float | None = None) -> Ended:
        """Wait for the end, killing it after so many seconds."""
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        while True:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.kill()
                deadline = float("inf")
            time.sleep(0.002)
        texts = []
        for file in (self._out, self._error):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
            file.close()
        return Ended(
            os.waitstatus_to_exitcode(status),
            texts[0],
            texts[1],
            time.monotonic() - self._begun,
            used.ru_maxrss / 1024 - self._inherited,
        )


def _resident() -> float:
    """The memory this process holds now, in MiB; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20 if statm.exists() else 0.0


def patience(seconds: float) -> float:
    """So many seconds of an idle machine; on a busy one as many more as processes wait for each processor."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def one_line(ended: Ended) -> str | None:
    """What is wrong with how a command ended: it must be done, or refuse in one line."""
    if ended.code not in (0, 2):
        return f"ended with {ended.code}: {ended.error[-200:]}"
    if "Traceback" in ended.error or "Traceback" in ended.out:
        return f"a traceback: {ended.error[-200:]}"
    if ended.code == 2 and len(ended.error.strip().splitlines()) != 1:
        return f"not one line: {ended.error[-200:]!r}"
    return None


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rng_of(number: int) -> np.random.Generator:
    return np.random.default_rng([number, 97])
