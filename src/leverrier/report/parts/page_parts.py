"""What a page is made of: parts with a heading, and in them words, figures, tables and lists. Text is escaped later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import ClassVar


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str
    strong: bool = False
    kind: ClassVar[str] = "words"


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: tuple[str, ...]
    kind: ClassVar[str] = "items"


@dataclass(frozen=True)
class Facts:
    """Numbers to be seen first, each with what it is."""

    pairs: tuple[tuple[str, str], ...]
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Figure:
    """A picture. The SVG is made by us (`pictures.pictured`) and goes in as it is."""

    svg: str
    caption: str
    wide: bool = False
    spec: str = ""
    """Its Vega-Lite specification as JSON: what a live page draws the same figure from when it is asked."""
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Figures:
    """Pictures side by side where there is room."""

    figures: tuple[Figure, ...]
    kind: ClassVar[str] = "figures"


@dataclass(frozen=True)
class Grid:
    """A table: first column names, the others right-aligned where they are numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    words: tuple[int, ...] = (0,)
    """Columns that hold words, not numbers."""
    stack: bool = False
    """Whether its rows become blocks on a phone: for many columns, or long words."""
    kind: ClassVar[str] = "grid"


@dataclass(frozen=True)
class Listing:
    """Text to be copied: a command, a paragraph."""

    text: str
    wrap: bool = False
    kind: ClassVar[str] = "listing"


@dataclass(frozen=True)
class Card:
    """What a node of the drawing shows when it is asked: a heading, words and its table."""

    ident: str
    heading: str
    words: str
    grid: Grid | None = None


@dataclass(frozen=True)
class Drawing:
    """The network with the cards of its nodes. Without a script the cards are a list below it."""

    svg: str
    caption: str
    cards: tuple[Card, ...]
    kind: ClassVar[str] = "drawing"


@dataclass(frozen=True)
class HeatCell:
    """A number with its interval in words, and where a bar, its interval and a shade end, from 0 to 1."""

    text: str
    span: str
    bar: float
    low: float
    high: float
    shade: float


@dataclass(frozen=True)
class HeatRow:
    """A value of a column (or a column of numbers) over the states."""

    shown: str
    """The column's name where it is said, on its first line."""
    column: str
    value: str
    cells: tuple[HeatCell, ...]
    overall: str


@dataclass(frozen=True)
class Heat:
    """Columns by states; of each state its symbol, name, share of rows and number of its colour."""

    head: tuple[tuple[str, str, str, int], ...]
    rows: tuple[HeatRow, ...]
    caption: str
    bars: bool
    kind: ClassVar[str] = "heat"

    @property
    def valued(self) -> bool:
        """Whether lines are values of columns: numbers have none."""
        return any(row.value for row in self.rows)


@dataclass(frozen=True)
class Choice:
    """A column that can be set."""

    place: int
    name: str
    states: tuple[str, ...]


@dataclass(frozen=True)
class Explore:
    """Set columns and see the others move: the model's tables as JSON for the page's own script."""

    model: str
    hidden: tuple[Choice, ...]
    columns: tuple[Choice, ...]
    more: int
    """Columns of the model that are not offered."""
    rows: bool
    """Whether a table opened on the page can be given its states."""
    kind: ClassVar[str] = "explore"


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    summary: str
    blocks: tuple[Block, ...]
    kind: ClassVar[str] = "fold"


@dataclass(frozen=True)
class Beside:
    """A figure, and beside it what is said of it; one below the other where there is no room."""

    figure: Figure
    blocks: tuple[Block, ...]
    kind: ClassVar[str] = "beside"


Block = Words | Items | Facts | Figure | Figures | Grid | Listing | Drawing | Heat | Explore | Fold | Beside


@dataclass(frozen=True)
class Part:
    """A section of the page."""

    ident: str
    heading: str
    blocks: Sequence[Block]


def folded(part: Part) -> Fold:
    """A whole section behind its heading."""
    return Fold(part.heading, tuple(part.blocks))


def percent(share: float) -> str:
    """Whole percents, and a decimal where that would say 0 or 100 of what is neither."""
    if 0 < share < 0.005 or 0.995 < share < 1:
        return f"{100 * share:.1f}\u00a0%"
    return f"{100 * share:.0f}\u00a0%"


def several(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def abbreviated(names: Iterable[str], most: int) -> dict[str, str]:
    """Labels cut to so many characters that still differ: where long ones begin alike, the cut is in the middle."""
    cut = {name: shortened(name, most) for name in names}
    alike: dict[str, list[str]] = {}
    for name, short in cut.items():
        alike.setdefault(short, []).append(name)
    for group in alike.values():
        if len(group) > 1:
            same = len(commonprefix(group))  # noqa: RUF071  (letters, not paths)
            same = group[0].rfind(" ", 0, same + 1) + 1 or max(same - 2, 0)  # from the beginning of a word
            cut |= {name: _cut_within(name, same, most) for name in group}
    taken: set[str] = set()
    for name, short in cut.items():
        number = 2
        while cut[name] in taken:
            cut[name], number = f"{short[: most - 3]} {number}", number + 1
        taken.add(cut[name])
    return cut


def _cut_within(name: str, same: int, most: int) -> str:
    """What is the same of several labels gives way to what differs; as much of its beginning as there is room for."""
    end = "…" + name[same:]
    room = most - len(end)
    return shortened((name[:room].rstrip() if room >= 3 else "") + end, most)


def shortened(text: object, most: int) -> str:
    """A label cut to so many characters; characters that no page can show become �."""
    clean = "".join(letter if letter.isprintable() or letter == " " else "\ufffd" for letter in str(text))
    return clean if len(clean) <= most else clean[: most - 1].rstrip() + "…"
