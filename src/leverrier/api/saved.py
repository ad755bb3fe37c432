"""Everything that was found out, as one JSON file, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from leverrier.api.kinds import TABLE, TIME
from leverrier.data.table import Variable
from leverrier.discovery.evidence.certainty import Certainty, Rows
from leverrier.discovery.evidence.null_test import Evidence
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.evidence.residual import Pair, Remaining
from leverrier.discovery.examined import Examined, Shape
from leverrier.discovery.findings import Attempt, HiddenVariable
from leverrier.discovery.meaning import Mark, State
from leverrier.discovery.states.merge_tree import MergeTree
from leverrier.errors import FormatError
from leverrier.formats.network_json import dumps_json, loads_json
from leverrier.formats.typed import require_types
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.models.mixture import Mixture
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses

VERSION = 1


def dump(found: Examined) -> str:
    """The JSON text. Networks are inside in their own format, numbers keep every digit."""
    content = {
        "format": TABLE,
        "version": VERSION,
        "verdict": found.verdict,
        "kind": found.kind,
        "hidden": [_variable(each) for each in found.hidden],
        "compressors": [_variable(each) for each in found.compressors],
        "network": json.loads(dumps_json(found.network)),
        "baseline": json.loads(dumps_json(found.baseline)),
        "score": found.score,
        "baseline_score": found.baseline_score,
        "spread": found.spread,
        "repaired": found.repaired,
        "shape": asdict(found.shape),
        "reason": found.reason,
        "meanings": {name: [_state(state) for state in states] for name, states in found.meanings.items()},
        "attempts": [asdict(each) for each in found.attempts],
        "power": None if found.power is None else {**asdict(found.power), "shares": list(found.power.shares.items())},
        "did": list(found.did),
        "settings": dict(found.settings),
        "seconds": found.seconds,
        "model": _model(found.model),
        "rows": None if found.rows is None else asdict(found.rows),
        "remaining": None if found.remaining is None else asdict(found.remaining),
        "scores": {name: [list(pair) for pair in pairs] for name, pairs in found.scores.items()},
        "merges": {name: asdict(tree) for name, tree in found.merges.items()},
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)


def read_content(text: str, path: str | None = None) -> dict[str, Any]:
    """The JSON of a saved discovery of either kind; anything else is refused in one line."""
    try:
        content = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise FormatError(f"not JSON: {error}", path=path) from None
    if not isinstance(content, dict) or content.get("format") not in (TABLE, TIME):
        raise FormatError("not a saved discovery: expected a file written by Discovery.save", path=path)
    return content


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is no number")
    return value


def load_examined(text: str, path: str | None = None) -> Examined:
    """What `dump` wrote; anything else is refused in one line."""
    content = read_content(text, path)
    if content.get("version") != VERSION:
        raise FormatError(f"version {content.get('version')!r} of the format; this program reads {VERSION}", path=path)
    try:
        found = _examined(content)
        require_types(found, "a saved discovery")
        _require_whole(found)
        return found
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise FormatError(f"a saved discovery with a part missing or damaged ({error})", path=path) from None


def _examined(content: Mapping[str, Any]) -> Examined:
    shape, power = content["shape"], content["power"]
    return Examined(
        verdict=content["verdict"],
        kind=content["kind"],
        hidden=tuple(_read_variable(each) for each in content["hidden"]),
        compressors=tuple(_read_variable(each) for each in content["compressors"]),
        network=loads_json(json.dumps(content["network"])),
        baseline=loads_json(json.dumps(content["baseline"])),
        score=float(content["score"]),
        baseline_score=float(content["baseline_score"]),
        spread=float(content["spread"]),
        repaired=float(content["repaired"]),
        shape=Shape(shape["rows"], shape["columns"], shape["holes"], tuple(shape["notes"]), _variables(shape)),
        reason=content["reason"],
        meanings={name: tuple(_read_state(each) for each in states) for name, states in content["meanings"].items()},
        attempts=tuple(
            Attempt(**{**each, "members": tuple(each["members"]), "neighbours": tuple(each["neighbours"])})
            for each in content["attempts"]
        ),
        power=None if power is None else Power(power["rows"], power["children"], dict(map(tuple, power["shares"]))),
        did=tuple(content["did"]),
        settings=content["settings"],
        seconds=float(content["seconds"]),
        model=_read_model(content["model"]),
        rows=_read_rows(content.get("rows")),
        remaining=_read_remaining(content.get("remaining")),
        scores={name: tuple((int(k), float(v)) for k, v in each) for name, each in content.get("scores", {}).items()},
        merges={name: _read_tree(each) for name, each in content.get("merges", {}).items()},
    )


def _read_tree(piece: Mapping[str, Any]) -> MergeTree:
    merges = tuple((int(left), int(right), float(gain)) for left, right, gain in piece["merges"])
    tree = MergeTree(tuple(piece["leaves"]), tuple(map(float, piece["rows"])), merges, int(piece["configurations"]))
    made = sorted(part for left, right, _ in merges for part in (left, right))
    whole = len(tree.leaves) == len(tree.rows) == len(merges) + 1 and made == list(range(2 * len(merges)))
    if not whole or any(max(left, right) >= len(tree.leaves) + m for m, (left, right, _) in enumerate(merges)):
        raise ValueError("a merge tree that is none")
    return tree


def _require_whole(found: Examined) -> None:
    """What is said of hidden variables must fit the model that they are part of."""
    names = [each.name for each in found.hidden]
    if len(set(names)) != len(names) or not set(found.meanings) <= set(names):
        raise ValueError("its hidden variables do not have one name each")
    if found.kind == "causes":
        if found.hidden and (not isinstance(found.model, HiddenCauses) or found.model.n_causes != len(names)):
            raise ValueError("its causes are not those of its model")
    elif isinstance(found.model, MixedClasses):
        if [each.states for each in found.hidden] != [len(found.model.numbers.weights)]:
            raise ValueError("its classes are not those of its model")
    else:
        for each in found.hidden:
            if each.name not in found.network.variables or found.network.cardinality(each.name) != each.states:
                raise ValueError(f"its network has no hidden variable {each.name!r} with {each.states} states")
    columns = [each.name for each in found.shape.variables]
    if len(set(columns)) != len(columns) or any(len(set(v.states)) != len(v.states) for v in found.shape.variables):
        raise ValueError("a column or a state is there twice")


def _read_rows(content: Mapping[str, Any] | None) -> Rows | None:
    if content is None:
        return None
    known = {
        name: Certainty(**{**each, "counts": tuple(each["counts"]), "worth": tuple(each["worth"])})
        for name, each in content["certainty"].items()
    }
    return Rows(float(content["total"]), content["holes"], known)


def _read_remaining(content: Mapping[str, Any] | None) -> Remaining | None:
    if content is None:
        return None
    return Remaining(**{**content, "pairs": tuple(Pair(**pair) for pair in content["pairs"])})


def _variables(shape: Mapping[str, Any]) -> tuple[Variable, ...]:
    return tuple(
        Variable(each["name"], tuple(each["states"]), each["kind"], tuple(each["cuts"])) for each in shape["variables"]
    )


def _variable(each: HiddenVariable) -> dict[str, Any]:
    evidence = None if each.evidence is None else asdict(each.evidence)
    return {
        "name": each.name,
        "states": each.states,
        "children": list(each.children),
        "parents": list(each.parents),
        "gain": each.gain,
        "signature": each.signature,
        "start": each.start,
        "evidence": evidence,
    }


def _read_variable(content: Mapping[str, Any]) -> HiddenVariable:
    evidence = content["evidence"]
    if evidence is not None:
        interval = evidence["held_out_interval"]
        evidence = Evidence(
            **{
                **evidence,
                "null_gains": tuple(evidence["null_gains"]),
                "held_out_interval": None if interval is None else tuple(interval),
            }
        )
        drawn = bool(evidence.null_gains)
        if (drawn and evidence.p_value is None) or (evidence.kind == "classes" and not drawn):
            raise ValueError("evidence without its figures")
    return HiddenVariable(
        content["name"],
        int(content["states"]),
        tuple(content["children"]),
        tuple(content["parents"]),
        float(content["gain"]),
        content["signature"],
        content["start"],
        evidence,
    )


def _state(state: State) -> dict[str, Any]:
    profile = {column: [[value, share] for value, share in shares.items()] for column, shares in state.profile.items()}
    return {
        "label": state.label,
        "prevalence": state.prevalence,
        "marks": [asdict(mark) for mark in state.marks],
        "profile": profile,
        "suggested": state.suggested,
    }


def _read_state(content: Mapping[str, Any]) -> State:
    profile = {column: dict(pairs) for column, pairs in content["profile"].items()}
    return State(
        content["label"],
        float(content["prevalence"]),
        tuple(Mark(**mark) for mark in content["marks"]),
        profile,
        content["suggested"],
    )


def _model(model: Any) -> dict[str, Any] | None:
    """Models that are no networks, as plain arrays."""
    if model is None:
        return None
    if isinstance(model, MixedClasses):
        numbers = model.numbers
        return {
            "classes": {
                "weights": numbers.weights.tolist(),
                "means": numbers.means.tolist(),
                "covariances": numbers.covariances.tolist(),
                "kind": numbers.kind,
                "names": list(numbers.names),
                "tables": {name: table.tolist() for name, table in model.tables.items()},
                "states": {name: list(states) for name, states in model.states.items()},
            }
        }
    return {
        "causes": {
            "links": model.links.tolist(),
            "epsilon": model.epsilon,
            "lam": model.lam.tolist(),
            "p": model.p.tolist(),
            "names": list(model.names),
        }
    }


def _read_model(content: Mapping[str, Any] | None) -> Any:
    if content is None:
        return None
    if "classes" in content:
        each = content["classes"]
        numbers = Mixture(
            np.array(each["weights"]),
            np.array(each["means"]),
            np.array(each["covariances"]),
            kind=each["kind"],
            names=tuple(each["names"]),
        )
        tables = {name: np.array(table) for name, table in each["tables"].items()}
        return MixedClasses(numbers, tables, {name: tuple(states) for name, states in each["states"].items()})
    each = content["causes"]
    return HiddenCauses(
        np.array(each["links"]), each["epsilon"], np.array(each["lam"]), np.array(each["p"]), names=tuple(each["names"])
    )
