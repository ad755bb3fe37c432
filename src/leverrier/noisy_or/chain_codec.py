"""A chain as a piece of a checkpoint: plain values and arrays, from which it goes on bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from leverrier.errors import FormatError
from leverrier.noisy_or.draws import Draws
from leverrier.noisy_or.sampler_state import State

TRACES = ("epsilon", "lambda", "p", "alpha", "count", "log_joint")


def chain_piece(rng: np.random.Generator, state: State, trace: dict[str, list[float]], draws: Draws) -> dict[str, Any]:
    """The state, the generator's own state, and everything recorded so far."""
    return {
        "generator": rng.bit_generator.state,
        "links": state.links,
        "active": state.active,
        "numbers": np.array([state.epsilon, state.alpha]),
        "lam": np.asarray(state.lam, np.float64),
        "p": np.asarray(state.p, np.float64),
        "trace": {name: np.array(values) for name, values in trace.items()},
        "draws": draws.to_arrays(state.links.shape[1], state.active.shape[1]),
    }


def chain_of(
    piece: dict[str, Any], first: State, rng: np.random.Generator
) -> tuple[State, dict[str, list[float]], Draws]:
    """What chain_piece kept, shaped like a chain's first state; the generator is set to where it was."""
    try:
        epsilon, alpha = (float(v) for v in piece["numbers"])
        lam, p = (value if value.ndim else float(value) for value in (piece["lam"], piece["p"]))
        state = State(piece["links"], piece["active"], epsilon, lam, p, alpha)
        for mine, theirs in ((state.links, first.links), (state.active, first.active)):
            if mine.shape != (len(state.links), *theirs.shape[1:]) or mine.dtype != theirs.dtype:
                raise ValueError("its causes do not fit the signs")
        trace = {name: piece["trace"][name].tolist() for name in TRACES}
        draws = Draws.from_arrays(piece["draws"])
        rng.bit_generator.state = piece["generator"]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise FormatError(f"no chain we can resume from ({problem}): remove the checkpoint") from None
    return state, trace, draws
