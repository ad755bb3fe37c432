"""Charts as files and as pictures inside a page: the one place that calls vl-convert."""

from __future__ import annotations

import json
import os
import threading
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree.ElementTree import Element, tostring

from leverrier.errors import OptionError
from leverrier.report.charts.palette import INK, QUIET
from leverrier.report.html.live_script import bundle
from leverrier.report.parts.page_parts import Figure

if TYPE_CHECKING:
    import altair

Size = Literal["page", "notebook"]
WIDTHS: dict[Size, int] = {"page": 340, "notebook": 560}
"""Of a figure: on a page it fits a phone, and several stand side by side; a notebook has more room."""
_KEPT = frozenset(
    {
        "svg",
        "g",
        "path",
        "line",
        "rect",
        "circle",
        "text",
        "tspan",
        "title",
        "defs",
        "clipPath",
        "linearGradient",
        "stop",
    }
)
_DATA, _WORDS = frozenset({"data", "datasets", "domain", "sort"}), frozenset({"title", "text"})
"""Keys of a specification: below the first there is nothing but data; the second are labels unless they have parts."""
_TELLING = {
    "mark": {"tooltip": True},
    "line": {"tooltip": None},
    "text": {"tooltip": None},
    "tooltipFormat": {"numberFormat": ".4~r"},
}
"""Marks say their fields. A line would say those of its first point, and texts say themselves."""
_NUMBERS = count(1)
_SCALE = 2.0


def load_in_background(live: bool = True) -> None:
    """Load what pictures take, a second or so, and the script of live ones, while other processes are waited for."""
    threading.Thread(target=_load, args=(live,), daemon=True).start()


def _load(live: bool) -> None:
    import altair as alt

    pictured(alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_point().encode(x="x:Q"), "")
    if live:
        bundle()


def save_picture(chart: altair.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Write a chart as PNG, SVG or PDF, by the name's ending."""
    import vl_convert

    place = Path(path)
    spec = _spec(chart)
    match place.suffix.lower():
        case ".png":
            place.write_bytes(vl_convert.vegalite_to_png(spec, scale=_SCALE))
        case ".svg":
            place.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        case ".pdf":
            place.write_bytes(vl_convert.vegalite_to_pdf(spec))
        case other:
            raise OptionError(f"{place.name}: pictures end in .png, .svg or .pdf, not in {other!r}")


def pictured(chart: altair.TopLevelMixin, caption: str, wide: bool = False) -> Figure:
    """A chart as a figure of a page: as it stands there, and as it is drawn again when somebody asks it."""
    spec = _spec(chart)
    return Figure(_inline_svg(spec), caption, wide, json.dumps(_live(spec), separators=(",", ":")))


def _spec(chart: altair.TopLevelMixin) -> dict[str, Any]:
    return json.loads(chart.to_json(), object_hook=_safely_titled)


def _safely_titled(node: dict[str, Any]) -> dict[str, Any]:
    """Vega-Lite puts titles into expressions and escapes their quotes alone: a column's name could end the text."""
    title = node.get("title")
    if isinstance(title, str):
        node["title"] = "".join(each if each.isprintable() else " " for each in title).replace("\\", "\u2216")
    return node


def _live(spec: dict[str, Any]) -> dict[str, Any]:
    """For a page's own script: the page's colours, no address of a schema, marks that say their numbers."""
    made: dict[str, Any] = _inked({key: value for key, value in spec.items() if key != "$schema"})
    made["background"] = None
    made["config"] = {**_TELLING, **made.get("config", {})}
    return made


def _inked(node: Any) -> Any:
    """Ink becomes the page's own colour. Labels are left alone: a table may have a value that reads like ours."""
    if isinstance(node, dict):
        return {
            key: value if key in _DATA or (key in _WORDS and not isinstance(value, dict)) else _inked(value)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_inked(each) for each in node]
    return "currentColor" if node == INK else node


def _inline_svg(spec: dict[str, Any]) -> str:
    """SVG for a page: no background, the page's colours, and nothing in it but shapes and text."""
    import vl_convert
    from defusedxml.ElementTree import fromstring

    svg = vl_convert.vegalite_to_svg({**spec, "background": None})
    root = _cleaned(fromstring(svg), f"c{next(_NUMBERS)}-")
    assert root is not None
    return tostring(root, encoding="unicode")


def _cleaned(element: Element, prefix: str) -> Element | None:
    """The element without namespaces, handlers and links; names are made unique within the page."""
    tag = str(element.tag).rpartition("}")[2]
    if tag not in _KEPT:
        return None
    clean = Element(tag)
    for key, value in element.attrib.items():
        name = key.rpartition("}")[2]
        if name.startswith("on") or name in ("href", "style"):
            continue
        if name == "id":
            value = prefix + value
        if value == INK and name in ("fill", "stroke"):
            value = "currentColor"
        clean.set(name, value.replace("url(#", f"url(#{prefix}") if value.startswith("url(#") else value)
    clean.text = element.text
    for child in element:
        kept = _cleaned(child, prefix)
        if kept is not None:
            kept.tail = child.tail
            clean.append(kept)
    return clean


def tips(*fields: tuple[str, str, str]) -> Any:
    """What a mark says when it is pointed at: fields with their names and formats (none for words)."""
    import altair as alt

    return [
        alt.Tooltip(field, title=title, format=form) if form else alt.Tooltip(field, title=title)
        for field, title, form in fields
    ]


def shrunk(width: float, size: Size) -> float:
    """By how much a drawing that needs this width is made smaller: on a page, to the width that figures have there."""
    return min(1.0, WIDTHS["page"] / width) if size == "page" else 1.0


def styled(chart: Any, height: Any = None, size: Size = "page", width: float | None = None) -> Any:
    """Our look: quiet axes, text in ink; as wide as its place is, unless it says how wide it must be."""
    import altair as alt

    room: dict[str, Any] = {"width": WIDTHS[size] if width is None else width}
    if width is None:
        room["autosize"] = alt.AutoSizeParams(type="fit-x", contains="padding")
    if height is not None:
        room["height"] = height
    return (
        (chart.properties(**room) if hasattr(chart, "mark") or hasattr(chart, "layer") else chart)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            domainColor=QUIET,
            tickColor=QUIET,
            gridColor=QUIET,
            gridOpacity=0.25,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
        )
        .configure_legend(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=11,
            titleFontSize=11,
            orient="bottom",
            labelLimit=260,
            titleFontWeight="normal",
        )
        .configure_title(color=INK, subtitleColor=INK, fontSize=12, anchor="start", fontWeight="bold")
        .configure_view(stroke=None)
    )
