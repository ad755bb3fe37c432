"""A chain on disk: written whole or not at all, read without pickle, resumed bit for bit."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.whole_file import put
from leverrier.errors import FormatError, OptionError
from leverrier.sampling.draws import Draws
from leverrier.sampling.observations import Observations
from leverrier.sampling.state import State

VERSION = 1
TRACES = ("epsilon", "lambda", "p", "alpha", "count", "log_joint")


def fingerprint(observations: Observations, asked: Any) -> str:
    """What a checkpoint belongs to: the signs and everything asked that changes the answer."""
    digest = hashlib.sha256(repr((VERSION, observations.cells.shape, asked)).encode())
    digest.update(observations.cells.tobytes())
    return digest.hexdigest()


def write_atomically(path: Path, arrays: dict[str, NDArray]) -> None:
    """An npz in the old one's place: a crash leaves one or the other."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def write(part: Path) -> None:
        with open(part, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    put(path, write)


def save_chain(
    path: Path, mark: str, rng: np.random.Generator, state: State, trace: dict[str, list[float]], draws: Draws
) -> None:
    """The state, the generator's own state, and everything recorded so far."""
    arrays: dict[str, NDArray] = {
        "about": np.array(json.dumps({"mark": mark, "version": VERSION, "generator": rng.bit_generator.state})),
        "links": state.links,
        "active": state.active,
        "numbers": np.array([state.epsilon, state.alpha]),
        "lam": np.asarray(state.lam, np.float64),
        "p": np.asarray(state.p, np.float64),
        **{f"trace_{name}": np.array(values) for name, values in trace.items()},
        **draws.to_arrays(state.links.shape[1], state.active.shape[1]),
    }
    write_atomically(path, arrays)


def load_chain(
    path: Path, mark: str, rng: np.random.Generator
) -> tuple[State, dict[str, list[float]], Draws]:
    """What save_chain wrote; the generator is set to where it was. Another run's file is refused."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays["about"]))
        if about["mark"] != mark or about["version"] != VERSION:
            raise OptionError(f"{path} belongs to other signs or options: remove it, or resume with those it had")
        lam, p = arrays["lam"], arrays["p"]
        epsilon, alpha = (float(v) for v in arrays["numbers"])
        lam, p = (value if value.ndim else float(value) for value in (lam, p))
        state = State(arrays["links"], arrays["active"], epsilon, lam, p, alpha)
        trace = {name: arrays[f"trace_{name}"].tolist() for name in TRACES}
        draws = Draws.from_arrays(arrays)
        rng.bit_generator.state = about["generator"]
    except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, OptionError):
            raise
        raise FormatError(f"this is no checkpoint we can resume from ({error}): remove it", path=str(path)) from None
    return state, trace, draws
