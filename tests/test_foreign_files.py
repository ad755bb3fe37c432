"""Files of other programs, made here: Excel old and new, OpenDocument, SAS, R, JSON lines, Arrow."""

import base64
import datetime
import json
import zipfile
import zlib

import numpy as np
import pandas as pd
import polars as pl
import pytest

import leverrier as lv
from leverrier.data.quality.noticed import Notice
from leverrier.errors import TableError, TooLargeError

N = 60


def base(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "sex": rng.choice(["f", "m"], N).tolist(),
        "mood": rng.choice(["low", "mid", "high"], N).tolist(),
        "size": np.round(rng.normal(170, 9, N), 1).tolist(),
    }


def noticed(table, kind):
    return next(each for each in table.quality if each.kind is kind)


SAS = (
    "eNrtWU1rE1EUfdOmbapRU0ghC8GhushCQ8ak0Wq1E21qq2kRkkUXgi102gRsIk1bUhAd965c6b8Q3AnC4MaFCxHMd+IPEBeu/KjacTJ3JpP38NJK"
    "W/DjHQgv97x737lz5mUykxDi4MX7+3NPfQOvnz90k/6X0gP/Me9AeIiEw0KXJECKj5BugeLDwvEw8fmI2C3Y6yRjSXFiKhEfj6ViyXhKxEC2Qau+"
    "I0/cdL+LdYw0vPASGHokGIqEpOnhRCa7Vujgw0EpFAydkqRoKChJQYldrnA2ejMaoSgxMZOL2y82/9GzxhbTJwcHBwcHBwcHBwcHBwfHH4PHznMr"
    "hVf2g3RXhHiMoeKBMNBN52kW72fq0wdgnO2i+Q/9MN6xCUvnicWPMnzK4m8wvB/Jr7hhlNnnc4SfRXj/NjwjC1BPQ/rbklX2cWxRWZ6/pVi/Yagj"
    "Ji+354kMs9a8LJu82p530/PaZZPX2vNemVpfvgJ80dGn66+CfhHTnwH9oqNPrf/myz1zmaKjT9WrY8CXEH0Z+pdLjj61vjYB+iXk+GXoXysh+to0"
    "8GXM/zOgX0aOX70I+mXM/0ugX8b8h/5JBfN/CvQrmP/Qv1pB/FejoF/B/L8AfBXzH/qXq5j/cdCvYv5D/1oV8z8BfA3zfxj0a5j/o6Bfw/yPgX4N"
    "8x/6J3XM/0nQr2P+Q/9qHfM/Avp1zP/zwDcw/6F/uYH5Pw76Dcx/6F9rYP5fA76J+R8G/Sbm/znQb2L+w/VJayL+c/wz2Pqmm9jr+n4kf4649kA/"
    "QTy7qg+RQbseyvWAFdsb3EV6jO98u1dd39JbHH1T9N2qnST0vZF56+ByboggFoibib1M3Amd6YuQk5b6pDXOGh22sMA4SsgPqzbtUD72PxnzP5tU"
    "/Hp+bWVd2SAkrxRIUimIuUVxNa2IK0r+di67oGRXjeL5JYXElhQxkxU3lPmV/Homn2nxxhrx5Vxu4VempNs+Avr2af96+uhzYbvYy9y39TLeCEx/"
    "bKwzeT1MXg+zfwTmONnY2qbb7tPNHeZ91Xf3uf3b8MlA5/mx8dmA+Q1oxYeZ+YHQEPW5DiDrs+va+UdswkvPR5l9ov9n52O/nkd/F+3HVyY+yMSH"
    "mDjCxO59O1K3ubdOmFcgX4eOx3x/dIfKLqNTwbjqDFLs3fa7AG6NiZ8PSu6P"
)
"""Packed, a file of SAS that we wrote with ReadStat: 40 rows of sex (female every third row, else male), age
(18.5 + 7 i mod 43, missing in the eighth row), visit (days from 1 January 2024), mood (1 to 4 in turn)."""


