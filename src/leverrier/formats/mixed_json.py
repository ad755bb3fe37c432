"""Mixed networks as JSON: states, margins and families in full, every bit of every number.

{"format": "leverrier-mixed-network", "version": 1, "notes": {…}, "variables": [
  {"name": "bp", "parents": ["age"], "margin": {…}, "family": {"kind": "linear", …}},
  {"name": "sex", "parents": [], "states": ["f", "m"], "ordered": false, "family": {"kind": "table", …}}, …]}
"""

from __future__ import annotations

import json
from typing import Any

from leverrier.errors import FormatError, LeverrierError
from leverrier.formats.draft import Source, shown
from leverrier.formats.network_json import parsed_json, plain_label
from leverrier.models.families.number_content import number_family
from leverrier.models.graph import Graph
from leverrier.models.margin import Margin
from leverrier.models.mixed_network import MixedNetwork

FORMAT = "leverrier-mixed-network"
VERSION = 1
_KEYS = {"name", "parents", "family"}


def dumps_mixed(network: MixedNetwork) -> str:
    """The network in our own format, one variable a line; nothing of it is lost."""
    entries = ",\n".join(
        f"  {json.dumps(_entry(network, name), ensure_ascii=False, allow_nan=False)}" for name in network.graph
    )
    try:
        notes = json.dumps(dict(network.notes), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise FormatError(f"the network's notes cannot be written as JSON: {problem}") from problem
    head = f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "notes": {notes},\n'
    return f'{head} "variables": [\n{entries}\n ]\n}}\n'


def _entry(network: MixedNetwork, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "parents": list(network.parents(name))}
    if name in network.margins:
        entry["margin"] = dict(network.margins[name].content())
    else:
        entry["states"] = [plain_label(name, label) for label in network.states[name]]
        entry["ordered"] = name in network.ordered
    return {**entry, "family": dict(network.families[name].content())}


def is_mixed(text: str) -> bool:
    """Whether this JSON says of itself, near its beginning, that it is a mixed network."""
    return f'"{FORMAT}"' in text[:200]


def loads_mixed(text: str, path: str | None = None) -> MixedNetwork:
    """The mixed network written in this JSON; `path` is for messages."""
    source = Source(path)
    content = parsed_json(text, source)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise source.error(f'not a mixed network: "format": "{FORMAT}" was expected at the top')
    if content.get("version") != VERSION:
        raise source.error(f"version {shown(content.get('version'))} of the format; this Leverrier reads {VERSION}")
    variables, notes = content.get("variables"), content.get("notes", {})
    if not isinstance(variables, list) or not isinstance(notes, dict):
        raise source.error('"variables" must be a list and "notes" an object')
    parents, states, margins, families, ordered = {}, {}, {}, {}, set()
    for place, entry in enumerate(variables):
        if not isinstance(entry, dict) or not entry.keys() >= _KEYS or not isinstance(entry["name"], str):
            raise source.error(f"variables[{place}] must be an object with {', '.join(sorted(_KEYS))}")
        name = entry["name"]
        if name in parents:
            raise source.error(f"the variable {shown(name)} is given twice")
        try:
            parents[name] = tuple(map(str, entry["parents"]))
            families[name] = number_family(entry["family"])
            if "margin" in entry:
                margins[name] = Margin.of_content(entry["margin"])
            else:
                states[name] = tuple(entry["states"])
                ordered |= {name} if entry.get("ordered") else set()
        except LeverrierError as problem:
            raise source.error(f"{shown(name)}: {problem}") from problem
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise source.error(f"{shown(name)} is not whole: {problem}") from problem
    try:
        return MixedNetwork(Graph.from_parents(parents), states, margins, families, frozenset(ordered), notes)
    except LeverrierError as problem:
        raise source.error(str(problem)) from problem
