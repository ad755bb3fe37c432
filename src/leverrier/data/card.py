"""Small pictures of values for notebooks: a heading, facts, a short table. No script, and every label is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

MOST_ROWS = 12
_BOX = "display:inline-block;border:1px solid rgba(127,127,127,.4);border-radius:8px;padding:8px 12px;max-width:46em"
_CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top;overflow-wrap:break-word"
_SOFT = "opacity:.7"


def card(
    heading: str,
    facts: Mapping[str, object],
    head: Sequence[str] = (),
    rows: Iterable[Sequence[object]] = (),
    words: Iterable[str] = (),
) -> str:
    """HTML for a notebook cell. Of many rows the first are shown, and how many more there are."""
    parts = [f"<div style='{_BOX}'><div><b>{escape(heading)}</b></div>"]
    if facts:
        said = (f"{escape(str(value))} <span style='{_SOFT}'>{escape(name)}</span>" for name, value in facts.items())
        parts.append(f"<div>{' · '.join(said)}</div>")
    lines = list(rows)
    if lines:
        parts.append(f"<table style='border-collapse:collapse;margin:6px 0'>{_row('th', head) if head else ''}")
        parts += [_row("td", line) for line in lines[:MOST_ROWS]]
        parts.append("</table>")
    if len(lines) > MOST_ROWS:
        parts.append(f"<div style='{_SOFT}'>and {len(lines) - MOST_ROWS:,} more</div>")
    parts += [f"<div style='{_SOFT}'>{escape(sentence)}</div>" for sentence in words]
    return "".join([*parts, "</div>"])


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag} style='{_CELL}'>{escape(_cut(str(cell)))}</{tag}>" for cell in cells) + "</tr>"


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
