"""XMLBIF 0.3, read as a stream of tags so that every complaint has its line.

Most files in the wild carry the format's own declarations of elements within a DOCTYPE. Those are read over.
Declarations of entities and references to anything outside the file are refused: they are how XML is made to
swell or to fetch. We write no DOCTYPE.
"""

from __future__ import annotations

from xml.sax.saxutils import escape
from xml.sax.xmlreader import AttributesImpl

from leverrier.formats.draft import Declared, Listed, Source, assemble, shown
from leverrier.formats.hardened_xml import Tags, parse
from leverrier.formats.wording import BLANK, labels_as_text, text_of, written_out
from leverrier.models.network import Network

_HINT = "; a TABLE lists the child's states for the first configuration of its parents, then for the next …"


def loads_xmlbif(data: bytes | str, path: str | None = None) -> Network:
    """The network written in this XML; bytes say their own encoding, and `path` is for messages."""
    source = Source(path)
    reading = _Reading(source)
    parse(data, reading, source)
    return assemble(source, reading.declared, reading.defined, reading.notes)


class _Reading(Tags):
    """Collects variables and definitions as their tags close. Tags that say nothing to us are passed over."""

    PARTS = frozenset({"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"})

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.declared: list[Declared] = []
        self.defined: list[Listed] = []
        self.notes: dict[str, str] = {}
        self._open: list[str] = []
        self._block: str | None = None
        self._parts: list[tuple[str, str, int]] = []
        self._starts: dict[str, int] = {}
        self._text: list[str] = []

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        tag = _plain(name)
        given = {_plain(key): value for key, value in attrs.items()}
        if not self._open and tag != "BIF":
            raise self.source.error(f"the file begins with <{shown(name, bare=True)}>, <BIF> was expected", self._line)
        if tag == "BIF" and given.get("VERSION", "0.3") != "0.3":
            raise self.source.error(f"XMLBIF version {shown(given['VERSION'])}; 0.3 is read", self._line)
        if tag == "NETWORK" and "NETWORK" in self._starts:
            raise self.source.error("a second <NETWORK>: one is read", self._line)
        if tag in ("VARIABLE", "DEFINITION"):
            self._open_block(tag, given)
        self._open.append(tag)
        self._starts[tag] = self._line
        self._text = [given["NAME"]] if "NAME" in given and tag in self.PARTS else []

    def _open_block(self, tag: str, given: dict[str, str]) -> None:
        if self._block is not None:
            raise self.source.error(f"a <{tag}> within a <{self._block}>", self._line)
        variety = given.get("TYPE", "nature") if tag == "VARIABLE" else "nature"
        if variety.strip().lower() not in ("nature", "discrete"):
            raise self.source.error(f"a variable of type {shown(variety)}: only chance ('nature') is read", self._line)
        self._block = tag
        self._parts = [("NAME", given["NAME"], self._line)] if "NAME" in given else []

    def characters(self, content: str) -> None:
        if self._open[-1] in self.PARTS:
            self._text.append(content)

    def comment(self, content: str) -> None:
        """A comment parts the numbers on its sides, and takes up lines."""
        if self._open[-1:] == ["TABLE"]:
            self._text.append(" " + "\n" * content.count("\n"))

    def endElement(self, name: str) -> None:  # noqa: ARG002  (well-formed: it is the tag last opened)
        tag = self._open.pop()
        text = "".join(self._text)
        text = text if tag == "TABLE" else text.strip(BLANK)
        if tag == "NAME" and self._open[-1:] == ["NETWORK"]:
            self.notes["name"] = text
        elif tag in self.PARTS and self._block is not None:
            self._parts.append((tag, text, self._starts[tag]))
        elif tag == "VARIABLE":
            self._close_variable()
        elif tag == "DEFINITION":
            self._close_definition()
        self._text = []

    def _close_variable(self) -> None:
        line = self._starts["VARIABLE"]
        states = [text for tag, text, _ in self._parts if tag in ("OUTCOME", "VALUE")]
        self.declared.append(Declared(self._one("NAME", line), tuple(states), line))
        self._block = None

    def _close_definition(self) -> None:
        line = self._starts["DEFINITION"]
        child = self._one("FOR", line)
        parents = tuple(text for tag, text, _ in self._parts if tag == "GIVEN")
        table = self._one("TABLE", line)
        at = next(at for tag, _, at in self._parts if tag == "TABLE")
        numbers: list[float] = []
        for extra, row in enumerate(table.split("\n")):
            numbers += (self.source.number(word, at + extra) for word in row.split())
        self.defined.append(Listed(child, parents, numbers, at, _HINT if parents else ""))
        self._block = None

    def _one(self, tag: str, line: int) -> str:
        found = [text for other, text, _ in self._parts if other == tag]
        if len(found) != 1:
            raise self.source.error(f"<{self._block}> has {len(found)} <{tag}>, one was expected", line)
        return found[0]


def _plain(name: str) -> str:
    """A tag or attribute without its namespace's prefix, in the format's capitals."""
    return name.rpartition(":")[2].upper()


def dumps_xmlbif(network: Network) -> str:
    """The network as XMLBIF 0.3. Labels become text; numbers are written so that they read back bit for bit."""
    title = str(network.notes.get("name", "unknown"))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        f"<NAME>{_escaped(title) if title.isprintable() and title.strip() else 'unknown'}</NAME>",
    ]
    for name, labels in labels_as_text(network, "XMLBIF").items():
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{_escaped(name)}</NAME>"]
        lines += [f"  <OUTCOME>{_escaped(label)}</OUTCOME>" for label in labels]
        lines.append("</VARIABLE>")
    for name in network.variables:
        lines += ["<DEFINITION>", f"  <FOR>{_escaped(name)}</FOR>"]
        lines += [f"  <GIVEN>{_escaped(parent)}</GIVEN>" for parent in network.parents(name)]
        if name in network.families:
            lines.append(f"  <PROPERTY>{_escaped(written_out(network, name))}</PROPERTY>")
        rows = network.cpt(name).reshape(-1, network.cardinality(name)).tolist()
        table = "\n    ".join(" ".join(map(repr, row)) for row in rows)
        lines += [f"  <TABLE>\n    {table}\n  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _escaped(text: str) -> str:
    return escape(text_of(text, "XMLBIF", trimmed=True))
