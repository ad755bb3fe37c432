"""What a long run has so far, on disk: two generations, each written whole or not at all, with a checksum.

The two generations take turns, so a damaged one is noticed and the one before is used.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np

from leverrier.errors import FormatError, LeverrierError, OptionError
from leverrier.run.atomic_file import fcntl, fill, put, sweep
from leverrier.run.checkpoint_format import pack, unpack

EVERY = 5.0
"""Seconds between two savings, unless saving takes so long that it would be more than a twentieth of the time."""
MOST_BYTES = 2**31


class Checkpoint:
    """One run's place in a folder. `mark` says what the run is about: another run's checkpoint is refused."""

    def __init__(self, folder: str | os.PathLike[str], name: str, mark: str, *, every: float | None = None) -> None:
        self.folder, self.name, self.mark = Path(folder), name, mark
        self.every = EVERY if every is None else every
        self.warning = ""
        """In words, what was wrong with the newest generation, if an older one was used."""
        self._serial = 0
        self._saved = time.monotonic()
        self._cost = 0.0
        self._lock: int | None = None

    @property
    def slots(self) -> tuple[Path, Path]:
        return self.folder / f"{self.name}.0", self.folder / f"{self.name}.1"

    def begin(self) -> None:
        """Start anew: what an earlier run left here is removed."""
        if self.folder.exists():
            self._open()
            for slot in self.slots:
                slot.unlink(missing_ok=True)
        elif not self.folder.parent.is_dir():
            raise OptionError(f"{self.folder}: there is no folder {self.folder.parent}")

    def resume(self) -> Any:
        """The newest content that is whole; None if there is none yet."""
        if not self.folder.exists():
            return self.begin()
        self._open()
        with ExitStack() as if_it_fails:
            if_it_fails.callback(self.close)
            newest = self._newest()
            if_it_fails.pop_all()
        return newest

    def _newest(self) -> Any:
        found, wrong = [], []
        for slot in self.slots:
            if slot.exists():
                try:
                    found.append(unpack(read_bytes(slot)))
                except FormatError as problem:
                    wrong.append(f"{slot.name}: {problem}")
        if not found and not wrong:
            return None
        if not found:
            raise FormatError(f"no checkpoint we can resume from ({wrong[0]}): remove it", path=str(self.folder))
        self._serial, mark, content = max(found, key=lambda each: each[0])
        if mark != self.mark:
            raise OptionError(f"{self.folder} belongs to other data or options: remove it, or resume with those it had")
        if wrong:
            self.warning = f"a damaged checkpoint was passed over ({wrong[0]}); the one before it was used"
        return content

    @property
    def due(self) -> bool:
        return self.every <= 0 or time.monotonic() - self._saved > max(self.every, 20 * self._cost)

    def save(self, content: Any) -> None:
        """Put this in the older generation's place."""
        begun = time.monotonic()
        serial = self._serial + 1
        data = pack(serial, self.mark, content)
        if self._lock is None:
            self._open()
        put(self.slots[serial % 2], lambda part: fill(part, data))
        self._serial = serial
        self._saved = time.monotonic()
        self._cost = self._saved - begun

    def remove(self) -> None:
        """The run is done: nothing is left of it, nor the folder if it was ours alone."""
        for slot in self.slots:
            slot.unlink(missing_ok=True)
        self.close()
        with suppress(OSError):  # (other files are in it)
            self.folder.rmdir()

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _open(self) -> None:
        """Make the folder, sweep what a killed run left half-written, and keep other runs out."""
        try:
            self.folder.mkdir(exist_ok=True)
            for slot in self.slots:
                sweep(slot)
            if fcntl is not None and self._lock is None:
                self._lock = os.open(self.folder, os.O_RDONLY)
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise OptionError(f"{self.folder}: no place for a checkpoint ({reason})") from None
        if fcntl is not None and self._lock is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.close()
                raise OptionError(f"{self.folder} is in use by another run: wait for it, or name another") from None


class Journal:
    """Pieces of a long run by name: each is worked out once, and in a resumed run taken from the checkpoint."""

    def __init__(self, checkpoint: Checkpoint, *, resume: bool) -> None:
        self.checkpoint = checkpoint
        content: Any = checkpoint.resume() if resume else checkpoint.begin()
        self.pieces: dict[str, Any] = dict(content or {})
        self.known = len(self.pieces)
        """How many were there from the start."""
        self.made: dict[str, Any] = {}
        """What this process made of pieces, never written: a run that is cut must answer at once."""
        self.complaint = ""
        """In words, why the last saving failed; the one before it is still there."""
        self._unsaved = False
        self._lock = threading.RLock()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Keep what there is; of a run that could not be done as asked, nothing."""
        if isinstance(error, LeverrierError) and not self.known:
            self.checkpoint.remove()
        else:
            self.save()
            self.checkpoint.close()

    def get(self, name: str) -> Any:
        return self.pieces.get(name)

    def add(self, name: str, piece: Any) -> None:
        """Keep a piece; it is written with the others when it is time."""
        with self._lock:
            self.pieces[name] = piece
            self._unsaved = True
            if self.checkpoint.due:
                self.save()

    def drop(self, name: str) -> None:
        """What is no longer needed; with the next piece it is gone from the disk too."""
        with self._lock:
            self.pieces.pop(name, None)

    def save(self) -> None:
        """Write what is new. A disk that is full leaves the last good checkpoint, and the run goes on."""
        with self._lock:
            if not self._unsaved:
                return
            try:
                self.checkpoint.save(self.pieces)
                self._unsaved, self.complaint = False, ""
            except (OSError, OptionError) as problem:
                reason = getattr(problem, "strerror", None) or problem
                self.complaint = f"the checkpoint could not be written ({reason})"


def forget(folder: str | os.PathLike[str]) -> None:
    """Remove a run's checkpoint, whosever it is, and the folder if nothing else is in it."""
    slot = re.compile(r"([a-z_]+)[.][01]")
    found = {match[1] for path in Path(folder).glob("*.[01]") if (match := slot.fullmatch(path.name))}
    for name in found or {"none"}:
        Checkpoint(folder, name, "").remove()


def marked(*parts: Any) -> str:
    """A digest of what a run is about: plain values by their text, arrays and bytes by their content."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else None
        if isinstance(part, np.ndarray):
            digest.update(repr((part.dtype.str, part.shape)).encode())
            raw = np.ascontiguousarray(part).tobytes()
        digest.update(raw if raw is not None else repr(part).encode())
        digest.update(b"\x00")
    return digest.hexdigest()


def read_bytes(path: Path) -> bytes:
    if not path.is_file():
        raise FormatError("no plain file")
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise FormatError(f"cannot be read ({problem.strerror or problem})") from None
    if len(data) > MOST_BYTES:
        raise FormatError(f"more than {MOST_BYTES // 2**20} MB")
    return data
