"""The first run on a machine: another process compiles some kernels while this one compiles the others.

Compiling holds a lock, so threads would not help. What both need is compiled by whoever comes first, and read from the
cache by the other; the answer is the same either way.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from leverrier.run.cores import usable_cores

_others: list[subprocess.Popen[bytes]] = []


def compile_ahead(jobs: int, kernel: Any, module: str, function: str) -> None:
    """Have another process call this function, if the kernel was never compiled here and there is a core for it."""
    if jobs < 2 or _others or not never_compiled(kernel) or usable_cores() < 2 or not sys.executable:
        return
    paths = os.pathsep.join(path for path in sys.path if path)
    program = f"from {module} import {function}; {function}()"
    with suppress(OSError):  # (no process to be had: then all is compiled here)
        _others.append(
            subprocess.Popen(
                [sys.executable, "-c", program],
                env={**os.environ, "PYTHONPATH": paths},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        atexit.register(end_compiling)


def wait_for_compiling() -> None:
    """Until the other process has compiled all it was started for."""
    for other in _others:
        other.wait()


def end_compiling() -> None:
    """What is compiled by now is kept; nobody is there to use the rest."""
    for other in _others:
        with suppress(OSError):
            other.kill()


def never_compiled(kernel: Any) -> bool:
    """Whether the cache on disk has no trace of the kernel."""
    folder = getattr(getattr(kernel, "_cache", None), "cache_path", None)
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}"
    return folder is not None and not any(Path(folder).glob(f"{name}-*.nbi"))
