"""GeNIe's .xdsl, read as a stream of tags so that every complaint has its line.

A table's numbers run through the child's states, then the last parent's, the first parent's last, as in the tutorial of
SMILE. Its names and states are identifiers. Those that are none get one, and their own text stands under `extensions`,
where the format lets programs keep what is theirs.
"""

from __future__ import annotations

import json
from typing import Any
from xml.sax.saxutils import escape, quoteattr
from xml.sax.xmlreader import AttributesImpl

from leverrier.formats.draft import Declared, Listed, Source, shown
from leverrier.formats.hardened_xml import Tags, parse
from leverrier.formats.short_names import assemble_named, identifiers
from leverrier.formats.wording import labels_as_text, text_of, written_out
from leverrier.models.network import Network

_HINT = "; 'probabilities' lists the child's states for the first configuration of its parents, then for the next …"
_LISTS = ("parents", "probabilities", "resultingstates")


def loads_xdsl(data: bytes | str, path: str | None = None) -> Network:
    """The network written in this XML; bytes say their own encoding, and `path` is for messages."""
    source = Source(path)
    reading = _Reading(source)
    parse(data, reading, source)
    own = reading.own
    names = {short: said["name"] for short, said in own.items()}
    declared = [
        Declared(each.name, own[each.name]["states"], each.line)
        if each.name in own and len(own[each.name]["states"]) == len(each.states)
        else each
        for each in reading.declared
    ]
    declared.sort(key=lambda each: own.get(each.name, {}).get("place", 0))
    return assemble_named(source, declared, reading.defined, names, reading.notes)


