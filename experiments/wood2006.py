"""[wood2006 figures 3 and 4]: how many causes, and which structure, from data whose causes are known.

Every function takes sizes and a seed and gives back plain values. `CLAIMS` holds what the source says, and the two
`…_verdicts` set our figures beside it. The source's curves are pictures without printed numbers, so its claims are
its words; what can be compared to the digit is its own moves (`sampler="wood2006"`) and ours on the same data.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.accuracy import error_path
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as make
from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.noisy_or.sampler_state import Method

Moves = Literal["default", "wood2006"]
Line = dict[str, Any]

SAMPLERS: tuple[tuple[Method, Moves], ...] = (
    ("gibbs", "wood2006"),
    ("rjmcmc", "wood2006"),
    ("gibbs", "default"),
    ("rjmcmc", "default"),
)
STARTS = (0, 10)
"""No links at all, and ten random causes [wood2006 section 5]."""

STRUCTURES: dict[str, tuple[tuple[int, ...], ...]] = {
    "degree 1": (
        (1, 0, 0, 0, 0, 0),
        (0, 1, 0, 0, 0, 0),
        (0, 0, 1, 0, 0, 0),
        (0, 0, 0, 1, 0, 0),
        (0, 0, 0, 0, 1, 0),
        (0, 0, 0, 0, 0, 1),
    ),
    "disconnected": ((1, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1), (0, 0, 0, 1)),
    "under-complete": ((1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 1, 0), (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 1, 1)),
    "over-complete": (
        (1, 0, 0, 1, 0, 0, 0, 1),
        (0, 1, 0, 1, 0, 0, 1, 0),
        (1, 0, 1, 0, 0, 0, 0, 1),
        (0, 1, 0, 0, 1, 1, 0, 0),
        (0, 0, 1, 0, 1, 1, 0, 1),
        (1, 0, 0, 0, 0, 0, 1, 0),
    ),
}
"""Six signs by K causes. The source draws its four; these are of the kinds it names, with its K (6, 4, 4, 8), and
in the last one causes 5 and 6 reach the same signs, as it remarks of its own."""

CLAIMS: dict[str, str] = {
    "3 gibbs": "Gibbs slightly over-estimates the number of causes, but is close to it from both starts",
    "3 rjmcmc": "RJMCMC systematically under-estimates the number of causes from K = 1",
    "3 start": "RJMCMC is affected by initialisation: from ten random causes it does not come down to the truth",
    "4 gibbs": "Gibbs consistently recovers a structure close to the truth, in surprisingly few iterations",
    "4 rjmcmc": "RJMCMC performs poorly for all but the largest number of iterations",
    "4 over-complete": "the over-complete graph is recovered badly: some of its causes cannot be told apart",
}


def chain(
    x: NDArray[np.uint8],
    method: Method,
    sampler: Moves,
    sweeps: int,
    seed: int,
    start: int = 0,
    warmup: int | None = None,
) -> HiddenCausesResult:
    """One chain that knows ε, λ, p and α, as the source's did [wood2006 section 5]."""
    return hidden_causes(
        x,
        method,
        sweeps,
        1,
        seed,
        start=start,
        warmup=warmup,
        sampler=sampler,
        jobs=1,
        epsilon=0.01,
        lam=0.9,
        p=0.1,
        alpha=3.0,
    )


def figure3_line(
    n_causes: int,
    seed: int,
    start: int,
    method: Method = "gibbs",
    sampler: Moves = "default",
    *,
    n_observed: int = 20,
    n_trials: int = 500,
    sweeps: int = 500,
) -> Line:
    """One data set, one chain: K₊ on average over the second half of the sweeps, and over all as the source does.

    The source does not say how many signs it took. With 20, causes drawn from the buffet can nearly always be told
    apart; causes with the same signs are drawn anew.
    """
    x, _ = make(n_observed, n_causes, n_trials, seed=2000 + 10 * n_causes + seed)
    begun = time.process_time()
    run = chain(x, method, sampler, sweeps, seed, start)
    return {
        "causes": n_causes,
        "seed": seed,
        "start": start,
        "method": method,
        "sampler": sampler,
        "signs": n_observed,
        "count": run.expected_count,
        "count_all_sweeps": float(run.trace["count"].mean()),
        "seconds": time.process_time() - begun,
    }


