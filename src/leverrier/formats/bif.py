"""BIF, the interchange format of Bayesian networks: a scanner and a parser without recursion.

Words are taken as they are met in the wild: a label may hold anything but blanks, quotes and the marks of the
grammar (`< 5`, `Asy/Patch` and `12+` are met), and anything but quotes within quotes. Commas and bars separate
words and may be left out, as in the files of JavaBayes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label
from leverrier.formats.bif_scanner import WORD, Scanner, Token
from leverrier.formats.draft import Declared, Source, assemble, shown, wrong_count
from leverrier.formats.wording import labels_as_text, text_of, written_out
from leverrier.models.network import Network


def loads_bif(text: str, path: str | None = None) -> Network:
    """The network written in this text; `path` is for messages."""
    scanner = Scanner(text.replace("\r\n", "\n").replace("\r", "\n"), Source(path))
    variables: list[Declared] = []
    blocks: list[_Block] = []
    notes: dict[str, str] = {}
    while scanner.kind is not Token.END:
        line = scanner.line
        keyword = scanner.keyword("network", "variable", "probability")
        if keyword == "network":
            notes["name"] = _network(scanner)
        elif keyword == "variable":
            variables.append(_variable(scanner, line))
        elif keyword == "probability":
            blocks.append(_probability(scanner, line))
    return assemble(scanner.source, variables, blocks, notes)


def dumps_bif(network: Network) -> str:
    """The network as BIF. Labels become text; numbers are written so that they read back bit for bit."""
    states = {name: [_quoted(label) for label in labels] for name, labels in labels_as_text(network, "BIF").items()}
    names = {name: _quoted(name) for name in network.variables}
    title = str(network.notes.get("name", "unknown"))
    lines = [f"network {title if re.fullmatch('[A-Za-z0-9_.-]+', title) else 'unknown'} {{", "}"]
    for name, labels in states.items():
        kept = ", ".join(labels)
        lines += [f"variable {names[name]} {{", f"  type discrete [ {len(labels)} ] {{ {kept} }};", "}"]
    for name in network.variables:
        parents = network.parents(name)
        given = f" | {', '.join(names[parent] for parent in parents)}" if parents else ""
        if name in network.families:
            lines.append(f"// {written_out(network, name)}")
        lines.append(f"probability ( {names[name]}{given} ) {{")
        rows = network.cpt(name).reshape(-1, network.cardinality(name)).tolist()
        cases = product(*(states[parent] for parent in parents))
        for case, row in zip(cases, rows, strict=True):
            where = "(" + ", ".join(case) + ")" if parents else "table"
            lines.append(f"  {where} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A name or label as a word, in quotes where it needs them; BIF has no way to write a quote within quotes."""
    held = text_of(text, "BIF", forbidden='"')
    return held if WORD.fullmatch(held) else f'"{held}"'


def _grouped(groups: list[list[str]], expected: int) -> list[str]:
    """Labels as separate words, or, where that makes the number right, as what stands between commas."""
    flat = [word for group in groups for word in group]
    if len(flat) != expected and len(groups) == expected and all(groups):
        return [" ".join(group) for group in groups]
    return flat


def _network(scanner: Scanner) -> str:
    name = [] if scanner.at("{") else [scanner.word("the network's name")]
    while not scanner.at("{"):
        name.append(scanner.word("'{'"))
    scanner.advance()
    while not scanner.at("}"):
        scanner.keyword("property")
    scanner.advance()
    return " ".join(name)


def _variable(scanner: Scanner, line: int) -> Declared:
    name = scanner.word("the variable's name")
    states: list[str] | None = None
    scanner.mark("{")
    while not scanner.at("}"):
        if scanner.keyword("type") == "property":
            continue
        if states is not None:
            raise scanner.source.error(f"a second type for {shown(name)}", scanner.line)
        states = _type(scanner, name)
    scanner.advance()
    if states is None:
        raise scanner.source.error(f"{shown(name)} has no states: 'type discrete [n] {{ … }};' is missing", line)
    return Declared(name, tuple(states), line)


def _type(scanner: Scanner, name: str) -> list[str]:
    scanner.keyword("discrete")
    scanner.mark("[")
    line = scanner.line
    size = scanner.word("the number of states")
    if not re.fullmatch("[0-9]{1,18}", size):
        raise scanner.source.error(f"{shown(size)} was found where the number of states was expected", line)
    scanner.mark("]")
    scanner.mark("{")
    states = _grouped(scanner.words("}", "a state or '}'"), int(size))
    if len(states) != int(size):
        raise scanner.source.error(f"{shown(name)} is to have {int(size)} states but names {len(states)}", line)
    if scanner.at(";"):
        scanner.advance()
    return states


