"""Figures that come to life in a real browser, when asked: no complaint, no request, no jump, no label that runs."""

import time

import pytest

from leverrier.report.pages.discovery_page import discovery_page
from tests import report_cases as cases
from tests.browser.chromium import Page
from tests.browser.conftest import PICTURES

pytestmark = pytest.mark.browser

PHONE = 375
FIRST = "figure:has(script.spec) .picture"
WAIT = "new Promise(done => setTimeout(done, 40))"
WAKE = f"""(async () => {{
    document.querySelectorAll('.tools button').forEach(each => each.click());
    const all = document.querySelectorAll('script.spec').length;
    for (let i = 0; i < 500 && document.querySelectorAll('.picture.live').length < all; i++) await {WAIT};
    return [all, document.querySelectorAll('.picture.live').length];
}})()"""
SIZES = """[...document.querySelectorAll('figure, section')].map(each => {
    const box = each.getBoundingClientRect();
    return [Math.round(box.width), Math.round(box.height)];
})"""
TIPS = """[...document.querySelectorAll('.picture.live [role="graphics-symbol"]')].flatMap(mark => {
    const shapes = mark.matches('path, text, line') ? [mark] : [...mark.querySelectorAll('path, text, line')];
    return shapes.map(shape => {
        shape.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 9, clientY: 9}));
        return document.querySelector('.tip').textContent;
    });
})"""


@pytest.fixture(scope="module")
def folder(browser, tmp_path_factory):  # noqa: ARG001  (without a browser no page need be made)
    place = tmp_path_factory.mktemp("live")
    made = {"table": cases.found(holes=True), "signs": cases.signs(), "hostile": cases.hostile()}
    for name, examined in made.items():
        (place / f"{name}.html").write_text(discovery_page(examined, name), encoding="utf-8")
    (place / "static.html").write_text(discovery_page(made["table"], "table", live=False), encoding="utf-8")
    cases.diary(cases.HOSTILE[:4], (f"no {cases.EVIL}", "yes <!--")).report(place / "time-hostile.html")
    cases.diary().report(place / "time.html")
    PICTURES.mkdir(exist_ok=True)
    return place


def until(page, expression):
    for _ in range(500):
        if page.run(expression):
            return True
        page.run(WAIT)
    return False


def alive(page):
    return page.run("document.querySelectorAll('.picture.live').length")


def test_pointing_at_a_figure_makes_it_live_and_its_marks_say_their_values(opened):
    page = opened("table")
    page.run(WAIT)
    assert alive(page) == 0
    assert page.run("typeof window.leverrierEmbed") == "undefined"
    before = page.run(SIZES)
    page.point(FIRST)
    assert until(page, "document.querySelectorAll('.picture.live').length === 1")
    assert page.run(SIZES) == before
    page.point(".picture.live .mark-symbol path")
    assert until(page, "!document.querySelector('.tip').hidden")
    assert "gain (nats): " in page.run("document.querySelector('.tip').textContent")
    page.point("h1")
    assert until(page, "document.querySelector('.tip').hidden")


