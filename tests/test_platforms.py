"""What other systems do otherwise, played here: files that are open cannot be moved, text is mended, signals lack."""

import os
import signal
from pathlib import Path

import pytest

import leverrier as lv
from leverrier.run import atomic_file, pool

BINARY = 0o100000
"""O_BINARY, by a number that means nothing to the system this runs on."""


@pytest.fixture
def windows(monkeypatch):
    """No locks; a file that is held open is not moved; what is opened without O_BINARY is noted."""
    held, as_text = {}, []
    first, last, replace = os.open, os.close, Path.replace

    def opened(path, flags, *more, **named):
        handle = first(path, flags & ~BINARY, *more, **named)
        held[handle] = Path(path)
        if flags & os.O_TRUNC and not flags & BINARY:
            as_text.append(path)
        return handle

    def closed(handle):
        held.pop(handle, None)
        last(handle)

    def moved(self, target):
        if self in held.values():
            raise PermissionError(13, "used by another process", str(self))
        return replace(self, target)

    monkeypatch.setattr(atomic_file, "fcntl", None)
    monkeypatch.setattr(os, "O_BINARY", BINARY, raising=False)
    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "close", closed)
    monkeypatch.setattr(Path, "replace", moved)
    return held, as_text


def test_files_are_written_where_open_ones_cannot_be_moved(windows, tmp_path):
    held, as_text = windows
    table = lv.datasets.network("asia").sample(30, seed=0)
    for name in ("t.csv", "t.parquet", "t.jsonl", "t.csv"):
        lv.write_table(table, tmp_path / name)
        assert lv.read_table(tmp_path / name).n_rows == 30
    lv.write_network(lv.datasets.network("asia"), tmp_path / "n.bif")
    assert lv.read_network(tmp_path / "n.bif").variables == lv.datasets.network("asia").variables
    assert not [path for path in held.values() if path.is_relative_to(tmp_path)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n.bif", "t.csv", "t.jsonl", "t.parquet"]
    assert not as_text


def test_workers_are_ended_without_a_signal_that_kills(monkeypatch):
    ended = []
    executor = type("executor", (), {"_processes": [1234567]})
    monkeypatch.setitem(
        pool.sys.modules, "joblib.externals.loky.reusable_executor", type("m", (), {"_executor": executor})
    )
    monkeypatch.delattr(signal, "SIGKILL")
    monkeypatch.setattr(os, "kill", lambda pid, how: ended.append((pid, how)))
    pool.end_workers()
    assert ended == [(1234567, signal.SIGTERM)]
