"""Out and in again: files and frames give back the table they were made of."""

import gzip
import re
import stat
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leverrier.data.reading import scanning
from leverrier.data.reading.frames import to_frame
from leverrier.data.reading.read_table import read_table
from leverrier.data.reading.texts.text_types import MARKS, MEANINGS
from leverrier.data.table import Table, Variable
from leverrier.data.writing.write_table import write_table
from leverrier.errors import MissingExtraError, OptionError, TableError

quiet = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def plain(text: str) -> bool:
    """Text that is nothing else when it stands in a CSV: that is what a CSV cannot say."""
    return (
        text == text.strip()
        and text.lower() not in MARKS
        and not any(re.fullmatch(form, text) for form in MEANINGS.values())
        and not re.fullmatch("(?i)[+-]?(nan|inf.*)", text)
    )


characters = st.characters(codec="utf-8", exclude_characters="\x00\r", exclude_categories=["Cs", "Zl", "Zp", "Cc"])
words = st.text(characters, min_size=1, max_size=6).filter(plain)


@st.composite
def frames(draw):
    n_rows = draw(st.integers(2, 12))

    def cells(value):
        return st.lists(value, min_size=n_rows, max_size=n_rows)

    columns = {}
    for place in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["text", "flag", "whole", "whole with holes", "real", "flag with holes"]))
        match kind:
            case "text":
                some = draw(st.lists(words, min_size=1, max_size=4))
                columns[f"c{place}"] = pd.Series(draw(cells(st.sampled_from([*some, None]))), dtype="str")
            case "flag":
                columns[f"c{place}"] = pd.Series(draw(cells(st.booleans())))
            case "flag with holes":
                columns[f"c{place}"] = pd.Series(draw(cells(st.sampled_from([True, False, None]))), dtype=object)
            case "whole":
                columns[f"c{place}"] = pd.Series(draw(cells(st.integers(-3, 3) | st.integers(-(10**15), 10**15))))
            case "whole with holes":
                columns[f"c{place}"] = pd.Series(draw(cells(st.sampled_from([0, 1, 2, None]))), dtype="float64")
            case "real":
                columns[f"c{place}"] = pd.Series(draw(cells(st.floats(width=64))))
    return pd.DataFrame(columns)


def read_or_reason(source):
    """The table, or why there is none: both ways must agree on that too."""
    try:
        return read_table(source)
    except TableError as problem:
        return str(problem).partition("(")[2]


@quiet
@given(frames(), st.booleans())
def test_a_frame_written_as_csv_reads_back_as_the_same_table(tmp_path, frame, tall):
    path = tmp_path / "frame.csv"
    frame.to_csv(path, index=False)
    direct = read_or_reason(frame)
    with pytest.MonkeyPatch.context() as patch:
        if tall:
            patch.setattr(scanning, "_TALL", 0)
        back = read_or_reason(path)
    if isinstance(direct, str) or isinstance(back, str):
        assert direct == back
        return
    assert back.columns == direct.columns
    assert np.array_equal(back.codes, direct.codes)
    assert back.aside == direct.aside


@st.composite
def tables(draw):
    labels = st.sampled_from(
        [(False, True), (0, 1, 7), ("lo", "hi"), ("a,b", 'say "x"', "it's"), (1.5, 2.5), ("0", "1"), ("x", 1)]
    )
    columns = []
    for place in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["category", "ordered"]))
        columns.append(Variable(f"v {place}", draw(labels), kind))
    n_rows = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    codes = np.array([rng.integers(-1, column.cardinality, n_rows) for column in columns])
    weights = rng.random(n_rows) if draw(st.booleans()) else None
    small = np.where(codes < 0, 255, codes).astype(np.uint8)
    return Table(tuple(columns), small, weights)


