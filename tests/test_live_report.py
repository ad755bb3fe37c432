"""Live figures: what the page holds for them, what its policy allows, where their script comes from and is kept."""

import base64
import hashlib
import json
import os
import re

import pytest
import vl_convert

from leverrier.api.discovery import Discovery
from leverrier.cli import run
from leverrier.cli.page_writing import told_as_notes
from leverrier.errors import TooLargeError
from leverrier.report.charts.palette import INK
from leverrier.report.charts.pictures import pictured
from leverrier.report.html import live_script as live
from leverrier.report.html import page_html as html
from leverrier.report.html.page_html import MOST_BYTES, as_block, page
from leverrier.report.pages.discovery_page import discovery_page
from leverrier.report.parts.page_parts import Figure, Figures, Part, Words
from tests import report_cases as cases

SCRIPT = re.compile(r"<script(?P<kind>[^>]*)>(?P<text>.*?)</script>", re.S)
DATA = ' type="application/json" class="spec"'
KEPT = ' type="text/plain" id="vega"'


def scripts(text):
    return [(found["kind"], found["text"]) for found in SCRIPT.finditer(text)]


def policy(text):
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    return found[1].replace("&#39;", "'")


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.fixture(scope="module")
def hostile():
    return discovery_page(cases.hostile(), "hostile")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of our own, and a process that has made nothing yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    live._bundle.cache_clear()
    yield tmp_path
    live._bundle.cache_clear()


@pytest.fixture
def made(monkeypatch):
    """How often a script was made; a small one that stands for the real."""
    calls = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: calls.append(snippet) or f"/*…*/{snippet}")
    return calls


def test_a_live_page_is_a_static_one_with_data_and_a_script():
    examined = cases.found()
    one, other = (discovery_page(examined, "t", live=how) for how in (True, False))
    bare = SCRIPT.sub(lambda found: "" if found["kind"] else found[0], one)
    alike = [re.sub(r'c\d+-|content="default-src[^"]*"', "", text).split() for text in (bare, other)]
    assert alike[0] == alike[1]
    assert len(one.encode()) < 1_200_000
    assert len(other.encode()) < 200_000
    assert [kind for kind, _ in scripts(other)] == [""]


def test_every_chart_has_its_specification_and_labels_cannot_leave_it(hostile):
    blocks = [text for kind, text in scripts(hostile) if kind == DATA]
    assert len(blocks) == hostile.count('<div class="picture">') >= 4
    for text in blocks:
        assert not re.search("[<>&\u2028\u2029]", text)
        spec = json.loads(text)
        assert "$schema" not in spec
        assert INK not in text
    assert any(cases.EVIL in json.dumps(json.loads(text)) for text in blocks)
    assert [kind for kind, _ in scripts(hostile)] == [DATA] * len(blocks) + [KEPT, ""]
    assert "<img" not in SCRIPT.sub("", hostile)


@pytest.mark.parametrize("label", ["</script>", "<!--<script>", "]]>&lt;", "a\u2028b\u2029c", "\ud800", 'q"\\'])
def test_a_label_comes_back_from_its_block(label):
    text = as_block(json.dumps({"label": label}, ensure_ascii=False))
    assert json.loads(text) == {"label": label}
    assert not re.search("[<>&\u2028\u2029]", text)


def test_the_policy_names_both_scripts_and_allows_nothing_else(hostile):
    said = policy(hostile)
    run = [text for kind, text in scripts(hostile) if kind in (KEPT, "")]
    assert len(run) == 2
    assert re.search("script-src ([^;]*);", said)[1].split() == [digest(run[1]), digest(run[0])]
    assert said.startswith("default-src 'none';")
    assert not re.search("unsafe|eval|https?:|data:|blob:|[*]", said)
    assert {part.split()[0] for part in said.split("; ")} == {
        "default-src",
        "script-src",
        "style-src",
        "base-uri",
        "form-action",
    }


def test_ink_is_the_pages_own_colour_and_labels_that_read_like_it_stay():
    import altair as alt

    chart = alt.Chart(alt.Data(values=[{"label": INK, "x": 1}])).mark_bar(color=INK).encode(x="x:Q", y="label:N")
    figure = pictured(chart.properties(title=alt.TitleParams(INK, color=INK)), "ink")
    spec = json.loads(figure.spec)
    assert spec["data"]["values"][0]["label"] == INK
    assert spec["mark"]["color"] == spec["title"]["color"] == "currentColor"
    assert spec["title"]["text"] == INK
    assert f">{INK}</text>" in figure.svg
    assert f'"{INK}"' not in figure.svg


