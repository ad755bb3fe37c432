"""The attacks themselves, each a name and a file: about three hundred, always the same."""
# ruff: noqa: E501  (lists of odd things)

from __future__ import annotations

import gzip
import json
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hardening.good_files import good_files

SCRIPTS = (
    "</script><script>pwned()</script>",
    "<img src=x onerror=pwned()>",
    "<svg onload=pwned()>",
    "javascript:pwned()",
    "<iframe src=//x>",
    '"><img src=x onerror=pwned()>',
    "'><script>pwned()</script>",
    "{{7*7}}",
    "{% import os %}",
    "${pwned}",
    "<!--<script>pwned()",
    "]]><script>pwned()</script>",
    "<a onmouseover=pwned()>",
    "</title><script>pwned()</script>",
    "\u2028<script>pwned()</script>",
    "</style><script>pwned()</script>",
    "&lt;script&gt;",
    "<math><img src=x onerror=pwned()>",
)
NAMES = (
    "'; COPY (SELECT 1) TO '{}/pwned'; --",
    "\"; COPY (SELECT 1) TO '{}/pwned'; --",
    "x') TO '{}/pwned'; --",
    'a"b',
    "a'b",
    "$(touch {}/pwned)",
    "`touch {}/pwned`",
    "| touch {}/pwned",
    "; touch {}/pwned",
    "../outside/pwned",
    "{}/outside/pwned",
    "=cmd|' /C touch pwned'!A0",
    "@SUM(1+1)*cmd|'/C touch pwned'!A0",
    "+1+cmd|'/C pwned'!A0",
    "-1+cmd|'/C pwned'!A0",
    '=HYPERLINK("//x")',
    "__import__('os').system('touch {}/pwned')",
    "{{.__class__}}",
    "%n%n%n%s",
    "\x1b]0;pwned\x07",
    "a\x00b",
    "\u202egpj",
    "A" * 100_000,
)
FILES = (
    "*.csv",
    "[a-z]*.csv",
    "?.csv",
    "a'; COPY (SELECT 1) TO 'pwned'; --.csv",
    'a";DROP.csv',
    "$(touch pwned).csv",
    "`touch pwned`.csv",
    "-o.csv",
    "--help.csv",
    "a\nb.csv",
    "a b;c.csv",
    "ü💥.csv",
    "%s%n.csv",
    "{0}.csv",
    ".csv.csv",
    "s3:bucket.csv",
    "http:x.csv",
    "**.csv",
)
NUMBERS = (
    "9" * 5000,
    "1e999",
    "-1",
    "NaN",
    "Infinity",
    "1e-999",
    "0x10",
    "1_0",
    "٣",
    "1" + "0" * 400,
    "true",
    "null",
    "1/0",
    "__import__('os')",
)


@dataclass(frozen=True)
class Attack:
    """A file's name and what puts it there."""

    name: str
    file: str
    make: Callable[[Path], None]
    special: bool = False
    """No plain file: its content cannot be listed."""
    patience: float = 0.0
    """Seconds beyond the usual: a report is drawn."""


def attacks() -> list[Attack]:
    found = [*_xml(), *_json(), *_bif(), *_tables(), *_names(), *_pages(), *_pickles(), *_special()]
    return [
        Attack(f"{number} {one.name}", one.file, one.make, one.special, one.patience)
        for number, one in enumerate(found)
    ]


def _put(data: bytes | str, path: Path) -> None:
    text = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    path.write_bytes(text.replace(b"{}/", str(path.parent.parent).encode() + b"/") if b"{}/" in text else text)


def _file(name: str, file: str, data: bytes | str, patience: float = 0.0) -> Attack:
    return Attack(name, file, partial(_put, data), patience=patience)


