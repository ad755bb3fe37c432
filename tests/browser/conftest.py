"""The browser, pages opened in it, and the mark of tests that need one."""

import os
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium, Page, find_chromium
from tests.browser.firefox import Firefox, find_firefox

PICTURES = Path(__file__).parent / "pictures"


def pytest_configure(config):
    config.addinivalue_line("markers", "browser: opens pages in a headless Chromium")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = find_chromium()
    if program is None:
        if os.environ.get("LEVERRIER_BROWSER") == "required":
            pytest.fail("LEVERRIER_BROWSER=required, but there is no chromium: scripts/browser-test installs it")
        pytest.skip("no chromium here: scripts/browser-test installs it and runs these tests")
    opened = Chromium(program, tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def firefox(tmp_path_factory):
    program = find_firefox()
    if program is None:
        if os.environ.get("LEVERRIER_BROWSER") == "required":
            pytest.fail("LEVERRIER_BROWSER=required, but there is no firefox: scripts/browser-test installs it")
        pytest.skip("no firefox here: scripts/browser-test installs it and runs these tests")
    opened = Firefox(program, tmp_path_factory.mktemp("firefox"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core, which finds faults that shut people out."""
    place = Path(os.environ.get("LEVERRIER_AXE", Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"))
    if not place.exists():
        if os.environ.get("LEVERRIER_BROWSER") == "required":
            pytest.fail("LEVERRIER_BROWSER=required, but there is no axe-core: scripts/browser-test installs it")
        pytest.skip("no axe-core here: scripts/browser-test installs it (npm) and runs these tests")
    return place.read_text(encoding="utf-8")


@pytest.fixture
def opened(browser, folder):
    """Opens a report; whatever it logged or asked for fails the test in the end."""
    pages = []

    def open_page(name, **how):
        pages.append(Page(browser, folder / f"{name}.html", **how))
        return pages[-1]

    yield open_page
    for page in pages:
        complaints, requests = page.complaints, page.requests
        page.close()
        assert complaints == []
        assert requests == []
