"""Malformed inputs by number: the same number gives the same input on every machine."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import numpy as np

from hardening.good_files import SHEET, SUFFIXES, good_files, workbook

WORDS: tuple[bytes, ...] = (
    b"nan",
    b"NaN",
    b"inf",
    b"-Infinity",
    b"1e999",
    b"-1",
    b"0",
    b"1.5",
    b"-0.0",
    b"9" * 400,
    b"1e-400",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[" * 2000,
    b'{"a":' * 500,
    b'"',
    b"'",
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    "\u202e".encode(),
    b"=1+1",
    b"@SUM(A1)",
    b"</script><img onerror=x>",
    b"<!ENTITY a 'b'>",
    b"&a;",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"../../../etc/passwd",
    b"%s%n",
    b"$(id)",
    b"`id`",
    b"__class__",
    b"constructor",
    b" ",
    b"{",
    b"}",
    b"(",
    b")",
    b"|",
    b"/*",
    b"*/",
    b"//",
    b"property",
    b"default",
    b"table",
    b"discrete",
    b"[ 1000000000 ]",
    b"variable",
    b"probability",
    b"<TABLE>",
    b"</TABLE>",
    b"<VARIABLE>",
    b"version",
    b"PAR1",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    0.5,
    1e308,
    -0.0,
    10**30,
    "",
    "x",
    "0:x",
    "H1",
    [],
    {},
    [None],
    [[]],
    [[1.0]],
    [0.5, 0.5],
    [[0.5, 0.5]],
    {"a": 1},
    "nan",
    float("nan"),
    float("inf"),
    "\ud800",
    "a" * 3000,
    [1] * 300,
    {"name": "x"},
    ["x", "x"],
)
KINDS = tuple(SUFFIXES)


def malformed(kind: str, number: int) -> bytes:
    """Input `number` of a kind: a sound file, damaged one to four times."""
    rng = np.random.default_rng([number, KINDS.index(kind)])
    choices = good_files(kind)
    data = choices[int(rng.integers(len(choices)))]
    if data[:1] in (b"{", b"[") and rng.random() < 0.6:
        return _odd_values(data, rng)
    inside = kind == "xlsx" and rng.random() < 0.6  # (a sound package around a damaged sheet)
    data = SHEET if inside else data
    for _ in range(int(rng.integers(1, 5))):
        data = _CHANGES[int(rng.integers(len(_CHANGES)))](data, rng)
    return workbook(data) if inside else data


def _place(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(len(data) + 1))


def _span(data: bytes, rng: np.random.Generator, most: int = 60) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + int(rng.integers(1, most)))


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return data
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def _drop(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[start:end] * int(rng.integers(2, 6)) + data[end:]


def _move(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    rest = data[:start] + data[end:]
    at = _place(rest, rng)
    return rest[:at] + data[start:end] + rest[at:]


def _word(data: bytes, rng: np.random.Generator) -> bytes:
    at = _place(data, rng)
    return data[:at] + WORDS[int(rng.integers(len(WORDS)))] + data[at:]


def _over(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng, 12)
    return data[:start] + WORDS[int(rng.integers(len(WORDS)))] + data[end:]


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)]


def _noise(data: bytes, rng: np.random.Generator) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.bytes(int(rng.integers(1, 20))) + data[at:]


def _lines(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    order = rng.permutation(len(lines))[: int(rng.integers(1, len(lines) + 1))]
    return b"\n".join(lines[i] for i in order)


_CHANGES = (_flip, _drop, _repeat, _move, _word, _word, _over, _over, _cut, _noise, _lines)


def _odd_values(data: bytes, rng: np.random.Generator) -> bytes:
    """JSON that is well formed and means something odd: values replaced, left out or given to the wrong key."""
    content = json.loads(data)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(content))
        if not places:
            break
        holder, key = places[int(rng.integers(len(places)))]
        what = int(rng.integers(4))
        if what == 0:
            del holder[key]
        elif what == 1:
            other, theirs = places[int(rng.integers(len(places)))]
            holder[key] = deepcopy(other[theirs])
        else:
            holder[key] = deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    return json.dumps(content).encode("utf-8", "surrogatepass")


def _places(content: Any, depth: int = 0) -> Any:
    """Every (list or object, index or key); of long lists only the first few."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield content, key
            yield from _places(value, depth + 1)
    elif isinstance(content, list):
        for index, value in enumerate(content[:6]):
            yield content, index
            yield from _places(value, depth + 1)
