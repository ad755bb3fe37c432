"""Small files of every kind we read, sound ones: what is malformed is made from them."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path

import leverrier as lv
from leverrier.api.saved import dump
from leverrier.formats.bif import dumps_bif
from leverrier.formats.dynamic_files import dumps_dynamic, dumps_dynamic_bif
from leverrier.formats.genie_xdsl import dumps_xdsl
from leverrier.formats.hugin_net import dumps_net
from leverrier.formats.network_json import dumps_json
from leverrier.formats.xmlbif import dumps_xmlbif

CSV = (
    'colour,size,weight,sold\nred,1,2.5,yes\nblue,2,,no\nred,3,1e3,yes\n"a,b",1,-4,no\nblue,2,0.1,yes\n' * 3,
    "a;b;c\n1;x;TRUE\n2;y;FALSE\n3;x;\n",
    "\ufeffname\tn\nü\t3\n東京\t4\n",
    "p,t,x\n1,1,u\n1,2,v\n2,1,u\n2,2,\n",
)
SUFFIXES = {
    "csv": ".csv",
    "parquet": ".parquet",
    "bif": ".bif",
    "xmlbif": ".xml",
    "network": ".json",
    "dynamic": ".json",
    "dynamic bif": ".bif",
    "discovery": ".json",
    "sav": ".sav",
    "dta": ".dta",
    "xlsx": ".xlsx",
    "net": ".net",
    "xdsl": ".xdsl",
}
"""Every kind of file, and how its name ends."""


@cache
def good_files(kind: str) -> tuple[bytes, ...]:
    """Sound files of a kind."""
    if kind == "csv":
        return tuple(text.encode() for text in CSV)
    if kind == "parquet":
        return (_parquet(),)
    if kind in ("sav", "dta"):
        return (_written(kind),)
    if kind == "xlsx":
        return (workbook(SHEET),)
    if kind == "discovery":
        return (_discovery(),)
    if kind in ("dynamic", "dynamic bif"):
        network = lv.hidden_markov(_diary(), states=2, seed=0).network
        return ((dumps_dynamic if kind == "dynamic" else dumps_dynamic_bif)(network).encode(),)
    write = {"bif": dumps_bif, "xmlbif": dumps_xmlbif, "network": dumps_json, "net": dumps_net, "xdsl": dumps_xdsl}[
        kind
    ]
    return tuple(write(lv.datasets.network(name)).encode() for name in ("asia", "candy"))


def _diary() -> lv.Sequences:
    days = [{"p": p, "t": t, "x": "uv"[(p + t // 3) % 2], "y": "ab"[t % 2]} for p in range(6) for t in range(8)]
    return lv.read_sequences({key: [day[key] for day in days] for key in ("p", "t", "x", "y")}, by="p", time="t")


SHEET = (
    b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    b'<row r="1"><c r="A1" t="inlineStr"><is><t>size</t></is></c><c r="B1" t="inlineStr"><is><t>mood</t></is></c></row>'
    + b"".join(
        f'<row r="{n}"><c r="A{n}"><v>{n / 2}</v></c>'.encode()
        + f'<c r="B{n}" t="inlineStr"><is><t>{"ab"[n % 2]}</t></is></c></row>'.encode()
        for n in range(2, 20)
    )
    + b"</sheetData></worksheet>"
)


def workbook(sheet: bytes) -> bytes:
    """A workbook with this text as its one sheet."""
    space = "http://schemas.openxmlformats.org"
    relation = f"{space}/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}/spreadsheetml/2006/main" xmlns:r="{relation}"><sheets>'
        '<sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship '
        f'Id="r1" Type="{relation}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(name, text)
        book.writestr("xl/worksheets/sheet1.xml", sheet)
    return packed.getvalue()


def _parquet() -> bytes:
    return _written("parquet")


def _written(kind: str) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder:
        path = Path(folder) / f"t.{kind}"
        lv.write_table(lv.datasets.network("asia").sample(60, seed=0), path)
        return path.read_bytes()


def _discovery() -> bytes:
    rows = lv.datasets.network("alarm").sample(200, seed=4).select(["CATECHOL", "CO", "HRBP", "HREKG", "HRSAT"])
    found = lv.discover(rows, draws=2, resamples=1, max_hidden=1, jobs=1, seed=0)
    content = json.loads(dump(found.result))  # type: ignore[union-attr]
    return json.dumps(content, ensure_ascii=False).encode()
