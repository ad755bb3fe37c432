"""Everything that was found out, as one JSON file, and back: of tables and of sequences."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_type_hints

import numpy as np

from leverrier.api.saved_before import upgraded
from leverrier.data.table import Variable
from leverrier.discovery.done import Said
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.hidden_model import HiddenModel, read_hidden_model
from leverrier.discovery.numbers.behind_hidden import read_behind
from leverrier.discovery.result import Result
from leverrier.discovery.time.along_time import AlongTime
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_result import result_in_time
from leverrier.discovery.verdict import Answer, ModelKind, Reason, Verdict
from leverrier.errors import FormatError, LeverrierError
from leverrier.formats.dynamic_files import dumps_dynamic, loads_dynamic
from leverrier.formats.mixed_json import is_mixed, loads_mixed
from leverrier.formats.network_files import network_json
from leverrier.formats.network_json import loads_json
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.network import Network, as_network
from leverrier.plain_values import KIND, plain, read_as, read_plain
from leverrier.report.words.verdict_words import verdict

FORMAT, VERSION = "leverrier-discovery", 2
Content = Mapping[str, Any]
ALIKE = (
    "compressors",
    "score",
    "baseline_score",
    "spread",
    "repaired",
    "shape",
    "meanings",
    "attempts",
    "power",
    "did",
)
ALIKE += ("settings", "seconds", "rows", "remaining", "scores", "merges", "renamed", "simplest")
"""Parts of a result that are plain values…"""
LATER = ("rows", "remaining", "scores", "merges", "renamed", "simplest")
"""…and those that first files did not have."""
IN_TIME = ("gain", "z", "observed_name", "lags", "memories", "table", "order", "n_slices", "status", "notes", "folds")
IN_TIME += ("accepted", "tested", "untested", "method", "inference", "steps")
LATER_IN_TIME = ("evidence", "kinds", "inputs", "decided", "drawn")
"""Of sequences, what first files did not have."""


def dump(found: Result) -> str:
    """The JSON text. Networks are inside in their own format, numbers keep every digit."""
    hints = get_type_hints(Result)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": str(found.verdict),
        "reason": found.verdict.reason.value,
        "reason_name": found.verdict.reason.name,
        "kind": found.kind.value,
        "words": verdict(found).splitlines(),
        "hidden": [_variable(each) for each in found.hidden],
        **{name: plain(getattr(found, name), hints[name]) for name in ALIKE},
        **(_of_table(found) if found.time is None else _over_time(found, found.time)),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)


def _of_table(found: Result) -> dict[str, Any]:
    named: dict[str, Any] = {"network": found.network, "baseline": found.baseline}
    networks = {name: json.loads(network_json(each)) for name, each in named.items()}
    return {**networks, "model": None if found.other is None else found.other.content()}


def _read_network(content: Any, path: str | None) -> Network | MixedNetwork:
    text = json.dumps(content)
    return loads_mixed(text, path) if is_mixed(text) else loads_json(text, path)


def _over_time(found: Result, time: TimeFindings) -> dict[str, Any]:
    hints = get_type_hints(TimeFindings)
    models = {"model": time.model, "observed": time.observed, "bagged": time.bagged, "beside": time.beside}
    if time.observed is time.model:
        models["observed"] = None
    shape = found.shape
    kept = {"sequences": shape.sequences, "holes": shape.holes, "columns": shape.columns, "seconds": found.seconds}
    return {
        **{name: None if each is None else json.loads(dumps_dynamic(each)) for name, each in models.items()},
        **{name: plain(getattr(time, name), hints[name]) for name in (*IN_TIME, *LATER_IN_TIME)},
        "columns": [plain(column) for column in shape.variables],
        "summary": {**plain(found.along), **kept},
    }


def _variable(each: HiddenVariable) -> dict[str, Any]:
    """What moves in time says so in the same place; posteriors of slices are not kept."""
    chain = {} if each.chain is None else plain(replace(each.chain, posterior=np.empty((0, each.states))))
    content = {**chain, **plain(replace(each, chain=None))}
    return {name: value for name, value in content.items() if name not in ("chain", "posterior")}


def load_result(text: str, path: str | None = None) -> Result:
    """What `dump` wrote, now or in version 0.1; anything else is refused in one line."""
    try:
        content = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise FormatError(f"not JSON: {error}", path=path) from None
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, "leverrier-time-discovery"):
        raise FormatError("not a saved discovery: expected a file written by Discovery.save", path=path)
    if content.get("version") not in (1, VERSION):
        raise FormatError(f"version {content.get('version')!r} of the format; this program reads {VERSION}", path=path)
    try:
        content = upgraded(content) if content["version"] == 1 else content
        if content["kind"] == ModelKind.SEQUENCES:
            return _read_over_time(content, path)
        found = _read_table(content, path)
        _require_whole(found)
        return found
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, LeverrierError) as error:
        raise FormatError(f"a saved discovery with a part missing or damaged ({error})", path=path) from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is no number")
    return value


def _read_alike(content: Content) -> dict[str, Any]:
    hints = get_type_hints(Result)
    given = [name for name in ALIKE if name in content or name not in LATER]
    steps = [{KIND: Said.__name__, "words": each} if isinstance(each, str) else each for each in content["did"]]
    tried = {
        name: [dict(zip(("states", "score"), each, strict=True)) if isinstance(each, list) else each for each in fits]
        for name, fits in content.get("scores", {}).items()
    }
    content = {**content, "did": steps, "scores": tried}  # (files saved before have sentences and pairs here)
    return {name: read_as(content[name], hints[name], name) for name in given}


def _verdict(content: Content) -> Verdict:
    return Verdict(Answer(content["verdict"]), Reason[content["reason_name"]])


def _read_table(content: Content, path: str | None) -> Result:
    hidden = tuple(read_plain(each, HiddenVariable) for each in content["hidden"])
    alike = _read_alike(content)
    return Result(
        verdict=_verdict(content),
        kind=ModelKind(content["kind"]),
        hidden=hidden,
        network=_read_network(content["network"], path),
        baseline=_read_network(content["baseline"], path),
        other=_read_model(content["model"], [each.name for each in hidden], alike["shape"].variables),
        **alike,
    )


def _read_model(content: Any, names: list[str], variables: tuple[Variable, ...]) -> HiddenModel | None:
    if content is not None and "behind" in content:
        return read_behind(content, variables)
    return read_hidden_model(content, names, variables)


def _read_over_time(content: Content, path: str | None) -> Result:
    hints = get_type_hints(TimeFindings)
    model, observed, bagged, beside = (
        None if content.get(name) is None else loads_dynamic(json.dumps(content[name]), path)
        for name in ("model", "observed", "bagged", "beside")
    )
    time = TimeFindings(
        hidden=tuple(_read_chain(each) for each in content["hidden"]),
        model=model,  # type: ignore[arg-type]
        observed=observed or model,  # type: ignore[arg-type]
        bagged=bagged,  # type: ignore[arg-type]
        beside=beside,  # type: ignore[arg-type]
        **{
            name: read_as(content[name], hints[name], name)
            for name in (*IN_TIME, *LATER_IN_TIME)
            if name in IN_TIME or name in content
        },
    )
    alike = _read_alike(content)
    along = read_plain(content["summary"], AlongTime)
    found = result_in_time(time, along, alike["shape"], alike["settings"], alike["seconds"])
    for name, states in alike.get("renamed", {}).items():
        found = found.with_names(name, states)
    return found


def _read_chain(content: Content) -> HiddenChain:
    one = read_plain({**content, "posterior": np.empty((0, content["states"]))}, HiddenChain)
    if one.transition.shape != (one.states, one.states) or one.share.shape != (one.states,):
        raise ValueError(f"{one.name!r} has {one.states} states, its transition {one.transition.shape}")
    return one


def _require_whole(found: Result) -> None:
    """What is said of hidden variables must fit the model that they are part of."""
    names = [each.name for each in found.hidden]
    if len(set(names)) != len(names) or not set(found.meanings) <= set(names):
        raise ValueError("its hidden variables do not have one name each")
    if found.other is None and not set(names) <= set(as_network(found.network).variables):
        raise ValueError("its network has not all of its hidden variables")
    model = found.model
    if model.causes is not None and model.causes.n_causes < len(names):
        raise ValueError("its causes are not those of its model")
    for each in found.hidden:
        if len(model.labels[each.name]) != each.states:
            raise ValueError(f"its model has no hidden variable {each.name!r} with {each.states} states")
    for each in (*found.hidden, *found.compressors):
        one = each.evidence
        if one is not None and (
            (one.draws and one.p_value is None) or (one.tested and one.kind.drawn and not one.draws)
        ):
            raise ValueError("evidence without its figures")
    columns = [each.name for each in found.shape.variables]
    if len(set(columns)) != len(columns) or any(len(set(v.states)) != len(v.states) for v in found.shape.variables):
        raise ValueError("a column or a state is there twice")
    for tree in found.merges.values():
        tree.require_whole()
