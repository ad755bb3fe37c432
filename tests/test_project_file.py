"""What the project file says is what the code and the scripts rely on."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = set(PROJECT["optional-dependencies"])


def test_the_licence_is_there():
    assert PROJECT["license-files"]
    assert all((ROOT / name).exists() for name in PROJECT["license-files"])


def test_extras_that_messages_and_scripts_name_exist():
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {extra for path in sources for extra in re.findall(r"leverrier\[(\w+)\]", path.read_text(encoding="utf-8"))}
    scripts = (path.read_text() for path in (ROOT / "scripts").iterdir() if path.is_file())
    wanted = {
        one
        for text in scripts
        for each in re.findall(r"^ *scripts/environment ([a-z,]+)", text, re.M)
        for one in each.split(",")
    }
    assert named
    assert {"dev", "demo"} <= wanted
    assert named | wanted <= EXTRAS


def test_python_and_version_are_said_once():
    assert PROJECT["requires-python"] == ">=3.11"
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {PROJECT['version']}" in citation
