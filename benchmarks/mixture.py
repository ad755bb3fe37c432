"""Mixtures of Gaussians against scikit-learn: same rows, same start, same number of iterations, both log-likelihoods.

    scripts/bench mixture [--sizes 100000x10,1000000x2] [--components 3] [--jobs 1,2]

Time per iteration is that of many iterations less that of two, over their number: what comes before and after the
iterations is left out. `--cpu` counts processor time with one thread on both sides, for a machine that others use too.
Memory is how far the process's peak rose above what it held before the fit, in a process of its own (Linux).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.models.mixture import Mixture

SAME = 10
"""Log-likelihoods are compared after so many iterations."""
FEW, MANY = 2, 14
ROUNDS = 5
SIZES = "100000x10,1000000x2,1000000x1,100000x50"


Run = Callable[[int], tuple[int, float]]
"""So many iterations at most: how many were made, and the log-likelihood."""


def simulate(n: int, d: int, k: int) -> tuple[np.ndarray, Mixture]:
    """Rows of k overlapping components, and a start that is off."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(k, d)) * 2 / d**0.25
    spread = rng.normal(size=(k, d, d)) / np.sqrt(d)
    true = Mixture(np.full(k, 1 / k), means, spread @ spread.transpose(0, 2, 1) + np.eye(d))
    start = Mixture(np.full(k, 1 / k), means + rng.normal(size=(k, d)) * 0.3, np.broadcast_to(3 * np.eye(d), (k, d, d)))
    return true.sample(n, seed=1), start


def per_iteration(run: Run, clock: Callable[[], float]) -> float:
    """Seconds an iteration: many iterations less few, each the best of some rounds."""
    times, counts = [], []
    for wanted in (FEW, MANY):
        rounds = []
        for _ in range(ROUNDS):
            begin = clock()
            done, _ = run(wanted)
            rounds.append(clock() - begin)
        times.append(min(rounds))
        counts.append(done)
    return (times[1] - times[0]) / (counts[1] - counts[0])


def ours(x: np.ndarray, start: Mixture, kind: str, jobs: int) -> Run:
    def run(count: int) -> tuple[int, float]:
        found = fit_mixture(
            x,
            start.n_components,
            kind,
            init=start,
            prior=None,
            tolerance=0,
            max_iterations=count,
            accelerate=False,
            jobs=jobs,
        )
        return found.iterations, found.log_likelihood

    return run


def theirs(x: np.ndarray, start: Mixture, kind: str) -> Run:
    from sklearn.mixture import GaussianMixture

    precisions = np.linalg.inv(start.matrices)
    first = {"full": precisions, "diagonal": np.diagonal(precisions, axis1=1, axis2=2)}[kind]

    def run(count: int) -> tuple[int, float]:
        model = GaussianMixture(
            start.n_components,
            covariance_type={"full": "full", "diagonal": "diag"}[kind],
            tol=0,
            reg_covar=0,
            max_iter=count,
            weights_init=start.weights,
            means_init=start.means,
            precisions_init=first,
            init_params="random_from_data",
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x)
        return model.n_iter_, float(model.score(x)) * len(x)

    return run


def memory(n: int, d: int, k: int) -> None:
    """In a process of its own: how much the peak grew while fitting, in megabytes."""
    x, _ = simulate(1000, d, k)
    fit_mixture(x, k, starts=1, max_iterations=3)  # what compiling and importing need is not the data's fault
    x, start = simulate(n, d, k)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = held("VmRSS")
    fit_mixture(x, k, init=start, max_iterations=5, tolerance=0)
    fit_mixture(x, k, starts=2, max_iterations=5)
    print(json.dumps({"data": x.nbytes / 2**20, "growth": held("VmHWM") - before}))


def held(what: str) -> float:
    """Megabytes of memory, now (VmRSS) or at the peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 2**10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--components", type=int, default=3)
    parser.add_argument("--jobs", default="1,2")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--kind", default="full", choices=["full", "diagonal"])
    parser.add_argument("--memory", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    k = options.components
    if options.memory:
        memory(*map(int, options.memory.split("x")), k)
        return
    clock = time.process_time if options.cpu else time.perf_counter
    jobs_wanted = [1] if options.cpu else [int(jobs) for jobs in options.jobs.split(",")]
    threadpool_limits(1 if options.cpu else None)
    for size in options.sizes.split(","):
        n, d = map(int, size.split("x"))
        x, start = simulate(n, d, k)
        other = theirs(x, start, options.kind)
        seconds, reference = per_iteration(other, clock), other(SAME)[1]
        print(f"{n:>9,} x {d:<3} k={k} {options.kind}: scikit-learn {seconds * 1e3:9.2f} ms an iteration", flush=True)
        for jobs in jobs_wanted:
            own = ours(x, start, options.kind, jobs)
            mine, value = per_iteration(own, clock), own(SAME)[1]
            print(
                f"{'':25} ours, {jobs} threads {mine * 1e3:7.2f} ms: {seconds / mine:5.1f} times faster; "
                f"log-likelihood {value:.6f}, theirs {reference:.6f}; {mine * 1e9 / (n * d):.2f} ns a cell",
                flush=True,
            )
        done = subprocess.run(
            [sys.executable, __file__, "--memory", size, "--components", str(k)],
            capture_output=True,
            text=True,
            check=True,
        )
        used = json.loads(done.stdout)
        print(f"{'':25} memory: data {used['data']:.0f} MB, peak grew by {used['growth']:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
