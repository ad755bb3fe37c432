"""CSV and Parquet files, good and bad."""

import datetime
import decimal
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leverrier.data.quality.noticed import Notice
from leverrier.data.reading import scanning
from leverrier.data.reading.column_files import file_source
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.read_table import read_table
from leverrier.errors import OptionError, TableError
from leverrier.report.words.quality_words import quality_lines


@pytest.fixture(params=["short", "tall"])
def reading(request, monkeypatch):
    """Both ways through a file: cells fetched in batches, and dictionaries made by DuckDB."""
    if request.param == "tall":
        monkeypatch.setattr(scanning, "_TALL", 0)
    return request.param


@pytest.fixture(params=["few", "many"])
def listing(request, monkeypatch):
    """Both ways to look at texts: all of them here, or counted by DuckDB after a sample."""
    if request.param == "many":
        monkeypatch.setattr(scanning, "_MANY", 0)
        monkeypatch.setattr(scanning, "_SAMPLE", 2)
    return request.param


@pytest.fixture
def csv(tmp_path):
    def write(text, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode(encoding)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def labels(table, name):
    states = table.states[name]
    return [None if code == table.missing else states[code] for code in table.column(name)]


TEXT = """name,flag,n,code,x,note
ann,TRUE,1,01,0.5,"a, b"
bob,false,2,02,1e3,
cyd,,,10,-2,"say ""hi""\nthere"
ann,True,10,01, 7 ,"a, b"
"""


@pytest.mark.usefixtures("reading")
def test_a_csv_cell_by_cell(csv):
    table = read_table(csv(TEXT), bins=2)
    assert labels(table, "name") == ["ann", "bob", "cyd", "ann"]
    assert labels(table, "flag") == [True, False, None, True]
    assert labels(table, "n") == [1, 2, None, 10]
    assert labels(table, "code") == ["01", "02", "10", "01"]
    assert table.columns[4].kind == "binned"
    assert table.column("x").tolist() == [0, 1, 0, 1]
    assert labels(table, "note") == ["a, b", None, 'say "hi"\nthere', "a, b"]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        "\n\n" + TEXT,
        TEXT.rstrip("\n"),
        TEXT + "\n\n",
        TEXT.replace("\nbob", "\r\nbob"),  # mixed line ends
        TEXT.replace("name,flag", " name , flag "),
        TEXT.replace("bob", "  bob "),
    ],
)
def test_the_same_rows_in_other_dress(csv, text):
    plain, dressed = read_table(csv(TEXT), bins=2), read_table(csv(text, "dressed.csv"), bins=2)
    assert dressed.variables == plain.variables
    assert np.array_equal(dressed.codes, plain.codes)


@pytest.mark.parametrize(("mark", "name"), [(";", "t.csv"), ("|", "t.csv"), ("\t", "t.csv"), ("\t", "t.tsv")])
def test_separators_are_told_from_the_header(csv, mark, name):
    table = read_table(csv(f"a{mark}b{mark}c\nx, 1{mark}1{mark}u\ny{mark}2{mark}v\n", name))
    assert table.variables == ("a", "b", "c")
    assert labels(table, "a") == ["x, 1", "y"]


def test_a_separator_can_be_named(csv):
    assert read_table(csv("a:b\nx:1\ny:2\n"), delimiter=":").variables == ("a", "b")
    with pytest.raises(OptionError, match="one character"):
        read_table(csv("a::b\nx::1\n"), delimiter="::")


@pytest.mark.parametrize("name", ["t.csv.gz", "T.CSV", "t.txt", "it's [1]*.csv"])
def test_suffixes_and_odd_names(csv, name):
    assert labels(read_table(csv("a,b\nx,1\ny,2\n", name)), "a") == ["x", "y"]