class _Reading(Tags):
    """Collects nodes as their tags close."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.declared: list[Declared] = []
        self.defined: list[Listed] = []
        self.notes: dict[str, str] = {}
        self.own: dict[str, dict[str, Any]] = {}
        self._open: list[str] = []
        self._node: tuple[str, int] = ("", 1)
        self._states: list[str] = []
        self._lists: dict[str, tuple[str, int]] = {}
        self._text: list[str] = []
        self._at = 1

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        if not self._open and name != "smile":
            raise self.source.error(
                f"the file begins with <{shown(name, bare=True)}>, <smile> was expected", self._line
            )
        if self._open == ["smile"] and name == "dynamic":
            raise self.source.error("a network in time (<dynamic>): only plain networks are read", self._line)
        within = self._open[1:]
        if name == "smile" and not self._open:
            self.notes.update({"name": attrs["id"]} if attrs.get("id") else {})
        elif within == ["nodes"]:
            if name not in ("cpt", "deterministic"):
                words = (
                    f"a node of kind <{shown(name, bare=True)}>: only chance tables (<cpt>, <deterministic>) are read"
                )
                raise self.source.error(words, self._line)
            self._node, self._states, self._lists = (self._id(name, attrs), self._line), [], {}
        elif within[:1] == ["nodes"] and len(within) == 2 and name == "state":
            self._states.append(self._id(name, attrs))
        elif within == ["extensions", "leverrier"] and name == "node":
            self._node = (self._id(name, attrs), self._line)
        self._open.append(name)
        self._text, self._at = [], self._line

    def _id(self, name: str, attrs: AttributesImpl) -> str:
        if "id" not in attrs:
            raise self.source.error(f"a <{name}> without an id", self._line)
        return str(attrs["id"])

    def characters(self, content: str) -> None:
        if self._open[-1] in _LISTS or self._open[1:] == ["extensions", "leverrier", "node"]:
            self._text.append(content)

    def comment(self, content: str) -> None:
        """A comment parts the words on its sides, and takes up lines."""
        if self._open and self._open[-1] in _LISTS:
            self._text.append(" " + "\n" * content.count("\n"))

    def endElement(self, name: str) -> None:
        self._open.pop()
        within = self._open[1:]
        if within == ["nodes"]:
            self._close_node(name)
        elif within[:1] == ["nodes"] and len(within) == 2 and name in _LISTS:
            if name in self._lists:
                raise self.source.error(f"a second <{name}> for {shown(self._node[0])}", self._at)
            self._lists[name] = ("".join(self._text), self._at)
        elif within == ["extensions", "leverrier"] and name == "node":
            self.own[self._node[0]] = self._own("".join(self._text))

    def _own(self, text: str) -> dict[str, Any]:
        try:
            said = json.loads(text)
            states, place = said["states"], said.get("place", 0)
            whole = isinstance(said["name"], str) and all(isinstance(each, str) for each in states)
            if not whole or not isinstance(states, list) or type(place) is not int:
                raise ValueError
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise self.source.error(
                f"what <leverrier> says of {shown(self._node[0])} is damaged: remove its <node>", self._node[1]
            ) from None
        return {"name": said["name"], "states": tuple(states), "place": place}

    def _close_node(self, element: str) -> None:
        node, line = self._node
        wanted = "probabilities" if element == "cpt" else "resultingstates"
        if wanted not in self._lists:
            raise self.source.error(f"{shown(node)} has no <{wanted}>", line)
        text, at = self._lists[wanted]
        parents = tuple(self._lists.get("parents", ("", 0))[0].split())
        numbers: list[float] = []
        for extra, row in enumerate(text.split("\n")):
            for word in row.split():
                numbers += (
                    self._certain(word, at + extra) if element != "cpt" else [self.source.number(word, at + extra)]
                )
        self.declared.append(Declared(node, tuple(self._states), line))
        self.defined.append(Listed(node, parents, numbers, at, _HINT if parents else ""))

    def _certain(self, state: str, line: int) -> list[float]:
        if state not in self._states:
            raise self.source.error(f"{shown(state)} is not a state of {shown(self._node[0])}", line)
        return [float(other == state) for other in self._states]


def dumps_xdsl(network: Network) -> str:
    """The network as GeNIe's .xdsl, parents first. Numbers are written so that they read back bit for bit."""
    texts = labels_as_text(network, "XDSL")
    short = identifiers(network.variables)
    title = identifiers([str(network.notes.get("name", "unknown"))]).popitem()[1]
    order = network.graph.order
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<smile version="1.0" id={quoteattr(title)}>', "<nodes>"]
    own: list[str] = []
    for name in order:
        states = identifiers(texts[name])
        lines.append(f'<cpt id="{short[name]}">')
        if name in network.families:
            lines.append(f"  <!-- {escape(written_out(network, name))} -->")
        lines += [f'  <state id="{states[label]}" />' for label in texts[name]]
        if network.parents(name):
            lines.append(f"  <parents>{' '.join(short[parent] for parent in network.parents(name))}</parents>")
        rows = network.cpt(name).reshape(-1, network.cardinality(name)).tolist()
        table = "\n    ".join(" ".join(map(repr, row)) for row in rows)
        lines += [f"  <probabilities>{table}</probabilities>", "</cpt>"]
        for text in (name, *texts[name]):
            text_of(text, "XDSL")
        if short[name] != name or list(states.values()) != texts[name] or order != network.variables:
            said = {"name": name, "states": texts[name], "place": network.variables.index(name)}
            own.append(f'<node id="{short[name]}">{escape(json.dumps(said, ensure_ascii=False))}</node>')
    lines += ["</nodes>", "<extensions>", f'<genie version="1.0" app="Leverrier" name={quoteattr(title)}>']
    lines += [_drawn(short[name], name, place) for place, name in enumerate(order)]
    lines.append("</genie>")
    if own:
        lines += ['<leverrier version="1">', *own, "</leverrier>"]
    return "\n".join([*lines, "</extensions>", "</smile>"]) + "\n"


def _drawn(short: str, name: str, place: int) -> str:
    """Where GeNIe draws a node, and under which name: eight in a row, parents above."""
    left, top = 20 + 130 * (place % 8), 20 + 80 * (place // 8)
    return (
        f'<node id="{short}"><name>{escape(name)}</name><interior color="e5f6f7" /><outline color="000080" />'
        f'<font color="000000" name="Arial" size="8" />'
        f"<position>{left} {top} {left + 100} {top + 50}</position></node>"
    )