def _xml() -> Iterator[Attack]:
    body = good_files("xmlbif")[0].decode().partition("?>")[2]
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    declared = {
        "a billion laughs": f'<!DOCTYPE BIF [<!ENTITY l0 "ha">{laughs}]>',
        "quadratic": f'<!DOCTYPE BIF [<!ENTITY a "{"a" * 100_000}">]>',
        "a file": '<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        "a secret": '<!DOCTYPE BIF [<!ENTITY x SYSTEM "../outside/secret.csv">]>',
        "the net": '<!DOCTYPE BIF [<!ENTITY x SYSTEM "http://127.0.0.1:9/">]>',
        "a parameter": '<!DOCTYPE BIF [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]>',
        "an outside DTD": '<!DOCTYPE BIF SYSTEM "http://127.0.0.1:9/x.dtd">',
        "a public DTD": '<!DOCTYPE BIF PUBLIC "x" "file:///etc/passwd">',
        "itself": '<!DOCTYPE BIF [<!ENTITY x "&x;">]>',
        "a notation": '<!DOCTYPE BIF [<!NOTATION n SYSTEM "file:///bin/sh">]>',
    }
    for name, doctype in declared.items():
        for entity in ("x", "l11", "a"):
            yield _file(
                f"XML: {name} &{entity};",
                "m.xml",
                f"<?xml version='1.0'?>{doctype}{body.replace('</NAME>', f'&{entity};</NAME>', 1)}",
            )
    yield _file("XML: deep", "m.xml", "<BIF VERSION='0.3'>" + "<A>" * 200_000)
    yield _file("XML: a wide tag", "m.xml", "<BIF " + " ".join(f"a{i}='1'" for i in range(50_000)) + ">")
    yield _file("XML: a long name", "m.xml", "<BIF><" + "A" * 2_000_000 + ">")
    yield _file(
        "XML: an include",
        "m.xml",
        body.replace(
            "<NETWORK>",
            "<NETWORK><xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='file:///etc/passwd' parse='text'/>",
            1,
        ),
    )
    yield _file("XML: an instruction", "m.xml", "<?xml-stylesheet href='file:///etc/passwd'?>" + body)
    yield _file("XML: an odd encoding", "m.xml", "<?xml version='1.0' encoding='utf-7'?>" + body)
    for number in NUMBERS:
        yield _file(f"XML: a probability {number[:12]}", "m.xml", body.replace("0.01", number, 1))


def _json() -> Iterator[Attack]:
    for kind in ("network", "dynamic", "discovery"):
        good = good_files(kind)[0].decode()
        yield _file(f"JSON {kind}: deep lists", "m.json", "[" * 1_000_000)
        yield _file(f"JSON {kind}: deep objects", "m.json", '{"a":' * 300_000)
        yield _file(f"JSON {kind}: deep within", "m.json", good.replace(": [", ": [" + "[" * 50_000, 1))
        yield _file(f"JSON {kind}: a huge text", "m.json", good.replace('"', '"' + "x" * 5_000_000, 1))
        yield _file(
            f"JSON {kind}: keys twice", "m.json", good.replace("{", '{"format": 1, "format": 2, ', 1), patience=8
        )
        yield _file(
            f"JSON {kind}: a class",
            "m.json",
            good.replace("{", '{"__class__": "os.system", "__reduce__": ["os.system", "touch {}/pwned"], ', 1),
            patience=8,
        )
        yield _file(
            f"JSON {kind}: py/object",
            "m.json",
            '{"py/object": "os.system", "py/reduce": [{"py/type": "os.system"}, {"py/tuple": ["touch {}/pwned"]}]}',
        )
        yield _file(f"JSON {kind}: another version", "m.json", good.replace('"version": 1', '"version": 1e9', 1))
        for number in NUMBERS:
            yield _file(f"JSON {kind}: a number {number[:12]}", "m.json", good.replace("0.", f"{number}0.", 1))
    states = json.dumps([str(i) for i in range(60_000)])
    wide = f'{{"name": "a", "states": {states}, "parents": [], "table": [[1]]}}'
    many = ",".join(wide.replace('"a"', f'"v{i}"') for i in range(4))
    yield _file(
        "JSON: huge cardinalities",
        "m.json",
        f'{{"format": "leverrier-network", "version": 1, "variables": [{many}, {{"name": "z", "states": ["x"], "parents": ["v0","v1","v2","v3"], "table": []}}]}}',
    )


def _bif() -> Iterator[Attack]:
    good = good_files("bif")[0].decode()
    yield _file("BIF: a billion states", "m.bif", good.replace("[ 2 ]", "[ 1000000000 ]", 1))
    yield _file("BIF: 10^18 states", "m.bif", good.replace("[ 2 ]", "[ 999999999999999999 ]", 1))
    crowd = "".join(f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(60))
    yield _file(
        "BIF: 59 parents",
        "m.bif",
        crowd + f"probability ( v0 | {', '.join(f'v{i}' for i in range(1, 60))} ) {{ default 1, 0; }}",
    )
    for name, text in {
        "a comment": "/*" * 300_000,
        "slashes": "/" * 1_000_000,
        "quotes": '"' * 300_000,
        "blanks": " " * 5_000_000 + "x",
        "braces": "{" * 300_000,
        "a word": "x" * 5_000_000,
        "commas": "," * 1_000_000,
        "a property": "network n { property " + "a;" * 300_000,
        "lines": "\n" * 3_000_000 + "x",
    }.items():
        yield _file(f"BIF: {name}", "m.bif", text)
        yield _file(f"BIF: {name} within", "m.bif", good.replace("variable", text + "\nvariable", 1))
    for number in NUMBERS:
        yield _file(f"BIF: a probability {number[:12]}", "m.bif", good.replace("0.01", number, 1))


