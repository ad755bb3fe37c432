"""What other systems do otherwise, played here: files that are open cannot be moved, text is mended, signals lack."""

import ast
import os
import re
import signal
import sys
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


UNIX_ALONE = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix"}
NOT_EVERYWHERE = {"fork", "forkpty", "getuid", "geteuid", "killpg", "setsid", "sched_getaffinity", "nice", "mkfifo"}
SIGNALS = {"SIGALRM", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGHUP", "setitimer", "alarm", "pthread_sigmask"}
SOURCE = Path(lv.__file__).parent


def faults(path):
    """Text opened without an encoding, and names that another system lacks where nothing asks for them first."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = set()
    for node in ast.walk(tree):
        test = ast.dump(node.test) if isinstance(node, ast.If | ast.IfExp) else ""
        if isinstance(node, ast.Try) or re.search("hasattr|platform|CAN_CUT", test):
            guarded |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.FunctionDef) and "hasattr" in ast.dump(node):
            guarded |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if id(node) not in guarded and UNIX_ALONE & {name.partition(".")[0] for name in names}:
            yield f"{where} imports {names}"
        if isinstance(node, ast.Attribute) and node.attr in NOT_EVERYWHERE | SIGNALS and id(node) not in guarded:
            yield f"{where} uses {node.attr}"
        if isinstance(node, ast.Call) and _opens_text(node) and "encoding" not in {each.arg for each in node.keywords}:
            yield f"{where} opens text without an encoding"


def _opens_text(call):
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name in ("read_text", "write_text"):
        return isinstance(call.func, ast.Attribute)
    own = isinstance(call.func, ast.Name) or ast.unparse(call.func).endswith("path.open")
    if name != "open" or not own:
        return False
    modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
    modes += [each.value.value for each in call.keywords if each.arg == "mode" and isinstance(each.value, ast.Constant)]
    return not any("b" in str(mode) for mode in modes)


def test_nothing_that_another_system_lacks_is_used_unasked():
    found = [fault for path in sorted(SOURCE.rglob("*.py")) for fault in faults(path)]
    assert not found, "\n".join(found)


def test_the_search_for_such_faults_finds_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (tmp_path / "bad.py").write_text("import fcntl\nimport os\nos.fork()\nopen('x')\n", encoding="utf-8")
    assert len(list(faults(tmp_path / "bad.py"))) == 3
    (tmp_path / "good.py").write_text(
        "try:\n    import fcntl\nexcept ImportError:\n    pass\nopen('x', 'rb')\n", "utf-8"
    )
    assert not list(faults(tmp_path / "good.py"))


def test_names_of_files_differ_in_more_than_capitals():
    """Where capitals do not count, two such files are one."""
    names = [str(path.relative_to(SOURCE)).lower() for path in SOURCE.rglob("*.py")]
    assert len(names) == len(set(names))
