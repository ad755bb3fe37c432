"""Is part D exact, calibrated and fast? The long versions of the tests; each prints a table.

    PYTHONPATH=src:. python benchmarks/causes.py enumeration [--sweeps 200000]
    … laws | geweke | calibration | speed
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from scipy.stats import chisquare, kstest, poisson
from tests.naive.enumerate_causes import moment_names, moments, posterior, standardised
from tests.naive.geweke import draw_cells, joint_test, prior_state

from leverrier.model.causes_prior import Beta, Gamma, harmonic
from leverrier.model.hidden_causes import hidden_causes
from leverrier.sampling.gibbs import gibbs
from leverrier.sampling.observations import Observations, pack
from leverrier.sampling.rjmcmc import rjmcmc
from leverrier.sampling.sampler import new_stream
from leverrier.sampling.state import Columns, Settings, State
from leverrier.sampling.sweeps import visit_active, visit_rows

NUMBERS = {"epsilon": 0.02, "lam": 0.9, "p": 0.5, "alpha": 2.0}
PROBLEMS = {
    "2×2": np.array([[1, 0], [1, 1]], np.uint8),
    "2×3": np.array([[1, 1, 1], [1, 1, 1]], np.uint8),
    "2×3 with holes": np.array([[1, 2, 1], [0, 1, 2]], np.uint8),
}
FINITE = {"method": "rjmcmc", "decay": 0.7}
MOVES = {
    "gibbs, source's moves": Settings(**NUMBERS).plain(),
    "gibbs + split–merge": replace(Settings(**NUMBERS).plain(), split_merge=1),
    "gibbs + pairs": replace(Settings(**NUMBERS).plain(), pairs=1),
    "gibbs, all moves": Settings(**NUMBERS, split_merge=1, pairs=1),
    "rjmcmc, source's moves": Settings(**NUMBERS, **FINITE).plain(),
    "rjmcmc + one-link births": replace(Settings(**NUMBERS, **FINITE).plain(), solo=True),
    "rjmcmc + split–merge": replace(Settings(**NUMBERS, **FINITE).plain(), split_merge=1),
    "rjmcmc, all moves": Settings(**NUMBERS, **FINITE, split_merge=1, pairs=1),
}


def sampler_of(cells, settings):
    return (gibbs if settings.unbounded else rjmcmc)(Observations.of(np.ascontiguousarray(cells.T)), settings)


def enumeration(sweeps: int) -> None:
    """Every move set against the exact posterior of tiny problems."""
    print("| problem | moves | E[K] exact | E[K] sampled | worst moment, standard errors |\n|---|---|---|---|---|")
    for title, cells in PROBLEMS.items():
        for name, settings in MOVES.items():
            if "holes" in title and "all" not in name:
                continue
            exact = posterior(
                cells, **NUMBERS, method=settings.method, decay=settings.decay, most=16 if len(cells) == 2 else 9
            )
            sampler, rng = sampler_of(cells, settings), np.random.default_rng(1)
            state = sampler.init(rng, 0)
            sums = np.empty((sweeps, len(moment_names(len(cells)))))
            for j in range(sweeps):
                state, _ = sampler.step(rng, state)
                sums[j] = moments(state.links)
            z = standardised(sums, exact)
            worst = max(z, key=lambda k: abs(z[k]))
            found = sums[:, 0].mean()
            print(f"| {title} | {name} | {exact['count']:.4f} | {found:.4f} | {z[worst]:+.1f} ({worst}) |", flush=True)


def laws(sweeps: int) -> None:
    """Likelihood off (every cell a hole): K₊ ~ Poisson(α H_N), row sums ~ Poisson(α)."""
    n = 5
    cells = np.full((n, 3), 2, np.uint8)
    print("| moves | K₊ against Poisson(αH), p-value | row sums against Poisson(α), p-value |\n|---|---|---|")
    for name in ("gibbs, source's moves", "gibbs, all moves"):
        sampler, rng = sampler_of(cells, replace(MOVES[name], alpha=1.5)), np.random.default_rng(2)
        state = sampler.init(rng, 0)
        counts, rows = [], []
        for j in range(sweeps):
            state, _ = sampler.step(rng, state)
            if j % 20 == 0:
                counts.append(state.count)
                rows.append(int(state.links[:, 0].sum()))
        values = [fit(np.array(found), mean) for found, mean in ((counts, 1.5 * harmonic(n)), (rows, 1.5))]
        print(f"| {name} | {values[0]:.3f} | {values[1]:.3f} |", flush=True)


def fit(found, mean: float) -> float:
    """Chi-square p-value of counts against a Poisson, tails joined."""
    top = int(poisson.ppf(1 - 5 / len(found), mean))
    expected = poisson.pmf(np.arange(top), mean)
    expected = np.append(expected, 1 - expected.sum())
    seen = np.bincount(np.minimum(found, top), minlength=top + 1)
    return float(chisquare(seen, expected * len(found)).pvalue)


def geweke(draws: int) -> None:
    """Geweke's joint test, every number sampled."""
    numbers = {"alpha": Gamma(3, 2), "epsilon": Beta(1, 3), "lam": Beta(2, 1), "p": Beta(1, 2)}
    print("| sampler | moments | worst, standard errors |\n|---|---|---|")
    for name, settings in {
        "gibbs, all moves": Settings(**numbers, split_merge=2, pairs=1),
        "gibbs, source's moves": Settings(**numbers).plain(),
        "gibbs, λ and p of each cause": Settings(**numbers, each_lam=True, each_p=True, split_merge=2, pairs=1),
        "rjmcmc, all moves": Settings(**numbers, **FINITE, split_merge=2, pairs=1),
        "rjmcmc, source's moves": Settings(**numbers, **FINITE).plain(),
        "rjmcmc, λ and p of each cause": Settings(
            **numbers, **FINITE, each_lam=True, each_p=True, split_merge=2, pairs=1
        ),
    }.items():
        z = joint_test(settings, n_observed=3, n_trials=4, draws=draws, seed=1)
        worst = max(z, key=lambda k: abs(z[k]))
        print(f"| {name} | {len(z)} | {z[worst]:+.1f} ({worst}) |", flush=True)