def _tables() -> Iterator[Attack]:
    yield _file("CSV: a gzip bomb", "t.csv.gz", gzip.compress(b"a,b\n" + b"0" * 150_000_000))
    yield _file("CSV: a gzip bomb of rows", "t.csv.gz", gzip.compress(b"a,b\n" + b"0,1\n" * 500_000), patience=6)
    yield _file("BIF: a gzip bomb", "m.bif.gz", gzip.compress(b" " * 200_000_000))
    yield _file("CSV: gzip in gzip", "t.csv.gz", gzip.compress(gzip.compress(b"a,b\n1,2\n")))
    yield _file("CSV: one long line", "t.csv", b"a" * 30_000_000)
    yield _file("CSV: a long header", "t.csv", b",".join(b"c%d" % i for i in range(4_000)) + b"\n", patience=6)
    yield _file("CSV: a long cell", "t.csv", b"a,b\n" + b"x" * 30_000_000 + b",1\n")
    yield _file("CSV: an open quote", "t.csv", b'a,b\n"' + b"1,2\n" * 500_000)
    yield _file("CSV: quotes", "t.csv", b"a,b\n" + b'"' * 3_000_001 + b"\n")
    yield _file("CSV: nothing but nulls", "t.csv", b"\x00" * 3_000_000)
    yield _file("CSV: no line ends", "t.csv", b"a,b\r" * 300_000)
    yield _file("CSV: many names alike", "t.csv", b",".join([b"a"] * 20_000) + b"\n1\n")
    good = good_files("parquet")[0]
    for at in range(8, 40, 4):
        yield _file(f"Parquet: a wrong length {at}", "t.parquet", good[:-at] + b"\xff\xff\xff\x7f" + good[-at + 4 :])
    yield _file("Parquet: a wrong footer", "t.parquet", good[:-8] + b"\xff\xff\xff\x7fPAR1")
    yield _file("Parquet: only its name", "t.parquet", b"PAR1" * 2)
    yield _file("Parquet: it is CSV", "t.parquet", b"a,b\n1,2\n")
    for file in FILES:
        yield Attack(f"a file called {file[:20]!r}", file, _beside_a_secret)
    for file in ("http://127.0.0.1:9/x.csv", "s3://bucket/x.parquet", "file:///etc/passwd.csv"):
        yield Attack(f"no file: {file}", "t.csv", partial(_link, file), special=True)


def _beside_a_secret(path: Path) -> None:
    """Names that are patterns must not bring in the files that they match."""
    for other in ("a.csv", "zz.csv", "b.csv"):
        path.with_name(other).write_text("a,b\nSECRET,x\n2,y\n")
    path.write_text("a,b\n1,x\n2,y\n1,x\n")


def _names() -> Iterator[Attack]:
    """Names and labels that are programs somewhere."""
    for name in NAMES:
        quoted = name.replace('"', '""')
        yield _file(f"a column called {name[:20]!r}", "t.csv", f'"{quoted}",b\n1,x\n2,y\n1,x\n')
        yield _file(f"a cell {name[:20]!r}", "t.csv", f'a,b\n"{quoted}",x\nz,y\n"{quoted}",x\n')
        network = json.loads(good_files("network")[1])
        network["variables"][0]["states"][0] = name
        yield _file(f"a state called {name[:20]!r}", "m.json", json.dumps(network))


def _pages() -> Iterator[Attack]:
    """Labels that want to be part of a report."""
    content = json.loads(good_files("discovery")[0])
    for script in SCRIPTS:
        yield _file(f"a page with {script[:24]!r}", "d.json", json.dumps(_renamed(content, "CO", script)), patience=8)


def _renamed(content: Any, name: str, script: str) -> Any:
    """Everything called so is called otherwise, and texts end in it."""
    if isinstance(content, dict):
        return {script if key == name else key: _renamed(value, name, script) for key, value in content.items()}
    if isinstance(content, list):
        return [_renamed(value, name, script) for value in content]
    return script if content == name else content


class _Harm:
    def __reduce__(self) -> Any:
        return os.system, ("touch pwned",)


def _pickles() -> Iterator[Attack]:
    harm = pickle.dumps(_Harm())
    for file in ("m.json", "m.bif", "m.xml", "t.csv", "t.parquet", "m.json.gz"):
        yield _file(f"a pickle called {file}", file, gzip.compress(harm) if file.endswith(".gz") else harm)
        yield _file(f"a pickle in base64 called {file}", file, b'{"format": "leverrier-network", "data": "gASVHg"}')


def _special() -> Iterator[Attack]:
    """What is no plain file, and would never end."""
    for file in ("t.csv", "m.bif", "m.json", "t.parquet", "m.xml"):
        yield Attack(f"an endless file called {file}", file, partial(_link, "/dev/zero"), special=True)
        yield Attack(f"a pipe called {file}", file, os.mkfifo, special=True)
        yield Attack(f"a folder called {file}", file, os.mkdir, special=True)
        yield Attack(f"a link to itself called {file}", file, lambda path: path.symlink_to(path), special=True)


def _link(target: str, path: Path) -> None:
    path.symlink_to(target)
