"""The mark of tests that need a browser."""


def pytest_configure(config):
    config.addinivalue_line("markers", "browser: opens pages in a headless Chromium")
