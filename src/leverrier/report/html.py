"""A page from parts: one HTML file that needs no network, with a policy that allows none."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from leverrier.errors import TooLargeError
from leverrier.report.parts import Part

MOST_BYTES = 3_000_000


def page(title: str, summary: str, parts: Sequence[Part]) -> str:
    """The page as text. Whatever comes from the data is escaped by the template."""
    import jinja2

    style, script = _source("report.css"), _source("report.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["tied"] = lambda text: text.replace(" %", "\u00a0%")
    template = environment.from_string(_source("report.html"))
    text = template.render(title=title, summary=summary, parts=parts, policy=policy, style=style, script=script)
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair in a label cannot be written
    if len(text.encode()) > MOST_BYTES:
        raise TooLargeError(f"the report would have {len(text.encode()):,} bytes; at most {MOST_BYTES:,} are allowed")
    return text


@cache
def _source(name: str) -> str:
    return files("leverrier.report").joinpath("templates", name).read_text(encoding="utf-8").strip("\n")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
