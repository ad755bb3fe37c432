"""What was found in sequences, as one JSON file, and back. No slice of the data is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from leverrier.api.kinds import TIME
from leverrier.data.sequences.slice_features import Memory
from leverrier.data.table import Variable
from leverrier.discovery.time.time_diagnostics import TimeSummary, read_summary
from leverrier.discovery.time.time_findings import Fold, HiddenChain, TimeFindings, Tried
from leverrier.errors import FormatError, LeverrierError
from leverrier.formats.dynamic_files import dumps_dynamic, loads_dynamic
from leverrier.formats.slice_models import column_content, read_column
from leverrier.status import Status

VERSION = 1
Content = Mapping[str, Any]


def dump_time(found: TimeFindings, columns: tuple[Variable, ...], summary: TimeSummary, settings: Content) -> str:
    """The JSON text: models in their own format, the table of what was tried, the hidden variables."""
    content = {
        "format": TIME,
        "version": VERSION,
        "verdict": found.verdict,
        "words": found.words.splitlines(),
        "hidden": [_chain(one) for one in found.hidden],
        "model": json.loads(dumps_dynamic(found.model)),
        "observed": None if found.observed is found.model else json.loads(dumps_dynamic(found.observed)),
        "bagged": None if found.bagged is None else json.loads(dumps_dynamic(found.bagged)),
        "columns": [column_content(column) for column in columns],
        "memories": [asdict(memory) for memory in found.memories],
        "table": [asdict(row) for row in found.table],
        "folds": [asdict(fold) for fold in found.folds],
        "status": found.status.name,
        **{name: getattr(found, name) for name in _PLAIN},
        **{name: list(getattr(found, name)) for name in _LISTS},
        "summary": asdict(summary),
        "settings": dict(settings),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)


_PLAIN = ("gain", "z", "observed_name", "lags", "n_slices", "accepted", "tested", "method", "inference")
_LISTS = ("order", "notes", "steps")


def _chain(one: HiddenChain) -> dict[str, Any]:
    return {
        "name": one.name,
        "states": one.states,
        "drives": list(one.drives),
        "transition": one.transition.tolist(),
        "share": one.share.tolist(),
        "window": one.window,
        "of": one.of,
        "depth": one.depth,
        "labels": list(one.labels),
        "profiles": {name: shares.tolist() for name, shares in one.profiles.items()},
    }


def load_time(content: Content, path: str | None = None) -> tuple[TimeFindings, tuple[Variable, ...], TimeSummary, Any]:
    """What `dump_time` wrote; anything damaged is refused in one line."""
    if content.get("version") != VERSION:
        raise FormatError(f"version {content.get('version')!r} of the format; this program reads {VERSION}", path=path)
    try:
        columns = tuple(read_column(each) for each in content["columns"])
        return _findings(content, path), columns, read_summary(content["summary"]), dict(content["settings"])
    except LeverrierError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise FormatError(f"a saved discovery with a part missing or damaged ({error})", path=path) from None


def _findings(content: Content, path: str | None) -> TimeFindings:
    model = loads_dynamic(json.dumps(content["model"]), path)
    other = content["observed"]
    observed: Any = model if other is None else loads_dynamic(json.dumps(other), path)
    bagged: Any = None if content["bagged"] is None else loads_dynamic(json.dumps(content["bagged"]), path)
    plain: dict[str, Any] = {name: content[name] for name in _PLAIN}
    plain |= {name: tuple(content[name]) for name in _LISTS}
    return TimeFindings(
        hidden=tuple(_read_chain(each) for each in content["hidden"]),
        model=model,
        observed=observed,
        bagged=bagged,
        memories=tuple(Memory(**each) for each in content["memories"]),
        table=tuple(Tried(**each) for each in content["table"]),
        folds=tuple(Fold(**each) for each in content["folds"]),
        status=Status[content["status"]],
        **plain,
    )


def _read_chain(content: Content) -> HiddenChain:
    states = int(content["states"])
    transition, share = np.array(content["transition"]), np.array(content["share"])
    if transition.shape != (states, states) or share.shape != (states,):
        raise ValueError(f"{content['name']!r} has {states} states, its transition {transition.shape}")
    return HiddenChain(
        content["name"],
        states,
        tuple(content["drives"]),
        transition,
        share,
        content["window"],
        np.empty((0, states)),
        {name: np.array(shares) for name, shares in content["profiles"].items()},
        content["of"],
        content["depth"],
        tuple(content["labels"]),
    )
