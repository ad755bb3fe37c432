"""How fast is a sweep of part D, and what does it cost to have more signs, causes or rows? Prints tables.

    python benchmarks/causes_speed.py

CPU time of one core, the best of several after compilation. Every sign is reached by three causes whatever the
size, so that only the size changes; the last table draws links from the prior, where more causes also means more
causes a sign.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.lines import table
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses, hidden_causes
from leverrier.noisy_or.gibbs import gibbs
from leverrier.noisy_or.moves.sweeps import visit_active, visit_rows
from leverrier.noisy_or.observations import Observations, pack
from leverrier.noisy_or.sampler import new_stream
from leverrier.noisy_or.sampler_state import Columns, Settings, State

SIZES = {
    "N": [(20, 10, 500), (40, 10, 500), (80, 10, 500), (160, 10, 500), (320, 10, 500)],
    "K": [(20, 10, 500), (20, 20, 500), (20, 40, 500), (20, 80, 500)],
    "T": [(20, 10, 500), (20, 10, 2000), (20, 10, 8000), (20, 10, 32000)],
}
KINDS = ("z and y", "+ births", "+ 10 split–merge", "+ 3 pairs")


def timed(action: Callable[[], object], seconds: float = 0.4) -> float:
    """Best CPU seconds of one call."""
    action()
    begun, n = time.thread_time(), 0
    while time.thread_time() - begun < seconds / 5:
        action()
        n += 1
    best = np.inf
    for _ in range(4):
        begun = time.thread_time()
        for _ in range(n):
            action()
        best = min(best, (time.thread_time() - begun) / n)
    return float(best)


def model_of(n: int, k: int, three: bool) -> HiddenCauses:
    if not three:
        return hidden_causes(n, k, 1, seed=1, distinct=False)[1].model
    rng = np.random.default_rng(1)
    links = np.zeros((n, k), np.uint8)
    for row in links:
        row[rng.choice(k, 3, replace=False)] = 1
    return HiddenCauses(links, 0.01, np.array(0.9), np.array(0.1))


def costs(n: int, k: int, t: int, three: bool) -> list[float]:
    """Seconds of the z-and-y flips, of the source's sweep, and of it with our moves added."""
    model = model_of(n, k, three)
    x, active = model.sample(t, 1)
    settings = Settings(epsilon=0.01, lam=0.9, p=0.1, alpha=3.0)
    observations, rng = Observations.of(x), np.random.default_rng(0)
    stream = new_stream(rng)
    state = State(np.ascontiguousarray(model.links.T), pack(np.ascontiguousarray(active.T)), 0.01, 0.9, 0.1, 3.0)
    fixed = replace(settings, method="rjmcmc")  # the same flips, no births
    columns, rows = Columns(state, observations, fixed), np.arange(n)

    def flips() -> None:
        visit_rows(columns, observations, fixed, rows, stream)
        visit_active(columns, observations, stream)

    steps = [gibbs(observations, s).step for s in (settings.plain(), replace(settings, pairs=0), settings)]
    return [timed(flips), *(timed(lambda step=step: step(rng, state)) for step in steps)]


def main() -> None:
    for axis, sizes in SIZES.items():
        found = np.array([costs(*size, three=True) for size in sizes])
        rows = [
            (*size, *(f"{c * 1e6:.0f}" for c in each), f"{1 / each[0]:,.0f}")
            for size, each in zip(sizes, found, strict=True)
        ]
        place = np.log([size["NKT".index(axis)] for size in sizes])
        slopes = [np.polyfit(place, np.log(column), 1)[0] for column in found.T]
        rows.append((f"exponent of {axis}", "", "", *(f"{slope:.2f}" for slope in slopes), ""))
        table(["N", "K", "T", *(f"{kind}, µs" for kind in KINDS), "z-and-y sweeps/s"], rows)
    found = [(k, *(f"{c * 1e6:.0f}" for c in costs(20, k, 500, three=False))) for k in (10, 20, 40)]
    table(["K, links from the prior", *(f"{kind}, µs" for kind in KINDS)], found)


if __name__ == "__main__":
    with np.errstate(over="ignore"):
        main()
