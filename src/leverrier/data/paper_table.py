"""Tables for papers: a head, rows and a caption as a value, which becomes a frame, LaTeX or a Word document."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from leverrier.data.card import MOST_ROWS, card
from leverrier.errors import MissingExtraError, OptionError

Cell = str | int | float | None
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
}


@dataclass(frozen=True)
class PaperTable:
    """One table. Numbers are kept as numbers; `digits` says how many decimals are printed."""

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    digits: int = 3

    def to_frame(self) -> Any:
        """A pandas or polars dataframe, whichever is installed (pandas first)."""
        columns = {name: [row[place] for row in self.rows] for place, name in enumerate(self.head)}
        try:
            import pandas

            return pandas.DataFrame(columns)
        except ImportError:
            pass
        try:
            import polars

            return polars.DataFrame(columns, strict=False)
        except ImportError:
            raise MissingExtraError("to_frame needs pandas or polars: install one of them") from None

    def to_latex(self) -> str:
        """A table in the style of booktabs."""
        numeric = [all(not isinstance(row[place], str) for row in self.rows) for place in range(len(self.head))]
        lines = [r"\begin{table}", r"\centering"]
        lines += [rf"\caption{{{_escaped(self.caption)}}}"] if self.caption else []
        lines += [rf"\begin{{tabular}}{{{''.join('r' if each else 'l' for each in numeric)}}}", r"\toprule"]
        lines += [_line(self.head), r"\midrule"]
        lines += [_line(self.texts(row)) for row in self.rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])

    def texts(self, row: Sequence[Cell]) -> list[str]:
        """A row as it is printed."""
        return [_text(cell, self.digits) for cell in row]


class Papers:
    """What every result can do: tables for papers, and a card for a notebook."""

    def paper_tables(self) -> Mapping[str, PaperTable]:
        """The tables by name, the most important one first; report/parts/result_tables.py has those of each result."""
        return import_module("leverrier.report.parts.result_tables").result_tables(self)

    def _repr_html_(self) -> str:
        first = next(iter(self.paper_tables().values()), None)
        rows = [] if first is None else [first.texts(row) for row in first.rows[: MOST_ROWS + 1]]
        return card(type(self).__name__, {}, () if first is None else first.head, rows, str(self).splitlines()[:4])

    def to_frame(self, name: str | None = None) -> Any:
        """One of its tables as a dataframe: the first, or the one that is named."""
        return self._table(name).to_frame()

    def to_latex(self, name: str | None = None) -> str:
        """One of its tables in LaTeX (booktabs): the first, or the one that is named."""
        return self._table(name).to_latex()

    def to_docx(self, path: str | os.PathLike[str]) -> None:
        """All of its tables as a Word document (needs python-docx: the extra `papers`)."""
        write_docx(list(self.paper_tables().values()), path)

    def _table(self, name: str | None) -> PaperTable:
        known = self.paper_tables()
        if not known:
            raise OptionError("there is no table here: nothing was found")
        if name is not None and name not in known:
            raise OptionError(f"no table {name!r}: there are {', '.join(known)}")
        return known[name or next(iter(known))]


def write_docx(tables: Sequence[PaperTable], path: str | os.PathLike[str]) -> None:
    """Tables one after the other, each with its caption above it."""
    try:
        docx = import_module("docx")
    except ImportError:
        raise MissingExtraError("to_docx needs python-docx: pip install 'leverrier[papers]'") from None
    document = docx.Document()
    for each in tables:
        document.add_paragraph(each.caption or each.name, style="Caption")
        made = document.add_table(rows=1, cols=len(each.head), style="Table Grid")
        for place, name in enumerate(each.head):
            made.rows[0].cells[place].text = name
        for row in each.rows:
            for cell, text in zip(made.add_row().cells, each.texts(row), strict=True):
                cell.text = text
        document.add_paragraph()
    document.save(os.fspath(path))


def _line(cells: Sequence[str]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _text(cell: Cell, digits: int) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}".replace("-", "−")
    return str(cell)