@pytest.mark.parametrize("how", ["focus", "tap", "explore"])
def test_other_ways_to_ask_a_figure(opened, how):
    page = opened("signs", width=PHONE, height=800)
    if how == "tap":
        page.call("Emulation.setTouchEmulationEnabled", enabled=True)
        x, y = page.run(f"""(() => {{
            const each = document.querySelector('{FIRST}');
            each.scrollIntoView({{block: 'center', behavior: 'instant'}});
            const box = each.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    elif how == "focus":
        page.run(f"document.querySelector('{FIRST}').focus()")
    else:
        page.point(".tools button", click=True)
    assert until(page, "document.querySelectorAll('.picture.live').length >= 1")
    assert page.run("[...document.querySelector('.tools').querySelectorAll('button')].map(e => e.textContent)") == [
        "SVG",
        "PNG",
    ]


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
@pytest.mark.parametrize("name", ["table", "signs", "time", "hostile", "time-hostile"])
def test_all_figures_live_without_a_jump_or_sideways_scroll(opened, name, look):
    size = {"width": PHONE, "height": 800} if look == "phone" else {}
    page = opened(name, dark=look == "dark", **size)
    before = page.run(SIZES)
    figures, live = page.run(WAKE)
    assert figures == live > 3
    assert page.run(SIZES) == before
    assert page.run("document.documentElement.scrollWidth") == page.run("innerWidth")
    ink = page.run("getComputedStyle(document.querySelector('.picture.live .role-axis-title text')).fill")
    assert ink == page.run("getComputedStyle(document.body).color")
    page.screenshot(PICTURES / f"{name}-live-{look}.png")


@pytest.mark.parametrize("name", ["hostile", "time-hostile"])
def test_hostile_labels_stay_text_in_live_figures_and_their_tips(opened, name):
    page = opened(name)
    page.run(WAKE)
    tips = page.run(TIPS)
    assert any(cases.EVIL[:9] in tip for tip in tips)
    assert any("<!--" in tip for tip in tips)
    assert page.run("document.querySelectorAll('img, iframe, object, foreignObject').length") == 0
    assert page.run("document.querySelectorAll('.tip *:not(div), .picture.live script, .picture.live a').length") == 0
    assert cases.EVIL[:9] in page.run(
        "[...document.querySelectorAll('.picture.live')].map(each => each.textContent).join(' ')"
    )


def test_a_page_without_scripts_is_as_it_was(browser, folder):
    def seen(name):
        page = Page(browser, folder / f"{name}.html", script=False)
        page.screenshot(PICTURES / f"{name}-without-scripts.png")
        document = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        selectors = ("figure svg", ".picture", ".tools", ".tip", "[tabindex]", "section")
        found = {
            each: len(page.call("DOM.querySelectorAll", nodeId=document, selector=each)["nodeIds"])
            for each in selectors
        }
        page.close()
        return found, (PICTURES / f"{name}-without-scripts.png").read_bytes()

    assert seen("table") == seen("static")


def test_a_static_page_has_no_tools_and_keeps_its_tips(opened):
    page = opened("static")
    assert page.run("document.querySelectorAll('.tools, script.spec, #vega').length") == 0
    page.point("#evidence [role='graphics-symbol'][aria-roledescription='point']")
    assert until(page, "!document.querySelector('.tip').hidden")


@pytest.mark.parametrize(("kind", "start"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_a_figure_can_be_saved_for_paper(opened, tmp_path, kind, start):
    page = opened("signs", dark=True)
    page.run(WAKE)
    page.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.run(f"[...document.querySelectorAll('#states .tools button')].find(e => e.textContent === '{kind}').click()")
    name = f"states-1.{kind.lower()}"
    ends = time.monotonic() + 20
    while not (tmp_path / name).exists() and time.monotonic() < ends:
        page.run(WAIT)
    data = (tmp_path / name).read_bytes()
    assert data.startswith(start)
    if kind == "SVG":
        assert b"sign 0" in data
        assert b"currentColor" not in data
        assert b'fill="white"' in data


def test_paper_shows_live_figures_in_its_own_ink(opened):
    page = opened("table", dark=True)
    page.run(WAKE)
    page.call("Emulation.setEmulatedMedia", media="print")
    ink = page.run("getComputedStyle(document.querySelector('.picture.live .role-axis-title text')).fill")
    assert ink == "rgb(0, 0, 0)"
    assert page.run("getComputedStyle(document.querySelector('.tools')).display") == "none"
    sizes = page.run("[...document.querySelectorAll('.picture.live svg')].map(e => e.getBoundingClientRect().height)")
    assert min(sizes) > 40
    page.pdf(PICTURES / "table-live.pdf")


def test_the_policy_would_stop_a_chart_that_is_compiled(browser, folder):
    """The check can fail: without the interpreter Vega calls Function, and the browser refuses."""
    from leverrier.report.html import page_html as html

    text = (folder / "table.html").read_text(encoding="utf-8")
    script = html._source("report.js")
    other = script.replace("ast: true", "ast: false")
    text = text.replace(script, other).replace(html._digest(script), html._digest(other))
    (folder / "compiled.html").write_text(text, encoding="utf-8")
    page = Page(browser, folder / "compiled.html")
    page.point(FIRST)
    assert until(page, "document.querySelectorAll('.tools').length < document.querySelectorAll('script.spec').length")
    assert any("Content Security Policy" in each for each in page.complaints)
    assert alive(page) == 0
    page.close()
