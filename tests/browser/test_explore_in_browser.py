"""Exploring for real, in two browsers: what is set and what follows agrees with the network; nobody is shut out."""

import csv
import json

import numpy as np
import pytest

from leverrier.api.discovery import Discovery
from leverrier.data.table import Table
from leverrier.report.pages.discovery_page import discovery_page
from tests import report_cases as cases
from tests.browser.conftest import PICTURES

pytestmark = pytest.mark.browser

SET = """(() => {{
    for (const [column, state] of {pairs}) {{
        const label = [...document.querySelectorAll('.explore label')].find(each => each.textContent === column);
        const choice = document.getElementById(label.htmlFor);
        choice.value = [...choice.options].find(each => each.textContent === state).value;
        choice.dispatchEvent(new Event('change', {{bubbles: true}}));
    }}
    const shares = {{}};
    document.querySelectorAll('.explore .bars').forEach(bars => {{
        const name = document.getElementById(bars.getAttribute('aria-labelledby')).firstChild.textContent.trim();
        shares[name] = [...bars.querySelectorAll('output')].map(each => Number(each.dataset.value));
    }});
    return shares;
}})()"""
LINES = """[...document.querySelectorAll('.reader tbody tr')].map(each =>
    [each.cells[0].textContent, each.cells[1].textContent, Number(each.cells[2].dataset.value)])"""
CLIPPED = """[...document.querySelectorAll('figure svg:not(.net) text')].filter(text => {
    const card = text.closest('section').getBoundingClientRect(), box = text.getBoundingClientRect();
    const frame = text.ownerSVGElement.getBoundingClientRect();
    const cut = getComputedStyle(text.ownerSVGElement).overflow !== 'visible';
    const room = cut ? frame : card;
    return box.width > 0 && (box.left < room.left - 1 || box.right > room.right + 1);
}).map(text => text.textContent)"""
ASK = """(() => {{
    const find = document.querySelector('.reader input[type=search]');
    const state = document.querySelector('.reader select');
    find.value = '{find}';
    state.value = '{state}';
    find.dispatchEvent(new Event('input'));
    state.dispatchEvent(new Event('change'));
}})()"""
SERIOUS = """axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
    .filter(each => each.impact === 'serious' || each.impact === 'critical')
    .map(each => [each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 160))]))"""


@pytest.fixture(scope="module")
def made():
    return {
        "table": cases.found(values=("low", "middle", "high"), states=3, others=6),
        "signs": cases.signs(),
        "nothing": cases.nothing(),
        "numbers": cases.numbers(),
    }


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    place = tmp_path_factory.mktemp("explored")
    for name, examined in made.items():
        (place / f"{name}.html").write_text(discovery_page(examined, f"A report: {name}"), encoding="utf-8")
    cases.diary().report(place / "time.html")
    with (place / "rows.csv").open("w", newline="") as file:
        rows = made["table"].network.sample(200, seed=5).drop("H1")
        writer = csv.writer(file)
        writer.writerow(rows.variables)
        writer.writerows(zip(*(_labels(rows, name) for name in rows.variables), strict=True))
    PICTURES.mkdir(exist_ok=True)
    return place


def _labels(rows, name):
    return [str(rows.states[name][code]) for code in rows.column(name)]


def one_row(examined, known):
    """A row in which these columns alone are seen."""
    columns = examined.shape.variables
    codes = np.full((len(columns), 1), 255, dtype=np.uint8)
    for place, column in enumerate(columns):
        if column.name in known:
            codes[place, 0] = [str(state) for state in column.states].index(known[column.name])
    return Table(columns, codes)


EVIDENCE = [{}, {"cough": "high"}, {"age": "low", "fever": "middle", "rash": "low"}]


@pytest.mark.parametrize("known", EVIDENCE)
def test_what_follows_is_what_the_network_says(opened, made, known):
    check(opened("table").run(SET.format(pairs=json.dumps(list(known.items())))), made["table"], known)