def calibration(n_sets: int) -> None:
    """Simulation-based calibration: truth from the prior, data from the truth, its rank among posterior draws."""
    for method in ("gibbs", "rjmcmc"):
        settings = Settings(
            method=method, alpha=Gamma(4, 2), epsilon=Beta(1, 9), lam=Beta(6, 2), p=Beta(2, 6), decay=0.7,
            split_merge=3, pairs=1,
        )  # fmt: skip
        names = ("epsilon", "lambda", "p", "alpha", "count", "log joint")
        ranks, covered = np.empty((n_sets, len(names))), np.zeros(len(names))
        for s in range(n_sets):
            rng = np.random.default_rng([7, s])
            truth = prior_state(settings, 6, 60, rng)
            sampler = sampler_of(draw_cells(truth, 60, rng), settings)
            state = sampler.init(rng, 0)
            kept = []
            for j in range(2000):
                state, _ = sampler.step(rng, state)
                if j >= 400 and j % 16 == 0:
                    kept.append([state.epsilon, state.lam, state.p, state.alpha, state.count, sampler.log_joint(state)])
            draws = np.array(kept)
            true = np.array([truth.epsilon, truth.lam, truth.p, truth.alpha, truth.count, sampler.log_joint(truth)])
            below, ties = (draws < true).sum(axis=0), (draws == true).sum(axis=0)
            ranks[s] = (below + rng.random(len(true)) * (ties + 1)) / (len(draws) + 1)
            low, high = np.quantile(draws, [0.05, 0.95], axis=0)
            covered += (low <= true) & (true <= high)
        print(f"\n{method}, {n_sets} data sets\n\n| | ranks uniform, p-value | 90 % interval covers |\n|---|---|---|")
        for name, rank, cover in zip(names, ranks.T, covered / n_sets, strict=True):
            print(f"| {name} | {kstest(rank, 'uniform').pvalue:.3f} | {cover:.2f} |", flush=True)


def timed(action, repeats: int = 20, times: int = 20) -> float:
    """Best CPU seconds of one call."""
    action()
    best = np.inf
    for _ in range(repeats):
        start = time.thread_time()
        for _ in range(times):
            action()
        best = min(best, (time.thread_time() - start) / times)
    return best


def speed(_: int) -> None:
    """z-and-y sweeps a second on one core, what split–merge adds, and cost against N, K and T."""
    print("| N | K | T | z and y, µs | sweeps/s | + births, µs | whole step, split–merge 10 + pairs 3, µs |")
    print("|---|---|---|---|---|---|---|")
    sizes = [(20, 10, 500), (40, 10, 500), (60, 10, 500), (20, 20, 500), (20, 40, 500), (20, 10, 2000), (20, 10, 8000)]
    for n, k, t in sizes:
        model = hidden_causes(n, k, 10, seed=1, distinct=False)[1].model
        x, active = model.sample(t, 1)
        settings = Settings(epsilon=0.01, lam=0.9, p=0.1, alpha=3.0)
        observations, rng = Observations.of(x), np.random.default_rng(0)
        stream = new_stream(rng)
        state = State(np.ascontiguousarray(model.links.T), pack(np.ascontiguousarray(active.T)), 0.01, 0.9, 0.1, 3.0)
        fixed = replace(settings, method="rjmcmc")  # the same flips, no births
        columns, rows = Columns(state, observations, fixed), np.arange(n)

        def flips(columns=columns, observations=observations, fixed=fixed, rows=rows, stream=stream):
            visit_rows(columns, observations, fixed, rows, stream)
            visit_active(columns, observations, stream)

        plain, whole = (gibbs(observations, s) for s in (settings.plain(), settings))
        each = timed(flips)
        births = timed(lambda plain=plain, state=state, rng=rng: plain.step(rng, state))
        full = timed(lambda whole=whole, state=state, rng=rng: whole.step(rng, state), 5, 5)
        costs = f"{each * 1e6:.0f} | {1 / each:.0f} | {births * 1e6:.0f} | {full * 1e6:.0f}"
        print(f"| {n} | {k} | {t} | {costs} |", flush=True)


if __name__ == "__main__":
    checks = {"enumeration": (enumeration, 200_000), "laws": (laws, 400_000), "geweke": (geweke, 60_000),
              "calibration": (calibration, 200), "speed": (speed, 0)}  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--sweeps", type=int, default=None, help="sweeps, draws or data sets")
    asked = parser.parse_args()
    check, usual = checks[asked.check]
    with np.errstate(over="ignore"):
        check(asked.sweeps or usual)
