"""A generation of a checkpoint as bytes: one line and a body.

    leverrier-checkpoint 1 SERIAL SHA256 BYTES
    {"mark": …, "arrays": [[dtype, shape], …], "content": …}
    the arrays' bytes, end to end

The checksum is of the serial number and the body. In the content every object is {"of": {…}} and every array
{"array": its number}. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import FormatError

VERSION = 1
_HEADER = re.compile(rb"leverrier-checkpoint 1 (0|[1-9][0-9]{0,17}) ([0-9a-f]{64}) (0|[1-9][0-9]{0,17})\n")
_KINDS = re.compile(r"[<|][biuf][1248]")


def pack(serial: int, mark: str, content: Any) -> bytes:
    """A generation as bytes."""
    arrays: list[NDArray[Any]] = []
    plain = _written(content, arrays)
    about = [[array.dtype.str, array.shape] for array in arrays]
    head = json.dumps({"mark": mark, "arrays": about, "content": plain}, ensure_ascii=True)
    body = b"".join((head.encode(), b"\n", *(array.tobytes() for array in arrays)))
    return f"leverrier-checkpoint {VERSION} {serial} {_checksum(serial, body)} {len(body)}\n".encode() + body


def unpack(data: bytes) -> tuple[int, str, Any]:
    """Serial number, mark and content; one clear line if a single bit is not as it was written."""
    header = _HEADER.match(data)
    if header is None:
        raise FormatError("not a checkpoint of this version")
    serial, body = int(header[1]), data[header.end() :]
    if len(body) != int(header[3]) or _checksum(serial, body) != header[2].decode():
        raise FormatError("damaged: its checksum does not fit")
    try:
        head, _, raw = body.partition(b"\n")
        about = json.loads(head)
        return serial, str(about["mark"]), _read(about["content"], _arrays(about["arrays"], raw))
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as problem:
        raise FormatError(f"its content is not what a checkpoint holds ({type(problem).__name__})") from None


def _checksum(serial: int, body: bytes) -> str:
    digest = hashlib.sha256(f"{serial} ".encode())
    digest.update(body)
    return digest.hexdigest()


def _written(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value).reshape(value.shape).astype(value.dtype.newbyteorder("<"), copy=False)
        if not _KINDS.fullmatch(array.dtype.str):
            raise TypeError(f"arrays of {array.dtype} are not kept")
        arrays.append(array)
        return {"array": len(arrays) - 1}
    if isinstance(value, Mapping):
        return {"of": {_key(key): _written(each, arrays) for key, each in value.items()}}
    if isinstance(value, list | tuple):
        return [_written(each, arrays) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no text: objects are kept by text")
    return key


def _arrays(about: list[Any], raw: bytes) -> list[NDArray[Any]]:
    found, at = [], 0
    for kind, shape in about:
        if not _KINDS.fullmatch(kind) or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError("an array of another kind")
        dtype = np.dtype(kind)
        count = int(np.prod([int(size) for size in shape], dtype=object))
        if count * dtype.itemsize > len(raw) - at:
            raise ValueError("an array is cut")
        found.append(np.frombuffer(raw, dtype, count, at).reshape(shape).copy())
        at += count * dtype.itemsize
    if at != len(raw):
        raise ValueError("bytes that belong to no array")
    return found


def _read(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return [_read(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array"}:
        return arrays[value["array"]]
    return {key: _read(each, arrays) for key, each in value["of"].items()}