def figure3_curves(lines: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Mean and standard deviation over data sets of K₊, by sampler, moves, start and true number of causes."""
    groups: dict[tuple[str, str, int, int], list[float]] = {}
    for line in lines:
        key = (line["method"], line["sampler"], line["start"], line["causes"])
        groups.setdefault(key, []).append(line["count"])
    return [
        {
            "method": method,
            "sampler": sampler,
            "start": start,
            "causes": causes,
            "mean": float(np.mean(values)),
            "sd": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
            "data_sets": len(values),
        }
        for (method, sampler, start, causes), values in groups.items()
    ]


def figure3_verdicts(lines: Sequence[Mapping[str, Any]]) -> list[Line]:
    """The source's claims of figure 3 beside ours: the farthest mean K₊ from the true number, with its sign.

    Close is within half a cause at every K. The source's RJMCMC must be too low from no links, too high from ten.
    """
    curves = figure3_curves(lines)
    found = []
    for method, sampler in SAMPLERS:
        for start in STARTS:
            own = [c for c in curves if (c["method"], c["sampler"], c["start"]) == (method, sampler, start)]
            if not own:
                continue
            far = max(own, key=lambda c: abs(c["mean"] - c["causes"]))
            off = far["mean"] - far["causes"]
            claim, holds = CLAIMS["3 gibbs"], abs(off) < 0.5
            if method == "rjmcmc" and sampler == "default":
                claim = "with our moves RJMCMC is close to it too"
            elif method == "rjmcmc":
                claim, holds = (CLAIMS["3 start"], off > 0.5) if start else (CLAIMS["3 rjmcmc"], off < -0.5)
            found.append(
                {
                    "figure": "3",
                    "method": method,
                    "sampler": sampler,
                    "start": start,
                    "claim": claim,
                    "farthest": off,
                    "at": far["causes"],
                    "holds": holds,
                }
            )
    return found


def figure4_line(
    structure: str,
    seed: int,
    method: Method = "gibbs",
    sampler: Moves = "default",
    *,
    n_trials: int = 500,
    sweeps: int = 500,
    points: int = 12,
) -> Line:
    """One data set, one chain from no links: both errors after so many sweeps, and the seconds of a sweep."""
    links = np.array(STRUCTURES[structure], np.uint8)
    x, _ = make(links=links, n_trials=n_trials, seed=3000 + seed)
    chain(x[:8], method, sampler, 2, seed)  # compiled before it is timed
    begun = time.process_time()
    run = chain(x, method, sampler, sweeps, seed, warmup=0)
    seconds = time.process_time() - begun
    path = error_path(run.draws, links, points)
    return {
        "structure": structure,
        "seed": seed,
        "method": method,
        "sampler": sampler,
        "sweeps": path.sweeps.tolist(),
        "in_degree": path.in_degree.tolist(),
        "structure_error": path.structure.tolist(),
        "count": run.expected_count,
        "seconds": seconds,
    }


def figure4_curves(lines: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Mean and standard deviation over data sets of both errors, by structure, sampler and moves."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["structure"], line["method"], line["sampler"]), []).append(line)
    found = []
    for (structure, method, sampler), own in groups.items():
        curve: Line = {"structure": structure, "method": method, "sampler": sampler, "sweeps": own[0]["sweeps"]}
        for kind in ("in_degree", "structure_error"):
            values = np.array([line[kind] for line in own])
            curve[kind], curve[f"{kind}_sd"] = values.mean(axis=0).tolist(), values.std(axis=0).tolist()
        curve["seconds"] = float(np.mean([line["seconds"] for line in own]))
        found.append(curve)
    return found


def figure4_verdicts(lines: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Ours against the source's moves on the same data, for each structure and sampler, at the last sweep.

    The source's figure 4 is a picture; its own moves, run here, stand for it. Ours hold when neither error is more
    than a tenth of a link above theirs.
    """
    curves = {(c["structure"], c["method"], c["sampler"]): c for c in figure4_curves(lines)}
    found = []
    for structure in STRUCTURES:
        for method in ("gibbs", "rjmcmc"):
            ours, theirs = (curves.get((structure, method, sampler)) for sampler in ("default", "wood2006"))
            if ours is None or theirs is None:
                continue
            ends = {kind: (ours[kind][-1], theirs[kind][-1]) for kind in ("in_degree", "structure_error")}
            special = "4 over-complete" if structure == "over-complete" else f"4 {method}"
            found.append(
                {
                    "figure": "4",
                    "structure": structure,
                    "method": method,
                    "claim": CLAIMS[special],
                    "in_degree": ends["in_degree"][0],
                    "in_degree_source_moves": ends["in_degree"][1],
                    "structure_error": ends["structure_error"][0],
                    "structure_error_source_moves": ends["structure_error"][1],
                    "holds": all(ours_end <= theirs_end + 0.1 for ours_end, theirs_end in ends.values()),
                }
            )
    return found
