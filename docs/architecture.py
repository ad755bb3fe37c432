"""Draws docs/figures/architecture.svg from docs/architecture.md: the layers, and which hops of each walk lie in them.

python docs/architecture.py
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE, FIGURE = FOLDER / "architecture.md", FOLDER / "figures" / "architecture.svg"
HOP = re.compile(r"^\| (\d+) \| `([^`]+\.py)` \| (.+?) \| .+ \|$")

LAYERS = (
    ("errors, status, …", "the tree of errors; why a run stopped"),
    ("run, kinds", "one Run: deadline, stop, progress, workers, checkpoint"),
    ("kernels", "compiled loops: arrays in, arrays out"),
    ("data", "Table, Sequences, all that reads them"),
    ("inference", "posteriors: exact, approximate, along chains"),
    ("models", "frozen values: graph, network, causes, chains, mixtures"),
    ("formats", "models from files and to files"),
    ("counts", "the one door: expected counts of families"),
    ("learning, noisy_or", "EM, structures, classes, slices; the samplers"),
    ("discovery", "where, how many states, whether it is real"),
    ("report", "words, charts, parts, pages"),
    ("api, datasets", "discover, Discovery"),
    ("estimators", "shells for scikit-learn"),
    ("cli", "the command line"),
)
"""From the ground up; tests compare them with the layers that imports obey."""
BAR, STEP, TOP, NAMED, COLUMN = 34, 40, 58, 520, 92
INK, PAPER, QUIET, HERE = "#1d2733", "#eef2f6", "#5b6877", "#0b6e99"


def walks(page: str) -> dict[str, list[tuple[int, str, tuple[str, ...]]]]:
    """By heading, the hops of its table: number, file, functions."""
    found: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {}
    heading = ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        hop = HOP.match(line)
        if hop:
            names = tuple(re.findall(r"`([^`]+)`", hop[3]))
            found.setdefault(heading, []).append((int(hop[1]), hop[2], names))
    return found


def layer_of(path: str) -> int:
    """Which bar a file belongs to."""
    first = path.split("/")[0].removesuffix(".py")
    return next((place for place, (names, _) in enumerate(LAYERS) if first in names.split(", ")), 0)


def spans(numbers: list[int]) -> str:
    """1, 2, 3, 5 as 1–3, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {more}>{escape(words)}</text>'


def picture(page: str) -> str:
    """The figure as SVG."""
    found = walks(page)
    width, height = NAMED + COLUMN * len(found) + 20, TOP + STEP * len(LAYERS) + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="13" fill="{INK}" role="img" aria-label="Layers, and the hops of five walks in them">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for column, heading in enumerate(found):
        middle = NAMED + COLUMN * (column + 0.5)
        for row, word in enumerate(heading.split(" to ", 1) if " to " in heading else [heading]):
            lines.append(_text(middle, 24 + 17 * row, "to " + word if row else word, 'text-anchor="middle"'))
    for place, (names, words) in enumerate(reversed(LAYERS)):
        y = TOP + STEP * place
        lines.append(f'<rect x="10" y="{y}" width="{width - 20}" height="{BAR}" rx="5" fill="{PAPER}"/>')
        lines.append(_text(22, y + 22, names, 'font-weight="bold"'))
        lines.append(_text(168, y + 22, words, f'fill="{QUIET}"'))
    for column, hops in enumerate(found.values()):
        middle = NAMED + COLUMN * (column + 0.5)
        for place in sorted({layer_of(path) for _, path, _ in hops}):
            y = TOP + STEP * (len(LAYERS) - 1 - place)
            numbers = spans([number for number, path, _ in hops if layer_of(path) == place])
            lines.append(_text(middle, y + 22, numbers, f'text-anchor="middle" font-weight="bold" fill="{HERE}"'))
    lines.append(_text(22, height - 14, "Each layer stands on those below it.", f'fill="{QUIET}"'))
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    FIGURE.write_text(picture(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
