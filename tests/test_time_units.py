"""What a slice is in the reader's own time, and the first sentence on sequences."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_unit import TimeUnit, time_unit
from leverrier.discovery.verdict import HiddenKind
from leverrier.report.words.time_words import lengths_text, person, plain_chain


def read(time, values, **more):
    n = len(values)
    return lv.read_sequences({time: values, "x": np.arange(n) % 3, **more}, time=time, gaps="ignore")


DATES = np.datetime64("2024-01-01")


@pytest.mark.parametrize(
    ("time", "values", "unit"),
    [
        ("day", np.arange(40), TimeUnit("day")),
        ("Days", np.arange(40) * 2, TimeUnit("day", 2.0)),
        ("wave", np.arange(1, 41), TimeUnit("wave")),
        ("age", np.arange(20, 60), TimeUnit("year")),
        ("t", np.arange(40), TimeUnit()),
        ("day", np.cumsum(1 + np.arange(40) % 5), TimeUnit()),
        ("when", [str(DATES + i) for i in range(40)], TimeUnit("day")),
        ("when", [str(DATES + 7 * i) for i in range(40)], TimeUnit("week")),
        ("when", [f"{2020 + i // 12}-{1 + i % 12:02d}-01" for i in range(40)], TimeUnit("month")),
        ("when", [str(DATES + 3 * i) for i in range(40)], TimeUnit("day", 3.0)),
    ],
)
def test_the_unit_comes_from_the_columns_name_or_its_dates(time, values, unit):
    assert time_unit(read(time, values)) == unit


def test_rows_without_a_time_are_time_steps():
    assert time_unit(lv.read_sequences({"x": np.arange(40) % 3})) == TimeUnit()


def test_lengths_are_told_in_units():
    assert lengths_text([6.0, 15.2], TimeUnit("day", 2.0)) == "12 and 30 days"
    assert lengths_text([1.24], TimeUnit("match")) == "1.2 matches"
    assert lengths_text([3, 4, 5], TimeUnit()) == "3, 4 and 5 time steps"


@pytest.mark.parametrize(
    ("by", "said"), [("patient", "patient"), ("id", "sequence"), (("a", "b"), "sequence"), (None, "sequence")]
)
def test_a_sequence_is_called_by_its_columns_name(by, said):
    assert person(by) == said


def chain(transition, stays=False):
    table = np.array(transition)
    return HiddenChain("H1", 2, ("x", "y"), table, np.array([0.5, 0.5]), 1, np.zeros((0, 2)), {}, stays=stays)


def test_what_moves_what_stays_and_what_hardly_lasts_are_told_apart():
    unit = TimeUnit("visit")
    moves = plain_chain(chain([[0.9, 0.1], [0.05, 0.95]]), HiddenKind.CLASS, unit, "patient")
    assert "2 states, which last about 10 and 20 visits; it shows in x and y" in moves
    stays = chain(np.eye(2), stays=True)
    assert "2 kinds of patient" in plain_chain(stays, HiddenKind.CLASS, unit, "patient")
    assert "each patient has a level of its own" in plain_chain(stays, HiddenKind.CONTINUUM, unit, "patient")
    hardly = plain_chain(chain([[0.5, 0.5], [0.5, 0.5]]), HiddenKind.CLASS, unit, "patient")
    assert "from one visit to the next" in hardly