@quiet
@given(tables(), st.sampled_from(["t.csv", "t.tsv", "t.csv.gz", "t.parquet"]))
def test_a_table_written_reads_back_with_its_states(tmp_path, table, name):
    path = tmp_path / name
    write_table(table, path, weights="times")
    back = read_table(path, like=table, weights=None if table.weights is None else "times")
    assert back.columns == table.columns
    assert np.array_equal(back.codes, table.codes)
    if table.weights is not None:
        assert np.array_equal(back.weights, table.weights)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    path.unlink()


@quiet
@given(tables(), st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_a_table_as_a_frame_reads_back_with_its_states(table, backend):
    frame = to_frame(table.labelled(), backend)
    weights = None if table.weights is None else "weight"
    back = read_table(frame, like=table, weights=weights)
    assert np.array_equal(back.codes, table.codes)
    assert back.columns == table.columns


def small() -> Table:
    states = {"n": (3, 1), "b": (False, True), "s": ("y", "x"), "f": (0.5, 1.5), "m": (1, "one")}
    codes = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0], [0, 1, -1], [0, 1, -1]])
    return Table.from_codes(states, codes)


def test_labels_keep_their_types():
    pandas = small().to_pandas()
    assert [str(kind) for kind in pandas.dtypes] == ["Int64", "boolean", "str", "float64", "str"]
    assert pandas["n"].tolist() == [3, pd.NA, 1]
    assert pandas["m"].tolist()[:2] == ["1", "one"]
    polars = small().to_polars()
    assert polars.schema == {"n": pl.Int64, "b": pl.Boolean, "s": pl.String, "f": pl.Float64, "m": pl.String}
    assert polars.rows() == [(3, True, None, 0.5, "1"), (None, False, "x", 1.5, "one"), (1, None, "y", None, None)]
    arrow = small().to_pyarrow()
    assert [str(kind) for kind in arrow.schema.types] == ["int64", "bool", "string", "double", "string"]
    assert arrow.to_pylist()[0] == {"n": 3, "b": True, "s": None, "f": 0.5, "m": "1"}
    whole = small().take(np.array([0])).to_pandas()
    assert [str(kind) for kind in whole.dtypes[:2]] == ["int64", "bool"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_ordered_and_binned_states_keep_their_order(backend):
    frame = {"x": np.random.default_rng(0).normal(size=50), "s": ["lo", "mid", "hi", None, "lo"] * 10}
    table = read_table(frame, types={"s": ["lo", "mid", "hi"]})
    back = read_table(to_frame(table.labelled(), backend))
    assert back.states == table.states
    assert np.array_equal(back.codes, table.codes)


def test_weights_go_out_under_a_free_name():
    table = Table.from_codes({"weight": [0, 1]}, np.array([[0, 1]]), np.array([2.0, 3.5]))
    assert table.to_pandas().columns.tolist() == ["weight", "weight_"]
    assert table.to_polars()["weight_"].to_list() == [2.0, 3.5]


def test_an_unknown_library_is_said(monkeypatch):
    with pytest.raises(OptionError, match="expected one of pandas, polars, pyarrow"):
        to_frame(small().labelled(), "excel")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="polars is not installed: pip install polars"):
        small().to_polars()


def test_text_files_are_plain(tmp_path):
    write_table(small(), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "n,b,s,f,m\n3,True,,0.5,1\n,False,x,1.5,one\n1,,y,,\n"
    write_table(small(), tmp_path / "t.csv.gz")
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == (tmp_path / "t.csv").read_bytes()
    mode = stat.S_IMODE((tmp_path / "t.csv").stat().st_mode)
    (tmp_path / "other").touch()
    assert mode == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_parquet_keeps_types(tmp_path):
    write_table(small(), tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").equals(small().to_pyarrow())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr("leverrier.data.writing.write_table._write_rows", full)
    with pytest.raises(TableError, match=r"t\.csv: cannot be written \(disk full\)"):
        write_table(small(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "words"), [("t.xlsx", "cannot tell what to write"), ("no/t.csv", "there is no folder")]
)
def test_where_nothing_can_be_written(tmp_path, name, words):
    with pytest.raises(TableError, match=words):
        write_table(small(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
