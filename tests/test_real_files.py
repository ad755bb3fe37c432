"""Forty files as people have them, each with what a careful analyst would expect: read rightly, or refused with the
remedy; what is noticed is said."""

import datetime
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

import leverrier as lv
from leverrier.data.quality.noticed import Notice
from leverrier.errors import TableError
from leverrier.report.words.quality_words import quality_lines

N = 60


def kinds(table):
    return {each.kind for each in table.quality}


def noticed(table, kind):
    return next(each for each in table.quality if each.kind is kind)


def lines(columns, sep=","):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([sep.join(columns), *(sep.join(map(str, row)) for row in rows)]) + "\n"


def base(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "sex": rng.choice(["f", "m"], N).tolist(),
        "mood": rng.choice(["low", "mid", "high"], N).tolist(),
        "size": np.round(rng.normal(170, 9, N), 1).tolist(),
    }


def comma(values):
    return [str(value).replace(".", ",") for value in values]


# --- text files: what is in the cells ---------------------------------------------------------------------------


def test_decimal_commas_in_a_file_parted_by_semicolons(tmp_path):
    cells = base()
    path = tmp_path / "t.csv"
    path.write_text(lines({**cells, "size": comma(cells["size"])}, ";"))
    table = lv.read_table(path)
    assert table.numbers["size"].tolist() == cells["size"]
    assert "decimal commas" in " ".join(quality_lines(table.quality))
    assert "size" in lv.read_table(path, decimal=".").aside  # (overruled: text, an identifier)


def test_decimal_commas_in_quotes(tmp_path):
    cells = base()
    path = tmp_path / "t.csv"
    path.write_text(lines({**cells, "size": [f'"{each}"' for each in comma(cells["size"])]}))
    assert lv.read_table(path).numbers["size"].tolist() == cells["size"]


@pytest.mark.parametrize(
    ("texts", "values", "kind"),
    [
        (["1,200", "12,345", "950"], [1200, 12345, 950], Notice.THOUSANDS),
        (["1.200,5", "12.345,25", "950"], [1200.5, 12345.25, 950], Notice.DECIMAL_COMMA),
        (["1 200", "12 345", "950"], [1200, 12345, 950], Notice.THOUSANDS),
        (["1'200.5", "12'345", "950"], [1200.5, 12345, 950], Notice.THOUSANDS),
        (["12 kg", "13.5 kg", "9 kg"], [12, 13.5, 9], Notice.UNIT),
        (["12kg", "13,5kg", "9kg"], [12, 13.5, 9], Notice.UNIT),
        (["€ 12", "€ 1,350", "€ 9.50"], [12, 1350, 9.5], Notice.UNIT),
        (["12 %", "13 %", "9 %"], [12, 13, 9], Notice.UNIT),
        (["36,6 °C", "37,1 °C", "38 °C"], [36.6, 37.1, 38], Notice.UNIT),
    ],
)
@pytest.mark.parametrize("tall", [False, True])
def test_numbers_as_people_write_them(tmp_path, monkeypatch, texts, values, kind, tall):
    if tall:
        monkeypatch.setattr("leverrier.data.reading.scanning._TALL", 10)
    cells = {**base(), "x": [f'"{texts[i % 3]}"' for i in range(N)]}
    path = tmp_path / "t.csv"
    path.write_text(lines(cells))
    table = lv.read_table(path, types={"x": "number"}, bins={"x": [10.0]})
    assert table.numbers["x"].tolist() == [values[i % 3] for i in range(N)]
    assert kind in kinds(table)
    kept = lv.read_table(path, types={"x": "category"})
    assert set(kept.states["x"]) == set(texts)


def test_a_comma_before_three_digits_is_what_the_file_or_the_user_says(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines({**base(), "x": [["1,234", "2,345", "3,456"][i % 3] for i in range(N)]}, ";"))
    assert max(lv.read_table(path).numbers["x"]) == 3.456 if "x" in lv.read_table(path).numbers else True
    assert max(lv.read_table(path, decimal=".", types={"x": "number"}).numbers["x"]) == 3456
    assert max(lv.read_table(path, decimal=",", types={"x": "number"}).numbers["x"]) == 3.456


def test_several_units_are_left_as_text_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        lines({**base(), "w": [["12 kg", "30 lb", "14 kg", "28 lb", "13 kg", "29 lb"][i % 6] for i in range(N)]})
    )
    table = lv.read_table(path)
    assert Notice.MIXED_UNITS in kinds(table)
    assert len(table.states["w"]) == 6


def test_ordinals_codes_and_bands_stay_text(tmp_path):
    path = tmp_path / "t.csv"
    cells = {
        "place": [["1st", "2nd", "3rd"][i % 3] for i in range(N)],
        "zip": [["01067", "10115", "80331"][i % 3] for i in range(N)],
        "age": [["18-24", "25-34", "35+"][i % 3] for i in range(N)],
    }
    path.write_text(lines({**base(), **cells}))
    table = lv.read_table(path)
    for name, texts in cells.items():
        assert set(table.states[name]) == set(texts)


