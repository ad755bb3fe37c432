"""Reports opened in a real browser: nothing complains, nothing is fetched, the graph answers, labels stay labels.

Pictures of every page are left in tests/browser/pictures, to be looked at.
"""

import pytest

from leverrier.report.pages.discovery_page import discovery_page
from tests import report_cases as cases
from tests.browser.chromium import Page
from tests.browser.conftest import PICTURES

pytestmark = pytest.mark.browser

TIMES = ("time", "time-nothing", "time-hostile", "time-long", "time-loop")
NAMES = ("table", "signs", "nothing", "hostile", "long", "foreign", "fifty", "wide", "numbers", *TIMES)
PHONE = 375


@pytest.fixture(scope="module")
def folder(browser, tmp_path_factory):  # noqa: ARG001  (without a browser no page need be made)
    made = {
        "table": cases.found(holes=True, others=12),
        "signs": cases.signs(),
        "nothing": cases.nothing(),
        "hostile": cases.hostile(),
        "long": cases.found(cases.LONG, ("strongly agree with what was said", "refused, or could not be recorded")),
        "foreign": cases.found(cases.FOREIGN, ("да", "否", "لا")),
        "fifty": cases.found(states=50, rows=1500),
        "wide": cases.found(others=295),
        "numbers": cases.numbers(),
    }
    place = tmp_path_factory.mktemp("reports")
    for name, examined in made.items():
        (place / f"{name}.html").write_text(discovery_page(examined, f"A report: {name}"), encoding="utf-8")
    told = "strongly agree with what was said", "refused, or could not be recorded"
    sequences = {
        "time": cases.diary(),
        "time-nothing": cases.diary(regime=False),
        "time-hostile": cases.diary(cases.HOSTILE[:4], (f"no {cases.EVIL}", "yes <!--")),
        "time-long": cases.diary(cases.LONG[:4], told),
        "time-loop": cases.diary(method="boyen1999"),
    }
    for name, found in sequences.items():
        found.report(place / f"{name}.html", f"A report: {name}")
    PICTURES.mkdir(exist_ok=True)
    return place


@pytest.mark.parametrize("name", NAMES)
def test_a_report_opens_with_its_sections_and_no_complaint(opened, name):
    page = opened(name)
    assert page.run("document.querySelectorAll('section > h2').length") >= 5
    assert page.run("[...document.querySelectorAll('figure svg')].every(e => e.getBoundingClientRect().width > 40)")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(PICTURES / f"{name}-light.png")


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_nothing_scrolls_sideways(opened, name):
    page = opened(name, width=PHONE, height=800)
    assert page.run("innerWidth") == PHONE
    assert page.run("document.documentElement.scrollWidth") == PHONE
    outside = page.run(
        "[...document.querySelectorAll('h1, h2, p, li, figcaption, pre, .facts, .panel, .scroll')]"
        f".filter(e => e.getBoundingClientRect().right > {PHONE} + 1).map(e => e.textContent.slice(0, 40))"
    )
    assert outside == []
    wide = "[...document.querySelectorAll('.scroll')].filter(e => e.querySelector('.bars-in, .stack'))"
    assert page.run(f"{wide}.filter(e => e.scrollWidth > e.clientWidth + 1).length") == 0  # (told below each other)
    captions = "[...document.querySelectorAll('.scroll caption')].map(e => e.getBoundingClientRect())"
    assert page.run(f"{captions}.filter(box => box.width > 0 && box.right > {PHONE}).length") == 0
    page.screenshot(PICTURES / f"{name}-phone.png")


def test_a_report_on_sequences_has_all_that_runs_along_time(opened):
    page = opened("time")
    parts = ["verdict", "states", "time", "evidence", "network", "remembered", "data", "details"]
    assert page.run("[...document.querySelectorAll('main > section')].map(e => e.id)") == parts
    assert page.run("document.querySelectorAll('#time svg .mark-rect path').length") > 20
    assert page.run("document.querySelectorAll('#time figure').length") >= 5  # (ribbons, stays, what comes next)
    assert page.run("document.querySelectorAll('#evidence table').length") == 2  # (the parts held out; what was tried)
    assert "What would change our mind" in page.run("document.querySelector('#verdict').textContent")
    assert "--by patient --time day" in page.run("document.querySelector('#details').textContent")
    nodes = "[...document.querySelectorAll('a.node.hidden')]"
    now = page.run(f"{nodes}.find(e => e.querySelector('title').textContent === 'H1 (hidden)').id")
    page.point(f"#{now}", click=True)
    said = page.run("document.querySelector('.panel').textContent")
    assert said.strip().startswith("H1")
    assert "%" in said
    assert page.run("document.querySelectorAll('.net .arc.near').length") >= 2


