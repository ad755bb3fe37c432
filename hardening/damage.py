"""Damaged checkpoints, all of them to be noticed; and disks that fail while one is written."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from hardening.forks import rng_of
from hardening.outcome import Outcome, Size
from hardening.runs import chains
from leverrier.errors import FormatError, LeverrierError
from leverrier.run import atomic_file as whole_file
from leverrier.run.checkpoint import Checkpoint, Journal

NUMBER = 5000
ERRORS = 400
MOST_BYTES = 20_000
"""Of a real checkpoint, so many bytes are in those that are damaged."""


def damage(size: Size) -> Outcome:
    """The newest generation damaged: the one before is used. Both damaged: refused."""
    found = Outcome("damage", "damaged checkpoints", size.of(NUMBER))
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        chains(Path(folder) / "run")
        place = Checkpoint(Path(folder) / "run", "causes", "")
        sound = next(slot for slot in place.slots if slot.exists()).read_bytes()
        older = Checkpoint(Path(folder) / "two", "run", "m")
        older.begin()
        for number in range(2):
            older.save({"number": number, "data": np.frombuffer(sound[:MOST_BYTES], np.uint8).copy()})
        older.close()
        before, newest = older.slots[1], older.slots[0]
        whole, spare = newest.read_bytes(), before.read_bytes()
        for number in range(found.wanted):
            if size.spent:
                break
            rng = rng_of(number)
            harmed = _harmed(whole, spare, rng)
            newest.write_bytes(harmed)
            both = number % 10 == 0
            before.write_bytes(_harmed(spare, whole, rng) if both else spare)
            found.count(None if harmed == whole else _unnoticed(older.folder, both))
            newest.write_bytes(whole)
    return found


def _unnoticed(folder: Path, both: bool) -> str | None:
    again = Checkpoint(folder, "run", "m")
    try:
        content: Any = again.resume()
    except FormatError:
        return None if both else "refused, though the generation before was sound"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        again.close()
    if both:
        return "taken, though both generations were damaged"
    return None if content["number"] == 0 and again.warning else "the damage was not noticed"


def _harmed(data: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Bits flipped, cut off, lost, doubled, or mixed with another file."""
    at = int(rng.integers(len(data) if rng.random() < 0.6 else 200))
    length = int(rng.integers(1, 600))
    what = int(rng.integers(8))
    if what <= 2:
        return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]
    if what == 3:
        return data[:at]
    if what == 4:
        zeros = data[:at] + b"\0" * min(length, len(data) - at) + data[at + length :]
        return zeros if zeros != data else data[:at]
    if what == 5:
        return data[:at] + data[at + length :]
    if what == 6:
        return data[:at] + data[at : at + length] + data[at:]
    mixed = data[:at] + other[at:]
    return mixed if mixed not in (data, other) else data + b"\n"


def writes(size: Size) -> Outcome:
    """No space, an I/O error, a short write, no permission: the last good state loads, and later writes work again."""
    found = Outcome("writes", "write errors (no space, I/O, short, no permission)", size.of(ERRORS))
    failures = list(_failures())
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        for number in range(found.wanted):
            if size.spent:
                break
            name, broken = failures[number % len(failures)]
            wrong = _survives(Path(folder) / str(number), broken, rng_of(number))
            found.count(None if wrong is None else f"{name}: {wrong}")
    found.notes.append(f"{len(failures)} kinds of failure")
    return found


def _survives(folder: Path, broken: Callable[[np.random.Generator], Any], rng: np.random.Generator) -> str | None:
    journal = Journal(Checkpoint(folder, "run", "m", every=0), resume=False)
    good = int(rng.integers(1, 5))
    for number in range(good):
        journal.add("last", {"number": number, "data": rng.bytes(int(rng.integers(1, 5000))).hex()})
    with broken(rng):
        journal.add("last", {"number": good, "data": "x" * int(rng.integers(1, 5000))})
    failed = bool(journal.complaint)
    journal.checkpoint.close()
    newest = {good - 1, good} if failed else {good}  # (a new state may be whole before the failure)
    for expected in (newest, {1000}):
        try:
            again = Journal(Checkpoint(folder, "run", "m", every=0), resume=True)
        except LeverrierError as error:
            return f"the last good state does not load ({error})"
        last = (again.get("last") or {}).get("number")
        if last not in expected:
            return f"state {last} was loaded, {max(expected)} was the last good one"
        if [path.name for path in folder.iterdir() if path.suffix == ".part"]:
            return "half a file was left"
        again.add("last", {"number": 1000})
        again.checkpoint.close()
    return None


def _failures() -> Iterator[tuple[str, Callable[[np.random.Generator], Any]]]:
    for words, number in (
        ("no space", errno.ENOSPC),
        ("I/O error", errno.EIO),
        ("no permission", errno.EACCES),
        ("over quota", errno.EDQUOT),
        ("read-only", errno.EROFS),
    ):
        for call in ("open", "write", "fsync", "replace"):
            yield f"{words} at {call}", lambda rng, call=call, number=number: _failing(call, number, rng)
    yield "short writes", lambda rng: _short(rng, then=None)
    yield "a short write, then no space", lambda rng: _short(rng, then=errno.ENOSPC)


@contextmanager
def _failing(call: str, number: int, rng: np.random.Generator) -> Iterator[None]:
    """The call fails, at once or the second time it is made."""
    genuine: Any = getattr(os, call)
    left = [int(rng.integers(2))]

    def fail(*arguments: Any, **named: Any) -> Any:
        if left[0] > 0:
            left[0] -= 1
            return genuine(*arguments, **named)
        raise OSError(number, os.strerror(number))

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(whole_file.os, call, fail))
        yield


@contextmanager
def _short(rng: np.random.Generator, then: int | None) -> Iterator[None]:
    genuine = os.write

    def some(handle: int, data: Any) -> int:
        if then is not None and rng.random() < 0.5:
            raise OSError(then, os.strerror(then))
        return genuine(handle, bytes(data[: int(rng.integers(1, 200))]))

    with mock.patch.object(whole_file.os, "write", some):
        yield