@pytest.mark.parametrize("known", EVIDENCE[1:])
def test_the_same_in_firefox(firefox, folder, made, known):
    firefox.open(folder / "table.html")
    check(firefox.run(SET.format(pairs=json.dumps(list(known.items())))), made["table"], known)
    assert firefox.complaints == []


def check(shares, examined, known):
    network, row = examined.network, one_row(examined, known)
    assert shares["H1"] == pytest.approx(network.posterior(row, "H1")[0].tolist(), abs=1e-6)
    others = [name for name in shares if name != "H1" and name not in known]
    assert len(others) >= 2
    for name in others:
        assert shares[name] == pytest.approx(network.posterior(row, name)[0].tolist(), abs=1e-6)


def test_causes_can_be_explored_too(opened, made):
    examined = made["signs"]
    known = {"sign 0": "1", "sign 3": "0"}
    shares = opened("signs").run(SET.format(pairs=json.dumps(list(known.items()))))
    posterior = examined.model.posterior(one_row(examined, known))
    for name, wanted in posterior.items():
        assert shares[name] == pytest.approx(wanted[0].tolist(), abs=1e-6)


def test_setting_nothing_again_and_values_that_never_meet(opened):
    page = opened("table")
    before = page.run(SET.format(pairs="[]"))
    after = page.run(SET.format(pairs='[["cough", "high"]]'))
    assert after["H1"] != before["H1"]
    assert "1 column is set" in page.run("document.querySelector('.explore .said').textContent")
    page.point(".explore .clear", click=True)
    assert page.run(SET.format(pairs="[]")) == before


def test_a_table_of_the_users_own_is_given_its_states(opened, folder, made):
    page = opened("table")
    document = page.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=document, selector=".reader input[type=file]")["nodeId"]
    page.call("DOM.setFileInputFiles", files=[str(folder / "rows.csv")], nodeId=node)
    for _ in range(100):
        if page.run("!document.querySelector('.reader .found').hidden"):
            break
        page.run("new Promise(done => setTimeout(done, 40))")
    shown = page.run(LINES)
    posterior = Discovery(made["table"]).posterior(str(folder / "rows.csv"))
    assert len(shown) == 50
    for number, state, share in shown:
        row = posterior[int(number) - 1]
        assert share == pytest.approx(row.max(), abs=1e-6)
        assert state == str(row.argmax())
    page.run(ASK.format(find="137", state=""))
    assert [each[0] for each in page.run(LINES)] == ["137"]
    page.run(ASK.format(find="", state="1"))
    assert {each[1] for each in page.run(LINES)} == {"1"}


def test_columns_can_be_set_with_the_keyboard_alone(opened):
    page = opened("table")
    page.run("document.querySelector('.explore select').focus()")
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="ArrowDown", code="ArrowDown", windowsVirtualKeyCode=40)
    assert page.run("document.querySelector('.explore select').value") == "0"
    assert "1 column is set" in page.run("document.querySelector('.explore .said').textContent")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["table", "signs", "nothing", "numbers", "time"])
def test_nobody_is_shut_out(opened, axe, name, dark):
    page = opened(name, dark=dark, width=1280)
    page.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.run(axe + ";0")
    assert page.run(SERIOUS) == []


@pytest.mark.parametrize("name", ["table", "signs", "nothing", "numbers", "time"])
def test_firefox_opens_every_page_without_complaint(firefox, folder, name):
    for look in ("light", "dark", "phone"):
        size = {"width": 500, "height": 844} if look == "phone" else {}
        firefox.open(folder / f"{name}.html", dark=look == "dark", **size)
        wide, inner, asked = firefox.run(
            "[document.documentElement.scrollWidth, innerWidth, performance.getEntriesByType('resource').length]"
        )
        assert wide <= inner
        assert asked == 0
        assert firefox.run(CLIPPED) == []
        firefox.screenshot(PICTURES / f"firefox-{name}-{look}.png")
    firefox.pdf(PICTURES / f"firefox-{name}.pdf")
    assert (PICTURES / f"firefox-{name}.pdf").read_bytes().startswith(b"%PDF")
    assert firefox.complaints == []