def test_folders_that_look_like_columns_are_not(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    (folder / "t.csv").write_text("a\nx\ny\n")
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(folder / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        assert read_table(folder / name).variables == ("a",)


@pytest.mark.usefixtures("reading")
def test_a_lone_column_may_have_holes(csv):
    assert labels(read_table(csv('a\nx\n\ny\n""\n')), "a") == ["x", None, "y", None]


def test_an_unnamed_column_is_called_by_its_place(csv):
    path = csv(",a\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(20)))
    assert read_table(path).aside == {"column 1": "it numbers the rows from 0 to 19"}


# --- what the texts of a CSV are --------------------------------------------------------------------------------


@pytest.mark.usefixtures("reading", "listing")
@pytest.mark.parametrize(
    ("cells", "came"),
    [
        (["true", "FALSE", ""], "boolean"),
        (["1", "0", "-3"], "integer"),
        (["1.0", "2", "2"], "number"),
        (["1e3", "-.5", "2."], "number"),
        (["inf", "-inf", "1.5"], "number"),
        (["007", "12"], "text"),
        (["00", "1"], "text"),
        (["0", "1"], "integer"),
        (["0.5", "0"], "number"),
        (["12345678901234567890", "1"], "text"),
        (["1_000", "2"], "text"),
        (["0x10", "2"], "text"),
        (["2020-01-31", "1999-12-31 23:59:59"], "date"),
        (["2020-13-01", "2020-01-01"], "text"),
        (["t", "f"], "text"),
        (["yes", "no"], "text"),
        (["1,5", "2,5"], "number"),
        (["1,5", "2;5"], "text"),
        (["NA", "1", "2"], "integer"),
        (["?", "0.5", "nan"], "number"),
        (["NA", "true"], "boolean"),
        (["NA", "x"], "text"),
        (["NA", "null"], "text"),
        (["٣", "1"], "text"),
    ],
)
def test_what_texts_are(csv, cells, came):
    path = csv("c\n" + "".join(f'"{cell}"\n' for cell in cells))
    with file_source(path, FileOptions(), (), {}) as source:
        assert source.column("c").came == came


@pytest.mark.usefixtures("reading")
def test_marks_of_a_hole_are_holes_among_numbers_and_said(csv):
    path = csv("n,x,s,b\n1,0.5,NA,true\nNA,?,u,NA\n2,1.5,v,false\n")
    table = read_table(path)
    assert labels(table, "n") == [1, None, 2]
    assert table.column("x")[1] == table.missing
    assert labels(table, "s") == ["NA", "u", "v"]
    assert labels(table, "b") == [True, None, False]
    assert "'n': 'NA' is taken as missing, all other cells being numbers." in table.notes
    (line,) = [each for each in quality_lines(table.quality) if each.startswith("'s'")]
    assert "missing=['NA'] takes such cells as holes" in line
    assert labels(read_table(path, missing=["NA"]), "s") == [None, "u", "v"]


@pytest.mark.usefixtures("reading")
def test_further_marks_are_taken_out_before_the_texts_are_judged(csv, listing):
    path = csv("a,b\n1,x\n-9,y\nunknown,x\n2,y\n")
    table = read_table(path, missing=[-9, "unknown"], types={"b": "category"} if listing == "few" else {"b": "ignore"})
    assert labels(table, "a") == [1, None, None, 2]


@pytest.mark.usefixtures("reading")
def test_equal_numbers_in_other_spelling_are_one(csv):
    assert read_table(csv("a\n1\n1.0\n2\n1e0\n")).states["a"] == (1, 2)


def test_tall_and_short_files_give_the_same_table(shared_data, monkeypatch):
    files = ["latent_class/mushroom.csv.gz", "medical/hepatitis.csv", "epidemiology/nhefs.csv", "stocks/tickers.csv"]
    short = [read_table(shared_data / name) for name in files]
    monkeypatch.setattr(scanning, "_TALL", 0)
    for one, name in zip(short, files, strict=True):
        other = read_table(shared_data / name)
        assert one.columns == other.columns
        assert np.array_equal(one.codes, other.codes)
        assert one.notes == other.notes


def test_every_file_of_the_real_data_is_what_pandas_reads(shared_data):
    for name in ("latent_class/house_votes_84.csv", "medical/child_symptoms.csv", "epidemiology/titanic.csv"):
        frame = pd.read_csv(shared_data / name)
        table = read_table(shared_data / name)
        assert table.n_rows == len(frame)
        assert table.n_missing == int(frame.isna().sum().sum())
        for column in table.variables:
            counts = frame[column].value_counts()
            states = table.states[column]
            assert {
                states[code]: n
                for code, n in enumerate(np.bincount(table.column(column), minlength=len(states))[: len(states)])
            } == dict(counts)


# --- bad CSV files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty: expected a header line"),
        ("\n\n  \n", "is empty"),
        ("\ufeff", "is empty"),
        ("a,b\n", "has no rows, only the columns 'a', 'b'"),
        ("a,b", "has no rows"),
        ("a,b,a\n1,2,3\n", "two columns are named 'a': column names must differ; rename one"),
        ("0,1,0\n1,2,3\n", "is the first line a header"),
        ("a,b\n1,2\n1,2,3\n", "line 3: 3 cells where the header has 2"),
        ("a,b,c\n1,2,3\n1,2\n4,5,6\n", "line 3: 2 cells where the header has 3"),
        ('a,b\n1,"x\ny\nz"\n3,4\n5\n', "line 6: 1 cells where the header has 2"),
        ("\n\na,b\n1,2\n1\n", "line 5: 1 cells"),
        ('a,b\n1,"x\n3,4\n', "line 2: a quote is opened and not closed"),
        ('a,b\n1,"x"y\n', "line 2: "),
        (b"a,b\n1,\xc3\xa9\n1,\xe9\n", r"byte 11 \(line 3\) is 0xe9, which is not utf-8: .*latin-1"),
        (b"a,b\n1,\x00\xe9\n", r"byte 7 \(line 2\) is 0xe9"),
        ('"a,b\n1,2\n', "the header cannot be parted"),
    ],
)
def test_bad_files_are_one_clear_line(csv, text, words):
    path = csv(text)
    with pytest.raises(TableError, match=words) as problem:
        read_table(path)
    assert "\n" not in str(problem.value)
    assert str(problem.value).startswith(str(path))


def test_the_line_of_a_bad_row_far_down(csv):
    rows = [f'{i},"x\ny"' if i % 7 == 0 else f"{i},z" for i in range(30_000)]
    rows[25_000] = "bad"
    line = 1 + sum(row.count("\n") + 1 for row in rows[:25_000]) + 1
    with pytest.raises(TableError, match=f"line {line}: 1 cells where the header has 2"):
        read_table(csv("a,b\n" + "\n".join(rows)))


def test_a_bad_byte_far_down(csv):
    data = b"a,b\n" + b"1,x\n" * 30_000 + b"1,\xff\n"
    with pytest.raises(TableError, match=r"byte 120006 \(line 30002\) is 0xff"):
        read_table(csv(data), encoding="utf-8")
    with pytest.raises(TableError, match=r'UTF-16, not utf-8: .*encoding="utf-16"'):
        read_table(csv("a,b\nx,é\n".encode("utf-16")), encoding="utf-8")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
def test_other_encodings_are_told_and_said(csv, encoding):
    path = csv("a,b\né,1\nx,2\n", encoding=encoding)
    asked, told = read_table(path, encoding=encoding), read_table(path)
    assert labels(asked, "a") == labels(told, "a") == ["é", "x"]
    assert not asked.noticed
    assert [each.kind for each in told.noticed] == ([] if encoding.startswith("utf-8") else [Notice.ENCODING])


def test_an_unknown_encoding_is_said(csv):
    with pytest.raises(OptionError, match='encoding="klingon" is not known'):
        read_table(csv("a,b\nx,1\n"), encoding="klingon")


def test_gzip_that_is_none_or_half(csv, tmp_path):
    (tmp_path / "no.csv.gz").write_text("a,b\n1,2\n")
    whole = csv("a,b\n" + "1,2\n3,4\n" * 5000, "t.csv.gz").read_bytes()
    (tmp_path / "half.csv.gz").write_bytes(whole[: len(whole) // 2])
    for name in ("no.csv.gz", "half.csv.gz"):
        with pytest.raises(TableError, match=f"{name}.*gzip") as problem:
            read_table(tmp_path / name)
        assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.csv", "there is no such file"),
        ("t.xlsx", "there is no such file"),
        ("t", "cannot tell"),
        ("t.parquet.gz", "cannot"),
    ],
)
def test_what_is_no_file_of_ours(tmp_path, name, words):
    with pytest.raises(TableError, match=words):
        read_table(tmp_path / name)
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


def test_a_file_that_cannot_be_opened(csv, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = csv("a,b\n1,2\n")
    monkeypatch.setattr("leverrier.data.reading.csv_text.open", refuse, raising=False)
    with pytest.raises(TableError, match=r"t\.csv: cannot be read \(Permission denied\)"):
        read_table(path)


def test_a_file_without_a_usable_column_says_why(csv):
    with pytest.raises(TableError, match=r"has no usable column \('a': it has only the value 1; 'b': it is empty\)"):
        read_table(csv("a,b\n1,\n1,\n"))


def test_nothing_is_left_behind(csv, tmp_path, monkeypatch):
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    read_table(csv(TEXT))
    with pytest.raises(TableError):
        read_table(csv("a,b\n1\n", "bad.csv"))
    assert list(spare.iterdir()) == []


# --- Parquet ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("reading")
def test_parquet_types(tmp_path):
    path = tmp_path / "t.parquet"
    cells = {
        "s": pa.array(["x", None, "", "y", " "]),
        "digits": pa.array(["1", "2", "1", "2", "1"]),
        "b": pa.array([True, None, False, True, True]),
        "i": pa.array([3, None, 1, 3, 3], pa.int8()),
        "u": pa.array([2**40, None, 0, 0, 0], pa.uint64()),
        "f": pa.array([1.5, None, float("nan"), 2.5, 0.5]),
        "whole": pa.array([1.0, None, 2.0, 1.0, 1.0]),
        "dec": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("2.5"), None, None]),
        "day": pa.array([datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1), None, None]),
        "when": pa.array([datetime.datetime(2020, 1, 1), None, None, None, None], pa.timestamp("ns", "UTC")),
        "bytes": pa.array([b"p", None, b"q", b"p", b"p"]),
        "cat": pa.array(["v", None, "u", "v", "v"]).dictionary_encode(),
        "time": pa.array([datetime.time(1), None, datetime.time(2), None, None]),
    }
    pq.write_table(pa.table(cells), path)
    table = read_table(path)
    assert labels(table, "s") == ["x", None, None, "y", None]
    assert labels(table, "digits") == ["1", "2", "1", "2", "1"]
    assert labels(table, "b") == [True, None, False, True, True]
    assert labels(table, "i") == [3, None, 1, 3, 3]
    assert labels(table, "u") == [2**40, None, 0, 0, 0]
    assert [code == table.missing for code in table.column("f")] == [False, True, True, False, False]
    assert labels(table, "whole") == [1, None, 2, 1, 1]
    assert table.columns[table.index("dec")].kind == "binned"
    assert labels(table, "bytes") == ["p", None, "q", "p", "p"]
    assert labels(table, "cat") == ["v", None, "u", "v", "v"]
    assert len(table.states["time"]) == 2
    assert set(table.aside) == {"day", "when"}


