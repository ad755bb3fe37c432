"""Is part D exact and calibrated? The long versions of the tests: lines of JSON in build/causes.jsonl, then a table.

    PYTHONPATH=. python benchmarks/causes.py enumeration [--only "gibbs, default"] [--sweeps 200000]
    … numbers | laws | geweke | power | calibration

The path is for tests/naive, the judges that know nothing of the samplers.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.stats import chisquare, poisson

from benchmarks.lines import Line, run, table
from leverrier.models.noisy_or.causes_prior import Beta, Gamma, harmonic
from leverrier.noisy_or.gibbs import gibbs
from leverrier.noisy_or.observations import Observations
from leverrier.noisy_or.rjmcmc import rjmcmc
from leverrier.noisy_or.sampler_state import Settings
from tests.naive.enumerate_causes import moments, posterior, posterior_with_numbers, standardised
from tests.naive.geweke import draw_cells, joint_test, prior_state
from tests.naive.wrong_places import appending_links

NUMBERS = {"epsilon": 0.02, "lam": 0.9, "p": 0.5, "alpha": 2.0}
PRIORS = {"epsilon": Beta(1, 3), "lam": Beta(2, 1), "p": Beta(1, 2), "alpha": Gamma(3, 6)}
PROBLEMS = {
    "2×2": np.array([[1, 0], [1, 1]], np.uint8),
    "2×3": np.array([[1, 1, 1], [1, 1, 1]], np.uint8),
    "2×3 with holes": np.array([[1, 2, 1], [0, 1, 2]], np.uint8),
}
FINITE = {"method": "rjmcmc", "decay": 0.7}


def move_sets(**numbers) -> dict[str, Settings]:
    """The source's moves, each of ours added to them alone, and the default's (fewer a sweep: the sweeps are small)."""
    unbounded = Settings(**numbers, split_merge=2, pairs=1)
    finite = replace(unbounded, **FINITE)
    return {
        "gibbs, wood2006": unbounded.plain(),
        "gibbs, + split–merge": replace(unbounded.plain(), split_merge=1),
        "gibbs, + pairs": replace(unbounded.plain(), pairs=1),
        "gibbs, default": unbounded,
        "rjmcmc, wood2006": finite.plain(),
        "rjmcmc, + one-link births": replace(finite.plain(), solo=True),
        "rjmcmc, + split–merge": replace(finite.plain(), split_merge=1),
        "rjmcmc, + pairs": replace(finite.plain(), pairs=1),
        "rjmcmc, default": finite,
    }


def sampler_of(cells, settings):
    return (gibbs if settings.unbounded else rjmcmc)(Observations.of(np.ascontiguousarray(cells.T)), settings)


def deviations(cells, settings, exact, sweeps: int, seed: int = 1) -> Line:
    """Every moment's distance from the exact one in standard errors; the numbers' means too where they are sampled."""
    sampler, rng = sampler_of(cells, settings), np.random.default_rng(seed)
    state = sampler.init(rng, 0)
    found = np.empty((sweeps, len(exact)))
    for j in range(sweeps):
        state, _ = sampler.step(rng, state)
        row = moments(state.links)
        found[j] = [*row, state.epsilon, state.lam, state.p, state.alpha][: len(exact)]
    z = standardised(found, exact)
    worst = max(z, key=lambda name: abs(z[name]))
    return {
        "exact": float(exact["count"]),
        "found": float(found[:, 0].mean()),
        "moments": len(z),
        "worst": worst,
        "z": float(z[worst]),
        "sweeps": sweeps,
        "all": {name: round(float(v), 2) for name, v in z.items()},
    }


def exact_line(title: str, settings: Settings, sweeps: int) -> Line:
    """Numbers fixed."""
    asked = {"method": settings.method, "decay": settings.decay, "most": 16, "most_columns": 60}
    exact = posterior(PROBLEMS[title], **NUMBERS, **asked)
    return deviations(PROBLEMS[title], settings, exact, sweeps)


def numbers_line(title: str, settings: Settings, sweeps: int) -> Line:
    """All four numbers sampled: the judge integrates over them by quadrature."""
    exact = posterior_with_numbers(PROBLEMS[title], **PRIORS, method=settings.method, decay=settings.decay, most=14)
    return deviations(PROBLEMS[title], settings, exact, sweeps)


def enumeration(asked: argparse.Namespace) -> None:
    """Every move set against the exact posterior of tiny problems; `numbers` does it with hyper-parameters."""
    sampled = asked.check == "numbers"
    sweeps = asked.sweeps or 200_000
    work = [
        (f"{asked.check} {title}: {name}", partial(numbers_line if sampled else exact_line, title, settings, sweeps))
        for title in PROBLEMS
        for name, settings in move_sets(**(PRIORS if sampled else NUMBERS)).items()
        if asked.only in name and ("holes" not in title or "default" in name)
    ]
    rows = (
        (
            line["key"],
            f"{line['exact']:.4f}",
            f"{line['found']:.4f}",
            line["moments"],
            f"{line['z']:+.1f} ({line['worst']})",
        )
        for line in run(work, asked.output)
    )
    table(["problem: moves", "E[K] exact", "E[K] sampled", "moments", "worst, standard errors"], rows)


def laws_line(settings: Settings, sweeps: int) -> Line:
    """Likelihood off (every cell a hole): K₊ ~ Poisson(α H_N), row sums ~ Poisson(α)."""
    n = 5
    sampler, rng = sampler_of(np.full((n, 3), 2, np.uint8), replace(settings, alpha=1.5)), np.random.default_rng(2)
    state, counts, rows = sampler.init(rng, 0), [], []
    for j in range(sweeps):
        state, _ = sampler.step(rng, state)
        if j % 20 == 0:
            counts.append(state.count)
            rows.append(int(state.links[:, 0].sum()))
    return {"count": fit(np.array(counts), 1.5 * harmonic(n)), "rows": fit(np.array(rows), 1.5), "sweeps": sweeps}


def fit(found, mean: float) -> float:
    """Chi-square p-value of counts against a Poisson, tails joined."""
    top = int(poisson.ppf(1 - 5 / len(found), mean))
    expected = poisson.pmf(np.arange(top), mean)
    expected = np.append(expected, 1 - expected.sum())
    seen = np.bincount(np.minimum(found, top), minlength=top + 1)
    return float(chisquare(seen, expected * len(found)).pvalue)


def laws(asked: argparse.Namespace) -> None:
    sets = {name: settings for name, settings in move_sets(**NUMBERS).items() if settings.unbounded}
    work = [
        (f"laws {name}", partial(laws_line, settings, asked.sweeps or 200_000))
        for name, settings in sets.items()
        if asked.only in name
    ]
    rows = ((line["key"], f"{line['count']:.3f}", f"{line['rows']:.3f}") for line in run(work, asked.output))
    table(["moves", "K₊ against Poisson(αH), p-value", "row sums against Poisson(α), p-value"], rows)


def geweke_line(settings: Settings, draws: int) -> Line:
    holes = np.zeros((3, 4), bool)
    holes[1, 2] = True
    z = joint_test(settings, n_observed=3, n_trials=4, draws=draws, seed=1, holes=holes)
    worst = max(z, key=lambda name: abs(z[name]))
    return {
        "moments": len(z),
        "worst": worst,
        "z": z[worst],
        "draws": draws,
        "all": {name: round(v, 2) for name, v in z.items()},
    }


def geweke(asked: argparse.Namespace) -> None:
    """Geweke's joint test, every number sampled, one cell a hole."""
    numbers = {**PRIORS, "alpha": Gamma(3, 2)}
    sets = {name: settings for name, settings in move_sets(**numbers).items() if "+" not in name}
    for method, more in (("gibbs", {}), ("rjmcmc", FINITE)):
        sets[f"{method}, λ and p of each cause"] = Settings(**numbers, **more, each_lam=True, each_p=True)
    work = [
        (f"geweke {name}", partial(geweke_line, settings, asked.sweeps or 40_000))
        for name, settings in sets.items()
        if asked.only in name
    ]
    rows = ((line["key"], line["moments"], f"{line['z']:+.1f} ({line['worst']})") for line in run(work, asked.output))
    table(["sampler", "moments", "worst, standard errors"], rows)