@pytest.mark.parametrize(
    ("day", "kind"),
    [
        (lambda i: f"{i % 28 + 1:02}/03/2024", Notice.DATES),
        (lambda i: f"03/{i % 28 + 1:02}/2024", Notice.DATES),
        (lambda i: f"{i % 28 + 1}.3.2024", Notice.DATES),
        (lambda i: f"2024/03/{i % 28 + 1:02}", Notice.DATES),
        (lambda i: f"{i % 12 + 1:02}/03/2024", Notice.DATE_ORDER),
    ],
)
def test_dates_as_people_write_them(tmp_path, day, kind):
    path = tmp_path / "t.csv"
    path.write_text(lines({**base(), "day": [day(i) for i in range(N)]}))
    table = lv.read_table(path)
    assert table.aside["day"] == "it holds dates"
    assert kind in kinds(table)
    days = lv.read_table(path, types={"day": "number"}).columns[-1]
    assert "2024-0" in str(days.states)


def test_day_before_month_orders_sequences_rightly(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("day,x\n" + "".join(f"{d:02}/{m:02}/2024,{'ab'[d % 2]}\n" for d in range(1, 13) for m in (2, 1)))
    rows = lv.read_sequences(path, time="day", gaps="ignore")
    assert [datetime.date(1970, 1, 1) + datetime.timedelta(days=t) for t in rows.times[:2]] == [
        datetime.date(2024, 1, 1),
        datetime.date(2024, 1, 2),
    ]
    other = lv.read_sequences(path, time="day", types={"day": "month-first"}, gaps="ignore")
    assert datetime.date(1970, 1, 1) + datetime.timedelta(days=other.times[1]) == datetime.date(2024, 1, 2)


def test_sentinel_codes_are_proposed_and_taken_on_request(tmp_path):
    rng = np.random.default_rng(1)
    grade = rng.integers(1, 6, N)
    grade[:5] = 9
    age = rng.integers(18, 80, N)
    age[5:9] = 999
    odd = np.round(rng.normal(5, 1, N), 2)
    odd[9:12] = -99
    path = tmp_path / "t.csv"
    path.write_text(lines({**base(), "grade": grade, "age": age, "odd": odd}))
    table = lv.read_table(path)
    found = {each.columns[0]: each.values for each in table.quality if each.kind is Notice.SENTINEL}
    assert found == {"grade": (9,), "age": (999,), "odd": (-99,)}
    assert table.n_missing == 0
    assert lv.read_table(path, missing=[9, 999, -99]).n_missing == 12


def test_numbers_that_only_look_like_codes_are_not_proposed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines({**base(), "score": [i % 10 for i in range(N)], "big": [i % 100 for i in range(N)]}))
    assert Notice.SENTINEL not in kinds(lv.read_table(path))


def test_spellings_are_proposed_as_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines({**base(), "smokes": [["Yes", "yes", " YES", "no", "No"][i % 5] for i in range(N)]}))
    table = lv.read_table(path)
    assert noticed(table, Notice.SPELLINGS).columns == ("smokes",)
    joined = lv.read_table(path, types={"smokes": "caseless"})
    assert len(joined.states["smokes"]) == 2
    assert np.bincount(joined.column("smokes")).tolist() in ([36, 24], [24, 36])
    new = lv.read_table({"smokes": ["YES", "NO"]}, like=joined)
    assert np.all(new.column("smokes") != new.missing)


