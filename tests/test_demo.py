"""The demo as a new user runs it."""

from leverrier.cli import run


def test_the_demo_finds_what_it_hid_and_leaves_a_page(tmp_path, capsys):
    assert run(["demo", "-o", str(tmp_path / "out")]) == 0
    words = capsys.readouterr().out
    assert "3 states (truly 3)" in words
    assert "report.html" in words
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "http-equiv=\"Content-Security-Policy\"" in page
    assert "<script" not in page