def _probability(scanner: Scanner, line: int) -> _Block:
    scanner.mark("(")
    child = scanner.word("a variable")
    if scanner.at("|") or scanner.at(","):
        scanner.advance()
    parents = [word for group in scanner.words(")", "a parent or ')'") for word in group]
    block = _Block(child, tuple(parents), line)
    scanner.mark("{")
    while not scanner.at("}"):
        here = scanner.line
        if scanner.at("("):
            scanner.advance()
            labels = _grouped(scanner.words(")", "a state or ')'"), len(parents))
            block.cases.append((labels, scanner.numbers()[0], here))
            continue
        keyword = scanner.keyword("table", "default")
        if keyword in block.lists:
            raise scanner.source.error(f"a second '{keyword}' for {shown(child)}", here)
        if keyword != "property":
            block.lists[keyword] = scanner.numbers()
    scanner.advance()
    return block


@dataclass(frozen=True)
class _Block:
    """A `probability` block: a whole table, or cases and perhaps a default for the rest."""

    child: str
    parents: tuple[str, ...]
    line: int
    cases: list[tuple[list[str], list[float], int]] = field(default_factory=list)
    lists: dict[str, tuple[list[float], int]] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    """The line of each row that a case gives, once the rows are known."""

    @property
    def hint(self) -> str:
        if self.parents and "table" in self.lists:
            return "; 'table' lists the child's first state for every configuration of its parents, then its second …"
        return ""

    def line_of(self, row: int) -> int | None:
        fallback = self.lists.get("table") or self.lists.get("default")
        return self.places.get(row, fallback[1] if fallback else self.line)

    def rows(self, source: Source, states: Sequence[tuple[Label, ...]]) -> NDArray[np.float64]:
        shape = [len(labels) for labels in states]
        if "table" not in self.lists:
            return self._from_cases(source, states)
        numbers, line = self.lists["table"]
        if self.cases or "default" in self.lists:
            raise source.error(f"{shown(self.child)} has a whole 'table' and cases beside it", line)
        if len(numbers) != math.prod(shape):
            raise source.error(wrong_count(self.child, len(numbers), shape), line)
        return np.ascontiguousarray(np.array(numbers).reshape(shape[-1], -1).T)

    def _from_cases(self, source: Source, states: Sequence[tuple[Label, ...]]) -> NDArray[np.float64]:
        given = self._given(source, states)
        size, count = len(states[-1]), math.prod(len(labels) for labels in states[:-1])
        default, line = self.lists.get("default", (None, self.line))
        if default is None and len(given) < count:
            raise source.error(self._missing(given, states, count), line)
        if default is not None and len(default) != size:
            raise source.error(wrong_count(self.child, len(default), [size]).replace("table", "default"), line)
        rows = np.empty((count, size))
        rows[:] = 0.0 if default is None else default
        for row, numbers in given.items():
            rows[row] = numbers
        return rows

    def _given(self, source: Source, states: Sequence[tuple[Label, ...]]) -> dict[int, list[float]]:
        """Rows by their number, each checked against the states of the parents."""
        positions = [{label: at for at, label in enumerate(labels)} for labels in states[:-1]]
        given: dict[int, list[float]] = {}
        for labels, numbers, line in self.cases:
            case = f"({', '.join(labels)})"
            if len(labels) != len(self.parents):
                raise source.error(
                    f"{shown(case, bare=True)} names {len(labels)} states, but {shown(self.child)} "
                    f"has {len(self.parents)} parents",
                    line,
                )
            row = 0
            for label, parent, position in zip(labels, self.parents, positions, strict=True):
                if label not in position:
                    raise source.error(f"{shown(label)} is not a state of {shown(parent)}", line)
                row = row * len(position) + position[label]
            if row in given:
                raise source.error(f"{shown(case, bare=True)} is given twice for {shown(self.child)}", line)
            if len(numbers) != len(states[-1]):
                raise source.error(
                    f"{shown(case, bare=True)} has {len(numbers)} numbers, but {shown(self.child)} "
                    f"has {len(states[-1])} states",
                    line,
                )
            given[row] = numbers
            self.places[row] = line
        return given

    def _missing(self, given: dict[int, list[float]], states: Sequence[tuple[Label, ...]], count: int) -> str:
        if not self.cases:
            return f"{shown(self.child)} has no probabilities: 'table', cases or 'default' were expected"
        row = next(row for row in range(count) if row not in given)
        places = np.unravel_index(row, [len(labels) for labels in states[:-1]])
        case = ", ".join(str(labels[int(at)]) for labels, at in zip(states, places, strict=False))
        return (
            f"{shown(self.child)} has no row for ({shown(case, bare=True)}): "
            f"{len(given):,} of {count:,} are given and there is no 'default'"
        )
