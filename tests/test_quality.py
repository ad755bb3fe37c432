"""What is noticed in columns and rows together, and what is not: a false notice costs trust."""

import numpy as np
import pandas as pd

import leverrier as lv
from leverrier.data.quality.noticed import Notice
from leverrier.report.words.quality_words import quality_lines


def kinds(table):
    return {each.kind for each in table.quality}


def noticed(table, kind):
    return next(each for each in table.quality if each.kind is kind)


# --- columns together -------------------------------------------------------------------------------------------


def frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.choice(["u", "v"], n), "b": rng.choice(list("xyz"), n), "c": rng.normal(size=n)})


def test_copies_and_near_copies():
    data = frame()
    data["again"] = data["a"].map({"u": "no", "v": "yes"})
    data["near"] = data["b"]
    data.loc[3, "near"] = "x" if data["b"][3] != "x" else "y"
    data["fahrenheit"] = 32 + 1.8 * data["c"]
    table = lv.read_table(data)
    assert {each.columns for each in table.quality if each.kind is Notice.DUPLICATE} == {("a", "again")}
    near = {each.columns for each in table.quality if each.kind is Notice.NEAR_DUPLICATE}
    assert near == {("b", "near"), ("c", "fahrenheit")}


def test_two_that_are_rare_may_well_meet():
    data = frame()
    for name in ("buzzing", "fullness"):
        data[name] = "no"
        data.loc[[7, 9], name] = "yes"
    assert not {Notice.DUPLICATE, Notice.NEAR_DUPLICATE} & kinds(lv.read_table(data))


def test_several_near_copies_are_one_line():
    data = frame()
    for place, name in enumerate(("near", "nearer")):
        data[name] = data["b"]
        data.loc[place, name] = "x" if data["b"][place] != "x" else "y"
    assert [each.columns for each in lv.read_table(data).quality] == [("b", "near", "nearer")]


def test_whole_numbers_that_never_repeat_are_numbers_unless_they_name_rows():
    rng = np.random.default_rng(0)
    pay = rng.choice(np.arange(9_000, 90_000), 400, replace=False)
    data = frame().assign(pay=pay, customer=pay[::-1], serial=1000 + rng.permutation(400), phone=10**9 + pay)
    table = lv.read_table(data)
    assert table.numbers["pay"].tolist() == pay.tolist()
    assert set(table.aside) == {"customer", "serial", "phone"}


def test_columns_that_merely_depend_are_no_copies():
    data = frame()
    data["d"] = np.where(np.random.default_rng(1).random(400) < 0.85, data["a"], "w")
    assert not {Notice.DUPLICATE, Notice.NEAR_DUPLICATE, Notice.ONE_HOT} & kinds(lv.read_table(data))


def test_one_category_in_several_columns_is_offered_to_be_joined():
    data = frame()
    hot = pd.get_dummies(data.pop("b"), prefix="colour").astype(int)
    data = pd.concat([data, hot], axis=1)
    table = lv.read_table(data)
    found = noticed(table, Notice.ONE_HOT)
    assert found.columns == ("colour_x", "colour_y", "colour_z")
    assert "join={'colour': ['colour_x', 'colour_y', 'colour_z']}" in " ".join(quality_lines(table.quality))
    joined = lv.read_table(data, join={"colour": list(found.columns)})
    assert joined.states["colour"] == ("x", "y", "z")
    assert (joined.to_pandas()["colour"] == frame()["b"]).all()


def test_totals():
    data = frame()
    rng = np.random.default_rng(2)
    for name in ("food", "rent", "fun"):
        data[name] = np.round(rng.gamma(3, 100, 400), 2)
    data["spent"] = data["food"] + data["rent"] + data["fun"]
    found = noticed(lv.read_table(data), Notice.TOTAL)
    assert (found.columns[0], set(found.columns[1:])) == ("spent", {"food", "rent", "fun"})
    assert Notice.TOTAL not in kinds(lv.read_table(data.drop(columns="rent")))


def test_what_goes_round():
    data = frame()
    rng = np.random.default_rng(7)
    data["hour"] = rng.integers(0, 24, 400)
    data["wind_direction"] = rng.uniform(0, 360, 400)
    data["heading"] = rng.uniform(-180, 180, 400)
    data["birth month"] = rng.integers(1, 13, 400)
    # the same words, and no circle: a duration, a rate, temperatures, too short a stretch, too long a one
    data["hours"] = rng.integers(0, 24, 400)
    data["calls_per_hour"] = rng.integers(0, 24, 400)
    data["triangle"] = rng.uniform(0, 360, 400)
    data["start_hour"] = rng.integers(8, 12, 400)
    data["month"] = rng.integers(1, 60, 400)
    found = {each.columns[0]: each for each in lv.read_table(data).quality if each.kind is Notice.ROUND}
    assert set(found) == {"hour", "wind_direction", "heading", "birth month"}
    assert found["hour"].values == (0, 23)
    assert "'hour' seems to go round (from 0 to 23, and on to 0)" in quality_lines([found["hour"]])[0]


