"""Hugin's .net: nodes with their states, potentials with their numbers, the last parent and then the child changing
fastest. Attributes that say nothing to us are read over; nodes other than discrete chance are refused."""

from __future__ import annotations

import math
import re

from leverrier.formats.bif_scanner import Scanner, Token
from leverrier.formats.draft import Declared, Listed, Source, shown
from leverrier.formats.short_names import assemble_named, identifiers
from leverrier.formats.wording import labels_as_text, text_of, written_out
from leverrier.models.network import Network

_HINT = "; 'data' lists the child's states for the first configuration of its parents, then for the next …"
_NAME = "leverrier_name"
"""An attribute of ours: a name that is no identifier."""


class _Scanner(Scanner):
    TOKEN = re.compile(
        r"""(?:\s++|%[^\n]*+)*+
            (?: "(?P<quoted>(?:[^"\\]|\\.)*+)"
              | (?P<mark>[{}()=;|])
              | (?P<word>[^\s{}()=;|"%]++)
              | (?P<end>\Z) )""",
        re.VERBOSE | re.DOTALL,
    )
    BLANKS = re.compile(r"(?:\s++|%[^\n]*+)*+")
    COMMENT = "%"
    NUMBERS = re.compile(r"[0-9.eE+\s()-]*+;")

    def text_or_word(self, expected: str) -> str:
        if self.kind is Token.QUOTED:
            return re.sub(r"\\([\\\"])", r"\1", self.take())
        return self.word(expected)

    def pass_over(self) -> None:
        """Whatever an attribute's value is, up to its semicolon."""
        while not self.at(";"):
            if self.kind is Token.END:
                raise self.unexpected("';'")
            self.advance()
        self.advance()

    def data(self, child: str) -> tuple[list[float], int]:
        """The numbers of a potential, whatever parentheses part them."""
        line = self.line
        quick = self.plain_numbers()
        if quick is not None:
            return quick, line
        found: list[float] = []
        depth = 0
        while not (self.at(";") and depth == 0):
            if self.at("(") or self.at(")"):
                depth += 1 if self.value == "(" else -1
                if depth < 0:
                    raise self.source.error(f"a ')' too many in the data of {shown(child)}", self.line)
                self.advance()
                continue
            here = self.line
            found.append(self.source.number(self.word("a probability or ')'"), here))
        self.advance()
        return found, line


def loads_net(text: str, path: str | None = None) -> Network:
    """The network written in this text; `path` is for messages."""
    scanner = _Scanner(text.replace("\r\n", "\n").replace("\r", "\n"), Source(path))
    declared: list[Declared] = []
    defined: list[Listed] = []
    names: dict[str, str] = {}
    notes: dict[str, str] = {}
    while scanner.kind is not Token.END:
        line = scanner.line
        keyword = scanner.take() if scanner.kind is Token.WORD else ""
        while keyword in ("discrete", "chance") and scanner.kind is Token.WORD:
            keyword = scanner.take()
        if keyword == "net":
            notes.update({key: text for key, text in _attributes(scanner, "name").items() if text})
        elif keyword == "node":
            declared.append(_node(scanner, line, names))
        elif keyword == "potential":
            defined.append(_potential(scanner, line))
        elif keyword in ("continuous", "decision", "utility", "function", "class"):
            raise scanner.source.error(f"a {keyword!r}: only discrete chance nodes are read", line)
        else:
            found = f"{shown(keyword)} was found" if keyword else f"{shown(scanner.value)} was found"
            raise scanner.source.error(f"{found} where net or node or potential was expected", line)
    return assemble_named(scanner.source, declared, defined, names, notes)


def _attributes(scanner: _Scanner, *wanted: str) -> dict[str, str]:
    """The block's attributes of these names, as text."""
    found: dict[str, str] = {}
    scanner.mark("{")
    while not scanner.at("}"):
        key = scanner.word("an attribute or '}'")
        scanner.mark("=")
        if key in wanted and scanner.kind is Token.QUOTED:
            found[key] = scanner.text_or_word("a text")
        scanner.pass_over()
    scanner.advance()
    return found