@pytest.mark.usefixtures("reading", "listing")
def test_text_in_parquet_can_be_told_to_be_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": ["1.5", "2.5", None, "10"], "y": [0, 1, 0, 1]}), path)
    assert read_table(path, types={"x": "number"}, bins=3).column("x").tolist() == [0, 1, 255, 2]


def test_more_texts_than_can_be_states(tmp_path, reading, listing):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [f"k{i}" for i in range(300)], "y": [0, 1] * 150}), path)
    assert "looks like an identifier" in read_table(path).aside["id"]
    if reading == "tall" and listing == "many":
        with pytest.raises(TableError, match="at most 65535 can be states"):
            read_table(path, types={"id": "category"})
    else:
        assert len(read_table(path, types={"id": "category"}).states["id"]) == 300


@pytest.mark.usefixtures("reading")
def test_names_with_quotes(tmp_path):
    path = tmp_path / "it's.parquet"
    pq.write_table(pa.table({'a "b" c': ["it's", 'x"y', None], "select": [0, 1, 1]}), path)
    table = read_table(path)
    assert labels(table, 'a "b" c') == ["it's", 'x"y', None]


def test_bad_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(TableError, match=r"t\.parquet") as problem:
        read_table(path)
    assert "\n" not in str(problem.value)
    pq.write_table(pa.table({"a": [0, 1], "l": [[1], [2]], "s": [{"x": 1}, {"x": 2}]}), path)
    with pytest.raises(TableError, match=r"column 'l' holds nested values \(.*\): ignore=\['l'\] skips it"):
        read_table(path)
    assert read_table(path, ignore=["l", "s"]).variables == ("a",)
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(TableError, match="two columns are named 'a'"):
        read_table(path)
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    with pytest.raises(TableError, match="has no rows"):
        read_table(path)
