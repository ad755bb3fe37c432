"""Tables for papers, the verdict in a terminal, help that is read."""

import re

import pytest
from click.testing import CliRunner

import leverrier as lv
from leverrier.api.discovery import Discovery
from leverrier.api.progress_line import clock_words, left_words
from leverrier.cli.group import VERBS, cli
from leverrier.cli.help_pages import FIRST
from leverrier.report.words.bet_words import held_out_bet, odds_words
from leverrier.report.words.terminal_words import MOST_LINES, WIDTH, terminal_words
from tests import report_cases as cases


@pytest.fixture(scope="module")
def found():
    return Discovery(cases.found(values=("a_b", "c & d", "50 %")))


def test_profiles_are_those_of_the_states(found):
    frame = found.to_frame("profiles")
    for (state, column), part in frame.groupby(["state", "column"]):
        own = found.result.meanings["H1"][int(state)].profile[column]
        assert dict(zip(part["value"], part["estimate"], strict=True)) == pytest.approx(own)
        assert (part["low"] <= part["estimate"]).all()
        assert (part["estimate"] <= part["high"]).all()


def test_tables_become_frames_and_latex(found):
    assert list(found.paper_tables()) == ["profiles", "evidence", "fit", "checklist"]
    text = found.to_latex()
    assert text.count(r"\\") == 1 + len(found.to_frame())
    assert r"c \& d" in text
    assert not re.search(r"(?<!\\)%", text)
    assert found.to_frame("fit")["states"].tolist() == [2, 3, 4]
    with pytest.raises(lv.OptionError, match="there are profiles, evidence"):
        found.to_latex("nothing")


def test_the_checklist_says_what_the_run_knows(found):
    said = dict(found.paper_tables()["checklist"].rows)
    assert said["Sample size"] == "400 rows"
    chosen = next(one for one in found.result.scores["H1"] if one.states == found.hidden[0].states)
    assert said["Entropy (relative)"] == f"{chosen.entropy:.3f}"
    assert "author" in said["Participants and setting"]
    nothing = dict(Discovery(cases.nothing()).paper_tables()["checklist"].rows)
    assert nothing["Classes found"].startswith("none")


def test_other_results_have_tables_too(tmp_path):
    signs, _ = lv.datasets.hidden_causes(n_observed=4, n_causes=2, n_trials=60, seed=0)
    causes = lv.hidden_causes(signs, sweeps=20, chains=1, seed=0)
    assert causes.to_frame("links").shape == (4, 1 + causes.links.shape[1])
    docx = pytest.importorskip("docx", reason="python-docx is not installed here (the extra `papers`)")
    causes.to_docx(tmp_path / "causes.docx")
    assert len(docx.Document(tmp_path / "causes.docx").tables) == 2


def test_a_verdict_fits_a_terminal():
    cut = [cases.found(), cases.found(states=50, rows=1500), cases.found(cases.LONG), cases.signs(), cases.nothing()]
    for each in cut:
        lines = terminal_words(each).splitlines()
        assert len(lines) <= MOST_LINES
        assert max(map(len, lines)) <= WIDTH
        assert lines[0].split()[0] in terminal_words(each, most=5)


def test_time_left_is_a_range_and_never_nothing():
    assert left_words(0.5, 60.0) == "this stage 0:36 to 1:50 more"
    assert left_words(float("nan"), 60.0) == ""
    assert left_words(0.1, 60.0, budget=30.0) == "at most 0:30 left"
    assert left_words(1.0, 60.0) == "this stage 0:01 to 0:02 more"
    assert (clock_words(0.0), clock_words(61.2), clock_words(3725)) == ("0:01", "1:02", "1:02:05")


def test_a_bet_in_words():
    assert "ahead by 31 nats (95 % interval 10 to 50)" in held_out_bet(0.031, (0.01, 0.05))
    assert "Do not bet on it" in held_out_bet(-0.02, (-0.03, -0.01))
    assert "may be nothing" in held_out_bet(0.001, (-0.01, 0.012))
    assert (odds_words(100.0), odds_words(7.0), odds_words(1.0)) == (
        "more than a million to one",
        "1,097 to one",
        "2.7 to one",
    )


def test_help_has_every_verb_whole_and_options_in_groups():
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=100).output
    assert shown.index("demo") < shown.index("discover") < shown.index("cardinality")
    assert "..." not in shown.replace("[ARGS]...", "")
    for verb in VERBS:
        assert f"  {verb} " in shown
    assert {name for names in FIRST.values() for name in names} <= set(VERBS)
    page = CliRunner().invoke(cli, ["discover", "--help"]).output
    for title in ("What to look for:", "Reading the table:", "Tests:", "What is written:", "How it runs:"):
        assert title in page


def test_a_verb_that_is_nearly_one_gets_a_suggestion():
    said = CliRunner().invoke(cli, ["discvoer", "x.csv"])
    assert said.exit_code == 2
    assert "did you mean discover?" in said.output