@pytest.mark.parametrize("name", ["a\\", 'a\\"+alert(1)+"', "a\nb", "a\u2028b", 'q"'])
def test_a_column_named_like_an_expression_is_a_title(name):
    """Vega-Lite escapes quotes of titles and nothing else: the first three broke the page."""
    import altair as alt

    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_bar().encode(x=alt.X("x:Q", title=name))
    for each in (chart, chart.encode(tooltip=[alt.Tooltip("x:Q", title=name)])):
        assert "a" in pictured(each, "").svg


def test_a_page_without_charts_has_no_script_for_them():
    assert KEPT not in page("t", "s", [Part("p", "P", [Words("words"), Figures((Figure("<svg></svg>", "drawn"),))])])


def test_a_page_too_large_to_live_is_static_and_says_so(monkeypatch, tmp_path, capsys):
    examined = cases.nothing()
    monkeypatch.setattr(html, "MOST_BYTES", 500_000)
    with pytest.warns(UserWarning, match="figures are static pictures: with live ones the page would have"):
        Discovery(examined).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 500_000
    assert KEPT not in text
    assert "Its figures are static pictures" in text
    with told_as_notes(quiet=False):
        Discovery(examined).report(tmp_path / "page.html")
    assert capsys.readouterr().err.startswith("leverrier: figures are static pictures")
    Discovery(examined).report(tmp_path / "page.html", live=False)
    assert "Its figures" not in (tmp_path / "page.html").read_text(encoding="utf-8")
    monkeypatch.setattr(html, "MOST_BYTES", 5_000)
    with pytest.raises(TooLargeError, match="at most 5,000"):
        Discovery(examined).report(tmp_path / "page.html")
    assert MOST_BYTES == 3_000_000


def test_the_script_is_made_once_and_kept(folder, made):
    assert not live.is_kept()
    first = live.bundle()
    assert live.is_kept()
    assert live.bundle() == first
    live._bundle.cache_clear()
    assert live.bundle() == first
    assert made == [live.SNIPPET]
    assert len(list(folder.rglob("*.js"))) == 1


@pytest.mark.parametrize(
    "hurt",
    [
        lambda data: data[:-20],
        lambda data: data[:0],
        lambda data: data.replace(b"vegaEmbed", b"otherThing"),
        lambda data: b"\xff" * len(data),
        lambda data: data + b"alert(1)",
    ],
)
def test_a_damaged_script_is_made_anew(folder, made, hurt):
    first = live.bundle()
    place = next(folder.rglob("*.js"))
    whole = place.read_bytes()
    place.write_bytes(hurt(whole))
    live._bundle.cache_clear()
    assert live.bundle() == first
    assert len(made) == 2
    assert place.read_bytes() == whole


def test_without_a_place_to_keep_it_the_script_is_made_in_silence(folder, made, monkeypatch):
    (folder / "leverrier").write_text("a file where a folder should be")
    assert "vegaEmbed" in live.bundle()
    live._bundle.cache_clear()
    monkeypatch.setattr(live, "_folder", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert "vegaEmbed" in live.bundle()
    assert not live.is_kept()
    assert len(made) == 2


@pytest.mark.usefixtures("folder")
def test_nothing_in_the_script_ends_its_element(monkeypatch):
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _: "a='</script>'+'</SCRIPT'+'<!--'\r\n+'\0'")
    text = live.bundle()
    assert not re.search("</script|<!--|\r|\0", text, re.I)
    assert r"<\/script>" in text


def test_another_version_or_snippet_has_a_place_of_its_own(folder, monkeypatch):
    places = {live._place()}
    monkeypatch.setattr(live, "SNIPPET", "window.other = vegaEmbed;")
    places.add(live._place())
    monkeypatch.setattr(live, "version", lambda _: "9.9.9")
    places.add(live._place())
    assert len(places) == 3
    assert all(place.is_relative_to(folder) for place in places)


@pytest.mark.skipif(os.name != "posix", reason="the variable is one of Unix")
def test_a_relative_cache_folder_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert live._folder().is_relative_to(tmp_path)


def test_the_command_line_writes_either_page(tmp_path, capsys):
    saved, written = tmp_path / "found.json", tmp_path / "found.html"
    Discovery(cases.nothing()).save(saved)
    kinds = []
    for words in ([], ["--static"]):
        assert run(["report", str(saved), "-o", str(written), *words]) == 0
        kinds.append(KEPT in written.read_text(encoding="utf-8"))
    assert kinds == [True, False]
    assert capsys.readouterr().err == ""