PLAIN = Settings(**NUMBERS).plain()
BUGS = {
    "births α/(N+1) for α/N": (
        PLAIN,
        mock.patch("leverrier.noisy_or.moves.sweeps.birth_rate", lambda alpha, n: alpha / (n + 1)),
    ),
    "a row left out": (
        PLAIN,
        mock.patch("leverrier.noisy_or.gibbs.row_order", lambda n, rng: rng.permutation(n)[:-1] % (n - 1)),
    ),
    "columns appended, fixed order": (
        PLAIN,
        mock.patch("leverrier.noisy_or.moves.sweeps.sweep_links", appending_links()),
    ),
    "a split's prior and choices left out": (
        Settings(**NUMBERS),
        mock.patch("leverrier.noisy_or.moves.split_merge._move_ratio", return_value=0.0),
    ),
}


def bug_line(name: str, sweeps: int) -> Line:
    """The check of `enumeration` on a sampler broken on purpose."""
    settings, patch = BUGS[name]
    with patch:
        return exact_line("2×3", settings, sweeps)


def power(asked: argparse.Namespace) -> None:
    """Seeded bugs must be seen: more than 4 standard errors."""
    work = [(f"power {name}", partial(bug_line, name, asked.sweeps or 200_000)) for name in BUGS]
    rows = (
        (line["key"], f"{line['exact']:.4f}", f"{line['found']:.4f}", f"{line['z']:+.1f} ({line['worst']})")
        for line in run(work, asked.output)
    )
    table(["bug", "E[K] exact", "E[K] sampled", "worst, standard errors"], rows)