def _node(scanner: _Scanner, line: int, names: dict[str, str]) -> Declared:
    name = scanner.word("the node's name")
    states: list[str] | None = None
    scanner.mark("{")
    while not scanner.at("}"):
        here = scanner.line
        key = scanner.word("an attribute or '}'")
        scanner.mark("=")
        if key == _NAME:
            names[name] = scanner.text_or_word("a text")
        elif key == "states":
            if states is not None:
                raise scanner.source.error(f"a second 'states' for {shown(name)}", here)
            states = []
            scanner.mark("(")
            while not scanner.at(")"):
                states.append(scanner.text_or_word("a state or ')'"))
            scanner.advance()
        scanner.pass_over()
    scanner.advance()
    if states is None:
        raise scanner.source.error(f"{shown(name)} has no states: 'states = ( … );' is missing", line)
    return Declared(name, tuple(states), line)


def _potential(scanner: _Scanner, line: int) -> Listed:
    scanner.mark("(")
    children: list[str] = []
    parents: list[str] = []
    said = children
    while not scanner.at(")"):
        if scanner.at("|") and said is children:
            said = parents
            scanner.advance()
        else:
            said.append(scanner.word("a node, '|' or ')'"))
    scanner.advance()
    if len(children) != 1:
        raise scanner.source.error(f"a potential of {len(children)} nodes: one before the '|' is read", line)
    numbers: tuple[list[float], int] | None = None
    scanner.mark("{")
    while not scanner.at("}"):
        here = scanner.line
        key = scanner.word("an attribute or '}'")
        scanner.mark("=")
        if key in ("model_nodes", "model_data"):
            raise scanner.source.error(f"{shown(children[0])} has a model in place of data: save it with tables", here)
        if key != "data":
            scanner.pass_over()
            continue
        if numbers is not None:
            raise scanner.source.error(f"a second 'data' for {shown(children[0])}", here)
        numbers = scanner.data(children[0])
    scanner.advance()
    if numbers is None:
        raise scanner.source.error(f"the potential of {shown(children[0])} has no 'data'", line)
    return Listed(children[0], tuple(parents), numbers[0], numbers[1], _HINT if parents else "")


def dumps_net(network: Network) -> str:
    """The network as Hugin's .net. Labels become text; numbers are written so that they read back bit for bit."""
    short = identifiers(network.variables)
    title = str(network.notes.get("name", ""))
    lines = ["net", "{", f"  name = {_quoted(title)};" if title and title.isprintable() else "", "}"]
    for name, labels in labels_as_text(network, "Hugin .net").items():
        lines += [f"node {short[name]}", "{", f"  states = ({' '.join(map(_quoted, labels))});"]
        if short[name] != name:
            lines += [f"  label = {_quoted(name)};", f"  {_NAME} = {_quoted(name)};"]
        lines.append("}")
    for name in network.variables:
        parents = network.parents(name)
        given = f" | {' '.join(short[parent] for parent in parents)}" if parents else ""
        if name in network.families:
            lines.append(f"% {written_out(network, name)}")
        lines += [f"potential ({short[name]}{given})", "{", f"  data = {_data(network, name)};", "}"]
    return "\n".join(line for line in lines if line) + "\n"


def _data(network: Network, name: str) -> str:
    """A list of lists, nested as the parents are."""
    *sizes, states = network.shape(name)
    rows = network.cpt(name).reshape(-1, states).tolist()
    blocks = [math.prod(sizes[at:]) for at in range(len(sizes))]  # after so many rows a list begins anew
    parts = []
    for at, row in enumerate(rows):
        opened = sum(at % block == 0 for block in blocks)
        closed = sum((at + 1) % block == 0 for block in blocks)
        parts.append("(" * (opened + 1) + " ".join(map(repr, row)) + ")" * (closed + 1))
    return "\n    ".join(parts)


def _quoted(text: str) -> str:
    return '"' + text_of(text, "Hugin .net").replace("\\", "\\\\").replace('"', '\\"') + '"'
