"""Fixed attacks: files made to run code, to reach outside, to swell or to hang, each read in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import leverrier as lv
from hardening.attack_files import Attack, attacks
from hardening.forks import Fork, patience, snapshot
from hardening.outcome import Outcome, Size

HANG = 2.0
MOST = 512.0
"""Mebibytes, with what a process holds that has only loaded us (see forks.LOADED)."""
FORBIDDEN = (
    "os.system",
    "subprocess.Popen",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
    "pickle.find_class",
    "ctypes.dlopen",
    "urllib.Request",
    "webbrowser.open",
)
"""What reading a file must never do; Python itself tells us when it happens."""
HARMFUL = (
    "<img src=x onerror",
    "<script>pwned",
    "<svg onload",
    'href="javascript:',
    'src="javascript:',
    "href=javascript:",
    "<iframe",
    "<a onmouseover",
)
"""What no label may become in a page."""


def attack(size: Size) -> Outcome:
    listed = attacks()
    found = Outcome("attacks", "files made to do harm", size.of(len(listed)))
    most, slowest = (0.0, ""), (0.0, "")
    for one in listed[: found.wanted]:
        if size.spent:
            found.notes.append("the time ran out")
            break
        wrong, memory, seconds = _suffer(one)
        most, slowest = max(most, (memory, one.name)), max(slowest, (seconds, one.name))
        found.count(None if wrong is None else f"{one.name}: {wrong}")
    found.notes.append(f"most memory {most[0]:.0f} MiB ({most[1]}), longest {slowest[0]:.2f} s ({slowest[1]})")
    return found


def _suffer(one: Attack) -> tuple[str | None, float, float]:
    """What went wrong with one attack, the memory it took (MiB) and how long it lasted."""
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        inside, outside = Path(folder) / "inside", Path(folder) / "outside"
        for place in (inside, outside):
            place.mkdir()
        (outside / "secret.csv").write_text("SECRET,x\n1,2\n3,4\n")
        before = snapshot(outside)
        path = inside / one.file
        one.make(path)
        given = snapshot(inside) if not one.special else {}
        ended = Fork(lambda: _victim(path, inside)).wait(patience(10 * HANG))
        wrong = None
        if ended.code:
            wrong = f"ended with {ended.code}: {(ended.error or ended.out)[-200:]}"
        elif "SECRET" in ended.out:
            wrong = "it read another file"
        elif snapshot(outside) != before or (Path(folder) / "pwned").exists():
            wrong = "it wrote outside"
        elif given and any(name.startswith("pwned") for name in snapshot(inside)):
            wrong = "it wrote a file of the attacker's"
        elif ended.mebibytes > MOST:
            wrong = f"took {ended.mebibytes:.0f} MiB"
        elif ended.seconds > patience(HANG + one.patience):
            wrong = f"took {ended.seconds:.1f} s"
        return wrong, ended.mebibytes, ended.seconds


def _victim(path: Path, folder: Path) -> int:
    """Read the file and use it as a user would; say what was read."""
    os.chdir(folder)
    wrong: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching[0] and event in FORBIDDEN:
            wrong.append(f"{event} {arguments!r}"[:200])

    sys.addaudithook(watch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for words in _use(path):
                sys.stdout.write(f"{words}\n")
    except lv.LeverrierError as error:
        sys.stdout.write(f"{error}\n")
    watching[0] = False
    if wrong:
        sys.stderr.write(f"did {wrong[0]}\n")
    return len(wrong)


def _use(path: Path) -> Iterator[str]:
    """Read and write what the file holds, and say what a user would see of it."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv", ".parquet", ".txt")):
        table = lv.read_table(path)
        yield str(table.states)
        lv.write_table(table, path.with_name("out.csv"))
        lv.write_table(table, path.with_name("out.parquet"))
        return
    for read in _readers(name):
        try:
            model: Any = read(path)
        except lv.LeverrierError as error:
            yield str(error)
            continue
        if isinstance(model, lv.Network):
            for suffix in (".json", ".xml"):
                lv.write_network(model, path.with_name(f"out{suffix}"))
            lv.write_table(model.sample(20, seed=0), path.with_name("out.csv"))
        elif hasattr(model, "headline"):
            yield str(model)
            model.report(path.with_name("out.html"))
            _require_inert(path.with_name("out.html").read_text())


def _readers(name: str) -> tuple[Callable[[Path], Any], ...]:
    return (lv.read_network, lv.read_dynamic, lv.load) if name.endswith(".json") else (lv.read_network,)


def _require_inert(page: str) -> None:
    """No label of the file became a tag or ended a script."""
    for harmful in HARMFUL:
        if harmful in page.lower():
            raise AssertionError(f"{harmful!r} is in the page")