NAMES = ("epsilon", "lambda", "p", "alpha", "count", "log joint")


def calibration_line(method: str, seed: int, sweeps: int) -> Line:
    """Truth from the prior, data from the truth: its rank among posterior draws, and whether 90 % cover it."""
    settings = Settings(
        method=method,
        alpha=Gamma(4, 2),
        epsilon=Beta(1, 9),
        lam=Beta(6, 2),
        p=Beta(2, 6),
        decay=0.7,
        split_merge=3,
        pairs=1,
    )
    rng = np.random.default_rng([7, seed])
    truth = prior_state(settings, 6, 60, rng)
    sampler = sampler_of(draw_cells(truth, 60, rng), settings)
    state = sampler.init(rng, 0)
    kept = []
    for j in range(sweeps):
        state, _ = sampler.step(rng, state)
        if j >= sweeps // 5 and j % (sweeps // 125) == 0:
            kept.append([state.epsilon, state.lam, state.p, state.alpha, state.count, sampler.log_joint(state)])
    draws = np.array(kept)
    true = np.array([truth.epsilon, truth.lam, truth.p, truth.alpha, truth.count, sampler.log_joint(truth)])
    below, ties = (draws < true).sum(axis=0), (draws == true).sum(axis=0)
    ranks = (below + rng.random(len(true)) * (ties + 1)) / (len(draws) + 1)
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    return {"ranks": ranks.tolist(), "covered": ((low <= true) & (true <= high)).tolist(), "draws": len(draws)}


def calibration(asked: argparse.Namespace) -> None:
    """Simulation-based calibration on 200 small data sets: ranks uniform by chi-square over ten bins."""
    for method in ("gibbs", "rjmcmc"):
        if asked.only not in method:
            continue
        work = [
            (f"calibration {method} #{seed}", partial(calibration_line, method, seed, asked.sweeps or 2000))
            for seed in range(200)
        ]
        lines = run(work, asked.output)
        ranks, covered = (np.array([line[name] for line in lines]) for name in ("ranks", "covered"))
        rows = (
            (name, f"{chisquare(np.histogram(ranks[:, j], 10, (0, 1))[0]).pvalue:.3f}", f"{covered[:, j].mean():.3f}")
            for j, name in enumerate(NAMES)
        )
        table([f"{method}, {len(lines)} data sets", "ranks uniform, p-value", "90 % interval covers"], rows)


if __name__ == "__main__":
    checks = {
        "enumeration": enumeration,
        "numbers": enumeration,
        "laws": laws,
        "geweke": geweke,
        "power": power,
        "calibration": calibration,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--only", default="", help="move sets whose name holds this text")
    parser.add_argument("--sweeps", type=int, default=None, help="sweeps or draws, for a shorter look")
    parser.add_argument("--output", type=Path, default=Path("build/causes.jsonl"))
    asked = parser.parse_args()
    with np.errstate(over="ignore"):
        checks[asked.check](asked)
