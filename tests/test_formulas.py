"""Cells that a spreadsheet would run are written so that it does not, and come back as they were."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leverrier as lv
from leverrier.data.reading.appending import append_columns
from leverrier.data.reading.formulas import STARTS, as_it_was, disarmed

RISKY = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", '=HYPERLINK("http://x")', "'=x", "''@y", "+", "-x"]
PLAIN = ["-1", "+2.5", "-1e9", "x=1", "a@b", "'quoted'", "5 %", "−3"]


@given(st.text(alphabet="'=+-@\t\r 0a.", max_size=8))
def test_every_text_comes_back_and_none_begins_like_a_formula(text):
    written = disarmed(text)
    assert as_it_was(written) == text
    assert not written.startswith(STARTS) or written.replace(",", ".").strip("%").lstrip("+-")[:1] in "0123456789."


def test_plain_numbers_and_words_are_let_be():
    assert [disarmed(text) for text in PLAIN] == PLAIN
    assert all(disarmed(text) == "'" + text for text in RISKY)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_a_table_of_formulas_is_read_back_exactly(suffix, tmp_path):
    cells = [text for text in (*RISKY, "x=1", "a@b", "'quoted'") for _ in range(3)]
    table = lv.read_table({"=name": cells, "+other": ["u", "v", "w"] * (len(cells) // 3)})
    path = tmp_path / f"t{suffix}"
    lv.write_table(table, path)
    again = lv.read_table(path)
    assert again.variables == table.variables
    assert again.states == table.states
    assert (again.codes == table.codes).all()
    if suffix == ".csv":
        with open(path, newline="") as file:
            written = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in written)


def test_rows_written_out_again_are_disarmed_too(tmp_path):
    (tmp_path / "in.csv").write_text("a,=b\n=1+1,x\n'=1+1,y\n-5,z\n")
    append_columns(tmp_path / "in.csv", {"=new": ["=s", "t", "u"]}, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["a", "'=b", "'=new"], ["'=1+1", "x", "'=s"], ["'=1+1", "y", "t"], ["-5", "z", "u"]]