def test_free_text_is_told_from_identifiers(tmp_path):
    path = tmp_path / "t.csv"
    said = [f"I went to the {w} and liked it {i}" for i, w in enumerate(["zoo", "sea", "hill"] * (N // 3))]
    path.write_text(lines({**base(), "why": said, "key": [f"A{i:04}" for i in range(N)]}))
    table = lv.read_table(path)
    assert table.aside["why"].startswith("it is free text")
    assert table.aside["key"].startswith("it looks like an identifier")


def test_many_values_in_few_rows_constant_and_empty_columns(tmp_path):
    path = tmp_path / "t.csv"
    cells = {**base(), "town": [f"town{i % 25}" for i in range(N)], "land": ["nl"] * N, "empty": [""] * N}
    path.write_text(lines(cells))
    table = lv.read_table(path)
    assert Notice.CONSTANT in kinds(table)
    assert set(table.aside) == {"land", "empty"}
    many = {**base(), "town": [f"town{i % 35}" for i in range(N)]}
    (tmp_path / "many.csv").write_text(lines({name: cells * 2 for name, cells in many.items()}))
    assert noticed(lv.read_table(tmp_path / "many.csv"), Notice.MANY_VALUES).columns == ("town",)


# --- text files: how they are written ---------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_text_in_another_encoding(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(lines({**base(), "town": ["Zürich", "Genève"] * (N // 2)}).encode(encoding))
    table = lv.read_table(path)
    assert set(table.states["town"]) == {"Zürich", "Genève"}
    assert (Notice.ENCODING in kinds(table)) == (encoding != "utf-8-sig")


def test_utf8_with_one_damaged_byte_is_not_guessed_at(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(lines({**base(), "town": ["Zürich", "Genève"] * (N // 2)}).encode() + b"f,low,1,\xe9\n")
    with pytest.raises(TableError, match=r"0xe9.*encoding"):
        lv.read_table(path)


@pytest.mark.parametrize(("suffix", "sep"), [(".csv", "|"), (".tsv", "\t"), (".txt", ";"), (".csv.gz", ",")])
def test_separators_and_packing(tmp_path, suffix, sep):
    path = tmp_path / f"t{suffix}"
    text = lines(base(), sep).encode()
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    assert lv.read_table(path).variables == ("sex", "mood", "size")


def test_a_separator_that_cannot_be_told_is_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines(base(), ":"))
    assert lv.read_table(path, delimiter=":").variables == ("sex", "mood", "size")


def test_remarks_above_the_header_are_passed_over_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# made in 2024\n# by hand, with care\n\n" + lines(base()))
    table = lv.read_table(path)
    assert table.variables == ("sex", "mood", "size")
    assert table.n_rows == N
    assert noticed(table, Notice.REMARKS).count == 2
    path.write_text(lines({"#sex": base()["sex"], "mood": base()["mood"]}))  # (a header may begin so)
    assert lv.read_table(path).variables == ("#sex", "mood")
    path.write_text("sep=;\n" + lines(base(), ";"))
    assert lv.read_table(path).variables == ("sex", "mood", "size")
    path.write_text("Our survey\n" + lines(base()))
    with pytest.raises(TableError, match="take away the lines above the header"):
        lv.read_table(path)


def test_a_row_in_the_place_of_the_header_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(f"{i % 7},{i * i % 11},{i % 3}.5" for i in range(3, 60)))
    assert Notice.NO_HEADER in kinds(lv.read_table(path))
    path.write_text(lines({"2019": [1, 2] * 30, "2020": [2, 1] * 30, "2021": [1, 1, 2] * 20}))
    assert Notice.NO_HEADER not in kinds(lv.read_table(path))


@pytest.mark.parametrize(
    ("data", "what"), [(b"PK\x03\x04abc", "a workbook"), (b"%PDF-1.4", "a PDF"), (b"PAR1x", "Parquet")]
)
def test_other_files_called_csv_are_told(tmp_path, data, what):
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(TableError, match=what):
        lv.read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("address", ["http://x.org/t.csv", "https://x.org/t", "s3://bucket/t.parquet"])
def test_an_address_is_told(address):
    with pytest.raises(TableError, match=f"{address} is an address: download the file first"):
        lv.read_table(address)


def test_names_with_breaks_keep_a_line_each(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a\nb",c\n' + 'x,"u\nv"\ny,w\n' * 20)
    assert [line.split()[0] for line in lv.read_table(path).summary().splitlines()[1:]] == ["a\\nb", "c"]


# --- frames -----------------------------------------------------------------------------------------------------


def frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.choice(["u", "v"], n), "b": rng.choice(list("xyz"), n), "c": rng.normal(size=n)})


def test_text_that_looks_like_numbers_in_a_frame_is_said_and_read_on_request():
    data = frame()
    data["pay"] = [f"{1 + i % 300},{i % 10}" for i in range(400)]
    table = lv.read_table(data)
    assert noticed(table, Notice.TEXT_NUMBERS).columns == ("pay",)
    for how in ({"types": {"pay": "number"}}, {"decimal": ","}):
        assert lv.read_table(data, **how).numbers["pay"][12] == 13.2


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_dates_as_text_in_a_frame_are_dates_and_order_time(kind):
    days = [f"{d:02}/{m:02}/2024" for m in (1, 2, 3) for d in range(1, 29)]
    data = kind({"day": days, "iso": ["2024-01-01"] * 84, "x": ["a", "b"] * 42})
    assert lv.read_table(data).aside == {"day": "it holds dates", "iso": "it has only the value '2024-01-01'"}
    rows = lv.read_sequences(data, time="day", ignore=["iso"], gaps="ignore")
    assert np.all(np.diff(rows.times) > 0)
    assert rows.times[28] == (datetime.date(2024, 2, 1) - datetime.date(1970, 1, 1)).days
    assert "day" in lv.read_table(data, types={"day": "category"}).variables