def test_skipped_questions():
    data = frame()
    data["smokes"] = np.random.default_rng(3).choice(["yes", "no"], 400)
    data["how_many"] = np.where(data["smokes"] == "yes", np.random.default_rng(4).choice(["few", "many"], 400), None)
    found = noticed(lv.read_table(data), Notice.SKIP)
    assert (found.name, found.values, found.columns) == ("smokes", ("no",), ("how_many",))
    data["wage"] = np.random.default_rng(6).normal(size=400)  # a number is no answer that lets a question be skipped
    data["late"] = np.where(data["wage"] > np.quantile(data["wage"], 0.4), "x", None)
    data.loc[::7, "late"] = "y"
    assert [each.name for each in lv.read_table(data).quality if each.kind is Notice.SKIP] == ["smokes"]
    holes = frame()
    holes.loc[np.random.default_rng(5).random(400) < 0.3, "b"] = None
    assert Notice.SKIP not in kinds(lv.read_table(holes))


# --- rows -------------------------------------------------------------------------------------------------------


def test_rows_entered_twice():
    data = frame()
    twice = pd.concat([data, data.iloc[:40]]).sample(frac=1, random_state=0, ignore_index=True)
    found = noticed(lv.read_table(twice), Notice.DUPLICATE_ROWS)
    assert found.count == 40
    few = pd.DataFrame({name: np.random.default_rng(i).choice(["y", "n"], 400) for i, name in enumerate("abcdef")})
    assert Notice.DUPLICATE_ROWS not in kinds(lv.read_table(few))


def test_a_household_three_times():
    data = frame(150)
    data = data.loc[np.repeat(np.arange(150), 3)].reset_index(drop=True)
    data["c"] += np.random.default_rng(0).normal(size=450)
    data["household"] = np.repeat(np.arange(1000, 1150), 3)
    table = lv.read_table(data)
    assert noticed(table, Notice.CLUSTERED_ROWS).name == "household"
    assert "household" in table.aside


def test_a_panel_says_whose_rows_are_whose():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"sequence": np.repeat(np.arange(12), 100), **{n: rng.integers(0, 3, 1200) for n in "abc"}})
    table = lv.read_table(data)
    assert noticed(table, Notice.CLUSTERED_ROWS).name == "sequence"
    assert table.aside["sequence"] == "it says which rows belong together"


def test_a_label_of_rows_is_no_group_of_them():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"class": rng.choice(list("abcdefghijklmn"), 300), **{n: rng.integers(0, 3, 300) for n in "xyz"}}
    )
    assert Notice.CLUSTERED_ROWS not in kinds(lv.read_table(data))


def test_frequencies_written_out_are_sorted_rows_and_no_groups():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.choice(["n", "y"], 500, p=[0.7, 0.3]) for name in "abcd"}).sort_values(list("dcba"))
    assert noticed(lv.read_table(data), Notice.SORTED).columns == ("d", "c", "b", "a")
    assert Notice.CLUSTERED_ROWS not in kinds(lv.read_table(data))


def test_groups_inside_a_sorted_table_are_still_noticed():
    rng = np.random.default_rng(0)
    part = np.repeat(["train", "test"], 400)
    home = np.repeat(rng.integers(0, 3, 100), 8)
    cells = {name: np.where(rng.random(800) < 0.8, home, rng.integers(0, 3, 800)) for name in "abcd"}
    table = lv.read_table(pd.DataFrame({"part": part, **cells}))
    assert noticed(table, Notice.SORTED).columns == ("part",)
    assert Notice.CLUSTERED_ROWS in kinds(table)


def test_numbers_that_move_slowly_are_noticed_as_in_order():
    walk = np.cumsum(np.random.default_rng(0).normal(size=(3, 600)), axis=1)
    assert Notice.CLUSTERED_ROWS in kinds(lv.read_table(dict(zip("abc", walk, strict=True))))


def test_a_form_that_lost_questions_half_way_is_no_group():
    data = frame()
    for name in "defgh":
        data[name] = np.random.default_rng(ord(name)).choice(["u", "v"], 400)
        data.loc[250:, name] = None
    assert Notice.CLUSTERED_ROWS not in kinds(lv.read_table(data))


def test_a_table_in_order_of_time():
    state = np.repeat(np.random.default_rng(0).integers(0, 3, 40), 10)
    rng = np.random.default_rng(1)
    noisy = {name: np.where(rng.random(400) < 0.8, state, rng.integers(0, 3, 400)) for name in "abc"}
    data = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=400), **noisy})
    assert noticed(lv.read_table(data), Notice.TIME_ORDERED).columns == ("day",)
    mixed = data.sample(frac=1, random_state=0)
    assert Notice.TIME_ORDERED not in kinds(lv.read_table(mixed))


def test_rows_in_no_order_are_not_said_to_be_in_one():
    assert kinds(lv.read_table(frame())) == set()
