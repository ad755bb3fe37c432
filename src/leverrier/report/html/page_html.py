"""A page from parts: one HTML file that needs no network, with a policy that allows none."""

from __future__ import annotations

import base64
import hashlib
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from leverrier.errors import TooLargeError
from leverrier.report.charts.palette import SYMBOLS
from leverrier.report.html.live_script import bundle
from leverrier.report.parts.page_parts import Beside, Figure, Figures, Fold, Part

MOST_BYTES = 3_000_000


def page(title: str, summary: str, parts: Sequence[Part], live: bool = True, rows: bool = False) -> str:
    """The page as text. Whatever comes from the data is escaped by the template.

    `rows` says whether the data are drawn in it. A live page has Vega in it, and its figures answer when they are
    asked; where it would be too large it is static.
    """
    content = {"title": title, "summary": summary, "parts": parts, "rows": rows}
    text = _rendered(content, bundle() if live and _has_charts(parts) else "")
    size = len(text.encode())
    if size > MOST_BYTES and live:
        note = f"figures are static pictures: with live ones the page would have {size:,} bytes, over {MOST_BYTES:,}"
        text = _rendered(content, "", note)
        size = len(text.encode())
        if size <= MOST_BYTES:
            warnings.warn(note, stacklevel=4)
    if size > MOST_BYTES:
        raise TooLargeError(f"the report would have {size:,} bytes; at most {MOST_BYTES:,} are allowed")
    return text


def _has_charts(parts: Sequence[Part]) -> bool:
    blocks = [block for part in parts for block in part.blocks]
    blocks += [inner for block in blocks if isinstance(block, Fold) for inner in block.blocks]
    blocks += [block.figure for block in blocks if isinstance(block, Beside)]
    figures = [each for block in blocks if isinstance(block, Figures) for each in block.figures]
    return any(each.spec for each in (*blocks, *figures) if isinstance(each, Figure))


def _rendered(content: dict[str, Any], vega: str, note: str = "") -> str:
    """The page with this script to draw figures anew; static if there is none."""
    import jinja2

    style, script = _source("report.css"), f"{_source('report.js')}\n{_source('explore.js')}"
    scripts = " ".join(f"'{_digest(each)}'" for each in (script, vega) if each)
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src '{_digest(style)}'; base-uri 'none'; form-action 'none'"
    )
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"tied": lambda text: text.replace(" %", "\u00a0%"), "block": as_block}
    template = environment.from_string(_source("report.html"))
    text = template.render(content, policy=policy, style=style, script=script, vega=vega, note=note, marks=SYMBOLS)
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair in a label cannot be written


def as_block(json_text: str) -> str:
    """JSON that may stand in a script element: no label in it can end the element, or open a comment."""
    escaped = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return json_text.translate(str.maketrans(escaped))


@cache
def _source(name: str) -> str:
    return files("leverrier.report").joinpath("templates", name).read_text(encoding="utf-8").strip("\n")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
