"""Files of SPSS, Stata, SAS, R and workbooks are read in a process of their own: what kills it is one line here."""

import datetime
import sys

import pandas as pd
import pyreadstat
import pytest

import leverrier as lv
from hardening.malformed import malformed
from leverrier.data.apart import reading_process
from leverrier.data.apart.reading_process import one_process
from leverrier.data.apart.survey_file import read_survey_file
from leverrier.errors import TableError

HOW = {"output_format": "dict", "user_missing": True}
CRASHING = (313, 1343, 1426, 2644, 3252, 3555, 3851)
"""Malformed files by number at which pyreadstat 1.3.7 dies of a segmentation fault."""
ENDS = {
    "crash": "import ctypes; ctypes.string_at(0)",
    "exit": "import os; os._exit(0)",
    "chatter": "import os; os.write(1, b'not an answer'); os.abort()",
    "hang": "n = 0\n    while True: n += 1",
    "memory": "held = []\n    while True: held.append(bytearray(2**24))",
}


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "number": [1.5, None, -0.0],
            "text": ["x", "", "東京 \N{GRINNING FACE}"],
            "day": [datetime.date(2020, 2, 29), None, datetime.date(1999, 1, 1)],
            "when": [datetime.datetime(2020, 1, 1, 3, 4, 5), None, datetime.datetime(2021, 1, 1)],
            "hour": [datetime.time(3, 4), None, datetime.time(23, 59, 1)],
        }
    )


def test_what_comes_back_is_what_pyreadstat_reads_here(frame, tmp_path):
    path = tmp_path / "all.sav"
    labels, missing = {"number": {1.5: "some", -9.0: "lost"}}, {"number": [-9.0], "text": ["x"]}
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels=labels,
        missing_ranges=missing,
        column_labels={"number": "How?"},
        variable_measure={"number": "ordinal"},
    )
    cells, about = pyreadstat.read_sav(str(path), output_format="dict", user_missing=True)
    found = read_survey_file(path, "read_sav", HOW)
    assert {name: list(map(repr, column)) for name, column in found.columns.items()} == {
        name: list(map(repr, column)) for name, column in cells.items()
    }
    assert found.labels == about.variable_value_labels == labels
    assert found.missing == {"number": [(-9.0, -9.0)], "text": [("x", "x")]}
    assert found.measures == about.variable_measure
    assert found.questions == about.column_names_to_labels


@pytest.mark.parametrize("end", ENDS)
def test_a_reader_that_dies_is_one_line(end, tmp_path, monkeypatch):
    if end in ("memory", "hang") and not sys.platform.startswith("linux"):
        pytest.skip("this system does not limit what a process takes")
    (tmp_path / "pyreadstat.py").write_text(f"def read_sav(path, **how):\n    {ENDS[end]}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "bad.sav"
    path.write_bytes(b"$FL2" + bytes(300))
    with pytest.raises(TableError, match=r"damaged: reading it crashed|ask for more memory") as caught:
        lv.read_table(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_reader_that_sleeps_is_not_waited_for(tmp_path, monkeypatch):
    (tmp_path / "pyreadstat.py").write_text(
        "import time\ndef read_sav(path, **how): time.sleep(60)\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(reading_process, "_PATIENCE", 0.5)
    path = tmp_path / "bad.sav"
    path.write_bytes(b"$FL2" + bytes(300))
    with pytest.raises(TableError, match="took too long"):
        lv.read_table(path)


def test_real_files_at_which_the_reader_crashes_leave_us_alive_and_the_next_is_read(frame, tmp_path):
    bad, good = tmp_path / "bad.sav", tmp_path / "good.sav"
    pyreadstat.write_sav(frame, str(good))
    with one_process():
        for number in CRASHING:
            bad.write_bytes(malformed("sav", number))
            with pytest.raises(TableError):
                lv.read_table(bad)
            assert list(read_survey_file(good, "read_sav", HOW).columns) == list(frame)


def test_a_workbook_that_asks_for_all_memory_leaves_us_alive(tmp_path):
    path = tmp_path / "bad.xlsx"
    path.write_bytes(malformed("xlsx", 7284))  # (calamine asks for 256 GB, and its process ends)
    with pytest.raises(TableError, match=r"bad\.xlsx: "):
        lv.read_table(path)


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize(("data", "words"), [(b"", "empty"), (b"PK\3\4 a workbook, renamed", "begins as another")])
def test_another_file_under_the_name_is_told_without_a_process(suffix, data, words, tmp_path, monkeypatch):
    monkeypatch.setattr(reading_process, "ReadingProcess", None)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(data)
    with pytest.raises(TableError, match=f"not a whole {suffix} file .{words}"):
        lv.read_table(path)


def test_without_an_interpreter_to_start_it_is_read_here(frame, tmp_path, monkeypatch):
    path = tmp_path / "good.dta"
    pyreadstat.write_dta(frame[["number", "text"]], str(path))
    apart = read_survey_file(path, "read_dta", HOW)
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(reading_process, "ReadingProcess", None)
    assert read_survey_file(path, "read_dta", HOW) == apart
