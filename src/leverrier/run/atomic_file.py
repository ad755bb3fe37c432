"""Nobody meets half a file: it is written beside its place, forced to the disk, and put there in one step.

What a killed process left half-written beside the place is swept by whoever writes there next: a file being written is
locked by its writer, and the lock ends with the process.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # (no such locks on this system: then nothing is swept)
    fcntl = None


def put(target: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Have `write` fill a new file and put it in the target's place; what was there stays until the new one is whole.

    A crash leaves the old file or the new one. A link keeps pointing where it did; an old file's mode is kept.
    """
    place = Path(os.path.realpath(target))
    sweep(place)
    part, handle = _begun(place)
    try:
        write(part)
        _settle(part)
        if place.exists():
            part.chmod(place.stat().st_mode & 0o777)
        part.replace(place)  # (Windows moves no file that somebody holds open: there `handle` is None)
        if os.name == "posix":  # the name itself must reach the disk too
            _settle(place.parent)
    finally:
        part.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def fill(part: Path, data: bytes) -> None:
    """All of these bytes in a file; a system that takes only some of them at a time is asked again."""
    handle = os.open(part, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_BINARY", 0))  # (Windows would mend line ends)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


def sweep(place: Path) -> None:
    """Remove what killed processes left half-written for this place; what is still being written is locked."""
    if fcntl is None or not place.parent.is_dir():
        return
    ours = re.compile(re.escape(f".{place.name[:80]}.") + "[0-9a-f]{12}[.]part")
    for path in [path for path in place.parent.iterdir() if ours.fullmatch(path.name)]:
        with suppress(OSError):  # (in use, or swept by another)
            handle = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def _begun(place: Path) -> tuple[Path, int | None]:
    """A new file of our own beside the place, locked for as long as the handle is open, where there are locks."""
    while True:
        part = place.with_name(f".{place.name[:80]}.{secrets.token_hex(6)}.part")
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)  # (less the umask, as any new file)
        if fcntl is None:
            os.close(handle)
            return part, None
        with suppress(OSError):  # (a file system without locks: then nobody sweeps either)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if part.exists():
            return part, handle
        os.close(handle)  # it was swept between its making and its lock


def _settle(path: Path) -> None:
    descriptor = os.open(
        path, os.O_RDONLY if os.name == "posix" else os.O_RDWR
    )  # (Windows asks for the right to write)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
