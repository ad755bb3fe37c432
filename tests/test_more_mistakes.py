"""More files as people have them: times, brackets, marks, lists, totals, units in the first row: each is read rightly
or said, and what only looks like them is left in peace."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import leverrier as lv
from leverrier.data.quality.noticed import IMPORTANT, Notice
from leverrier.report.words.quality_words import quality_lines

N = 120


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def base(rng):
    return {"sex": rng.choice(["f", "m"], N).tolist(), "mood": rng.choice(["low", "mid", "high"], N).tolist()}


def written(path, columns, sep=","):
    rows = [sep.join(columns), *(sep.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def noticed(table, kind):
    return [each for each in table.quality if each.kind is kind]


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize(
    ("write", "value", "kind"),
    [
        (lambda m: f"{m // 60:02}:{m % 60:02}", lambda m: m / 60, Notice.CLOCK),
        (lambda m: f"{m // 60}:{m % 60:02}:30", lambda m: m / 60 + 30 / 3600, Notice.CLOCK),
        (lambda m: f"{m // 60 % 12 or 12}:{m % 60:02} {'AM' if m < 720 else 'PM'}", lambda m: m / 60, Notice.CLOCK),
        (lambda m: f"{m // 20}:{m % 60:02}", lambda m: m // 20 + m % 60 / 60, Notice.DURATION),
    ],
)
def test_times_of_day_are_hours_and_said(tmp_path, monkeypatch, rng, tall, write, value, kind):
    if tall:
        monkeypatch.setattr("leverrier.data.reading.scanning._TALL", 10)
    minutes = rng.integers(0, 1440, N)
    path = written(tmp_path / "t.csv", {**base(rng), "start": [write(m) for m in minutes.tolist()]})
    table = lv.read_table(path)
    np.testing.assert_allclose(table.numbers["start"], [value(m) for m in minutes.tolist()])
    assert noticed(table, kind)
    assert "start" in lv.read_table(path, types={"start": "category"}, ignore=["sex"]).variables


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_times_in_a_frame(frame, rng):
    minutes = rng.integers(0, 1440, N).tolist()
    times = [datetime.time(m // 60, m % 60) for m in minutes]
    for cells in (times, [str(each)[:5] for each in times]):
        table = lv.read_table(frame({**base(rng), "start": cells}))
        np.testing.assert_allclose(table.numbers["start"], np.array(minutes) / 60)


def test_times_in_a_workbook(tmp_path, rng):
    minutes = rng.integers(0, 1440, N).tolist()
    frame = pd.DataFrame({**base(rng), "start": [datetime.time(m // 60, m % 60) for m in minutes]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    table = lv.read_table(tmp_path / "t.xlsx")
    np.testing.assert_allclose(table.numbers["start"], np.array(minutes) / 60)
    assert noticed(table, Notice.CLOCK)


def test_sheets_with_a_title_a_remark_below_and_numbers_as_text(tmp_path, rng):
    size = rng.normal(170, 9, N).round(1).tolist()
    rows: list = [["Our survey", None, None], [None] * 3, ["sex", "size", "mood"]]
    own = base(rng)
    rows += [[own["sex"][i], str(size[i]) if i % 7 == 0 else size[i], own["mood"][i]] for i in range(N)]
    rows += [[None] * 3, ["Source: ourselves", None, None]]
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", index=False, header=False)
    table = lv.read_table(tmp_path / "t.xlsx")
    assert noticed(table, Notice.REMARKS)[0].values == ("Our survey",)
    assert noticed(table, Notice.LAST_REMARK)[0].columns == ("sex",)
    assert table.numbers["size"][:N].tolist() == size
    assert any("entered as text" in note for note in table.notes)


def test_dilutions_and_scores_of_games_are_no_times(tmp_path, rng):
    cells = {"titre": [f"1:{k}" for k in rng.choice([10, 20, 40], N)], "game": [f"{k}:{k % 3}" for k in range(N)]}
    table = lv.read_table(written(tmp_path / "t.csv", {**base(rng), **cells}))
    assert not noticed(table, Notice.CLOCK)
    assert table.states["titre"] == ("1:10", "1:20", "1:40")


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["(1,200.50)", "950.00", "12,345.00"], [-1200.5, 950, 12345]),
        (["−1.5", "2.5", "0.5"], [-1.5, 2.5, 0.5]),
        (["-$1,200", "$950", "$12,345"], [-1200, 950, 12345]),
        (["($1,200)", "$950", "$12,345"], [-1200, 950, 12345]),
        (["12,34,567", "1,23,456", "950"], [1234567, 123456, 950]),
        (["1,5E+03", "2,5E+02", "7,25E-01"], [1500, 250, 0.725]),
    ],
)
def test_numbers_as_accounts_and_other_countries_have_them(tmp_path, monkeypatch, rng, texts, values, tall):
    if tall:
        monkeypatch.setattr("leverrier.data.reading.scanning._TALL", 10)
    cells = {**base(rng), "x": [f'"{texts[i % 3]}"' for i in range(N)]}
    table = lv.read_table(written(tmp_path / "t.csv", cells), types={"x": "number"}, bins={"x": [1.0]})
    np.testing.assert_allclose(table.numbers["x"], [values[i % 3] for i in range(N)])
    assert len(table.quality) >= 1


def test_numbers_that_all_stand_in_brackets_are_names(tmp_path, rng):
    cells = {**base(rng), "x": [f"({k})" for k in rng.integers(1, 4, N)]}
    assert lv.read_table(written(tmp_path / "t.csv", cells)).states["x"] == ("(1)", "(2)", "(3)")


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize("layout", ["%d %b %Y", "%d-%b-%y", "%d%b%Y", "%B %d, %Y"])
def test_dates_with_the_name_of_the_month(tmp_path, monkeypatch, rng, layout, tall):
    if tall:
        monkeypatch.setattr("leverrier.data.reading.scanning._TALL", 10)
    days = [datetime.date(2023, 1, 1) + datetime.timedelta(days=int(k)) for k in rng.integers(0, 700, N)]
    path = written(tmp_path / "t.csv", {**base(rng), "day": [f'"{day.strftime(layout)}"' for day in days]})
    assert lv.read_table(path).aside["day"] == "it holds dates"
    kept = lv.read_table(path, types={"day": "number"}, bins={"day": 2})
    late = np.array(days) >= np.sort(days)[N // 2]
    assert np.mean(kept.column("day") == late) > 0.95


ODD = {
    "a limit of detection": (
        lambda rng: [f"<{0.3}" if x < 0.3 else f"{x:.2f}" for x in rng.lognormal(0, 1, N)],
        Notice.MARKED_NUMBERS,
    ),
    "stars": (
        lambda rng: [f"{x:.2f}{'*' * (i % 6 == 0)}" for i, x in enumerate(rng.normal(size=N))],
        Notice.MARKED_NUMBERS,
    ),
    "blood pressure": (
        lambda rng: [f"{a}/{b}" for a, b in zip(rng.integers(99, 160, N), rng.integers(60, 99, N), strict=True)],
        Notice.TWO_NUMBERS,
    ),
    "several answers": (
        lambda rng: [";".join(rng.permutation(["tea", "milk", "juice"])[: rng.integers(1, 4)]) for _ in range(N)],
        Notice.SEVERAL_ANSWERS,
    ),
    "words for a hole": (lambda rng: rng.choice(["red", "blue", "NULL"], N).tolist(), Notice.HOLE_WORDS),
    "no answer": (lambda rng: rng.choice(["red", "blue", "no answer", "k.A."], N).tolist(), Notice.HOLE_WORDS),
    "bands made dates": (lambda rng: rng.choice(["1-4", "5-9", "Oct-19", "20-29"], N).tolist(), Notice.MANGLED),
    "a second header": (lambda rng: ["kg", *rng.normal(70, 9, N - 1).round(1).tolist()], Notice.WORDS_IN_NUMBERS),
    "a total": (lambda rng: [*rng.choice(["A", "B"], N - 1).tolist(), "Total"], Notice.SUM_ROW),
    "a slip": (lambda rng: [2, *rng.integers(0, 2, N - 1).tolist()], Notice.STRAY),
    "what nobody sees": (lambda rng: ["f\u200b", *rng.choice(["f", "m"], N - 1).tolist()], Notice.SPELLINGS),
}


@pytest.mark.parametrize("what", list(ODD))
def test_what_is_said_of_odd_values(tmp_path, rng, what):
    make, kind = ODD[what]
    table = lv.read_table(written(tmp_path / "t.csv", {**base(rng), "x": make(rng)}))
    (found,) = noticed(table, kind)
    assert found.columns == ("x",)
    assert kind in IMPORTANT
    assert "'x'" in quality_lines([found])[0]
    assert "identifier" not in table.aside.get("x", "")


def test_columns_that_are_days_or_codes_by_their_names(tmp_path, rng):
    cells = {"visit": rng.integers(45_000, 45_700, N), "plz": rng.integers(10_000, 99_999, 30)[rng.integers(0, 30, N)]}
    table = lv.read_table(written(tmp_path / "t.csv", {**base(rng), **{k: v.tolist() for k, v in cells.items()}}))
    (days,) = noticed(table, Notice.SERIAL_DATES)
    first = datetime.date(1899, 12, 30) + datetime.timedelta(days=int(cells["visit"].min()))
    assert days.values[0] == first.isoformat()
    assert noticed(table, Notice.CODES)[0].columns == ("plz",)


INNOCENT = {
    "pay": lambda rng: rng.integers(20_000, 60_000, N).tolist(),
    "barcode_count": lambda rng: rng.poisson(40, N).tolist(),
    "accidents": lambda rng: [*([2] * 2), *rng.choice([0, 1], N - 2, p=[0.9, 0.1]).tolist()],
    "test": lambda rng: rng.choice(["+", "-"], N).tolist(),
    "pain": lambda rng: rng.choice(["none", "mild", "severe", "unknown"], N).tolist(),
    "city": lambda _: [f"{name}, {state}" for name, state in zip("ABCDEF" * 20, ["IL", "NY"] * 60, strict=True)],
    "band": lambda rng: rng.choice(["1-4", "5-9", "10-19"], N).tolist(),
    "total": lambda rng: rng.choice(["total", "partial"], N).tolist(),
    "month": lambda rng: rng.choice(["Jan", "May", "Sep"], N).tolist(),
}
NEW = {
    *(Notice.MARKED_NUMBERS, Notice.TWO_NUMBERS, Notice.SEVERAL_ANSWERS, Notice.HOLE_WORDS, Notice.MANGLED),
    *(Notice.STRAY, Notice.CODES, Notice.SERIAL_DATES, Notice.SUM_ROW, Notice.CLOCK, Notice.DURATION, Notice.SIGNS),
}


@pytest.mark.parametrize("name", list(INNOCENT))
def test_what_only_looks_like_it_is_left_in_peace(tmp_path, rng, name):
    cells = [f'"{cell}"' for cell in INNOCENT[name](rng)]
    table = lv.read_table(written(tmp_path / "t.csv", {**base(rng), name: cells}))
    assert not NEW & {each.kind for each in table.quality}


def test_cells_parted_by_blanks(tmp_path, rng):
    path = written(tmp_path / "t.txt", {**base(rng), "size": rng.normal(170, 9, N).round(1).tolist()}, " ")
    table = lv.read_table(path)
    assert table.variables == ("sex", "mood", "size")
    assert noticed(table, Notice.BLANKS)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *(f'"{k}" {line}' for k, line in enumerate(lines[1:]))]))
    with pytest.raises(lv.TableError, match=r"row\.names=FALSE"):
        lv.read_table(path)
    path.write_text("\n".join(line.replace(" ", "    ") for line in lines))
    with pytest.raises(lv.TableError, match="several blanks"):
        lv.read_table(path)
    path.write_text("why\n" + "".join(f"I like the {word} here\n" for word in ["zoo", "sea", "hill"] * 10))
    assert lv.read_table(path).n_rows == 30  # (sentences below a header of one word)


def test_empty_rows_are_said_and_are_no_copies(tmp_path, rng):
    cells = {**base(rng), "size": rng.normal(170, 9, N).round(3).tolist()}
    for column in cells.values():
        column[3::10] = [""] * len(column[3::10])
    table = lv.read_table(written(tmp_path / "t.csv", cells))
    assert noticed(table, Notice.EMPTY_ROWS)[0].count == 12
    assert not noticed(table, Notice.DUPLICATE_ROWS)


def test_few_copies_that_chance_makes_are_not_said(rng):
    """Sizes to a tenth among 120 rows of six kinds: some pairs are equal by chance."""
    said = 0
    for seed in range(20):
        own = np.random.default_rng(seed)
        frame = pd.DataFrame({**base(own), "size": own.normal(170, 9, N).round(1)})
        said += bool(noticed(lv.read_table(frame), Notice.DUPLICATE_ROWS))
    assert said <= 1
    twice = pd.DataFrame({**base(rng), "size": rng.normal(170, 9, N).round(2)})
    twice = pd.concat([twice, twice.iloc[:12]], ignore_index=True)
    assert noticed(lv.read_table(twice), Notice.DUPLICATE_ROWS)[0].count >= 12


@pytest.mark.parametrize("names", [["c_red", "c_blue", "c_green"], ["red", "blue", "green"]])
def test_a_category_in_columns_that_stand_anywhere(rng, names):
    colour = rng.integers(0, 3, N)
    cells = {**base(rng), "smokes": rng.integers(0, 2, N), "drinks": rng.integers(0, 2, N)}
    frame = pd.DataFrame(cells)
    for place, (at, name) in enumerate(zip((0, 2, 5), names, strict=True)):
        frame.insert(at, name, (colour == place).astype(int))
    (found,) = noticed(lv.read_table(frame), Notice.ONE_HOT)
    assert set(found.columns) == set(names)


def test_yes_no_columns_without_order_are_no_category():
    """Columns that each say yes now and then, and two that are each other's contrary."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {f"q{k}": (rng.random(300) < share).astype(int) for k, share in enumerate((0.1, 0.3, 0.5))}
        )
        frame["other"] = rng.choice(["a", "b"], 300)
        frame["not q2"] = 1 - frame["q2"]
        assert not noticed(lv.read_table(frame), Notice.ONE_HOT)
