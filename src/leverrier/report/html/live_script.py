"""The JavaScript of live figures: that of the installed vl-convert, made once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from leverrier.run.atomic_file import fill, put

SNIPPET = "window.leverrierEmbed = vegaEmbed;"
"""All that a page needs of Vega, Vega-Lite and vega-embed."""
MAKING = 2.0
"""Seconds that making the script takes where none is kept."""
_LOCK = threading.Lock()


def bundle() -> str:
    """The script, ready to stand in a page: made once in a process, by one thread, the others wait for it."""
    with _LOCK:
        return _bundle()


def is_kept() -> bool:
    """Whether an earlier process has left the script where this one will look for it."""
    place = _place()
    return place is not None and place.is_file()


@cache
def _bundle() -> str:
    place = _place()
    script = _read(place) if place is not None else None
    if script is None:
        script = _made()
        if place is not None:
            _keep(place, script)
    return script


def _made() -> str:
    import vl_convert

    return _inert(vl_convert.javascript_bundle(SNIPPET))


def _inert(script: str) -> str:
    """In a scope of its own, and with nothing that HTML would change or end it at: its digest must stay true."""
    script = script.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\\x00").replace("<!--", "<\\!--")
    script = re.sub("</(?=script)", r"<\\/", script, flags=re.IGNORECASE)
    return f'(function () {{\n"use strict";\n{script}\n}})();'


def _read(place: Path) -> str | None:
    """What is kept there, if it is what was written there."""
    try:
        digest, _, script = place.read_bytes().partition(b"\n")
        return script.decode() if digest == _digest(script) else None
    except (OSError, UnicodeDecodeError):
        return None


def _keep(place: Path, script: str) -> None:
    """For the next process; where that cannot be, it makes its own."""
    data = script.encode()
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        put(place, lambda part: fill(part, _digest(data) + b"\n" + data))


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _place() -> Path | None:
    """By version and snippet, in the user's folder for what can be made again; None for a user without a home."""
    made_by = version("vl-convert-python")
    key = hashlib.sha256(f"{made_by}\n{SNIPPET}\n{_inert('')}".encode()).hexdigest()[:12]
    try:
        return _folder() / "leverrier" / f"vega-{made_by}-{key}.js"
    except RuntimeError:
        return None


def _folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME" if os.name == "posix" else "LOCALAPPDATA")
    if named and Path(named).is_absolute():
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / (".cache" if os.name == "posix" else "AppData/Local")
