"""The demo as a new user runs it."""

import re

import leverrier as lv
from leverrier.cli import run
from tests.test_structural_em import star


def test_the_demo_finds_what_it_hid_and_leaves_a_report(tmp_path, capsys):
    assert run(["demo", "-o", str(tmp_path / "out"), "--jobs", "1"]) == 0
    words = capsys.readouterr().out
    assert "One hidden variable is at work" in words
    assert "H1: 3 states" in words  # as many as the heart rate has
    agreement = re.search(r"Rand index of ([0-9.]+)", words)
    assert agreement is not None
    assert float(agreement[1]) > 0.8
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "findings.json", "patients.csv"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Content-Security-Policy" in page
    assert "<svg" in page


def test_saved_findings_become_a_page_again(tmp_path, capsys):
    """The page of saved findings is the one that was made with them."""
    rows = star(children=5, states=2).sample(600, seed=1).drop("h")
    found = lv.discover(rows, evidence=False, seed=1)
    found.save(tmp_path / "some.json")
    found.report(tmp_path / "first.html", title="What nobody measured in some")
    assert run(["report", str(tmp_path / "some.json")]) == 0
    assert str(tmp_path / "some.html") in capsys.readouterr().out
    assert (tmp_path / "some.html").read_text() == (tmp_path / "first.html").read_text()
    assert run(["report", str(tmp_path / "some.json"), "-o", str(tmp_path / "own.html"), "--title", "A <b>title"]) == 0
    assert "A &lt;b&gt;title" in (tmp_path / "own.html").read_text()
