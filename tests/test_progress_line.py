"""Progress is shown where somebody looks on, can be turned off, and leaves nothing behind."""

import inspect
import io
import pickle
import sys
import types

import numpy as np
import pytest

import leverrier as lv
from leverrier.api import progress_line
from leverrier.api.progress_line import ProgressLine, with_progress
from leverrier.run.event import Event


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def screen(monkeypatch):
    """A terminal's or a file's standard error; progress is shown at once."""

    def made(terminal):
        screen = Screen(terminal)
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(progress_line, "PATIENCE", 0.0)
        return screen

    return made


@with_progress
def work(progress=None):
    if progress is not None:
        progress(Event.READING, 0.5)
    return "done"


@pytest.mark.parametrize(
    ("terminal", "asked", "shown"),
    [(True, None, True), (True, False, False), (False, None, False), (False, True, True), (True, True, True)],
)
def test_it_is_shown_where_somebody_looks_on(screen, terminal, asked, shown):
    seen = screen(terminal)
    assert work(progress=asked) == "done"
    assert (("reading" in seen.getvalue()) or bool(seen.getvalue())) == shown
    told = []
    assert work(progress=lambda *what: told.append(what)) == "done"
    assert told == [(Event.READING, 0.5)]


def test_a_notebook_gets_a_line_of_text_that_is_written_over(screen, monkeypatch):
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    seen = screen(False)
    work()
    assert "reading  50 %" in seen.getvalue()
    assert seen.getvalue().endswith("\r")


def test_quick_work_shows_nothing(screen, monkeypatch):
    seen = screen(True)
    monkeypatch.setattr(progress_line, "PATIENCE", 60.0)
    line = ProgressLine()
    line.tell(Event.READING, 0.1)
    line.close()
    assert seen.getvalue() == ""


def test_discover_takes_the_words(screen):
    seen = screen(True)
    rng = np.random.default_rng(0)
    data = {name: rng.choice(["u", "v"], 60) for name in "abc"}
    lv.discover(data, evidence=False, jobs=1, progress=False)
    assert seen.getvalue() == ""
    lv.discover(data, evidence=False, jobs=1)
    assert seen.getvalue() != ""


def test_every_public_function_that_tells_how_far_it_is_shows_it():
    for name in lv.__all__:
        found = getattr(lv, name)
        if inspect.isfunction(found) and "progress" in inspect.signature(found).parameters:
            assert hasattr(found, "__wrapped__"), name


@pytest.mark.parametrize(
    "asked",
    [
        lambda data, **more: lv.latent_classes(data, states=[1, 2], starts=2, jobs=1, **more),
        lambda data, **more: lv.fit(lv.Graph.from_edges("abch", ["ha", "hb", "hc"]), data, {"h": 2}, jobs=1, **more),
        lambda data, **more: lv.find_hidden(data, max_hidden=1, jobs=1, **more),
    ],
)
def test_others_take_the_words_too_and_what_they_call_shows_nothing(screen, asked):
    rng = np.random.default_rng(0)
    data = {name: rng.choice(["u", "v"], 60) for name in "abc"}
    seen = screen(True)
    asked(data, progress=False)
    assert seen.getvalue() == ""
    asked(data)
    assert seen.getvalue() != ""
    told = []
    asked(data, progress=lambda *what: told.append(what))
    assert told


def test_functions_with_a_line_can_be_sent_to_other_processes():
    assert pickle.loads(pickle.dumps(lv.fit)) is lv.fit
