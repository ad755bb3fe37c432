"""The report as text: its sections, its size, its policy, and that labels from the data stay labels."""

import base64
import hashlib
import json
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from leverrier.api.discovery import Discovery
from leverrier.api.saved import dump, load_result
from leverrier.discovery.findings import Attempt
from leverrier.errors import FormatError, OptionError
from leverrier.report.charts.pictures import save_picture
from leverrier.report.html.page_html import MOST_BYTES
from leverrier.report.pages.discovery_page import discovery_page
from leverrier.report.parts.page_parts import abbreviated, shortened
from leverrier.report.parts.profiles import wilson
from tests import report_cases as cases

VOID = {"meta", "path", "line", "rect", "circle", "stop", "br", "link", "img", "input"}
ALWAYS = ["verdict", "network", "evidence", "data", "details"]
WITH_HIDDEN = ["states", "rows"]


class Seen(HTMLParser):
    """Tags, text, identifiers and attributes of a page; tags must close in the order they opened."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.idents, self.attributes, self.text, self.scripts = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.idents += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        where = self.open[-1] if self.open else ""
        (self.scripts if where in ("script", "style") else self.text).append(data)


@pytest.fixture(scope="module")
def pages():
    made = {
        "found": cases.found(holes=True),
        "hostile": cases.hostile(),
        "nothing": cases.nothing(),
        "signs": cases.signs(),
        "numbers": cases.numbers(),
        "wide": cases.found(others=295),
        "fifty": cases.found(states=50, rows=1500),
        "fifty values": cases.found(values=tuple(f"country {i}" for i in range(50))),
        "long": cases.found(cases.LONG, ("strongly agree with what was said", "refused, or could not be recorded")),
    }
    return {name: (each, discovery_page(each, f"A report: {name}", live=False)) for name, each in made.items()}


def test_every_page_is_small_and_asks_for_nothing(pages):
    for name, (_, text) in pages.items():
        assert len(text.encode()) < MOST_BYTES, name
        assert not re.search(r"https?:", text), name
        for attribute, value in Seen(text).attributes:
            assert attribute != "src", name
            assert attribute != "href" or value.startswith("#"), name


def test_sections_are_there_and_links_lead_somewhere(pages):
    for name, (examined, text) in pages.items():
        seen = Seen(text)
        assert len(set(seen.idents)) == len(seen.idents), name
        wanted = [*ALWAYS, *(WITH_HIDDEN if examined.hidden else [])]
        assert set(wanted) <= set(seen.idents), name
        targets = {value[1:] for attribute, value in seen.attributes if attribute == "href"}
        assert targets <= set(seen.idents), name
    assert "Who the causes are" in pages["signs"][1]


def test_the_policy_names_the_one_script_and_style_and_nothing_else(pages):
    for name, (_, text) in pages.items():
        seen = Seen(text)
        policy = next(v for a, v in seen.attributes if a == "content" and "default-src" in v)
        assert policy.startswith("default-src 'none'"), name
        assert "unsafe" not in policy, name
        digests = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in seen.scripts}
        assert digests == set(re.findall(r"sha256-([^']+)'", policy)), name
        assert seen.tags.count("script") == 1, name
        assert not [a for a, _ in seen.attributes if a.startswith("on") or a == "style"], name


def test_hostile_labels_stay_text(pages):
    _, text = pages["hostile"]
    seen = Seen(text)
    assert not {"img", "svg/onload", "iframe"} & set(seen.tags)
    said = "".join(seen.text)
    for label in cases.HOSTILE[:6]:
        assert label in said
    assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|\b49\b", said)


def test_no_row_is_in_the_page_or_the_file():
    """A page is made of counts: many more rows make it no longer."""
    few = len(discovery_page(cases.found(rows=300), "rows"))
    many = len(discovery_page(cases.found(rows=6000), "rows"))
    assert many < 1.1 * few


def test_figures_are_static_pictures_in_the_pages_own_colours(pages):
    _, text = pages["found"]
    assert text.count("<svg") >= 6
    assert "#333333" not in text
    assert "currentColor" in text


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ((), "No candidate gained anything"),
        ((-3.0, 0.0), "No candidate gained anything"),
        ((7.9, 2.0), "The best candidate gained 7.9 nats"),
    ],
)
def test_what_is_said_of_candidates_agrees_with_their_list(gains, said):
    tried = tuple(Attempt(("a", "b", "c"), "semi-clique", "as found", 2, gain, ("a", "b", "c")) for gain in gains)
    page = discovery_page(replace(cases.nothing(), attempts=tried), "t")
    assert said in page


def test_nothing_found_says_what_would_have_been(pages):
    examined, text = pages["nothing"]
    assert str(examined.power).split(" if ")[0] in " ".join("".join(Seen(text).text).split())
    assert "What would change our mind" in text


def test_a_wide_table_shows_what_is_near_the_hidden_variable(pages):
    _, text = pages["wide"]
    drawn = re.search(r'<svg viewBox.*?class="net".*?</svg>', text, re.S).group()
    assert drawn.count('class="node hidden"') == 1
    assert drawn.count('class="node"') == 5
    assert "6 of the network's nodes" in text.replace("&#39;", "'")
    assert "The whole network of 300 columns" in text


def test_the_width_of_an_arc_grows_with_its_support(pages):
    _, text = pages["found"]
    arcs = dict(re.findall(r'class="arc hot".*?data-note="H1 – (\w+).*?stroke-width="([\d.]+)"', text, re.S))
    widths = [float(arcs[name]) for name in ("age", "cough", "fever", "pain", "rash")]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_saved_findings_give_the_same_page(pages):
    for name in ("found", "signs", "numbers", "nothing"):
        examined, _ = pages[name]
        back = load_result(dump(examined))
        assert (back.rows, back.remaining, back.scores) == (examined.rows, examined.remaining, examined.scores)


def test_a_file_without_the_newer_fields_is_still_read(pages):
    content = json.loads(dump(pages["found"][0]))
    for field in ("rows", "remaining", "scores"):
        del content[field]
    back = load_result(json.dumps(content))
    assert (back.rows, back.remaining, dict(back.scores)) == (None, None, {})
    assert "not measured" in discovery_page(back, "old")


def test_plots_and_files(pages, tmp_path):
    found, signs, nothing = (Discovery(pages[name][0]) for name in ("found", "signs", "nothing"))
    starts = {".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF"}
    charts = [found.plot_network(), signs.plot_states(), nothing.plot_evidence()]
    for (suffix, start), chart in zip(starts.items(), charts, strict=True):
        save_picture(chart, tmp_path / f"picture{suffix}")
        assert (tmp_path / f"picture{suffix}").read_bytes().startswith(start)
    found.plot_states()
    found.plot_evidence("H1")
    with pytest.raises(OptionError, match=r"\.png, \.svg or \.pdf"):
        save_picture(charts[0], tmp_path / "picture.gif")
    with pytest.raises(OptionError, match="no simulated tables"):
        signs.plot_evidence()


def test_cards_are_small_and_escaped(pages):
    examined = pages["hostile"][0]
    table = examined.network.sample(20, seed=0)
    for value in (table, examined.network, Discovery(examined), Discovery(pages["nothing"][0])):
        seen = Seen(value._repr_html_())
        assert not {"script", "img"} & set(seen.tags)
        assert len(value._repr_html_()) < 10_000
    assert cases.EVIL in "".join(Seen(table._repr_html_()).text)


def test_templates_are_in_the_wheel(tmp_path):
    builder = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed here")
    from pathlib import Path

    root = Path(__file__).parents[1]
    wheel = next(iter(builder.WheelBuilder(str(root)).build(directory=str(tmp_path))))
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("report.html", "report.css", "report.js"):
        assert f"leverrier/report/templates/{name}" in names


def test_short_labels_differ_where_long_ones_begin_alike():
    short = abbreviated(cases.LONG, 30)
    assert len(set(short.values())) == len(cases.LONG)
    assert "medical care" in short[cases.LONG[0]]
    assert all(len(label) <= 30 for label in short.values())
    assert abbreviated(["aaaaaaaaaa1", "aaaaaaaaaa2"], 5).keys() == {"aaaaaaaaaa1", "aaaaaaaaaa2"}
    assert len(set(abbreviated(["x" * 50 + "y" * 50, "x" * 50 + "y" * 51], 10).values())) == 2
    assert shortened("a\x00b", 9) == "a\ufffdb"


def test_wilsons_interval_of_a_known_case():
    """8 of 10: 0.490 to 0.943 (Wilson 1927, as in every textbook)."""
    low, high = wilson(0.8, 10)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)


def test_labels_that_differ_at_the_end_keep_their_beginning_too():
    short = abbreviated(["average of duration over 16", "average of duration over 256", "sum of duration mod 16"], 16)
    assert short["average of duration over 256"] == "average of d…256"
    assert short["sum of duration mod 16"].startswith("sum of")
    assert len(set(short.values())) == 3


@pytest.mark.parametrize("broken", [{"p_value": None}, {"kind": "classes", "null_gains": []}])
def test_evidence_without_its_figures_is_refused(broken):
    """Found by the fuzz check: it loaded, and could not be put into words."""
    content = json.loads(dump(cases.found()))
    content["hidden"][0]["evidence"] |= broken
    with pytest.raises(FormatError, match="evidence without its figures"):
        load_result(json.dumps(content))


def test_a_memory_that_drives_no_column_has_its_card(tmp_path):
    """A memory of a memory is part of the network and no finding: the page looked for it among the findings."""
    found = cases.diary(method="boyen1999")
    named = {each.name for each in found.result.hidden}
    assert set(found.result.time.model.hidden) - named
    found.report(tmp_path / "loop.html")
