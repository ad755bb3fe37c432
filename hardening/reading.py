"""What must hold of anything we read: one clear line, or a model that is sound all through."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import leverrier as lv
from leverrier.api.saved import dump
from leverrier.formats.dynamic_files import dumps_dynamic, loads_dynamic
from leverrier.formats.network_json import dumps_json, loads_json


def wrong_with_reading(kind: str, path: Path) -> str | None:
    """In words, what is wrong with how a file is taken; None if it is refused in one line or read soundly."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _read(kind, path)
    except lv.LeverrierError as error:
        said = str(error)
        return None if said.strip() and "\n" not in said.strip() else f"not one line: {said!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _read(kind: str, path: Path) -> None:
    if kind in ("csv", "parquet", "sav", "dta", "xlsx"):
        _sound_table(lv.read_table(path))
    elif kind in ("dynamic", "dynamic bif"):
        network = lv.read_dynamic(path)
        _require(dumps_dynamic(loads_dynamic(dumps_dynamic(network))) == dumps_dynamic(network), "does not come back")
    elif kind == "discovery":
        found: Any = lv.load(path)
        for model in (found.network, found.baseline):
            _sound_network(model)
        _require(bool(str(found)) and bool(found.headline), "no words")
        dump(found.result)
    else:
        _sound_network(lv.read_network(path))


def _sound_table(table: lv.Table) -> None:
    for place, variable in enumerate(table.columns):
        codes = table.codes[place]
        _require(bool(((codes == table.missing) | (codes < len(variable.states))).all()), "a code without a state")
        _require(len(set(variable.states)) == len(variable.states), "a state twice")
    _require(table.n_rows >= 0 and bool(np.isfinite(table.total)), "no number of rows")


def _sound_network(network: lv.Network) -> None:
    for name in network.variables:
        table = network.cpt(name)
        _require(table.shape == network.shape(name), f"the table of {name!r} has another shape")
        _require(bool((table >= 0).all()) and bool(np.allclose(table.sum(axis=-1), 1, atol=1e-6)), "no probabilities")
        _require(len(set(network.states[name])) == network.cardinality(name), "a state twice")
    text = dumps_json(network)
    _require(dumps_json(loads_json(text)) == text, "does not come back")


def _require(holds: bool, words: str) -> None:
    if not holds:
        raise AssertionError(words)