def test_a_file_of_sas(tmp_path):
    path = tmp_path / "survey.sas7bdat"
    path.write_bytes(zlib.decompress(base64.b64decode(SAS)))
    table = lv.read_table(path)
    assert table.variables == ("sex", "age", "mood")
    assert table.aside == {"visit": "it holds dates"}
    assert table.to_pandas()["sex"].tolist() == [("male" if i % 3 else "female") for i in range(40)]
    ages = [np.nan if i == 7 else 18.5 + (7 * i) % 43 for i in range(40)]
    np.testing.assert_array_equal(table.numbers["age"], ages)
    assert [each.label for each in table.columns] == ["Sex of the respondent", "Age in years", ""]
    rows = lv.read_sequences(path, time="visit")
    assert rows.times[0] == (datetime.date(2024, 1, 1) - datetime.date(1970, 1, 1)).days
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(TableError, match=r"survey\.sas7bdat"):
        lv.read_table(path)


def test_an_old_workbook(tmp_path):
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    days = xlwt.easyxf(num_format_str="yyyy-mm-dd")
    for name, seed in (("2023", 1), ("2024", 2)):
        sheet = book.add_sheet(name)
        for column, (title, cells) in enumerate(base(seed).items()):
            sheet.write(0, column, title)
            for row, cell in enumerate(cells, 1):
                if (row, title) != (4, "mood"):
                    sheet.write(row, column, cell)
        sheet.write(0, 3, "seen")
        for row in range(N):
            sheet.write(row + 1, 3, datetime.datetime(2024, 1, 1) + datetime.timedelta(days=row), days)
    path = tmp_path / "t.xls"
    book.save(str(path))
    table = lv.read_table(path, sheet="2024")
    assert table.numbers["size"].tolist() == base(2)["size"]
    assert table.aside == {"seen": "it holds dates"}
    assert table.n_missing == 1
    assert noticed(table, Notice.SHEET).values == ("2023",)
    (tmp_path / "half.xls").write_bytes(path.read_bytes()[:3000])
    with pytest.raises(TableError, match=r"half\.xls"):
        lv.read_table(tmp_path / "half.xls")


def open_document(path, cells):
    def cell(value):
        if isinstance(value, float):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        kind = "" if value is None else f'office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        return "<table:table-cell " + (kind or "/>")

    rows = [list(cells), *zip(*cells.values(), strict=True)]
    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    space = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{name}="{space}:{name}:1.0"' for name in ("office", "table", "text"))
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", kind)
        packed.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{space}:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
            f'manifest:media-type="{kind}"/></manifest:manifest>',
        )
        packed.writestr(
            "content.xml",
            f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {names}><office:body><office:spreadsheet>'
            f'<table:table table:name="2024">{body}</table:table></office:spreadsheet></office:body>'
            "</office:document-content>",
        )


def test_an_open_document_sheet(tmp_path):
    cells = base()
    cells["mood"][4] = None
    open_document(tmp_path / "t.ods", cells)
    table = lv.read_table(tmp_path / "t.ods")
    assert table.to_pandas()["sex"].tolist() == cells["sex"]
    assert table.numbers["size"].tolist() == cells["size"]
    assert table.n_missing == 1
    assert noticed(table, Notice.SHEET).name == "2024"


@pytest.mark.parametrize("suffix", [".rds", ".rda", ".RData"])
def test_a_file_of_r(tmp_path, suffix):
    pyreadr = pytest.importorskip("pyreadr")
    data = pd.DataFrame(base())
    data["mood"] = pd.Categorical(data["mood"], ["low", "mid", "high"])
    data["smokes"] = data["size"] > 170
    data["grade"] = np.arange(N, dtype=np.int32) % 5
    data["when"] = [f"2024-01-{1 + i % 28:02}" for i in range(N)]
    data.loc[3, "size"], data.loc[4, "sex"] = np.nan, None
    path = tmp_path / f"t{suffix}"
    if suffix == ".rds":
        pyreadr.write_rds(str(path), data)
    else:
        pyreadr.write_rdata(str(path), data, df_name="survey")
    table = lv.read_table(path)
    assert table.states["mood"] == ("low", "mid", "high")
    assert table.to_pandas()["mood"].tolist() == data["mood"].tolist()
    np.testing.assert_array_equal(table.numbers["size"], data["size"])
    assert table.states["smokes"] == (False, True)
    assert table.states["grade"] == (0, 1, 2, 3, 4)
    assert table.aside == {"when": "it holds dates"}
    assert table.n_missing == 2
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(TableError, match=r"t\.(rds|rda|RData): "):
        lv.read_table(path)


