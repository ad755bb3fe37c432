"""Eight reports as readers have them, opened in Chromium and Firefox: light, dark, 390 px wide and on paper.

    PYTHONPATH=. python docs/eight_pages.py make build/pages --data ../shared/data      # minutes; what is there stays
    PYTHONPATH=. python docs/eight_pages.py look build/pages [--axe axe.min.js]          # counts faults, draws figures

`look` prints a line a page and browser: sideways scroll, cut labels, what the console says, requests, faults that
axe-core calls serious; and writes docs/figures/eight-*.png. Data that are not there are said and left out.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import leverrier as lv
from tests.browser.chromium import Chromium, Page, find_chromium
from tests.browser.firefox import Firefox, find_firefox

FIGURES = Path(__file__).parent / "figures"
SHOWN = 1500
"""Pixels of a page's height in its figure."""
CUT = """[...document.querySelectorAll('figure svg, .drawing svg')].flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => {
        const own = text.getBoundingClientRect(), hidden = getComputedStyle(svg).overflow !== 'visible';
        return box.width && own.width && hidden && (own.left < box.left - 2 || own.right > box.right + 2);
    }).map(text => text.textContent.slice(0, 30)); })"""
WIDE = "document.documentElement.scrollWidth - innerWidth"
WAYS: dict[str, dict[str, Any]] = {
    "light": {"width": 1280},
    "dark": {"width": 1280, "dark": True},
    "phone": {"width": 390, "height": 800},
}


def heart() -> Any:
    rows = lv.datasets.network("alarm").sample(1000, seed=0)
    table = rows.select(["CATECHOL", "STROKEVOLUME", "CO", "HRBP", "HREKG", "HRSAT"])
    return lv.discover(table, level=0.05, draws=19, resamples=2, max_hidden=1, jobs=1, seed=0)


def alarm() -> Any:
    table = lv.datasets.network("alarm").sample(2000, seed=0).drop("HR")
    return lv.discover(table, level=0.05, draws=19, resamples=2, max_hidden=1, jobs=1, seed=1, budget=215)


def nothing() -> Any:
    return lv.discover(lv.datasets.network("asia").sample(1000, seed=4), jobs=1, seed=0)


def diary() -> Any:
    rng = np.random.default_rng(4)
    spell = np.concatenate([np.cumsum(rng.random(200) < 0.03) % 2 for _ in range(2)])
    rows: dict[str, Any] = {"person": np.repeat(["ann", "bob"], 200), "day": np.tile(np.arange(200), 2)}
    for symptom in ("pain", "fatigue", "poor sleep"):
        rows[symptom] = np.where(rng.random(400) < np.where(spell == 1, 0.85, 0.15), "yes", "no")
    return lv.discover(rows, by="person", time="day", seed=0, jobs=1)


def pages(data: Path) -> dict[str, Callable[[], Any]]:
    """By name, what is reported."""
    signs = data / "medical" / "ist_stroke_signs.csv.gz"
    own = {"lambda", "p"}
    return {
        "demo": heart,
        "carcinoma": lambda: lv.discover(data / "latent_class" / "carcinoma.csv", jobs=1, seed=0),
        "mixed": lambda: lv.discover(
            data / "medical" / "hepatitis.csv", level=0.05, draws=19, jobs=1, seed=0, budget=200
        ),
        "nothing": nothing,
        "alarm": alarm,
        "hundred": lambda: lv.discover(data / "news" / "news20_top99.csv.gz", jobs=1, seed=0, budget=190),
        "causes": lambda: lv.hidden_causes(signs, ignore="syndrome", per_cause=own, seed=0, jobs=1, budget=60),
        "diary": diary,
    }


def make(folder: Path, data: Path, only: list[str]) -> None:
    """Write the reports that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, found in pages(data).items():
        place = folder / f"{name}.html"
        if place.exists() or (only and name not in only):
            continue
        try:
            found().report(place)
            print(f"{name}: {place}", flush=True)
        except lv.InputError as error:
            print(f"{name}: left out, {error}", flush=True)


def look(folder: Path, axe: str) -> None:
    """Open every report in both browsers; figures of the light ones are kept."""
    chromium, firefox = find_chromium(), find_firefox()
    found = sorted(folder.glob("*.html"))
    if chromium is not None:
        browser = Chromium(chromium, Path(tempfile.mkdtemp()))
        for path in found:
            for way, how in WAYS.items():
                _in_chromium(browser, path, way, how, axe)
        browser.close()
    if firefox is not None:
        other = Firefox(firefox, Path(tempfile.mkdtemp()))
        for path in found:
            for way, how in WAYS.items():
                other.open(path, **how)
                other.run("new Promise(done => setTimeout(done, 500))")
                said = f"wider by {max(other.run(WIDE), 0)}, cut {other.run(CUT)}, console {other.complaints}"
                print(f"firefox {path.stem} {way} ({other.run('innerWidth')} px): {said}", flush=True)
                other.screenshot(folder / f"{path.stem}-firefox-{way}.png")
            other.pdf(folder / f"{path.stem}-firefox.pdf")
        other.close()


def _in_chromium(browser: Chromium, path: Path, way: str, how: dict[str, Any], axe: str) -> None:
    page = Page(browser, path, **how)
    page.run("new Promise(done => setTimeout(done, 500))")
    page.screenshot(folder := path.with_name(f"{path.stem}-{way}.png"))
    said = f"wider by {page.run(WIDE)}, cut {page.run(CUT)}"
    if way == "light":
        clip = {"x": 140, "y": 0, "width": 1000, "height": SHOWN, "scale": 0.6}
        data = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        (FIGURES / f"eight-{path.stem}.png").write_bytes(base64.b64decode(data))
        page.pdf(folder.with_suffix(".pdf"))
    if axe:
        page.call("Runtime.evaluate", expression=axe)
        faults = page.run(
            "axe.run(document).then(found => found.violations"
            ".filter(each => ['serious', 'critical'].includes(each.impact)).map(each => each.id))"
        )
        said += f", serious faults {faults}"
    print(f"chromium {path.stem} {way}: {said}, console {page.complaints}, requests {page.requests}", flush=True)
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("make", "look"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--axe", type=Path, help="axe-core's axe.min.js (npm install axe-core)")
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.data, given.only)
    else:
        look(given.folder, given.axe.read_text(encoding="utf-8") if given.axe else "")


if __name__ == "__main__":
    main()
