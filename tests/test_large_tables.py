"""Tables read as their distinct rows: the same table, the same counts, the same answers; or refused with the reason."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leverrier as lv
from leverrier.counts import parted_counts as parted
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data import encoded_cells as cells
from leverrier.data import file_parts
from leverrier.data import memory_limit as memory
from leverrier.data.reading import read_table as reading
from leverrier.data.reading import scanning
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.discovery import subsample as large
from leverrier.discovery.evidence import held_out
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


def test_numbers_too_tall_to_be_sorted_are_counted_by_the_database(mixed, monkeypatch):
    plain = read_table(mixed).distinct()
    monkeypatch.setattr(reading, "rows_within", lambda limit: 250 if limit else np.inf)
    counted = read_table(mixed, max_memory=23_000)
    assert counted.counted
    assert counted.columns == plain.columns
    assert np.array_equal(counted.codes, plain.codes)
    assert np.array_equal(counted.weights, plain.weights)
    monkeypatch.setattr(scanning, "_MANY", 5)
    cut = read_table(mixed, ignore=["text", "v"], max_memory=20_000)
    assert any("'number' was looked at in every 2th row" in note for note in cut.notes)
    assert cut.states["few"] == (0, 1, 2)
    assert cut.n_cases == 500
    assert len(cut.states["number"]) == 5
    shares = np.bincount(cut.column("number"), cut.weights)[:5] / 500
    assert np.all(np.abs(shares - 0.18) < 0.06)


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


def test_counts_by_bits_are_those_of_all_rows(monkeypatch):
    monkeypatch.setattr(parted, "FEW_ROWS", 10)
    table = lv.datasets.network("child").sample(3000, seed=5)
    counted, plain = parted.CountedRows(table.distinct()), ObservedCounts(table)
    assert len(counted._bits) > 3
    rng = np.random.default_rng(0)
    for parents in range(4):
        child, *above = rng.permutation(len(table.variables))[: parents + 1].tolist()
        wanted = np.ones(len(table.variables) + 1, dtype=bool)
        wanted[[child, *above]] = False
        (ours, begins), (theirs, starts) = (
            c.expand(child, above, wanted, keep_empty=True) if c is plain else c.expand(child, above, wanted)
            for c in (counted, plain)
        )
        for v in np.flatnonzero(wanted):
            assert np.array_equal(ours[begins[v] : begins[v + 1]], theirs[starts[v] : starts[v + 1]])
        names = table.variables
        family = Family(names[child], tuple(names[p] for p in above))
        assert np.array_equal(counted.tables([family])[0], plain.tables([family])[0])


def test_structure_from_distinct_rows_is_that_of_all_rows(monkeypatch):
    monkeypatch.setattr(parted, "FEW_ROWS", 10)
    table = lv.datasets.network("child").sample(3000, seed=6)
    ours, theirs = (lv.learn_structure(each, method="ges") for each in (table.distinct(), table))
    assert ours.graph == theirs.graph
    assert ours.score == pytest.approx(theirs.score, abs=1e-7)


def test_em_from_distinct_rows_is_that_of_all_rows():
    network = lv.datasets.network("asia")
    table = network.sample(2000, seed=7).drop("either")
    for data in (table, _with_holes(table)):
        runs = (lv.fit(network, each, hidden={"either": 2}, starts=3, seed=1) for each in (data.distinct(), data))
        ours, theirs = runs
        assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, abs=1e-6)
        for node in network.variables:
            assert np.allclose(ours.network.cpt(node), theirs.network.cpt(node), atol=1e-4)


def test_classes_from_distinct_rows_are_those_of_all_rows():
    table = lv.datasets.network("asia").sample(1000, seed=8).select(["asia", "smoke", "bronc", "dysp"])
    ours, theirs = (lv.latent_classes(each, states=[1, 2], starts=3) for each in (table.distinct(), table))
    assert ours.states == theirs.states
    assert [row.bic for row in ours.table.rows] == pytest.approx([row.bic for row in theirs.table.rows], abs=1e-5)


def _with_holes(table):
    codes = table.codes.copy()
    codes[np.random.default_rng(1).random(codes.shape) < 0.1] = table.missing
    return Table(table.columns, codes)


def test_a_sample_is_the_same_however_the_table_was_read():
    table = lv.datasets.network("asia").sample(2000, seed=9)
    shuffled = table.take(np.random.default_rng(2).permutation(2000))
    first, second = (large.sampled(each.distinct(), 500, seed=3) for each in (table, shuffled))
    assert np.array_equal(first.codes, second.codes)
    drawn, have = first.distinct(), table.distinct()
    counts = {tuple(row): n for row, n in zip(have.codes.T.tolist(), have.weights, strict=True)}
    assert first.n_rows == 500
    assert all(n <= counts[tuple(row)] for row, n in zip(drawn.codes.T.tolist(), drawn.weights, strict=True))


def test_what_a_sample_shows_is_learned_from_all_rows():
    x, _ = _planted(6000, seed=1)
    options = {"method": "network", "draws": 2, "resamples": 0, "max_hidden": 1}
    found = lv.discover(x, sample=1500, **options)
    again = lv.discover(x.distinct(), sample=1500, **options)
    assert str(found.verdict) == str(again.verdict) == "found"
    assert found.hidden[0].evidence.rows == 1500
    assert found.gain == again.gain > found.hidden[0].evidence.gain
    assert found.network == again.network
    assert found.result.shape.rows == 6000
    assert "simulated tables of 1,500 rows" in str(found)


def _planted(rows, seed):
    """Six columns that follow one hidden state of two."""
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 2, rows)
    cells = np.where(rng.random((6, rows)) < 0.8, state, rng.integers(0, 2, (6, rows)))
    return Table.from_codes({f"x{i}": ("a", "b") for i in range(6)}, cells), state


def test_a_budget_of_work_is_the_same_every_time():
    x, _ = _planted(800, seed=2)
    first, second = (lv.discover(x, method="network", work=9, jobs=jobs) for jobs in (1, 2))
    assert first.network == second.network
    assert str(first) == str(second)
    assert first.result.settings.finished is False
    whole = lv.discover(x, method="network", draws=2, resamples=0, work=10_000)
    assert whole.result.settings.finished is True


def test_a_search_stops_after_so_many_families():
    table = lv.datasets.network("child").sample(500, seed=3)
    full = lv.learn_structure(table, method="hill-climb")
    part = lv.learn_structure(table, method="hill-climb", work=full.families_scored // 2)
    assert not part.status.converged
    assert part.families_scored < full.families_scored
    assert part.score < full.score
    with pytest.raises(OptionError, match="work=0"):
        lv.learn_structure(table, work=0)


def test_a_structure_needs_no_rows_in_memory(monkeypatch, tmp_path):
    """Where even the distinct rows are too many, they wait on disk, and each question is one pass over them."""
    monkeypatch.setattr(file_parts, "PART", 400)
    table = lv.datasets.network("child").sample(2000, seed=6)
    lv.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(TooLargeError, match="distinct rows of"):
        lv.read_table(tmp_path / "t.parquet", max_memory="60kB")
    ours = lv.learn_structure(tmp_path / "t.parquet", method="ges", max_memory="60kB")
    theirs = lv.learn_structure(tmp_path / "t.parquet", method="ges")
    assert ours.graph == theirs.graph
    assert ours.score == pytest.approx(theirs.score, abs=1e-7)


def test_held_out_rows_and_resamples_of_counted_rows_are_rows_of_the_source():
    x, _ = _planted(3000, seed=4)
    counted = x.distinct()
    folds = list(held_out.folded(counted, 5, np.random.default_rng(0)))
    assert sum(test.total for _, test in folds) == 3000
    for train, test in folds:
        assert train.total + test.total == 3000
        assert 450 < test.total < 750  # a fifth, by chance
    options = {"method": "network", "draws": 2, "resamples": 2, "max_hidden": 1, "sample": 0}
    ours, theirs = (lv.discover(each, **options).hidden[0] for each in (counted, x))
    assert ours.gain == pytest.approx(theirs.gain, abs=1e-6)
    (low, high), (least, most) = (each.evidence.held_out_interval for each in (ours, theirs))
    assert 0 < max(low, least) < min(high, most)  # other rows are held out, and searched without
    assert ours.evidence.support == theirs.evidence.support == 1.0
