"""Models in time in files: our own JSON, which keeps everything, and the two-slice BIF of other programs.

    {"format": "leverrier-dynamic", "version": 1, "hidden": ["H"], "numbers": {…}, "notes": {…}, "slices": [
      the first slice (and one for each further slice that looks back less than the transition), …, the transition ]}

Each of the slices is written as a network (see `network_json`) whose variables are named by lag: "0:X" is X in the
slice itself, "1:X" in the one before. Those of slices before are there for their states; their tables say nothing.

Trees over lags and memories, which no network of tables holds, have a JSON of their own: see `slices`.

In a two-slice BIF `X_1` is X in a slice and `X_0` in the slice before. The tables of `X_0` are how a sequence begins; a
variable without `X_0` begins as its table in slice 1 says, which then may look only at slice 1.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from leverrier.errors import FormatError, LeverrierError, NetworkError, OptionError
from leverrier.formats.bif import dumps_bif, loads_bif
from leverrier.formats.draft import Source, shown
from leverrier.formats.network_files import read_whole, write_whole
from leverrier.formats.network_json import dumps_json, loads_json
from leverrier.formats.regime_json import FORMAT as REGIMES
from leverrier.formats.regime_json import read_regimes, regimes_content
from leverrier.formats.slice_models import FORMAT as SLICES
from leverrier.formats.slice_models import read_slices, slices_content
from leverrier.models.dynamic.cpd import GaussianCPD, Node, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork, Slice
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.slices.chain_model import ChainModel
from leverrier.models.slices.slice_model import SliceModel

FORMAT = "leverrier-dynamic"
VERSION = 1
_TOP = {"format", "version", "hidden", "numbers", "notes", "slices"}
_NODE = re.compile(r"(0|[1-9][0-9]{0,3}):(.+)", re.DOTALL)


TimeModel = DynamicNetwork | SliceModel | ChainModel | RegimeModel
"""Whatever `discover` finds in sequences."""


def read_dynamic(path: str | os.PathLike[str], hidden: Iterable[str] | None = None) -> Any:
    """The model in a .json or two-slice .bif file (or packed as .gz); `hidden` names variables never seen.

    A DynamicNetwork; from JSON also a SliceModel (trees over lags and memories) or a ChainModel (with hidden chains).
    """
    name = os.fspath(path)
    suffix = _suffix(name)
    try:
        text = read_whole(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("not UTF-8 text: save the file as UTF-8", path=name) from error
    found = loads_dynamic_bif(text, name) if suffix == ".bif" else loads_dynamic(text, name)
    if hidden is None:
        return found
    if not isinstance(found, DynamicNetwork):
        raise OptionError(f"{name}: hidden= is for networks of tables; this model names its hidden chains itself")
    return found.hiding(*hidden)


def write_dynamic(network: TimeModel, path: str | os.PathLike[str]) -> None:
    """Write .json, or a two-slice .bif (first-order networks of tables), packed if .gz follows."""
    name = os.fspath(path)
    text = _bif_of(network) if _suffix(name) == ".bif" else dumps_dynamic(network)
    data = text.encode()
    write_whole(name, gzip.compress(data, mtime=0) if name.lower().endswith(".gz") else data)


def _suffix(name: str) -> str:
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if suffix not in (".json", ".bif"):
        raise OptionError(f"{name}: the suffix {suffix!r} names no format of dynamic networks; .json and .bif do")
    return suffix


def _bif_of(network: TimeModel) -> str:
    if not isinstance(network, DynamicNetwork):
        raise OptionError("a two-slice BIF holds networks of tables; write this model as .json")
    return dumps_dynamic_bif(network)


def dumps_dynamic(network: TimeModel) -> str:
    """The model in our own format."""
    content = _CONTENT[type(network)](network)
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


def _content(network: DynamicNetwork) -> dict[str, Any]:
    slices = [json.loads(dumps_json(_as_network(network, part))) for part in (*network.stages, network.transition)]
    numbers = {
        name: {"parents": cpd.parents, "means": cpd.means.tolist(), "deviations": cpd.deviations.tolist()}
        for name, cpd in network.numbers.items()
    }
    notes = {key: value for key, value in network.notes.items() if isinstance(value, str | int | float | bool)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "hidden": list(network.hidden),
        "numbers": numbers,
        "notes": notes,
        "slices": slices,
    }


_CONTENT: dict[type, Callable[[Any], dict[str, Any]]] = {
    DynamicNetwork: _content,
    SliceModel: slices_content,
    ChainModel: slices_content,
    RegimeModel: regimes_content,
}


def _as_network(network: DynamicNetwork, part: Slice) -> Network:
    """A slice as a network over named lags; what lies before has uniform tables."""
    before = sorted({node for cpd in part.values() for node in cpd.parents if node[1]})
    parents = {_named(node): [] for node in before}
    parents |= {_named((name, 0)): [_named(node) for node in part[name].parents] for name in network.variables}
    nodes = {_named(node): node for node in (*before, *((name, 0) for name in network.variables))}
    uniform = {name: np.full(size, 1 / size) for name, size in _sizes(network).items()}
    tables = {key: uniform[name] if lag else part[name].table() for key, (name, lag) in nodes.items()}
    return Network(Graph.from_parents(parents), {key: network.states[n] for key, (n, _) in nodes.items()}, tables)


def _sizes(network: DynamicNetwork) -> dict[str, int]:
    return {name: network.cardinality(name) for name in network.variables}


def _named(node: Node) -> str:
    return f"{node[1]}:{node[0]}"


def loads_dynamic(text: str, path: str | None = None) -> TimeModel:
    """The model written in this JSON; `path` is for messages."""
    source = Source(path)
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise source.error(f"not JSON: {error}") from error
    if isinstance(content, dict) and content.get("format") == SLICES:
        return read_slices(content, path)
    if isinstance(content, dict) and content.get("format") == REGIMES:
        return read_regimes(content, path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise source.error(f'not a dynamic network: "format": "{FORMAT}" was expected at the top')
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise source.error(f"version {shown(content.get('version'))} of the format; this Leverrier reads {VERSION}")
    odd = sorted(set(content) - _TOP)
    if odd:
        raise source.error(f"the file has the key {shown(odd[0])}; the keys are {', '.join(sorted(_TOP))}")
    slices, hidden, notes = content.get("slices"), content.get("hidden", []), content.get("notes", {})
    if not isinstance(slices, list) or len(slices) < 2:
        raise source.error('"slices" must be a list of at least two networks: how it begins, and the transition')
    if not isinstance(hidden, list) or not all(isinstance(name, str) for name in hidden) or not isinstance(notes, dict):
        raise source.error('"hidden" must be a list of names, and "notes" an object')
    parts = [loads_json(json.dumps(part), path) for part in slices]
    states = {node[0]: parts[-1].states[key] for key, node in _nodes(parts[-1], source) if not node[1]}
    unknown = [name for name in hidden if name not in states]
    if unknown:
        raise source.error(f'"hidden" names {shown(unknown[0])}, which is no variable')
    try:
        read = [_slice(part, states, source) for part in parts]
        numbers = _numbers(content.get("numbers", {}), source)
        return DynamicNetwork(states, tuple(read[:-1]), read[-1], tuple(hidden), numbers, notes)
    except NetworkError as problem:
        raise source.error(str(problem)) from None


def _nodes(part: Network, source: Source) -> list[tuple[str, Node]]:
    found = []
    for key in part.variables:
        match = _NODE.fullmatch(key)
        if match is None:
            raise source.error(f'{shown(key)} is no node of a slice: a lag and a name, such as "0:X", were expected')
        found.append((key, (match[2], int(match[1]))))
    return found


def _slice(part: Network, states: Mapping[str, Any], source: Source) -> dict[str, TableCPD]:
    nodes = dict(_nodes(part, source))
    for key, (name, _) in nodes.items():
        if part.states[key] != states.get(name):
            raise source.error(f"{shown(name)} has other states in one slice than in another")
    return {
        name: TableCPD(tuple(nodes[parent] for parent in part.parents(key)), part.cpt(key))
        for key, (name, lag) in nodes.items()
        if lag == 0
    }


def _numbers(content: Any, source: Source) -> dict[str, GaussianCPD]:
    if not isinstance(content, dict):
        raise source.error('"numbers" must be an object')
    found = {}
    for name, entry in content.items():
        try:
            found[name] = GaussianCPD.given(tuple(map(str, entry["parents"])), entry["means"], entry["deviations"])
        except (KeyError, TypeError, ValueError) as problem:
            if isinstance(problem, LeverrierError):
                raise
            raise source.error(f"the numbers of {shown(name)} need parents, means and deviations") from None
    return found


def dumps_dynamic_bif(network: DynamicNetwork) -> str:
    """A first-order network as the BIF of two slices, `X_0` and `X_1`."""
    if network.order > 1 or len(network.stages) > 1 or network.numbers:
        why = "columns of numbers" if network.numbers else f"order {network.order}, {len(network.stages)} stages"
        raise FormatError(f"a two-slice BIF holds first-order networks of states only ({why}): write .json")
    parts = (network.slice(0), network.transition)
    parents = {
        f"{name}_{place}": [f"{parent}_{place - lag}" for parent, lag in part[name].parents]
        for place, part in enumerate(parts)
        for name in network.variables
    }
    tables = {f"{name}_{place}": part[name].table() for place, part in enumerate(parts) for name in network.variables}
    states = {f"{name}_{place}": network.states[name] for place in (0, 1) for name in network.variables}
    return dumps_bif(Network(Graph.from_parents(parents), states, tables))


def loads_dynamic_bif(text: str, path: str | None = None) -> DynamicNetwork:
    """The dynamic network that a BIF of two slices stands for."""
    source = Source(path)
    both = loads_bif(text, path)
    for key in both.variables:
        if not key.endswith(("_0", "_1")):
            raise source.error(f"{shown(key)} belongs to no slice: names must end in _0 (the slice before) or _1")
    names = [key[:-2] for key in both.variables if key.endswith("_1")]
    lost = [key for key in both.variables if key[:-2] not in names]
    if lost:
        raise source.error(f"{shown(lost[0])} has no {shown(lost[0][:-2] + '_1')}: every variable needs its next slice")
    states = {name: both.states[f"{name}_1"] for name in names}
    first: dict[str, TableCPD] = {}
    then: dict[str, TableCPD] = {}
    for name in names:
        then[name] = TableCPD(tuple((p[:-2], 1 - int(p[-1])) for p in both.parents(f"{name}_1")), both.cpt(f"{name}_1"))
        key = f"{name}_0"
        if key in both.variables:
            if both.states[key] != states[name]:
                raise source.error(f"{shown(key)} has other states than {shown(name + '_1')}")
            ahead = [p for p in both.parents(key) if p.endswith("_1")]
            if ahead:
                raise source.error(f"{shown(key)} has the parent {shown(ahead[0])}, which comes after it")
            first[name] = TableCPD(tuple((p[:-2], 0) for p in both.parents(key)), both.cpt(key))
        elif any(node[1] for node in then[name].parents):
            raise source.error(f"{shown(name + '_1')} looks back and there is no {shown(key)}: how does it begin?")
        else:
            first[name] = then[name]
    return DynamicNetwork(states, (first,), then)
