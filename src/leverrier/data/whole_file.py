"""Nobody meets half a file: it is written beside its place, forced to the disk, and put there in one step."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def put(target: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Have `write` fill a new file and put it in the target's place; what was there stays until the new one is whole.

    A crash leaves the old file or the new one. A link keeps pointing where it did; an old file's mode is kept.
    """
    place = Path(os.path.realpath(target))
    part = place.with_name(f".{place.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # (less the umask, as any new file)
        write(part)
        _settle(part)
        if place.exists():
            part.chmod(place.stat().st_mode & 0o777)
        part.replace(place)
        if os.name == "posix":  # the name itself must reach the disk too
            _settle(place.parent)
    finally:
        part.unlink(missing_ok=True)


def _settle(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
