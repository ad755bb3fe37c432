"""Leverrier's own network format: JSON that keeps labels' types, every bit of every number, and the notes.

    {"format": "leverrier-network", "version": 1, "notes": {…}, "variables": [
      {"name": "T", "states": ["car", "train"], "parents": ["O"], "table": [[0.48, 0.52], [0.56, 0.44]]}, …]}

A table has one row for each configuration of the parents (the last parent changes fastest) and in it one number
for each state. States are text, whole numbers, numbers or true and false, and come back as what they were. A variable
that something shorter than a table says (a tree, a logit, a noisy-max…) has "family", its kind and parameters, in
place of "table".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label
from leverrier.errors import FormatError, LeverrierError, NetworkError
from leverrier.formats.draft import Declared, Listed, Source, assemble, shown
from leverrier.models.families.conditional import StateConditional
from leverrier.models.families.family_content import read_family
from leverrier.models.network import Network

FORMAT = "leverrier-network"
VERSION = 1
_KEYS = ("name", "parents", "states", "table", "family")
_TOP = ("format", "notes", "variables", "version")


def loads_json(text: str, path: str | None = None) -> Network:
    """The network written in this JSON; `path` is for messages."""
    source = Source(path)
    content = parsed_json(text, source)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise source.error(f'not a network: "format": "{FORMAT}" was expected at the top')
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise source.error(f"version {shown(version)} of the format; this Leverrier reads version {VERSION}")
    _only(source, content, _TOP, "the file", None)
    notes, variables = content.get("notes", {}), content.get("variables")
    if not isinstance(notes, dict) or not _is_finite(notes):
        raise source.error('"notes" must be an object of finite numbers and text')
    if not isinstance(variables, list):
        raise source.error(f'"variables" is {_kind(variables)}, a list was expected')
    lines = _lines(text)
    entries = [_Entry(source, at, lines[at], content) for at, content in enumerate(variables)]
    defined = [e.defined() for e in entries]
    network = assemble(source, [e.declared() for e in entries], defined, notes)
    return network.with_families({each.child: each.family(network) for each in defined if isinstance(each, _Said)})


@dataclass(frozen=True)
class _Said:
    """A definition by something shorter than a table."""

    child: str
    parents: tuple[str, ...]
    content: dict[str, Any]
    source: Source
    line: int
    hint: str = ""

    def read(self, shape: Sequence[int]) -> StateConditional:
        try:
            return read_family(self.content, shape)
        except NetworkError as error:
            raise self.source.error(f"{shown(self.child)}: {error}", self.line) from error

    def rows(self, source: Source, states: Sequence[tuple[Label, ...]]) -> NDArray[np.float64]:  # noqa: ARG002
        shape = [len(labels) for labels in states]
        return np.asarray(self.read(shape).table(shape)).reshape(-1, shape[-1])

    def family(self, network: Network) -> StateConditional:
        return self.read(network.shape(self.child))

    def line_of(self, row: int) -> int:  # noqa: ARG002  (the protocol's; here all rows have one place)
        return self.line


def parsed_json(text: str, source: Source) -> Any:
    """The JSON in this text; what is wrong with it is said with its line."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            whose = f" of {shown(content['name'])}" if "name" in content else ""
            raise source.error(f"the key {shown(twice)}{whose} is given twice in one object")
        return content

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise source.error(f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise source.error("the lists and objects are nested too deeply for a network") from error
    except LeverrierError:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        raise source.error(f"a number cannot be read: {error}") from error


def _lines(text: str) -> list[int]:
    """The line at which each entry of "variables" begins, in text that has been read as JSON before."""
    decoder = json.JSONDecoder()

    def past(at: int) -> int:
        while text[at] in " \t\r\n,:":
            at += 1
        return at

    at = past(0) + 1  # the brace
    while True:
        key, at = decoder.raw_decode(text, past(at))
        if key == "variables":
            break
        _, at = decoder.raw_decode(text, past(at))
    lines: list[int] = []
    seen, line = 0, 1
    at = past(past(at) + 1)
    while text[at] != "]":
        line += text.count("\n", seen, at)
        seen = at
        lines.append(line)
        _, at = decoder.raw_decode(text, at)
        at = past(at)
    return lines


class _Entry:
    """One entry of "variables", read with suspicion."""

    def __init__(self, source: Source, place: int, line: int, content: Any) -> None:
        self.source = source
        self.line = line
        self.name = content.get("name") if isinstance(content, dict) else None
        if not isinstance(content, dict):
            raise self.error(f"variables[{place}] is {_kind(content)}, an object was expected")
        if not isinstance(self.name, str) or not self.name:
            raise self.error(f"the name of variables[{place}] is {shown(self.name)}, some text was expected")
        _only(source, content, _KEYS, shown(self.name), line)
        self.family = content.get("family")
        if self.family is not None and not (isinstance(self.family, dict) and "table" not in content):
            found = "there is a table beside it" if "table" in content else f"it is {_kind(self.family)}"
            raise self.error(f"family of {shown(self.name)}: an object in place of a table was expected, but {found}")
        for key in ("states", "parents", *(() if self.family else ("table",))):
            if not isinstance(content.get(key), list):
                raise self.error(f"{key} of {shown(self.name)} is {_kind(content.get(key))}, a list was expected")
        self.states, self.parents, self.table = (content.get(key, ()) for key in ("states", "parents", "table"))

    def error(self, message: str) -> FormatError:
        return self.source.error(message, self.line)

    def declared(self) -> Declared:
        for label in self.states:
            if not isinstance(label, str | int | float) or (isinstance(label, float) and not math.isfinite(label)):
                raise self.error(f"a state of {shown(self.name)} is {_kind(label)}: text, number or boolean is needed")
        for parent in self.parents:
            if not isinstance(parent, str):
                raise self.error(f"a parent of {shown(self.name)} is {_kind(parent)}: a variable's name is needed")
        for word in (self.name, *self.states):
            if isinstance(word, str) and not _is_text(word):
                raise self.error(f"{shown(word)} is not valid text")
        return Declared(str(self.name), tuple(self.states), self.line)

    def defined(self) -> Listed | _Said:
        if self.family:
            return _Said(str(self.name), tuple(self.parents), self.family, self.source, self.line)
        width = len(self.states)
        flat: list[float] = []
        for at, row in enumerate(self.table):
            place = f"table[{at}] of {shown(self.name)}"
            if not isinstance(row, list) or len(row) != width:
                found = f"a list of {len(row)}" if isinstance(row, list) else _kind(row)
                raise self.error(f"{place} is {found}, a list of {width} numbers was expected")
            for number in row:
                if type(number) not in (int, float) or not 0 <= number < 2:
                    raise self.error(f"{place} holds {shown(number)}, a probability was expected")
                flat.append(float(number))
        return Listed(str(self.name), tuple(self.parents), flat, self.line)


def _only(source: Source, content: dict[str, Any], allowed: Sequence[str], whose: str, line: int | None) -> None:
    unknown = [key for key in content if key not in allowed]
    if unknown:
        raise source.error(f"{whose} has the key {shown(unknown[0])}; the keys are {', '.join(allowed)}", line)


def _kind(value: Any) -> str:
    """What a value is, in JSON's words."""
    if value is None:
        return "missing or null"
    if isinstance(value, bool | int | float):
        return shown(value)
    return {str: "text", list: "a list", dict: "an object"}[type(value)]


def _is_finite(notes: dict[str, Any]) -> bool:
    try:
        json.dumps(notes, allow_nan=False)
    except ValueError:
        return False
    return True


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def dumps_json(network: Network) -> str:
    """The network in our own format, one variable a line; nothing of it is lost."""
    try:
        notes = json.dumps(dict(network.notes), ensure_ascii=False, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"the network's notes cannot be written as JSON: {error}") from error
    if not network.variables:
        raise FormatError("a network without variables cannot be written")
    entries = ",\n".join(f"  {_written(network, name)}" for name in network.variables)
    text = (
        f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "notes": {notes},\n "variables": [\n{entries}\n ]\n}}\n'
    )
    if not _is_text(text):
        raise FormatError("a name, label or note holds half of a character (a lone surrogate), which is not valid text")
    return text


def _written(network: Network, name: str) -> str:
    states = [plain_label(name, label) for label in network.states[name]]
    entry: dict[str, Any] = {"name": name, "states": states, "parents": network.parents(name)}
    if name in network.families:
        entry["family"] = dict(network.families[name].content())
    else:
        entry["table"] = network.cpt(name).reshape(-1, len(states)).tolist()
    return json.dumps(entry, ensure_ascii=False, allow_nan=False)


def plain_label(name: str, label: Label) -> str | int | float | bool:
    """A state as JSON can hold it."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, str | int | float) and (not isinstance(plain, float) or math.isfinite(plain)):
        return plain
    raise FormatError(
        f"the state {shown(label)} of {shown(name)} cannot be written as JSON: "
        "text, numbers and booleans can; relabel it (network.relabelled)"
    )


def _plain(value: Any) -> Any:
    """What JSON does not know among notes."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not text, a number, a list or an object")
