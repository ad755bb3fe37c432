"""Which encoding a text file has: what its first bytes say, UTF-8 if it is, else what Western files mostly are."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from pathlib import Path

_BLOCK = 1 << 20
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"))
_MARKS += ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_WHOLE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CP1252_NEVER = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def encoding_of(path: Path) -> str:
    """The encoding, by what it holds; "utf-8" also where it is none that can be told, so that the place is named."""
    try:
        with open(path, "rb") as plain:
            raw = gzip.GzipFile(fileobj=plain) if path.suffix.lower() == ".gz" else plain
            block = raw.read(_BLOCK)
            for mark, name in _MARKS:
                if block.startswith(mark):
                    return name
            if _looks_utf16(block):
                return "utf-16-le" if block[1:2] == b"\x00" else "utf-16-be"
            decoder = codecs.getincrementaldecoder("utf-8")()
            sound, odd, whole, high = True, False, 0, 0
            never = False
            while block:
                if sound:
                    try:
                        decoder.decode(block)
                    except UnicodeDecodeError:
                        sound = False
                if not block.isascii():
                    found = len(_WHOLE.findall(block))
                    whole += found
                    high += len(re.findall(rb"[\x80-\xff]", _WHOLE.sub(b"", block)))
                    never = never or _CP1252_NEVER.search(block) is not None
                odd = odd or _CONTROL.search(block) is not None
                block = raw.read(_BLOCK)
    except (OSError, EOFError, zlib.error):
        return "utf-8"  # (whoever reads it says what is wrong)
    # A few odd bytes among text that is UTF-8 are damage, and control characters are no text at all.
    if sound or odd or whole >= high:
        return "utf-8"
    return "latin-1" if never else "cp1252"


def _looks_utf16(block: bytes) -> bool:
    """Every other byte zero, as Western text in UTF-16 without a mark has."""
    start = block[:200]
    return len(start) >= 8 and (start[1::2].count(0) > 0.9 * len(start[1::2])) != (
        start[0::2].count(0) > 0.9 * len(start[0::2])
    )
