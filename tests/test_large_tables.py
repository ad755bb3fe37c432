"""Tables read as their distinct rows: the same table, the same counts, the same answers; or refused with the reason."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leverrier as lv
from leverrier.data import cells, memory, scanning
from leverrier.data.reading import read_table
from leverrier.data.table import Table
from leverrier.errors import OptionError, TooLargeError


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    """Files of a few rows go the way of tall ones, a few rows at a time, and the program itself takes nothing."""
    monkeypatch.setattr(scanning, "_TALL", 0)
    monkeypatch.setattr(cells, "BATCH", 200)
    monkeypatch.setattr(memory, "PROGRAM", 0)


@pytest.fixture
def mixed(tmp_path):
    """A Parquet file with every kind of column, and holes."""
    rng = np.random.default_rng(3)
    n = 500
    text = np.array(["lo", "mid", "v", None], dtype=object)[rng.integers(0, 4, n)]
    number = rng.normal(size=n).round(2)
    number[rng.random(n) < 0.1] = np.nan
    path = tmp_path / "mixed.parquet"
    columns = {
        "text": pa.array(text.tolist()),
        "number": pa.array(number, from_pandas=True),
        "few": pa.array(rng.integers(0, 3, n)),
        "half": pa.array(rng.choice([0.5, 1.0, 2.0], n)),
        "flag": pa.array(rng.random(n) < 0.5),
        "v": pa.array(np.array(["it's", "v 'v' v"])[rng.integers(0, 2, n)].tolist()),
    }
    pq.write_table(pa.table(columns), path, row_group_size=64)
    return path


def in_memory(path, **how):
    return read_table(pq.read_table(path), **how)


def test_a_tall_file_is_read_in_batches_as_the_frame_is(mixed):
    whole, frame = read_table(mixed), in_memory(mixed)
    assert whole.columns == frame.columns
    assert np.array_equal(whole.codes, frame.codes)


def test_beyond_the_limit_the_distinct_rows_are_kept(mixed):
    kept = ["text", "few", "half", "flag", "v"]
    frame = in_memory(mixed).select(kept)
    counted = read_table(mixed, ignore=["number"], max_memory=20_000)
    assert counted.counted
    assert counted.n_rows < frame.n_rows == counted.n_cases
    assert counted.columns == frame.columns
    again = {}
    for row in frame.codes.T.tolist():
        again[tuple(row)] = again.get(tuple(row), 0) + 1
    assert {tuple(row): n for row, n in zip(counted.codes.T.tolist(), counted.weights, strict=True)} == again
    assert counted.n_missing == frame.n_missing
    assert np.array_equal(counted.codes, frame.distinct().codes)


def test_the_same_from_csv_and_with_marks_of_a_hole(mixed, tmp_path):
    frame = in_memory(mixed).select(["text", "flag", "v"])
    lv.write_table(frame, tmp_path / "t.csv")
    counted = read_table(tmp_path / "t.csv", missing=["v"], max_memory=12_000)
    plain = read_table(tmp_path / "t.csv", missing=["v"])
    assert counted.counted
    assert np.array_equal(plain.distinct().codes, counted.codes)
    assert np.array_equal(plain.distinct().weights, counted.weights)


def test_new_rows_are_read_like_the_old_ones(mixed):
    whole = read_table(mixed)
    assert np.array_equal(read_table(mixed, like=whole).codes, whole.codes)


def test_what_does_not_fit_is_refused_with_the_reason(mixed):
    with pytest.raises(TooLargeError, match=r"need about .* and max_memory allows 2 kB: allow more"):
        read_table(mixed, max_memory="2kB")


@pytest.mark.parametrize(
    ("asked", "bytes_"),
    [("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("700mb", 7 * 10**8), (10**9, 10**9), (None, None)],
)
def test_sizes(asked, bytes_):
    assert memory.memory_limit(asked) == bytes_


@pytest.mark.parametrize("asked", ["much", "2 apples", "-1", True])
def test_what_is_no_size(asked):
    with pytest.raises(OptionError, match="max_memory"):
        memory.memory_limit(asked)


def test_the_program_itself_needs_memory(monkeypatch):
    monkeypatch.setattr(memory, "PROGRAM", 10**8)
    with pytest.raises(OptionError, match="the program itself needs about 100 MB"):
        memory.memory_limit("50MB")


def test_a_table_that_is_in_memory_is_counted_too():
    table = lv.datasets.network("asia").sample(2000, seed=1)
    frame = table.to_pandas()
    counted = read_table(frame, max_memory=40_000)
    assert counted.counted
    assert counted.n_cases == 2000
    assert isinstance(counted, Table)