def test_sequences_without_scripts_and_in_the_dark(browser, folder):
    page = Page(browser, folder / "time.html", script=False, dark=True)
    page.screenshot(PICTURES / "time-dark.png")
    document = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    count = {
        selector: len(page.call("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"])
        for selector in ("section", "figure svg", "details.card", ".panel[hidden]")
    }
    page.close()
    assert count["section"] == 8
    assert count["figure svg"] >= 8
    assert count["details.card"] >= 5
    assert count[".panel[hidden]"] == 1


@pytest.mark.parametrize("name", ["table", "signs"])
def test_the_graph_reacts(opened, name):
    page = opened(name)
    panel = "document.querySelector('.panel').textContent"
    assert "Point at a node" in page.run(panel)
    page.point("a.node.hidden")
    shown = page.run(panel)
    assert shown.strip().startswith("H1" if name == "table" else "cause 1")
    assert page.run("document.querySelector('.panel table') !== null")
    assert page.run("document.querySelectorAll('.net .arc.near').length") >= 2
    page.point("a.arc.hot")
    said = page.run(panel)
    assert ("–" if name == "table" else "→") in said
    assert ("of the resamples" if name == "table" else "not measured") in said
    page.point("a.node:not(.hidden)", click=True)
    kept = page.run(panel)
    page.point("h1")
    assert page.run(panel) == kept
    page.point("a.node:not(.hidden)", click=True)
    page.point("h1")
    assert "Point at a node" in page.run(panel)


def test_a_figures_marks_say_their_numbers(opened):
    page = opened("table")
    page.point(".beside [role='graphics-symbol'][aria-roledescription='point']")
    assert page.run("!document.querySelector('.tip').hidden")
    assert ":" in page.run("document.querySelector('.tip').textContent")


@pytest.mark.parametrize("name", ["hostile", "time-hostile"])
def test_hostile_labels_stay_text(opened, name):
    page = opened(name)
    page.point("a.node.hidden", click=True)
    assert page.run("document.querySelectorAll('img, iframe, object').length") == 0
    assert page.run("document.querySelectorAll('script:not(.spec):not(#vega)').length") == 1
    assert page.run("document.body.textContent").count(cases.EVIL) > 3
    assert cases.EVIL in page.run("document.querySelector('a.node title').parentNode.parentNode.textContent")


def test_the_policy_refuses_other_scripts(browser, folder):
    """The check can fail: a script put into the page by hand must not run."""
    text = (folder / "nothing.html").read_text(encoding="utf-8")
    hurt = folder / "hurt.html"
    hurt.write_text(text.replace("</main>", "<script>document.title = 'hurt'</script></main>"), encoding="utf-8")
    page = Page(browser, hurt)
    assert page.run("document.title") != "hurt"
    assert any("Content Security Policy" in complaint for complaint in page.complaints)
    page.close()


def test_without_scripts_words_figures_and_tables_are_there(browser, folder):
    page = Page(browser, folder / "table.html", script=False)
    page.screenshot(PICTURES / "table-no-script.png")
    document = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    count = {
        selector: len(page.call("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"])
        for selector in ("section", "figure svg", "details.card table", ".panel[hidden]", ".tip")
    }
    page.close()
    assert count["section"] >= 8
    assert count["figure svg"] >= 5
    assert count["details.card table"] >= 10
    assert count[".panel[hidden]"] == 2  # (near it, and the whole network)
    assert count[".tip"] == 0


def test_dark_pages_are_dark_and_paper_is_white(opened):
    dark = opened("table", dark=True)
    lightness = "(() => { const c = getComputedStyle(document.body); return [c.backgroundColor, c.color]; })()"
    background, ink = ([int(x) for x in each[4:-1].split(",")] for each in dark.run(lightness))
    assert sum(background) < 150 < sum(ink)
    dark.screenshot(PICTURES / "table-dark.png")
    dark.call("Emulation.setEmulatedMedia", media="print")
    assert dark.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert dark.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert dark.run("getComputedStyle(document.querySelector('table tr')).display") == "table-row"
    dark.screenshot(PICTURES / "table-print.png")
    dark.pdf(PICTURES / "table.pdf")
    assert (PICTURES / "table.pdf").read_bytes().startswith(b"%PDF")