def excel(path, sheets):
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for name, cells in sheets.items():
            pd.DataFrame(cells).to_excel(writer, sheet_name=name, index=False)


def test_sheets_of_a_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    excel(path, {"2023": base(1), "2024": {**base(2), "seen": [datetime.date(2024, 1, 1 + i % 28) for i in range(N)]}})
    first, second = lv.read_table(path), lv.read_table(path, sheet="2024")
    assert first.numbers["size"].tolist() == base(1)["size"]
    assert second.numbers["size"].tolist() == base(2)["size"]
    assert second.aside == {"seen": "it holds dates"}
    assert noticed(first, Notice.SHEET).name == "2023"
    assert lv.read_table(path, sheet=2).n_rows == N
    with pytest.raises(TableError, match="no sheet '2025'; its sheets are '2023', '2024'"):
        lv.read_table(path, sheet="2025")


def test_a_sheet_with_a_title_above_and_marks_among_numbers(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Survey of 2024"])
    sheet.append([])
    cells = base()
    cells["size"][0] = "NA"
    sheet.append(list(cells))
    for row in zip(*cells.values(), strict=True):
        sheet.append(list(row))
    book.save(tmp_path / "t.xlsx")
    table = lv.read_table(tmp_path / "t.xlsx")
    assert table.variables == ("sex", "mood", "size")
    assert table.n_missing == 1


def test_a_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "t.xlsx"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("xl/worksheets/sheet1.xml", "w") as out,
    ):
        for _ in range(1100):
            out.write(b" " * 2**20)
    with pytest.raises(TooLargeError, match="unpacks to more than"):
        lv.read_table(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", '<c r="A1"><v>1</v></c><c r="XFD1048576"><v>1</v></c>')
    with pytest.raises(TooLargeError, match="16,384 columns"):
        lv.read_table(path)


def test_json_lines_and_arrow(tmp_path):
    cells = base()
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    del rows[3]["mood"]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = lv.read_table(tmp_path / "t.jsonl")
    assert table.n_missing == 1
    assert table.numbers["size"].tolist() == cells["size"]
    pl.DataFrame(cells).write_ipc(tmp_path / "t.feather")
    assert lv.read_table(tmp_path / "t.feather").numbers["size"].tolist() == cells["size"]
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n[1]\n')
    with pytest.raises(TableError, match="line 2: expected an object"):
        lv.read_table(tmp_path / "bad.jsonl")


def test_a_file_of_r_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.rds").write_bytes(b"")
    monkeypatch.setattr("leverrier.data.reading.record_files.find_spec", lambda _: None)
    with pytest.raises(lv.MissingExtraError, match="pip install pyreadr"):
        lv.read_table(tmp_path / "t.rds")


def test_text_called_a_workbook_is_told(tmp_path):
    for name in ("t.xlsx", "t.ods"):
        (tmp_path / name).write_text("a,b\n1,2\n")
        with pytest.raises(TableError, match=r"if it is text, call it \.csv"):
            lv.read_table(tmp_path / name)


def test_a_cell_far_off_under_an_odd_name_is_not_made_room_for(tmp_path):
    from hardening.good_files import SHEET, workbook

    path = tmp_path / "far.xlsx"
    path.write_bytes(workbook(SHEET.replace(b'r="A16"', b'r="Adefault16"')))
    with pytest.raises(lv.LeverrierError, match="save it as CSV"):
        lv.read_table(path)
