"""The demo as a new user runs it."""

import re

from leverrier.cli import run


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
