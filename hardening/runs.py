"""Small long runs: the same ones that the checks stop, kill and resume, and the digests of their answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import leverrier as lv
from leverrier.api.saved import dump

COLUMNS = ["CATECHOL", "CO", "HRBP", "ERRLOWOUTPUT", "HREKG", "HRSAT"]
IGNORED = ("seconds", "versions", "finished")
"""What may differ between two runs with the same answer."""


@cache
def rows(number: int = 300) -> lv.Table:
    """A table with the heart rate taken away."""
    return lv.datasets.network("alarm").sample(number, seed=4).select(COLUMNS)


@cache
def signs() -> Any:
    return lv.datasets.hidden_causes(n_observed=6, n_causes=3, n_trials=120, seed=1)[0]


def search(folder: Path | None) -> str:
    found: Any = lv.discover(
        rows(200).select(COLUMNS[1:]),
        draws=2,
        resamples=1,
        max_hidden=1,
        jobs=1,
        seed=1,
        checkpoint=folder,
        resume=folder is not None,
    )
    return of_json(json.loads(dump(replace(found.result, seconds=0.0))))


def chains(folder: Path | None) -> str:
    found = lv.hidden_causes(signs(), sweeps=60, chains=2, seed=1, jobs=1, checkpoint=folder, resume=folder is not None)
    return of_arrays(found.shared, found.links, *found.trace.values())


@cache
def days() -> lv.Sequences:
    """Three yes/no columns of two patients: a state that lasts is behind two of them, the third repeats the first."""
    rng = np.random.default_rng(5)
    state = np.cumsum(rng.random(160) < 0.05) % 2
    first, second = (rng.random((2, 160)) < np.where(state == 1, 0.85, 0.15)).astype(int).tolist()
    frame = {
        "who": [0] * 80 + [1] * 80,
        "day": [*range(80)] * 2,
        "a": first,
        "b": second,
        "c": np.roll(first, 2).tolist(),
    }
    return lv.read_sequences(frame, by="who", time="day")


def slices(folder: Path | None, method: Any = "sequences") -> str:
    found: Any = lv.discover(days(), method=method, seed=1, checkpoint=folder, resume=folder is not None)
    return of_json(json.loads(dump(replace(found.result, seconds=0.0))))


RUNS: dict[str, Callable[[Path | None], str]] = {
    "discover": search,
    "causes": chains,
    "sequences": slices,
    "memories": partial(slices, method="boyen1999"),
}


def of_json(content: Any) -> str:
    """A digest of a saved answer, without what may differ."""
    return hashlib.sha256(json.dumps(_bare(content), sort_keys=True).encode()).hexdigest()


def of_arrays(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _bare(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _bare(value) for key, value in content.items() if key not in IGNORED}
    return [_bare(value) for value in content] if isinstance(content, list) else content
