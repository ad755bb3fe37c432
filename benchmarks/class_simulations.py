"""Latent class analysis on data of known models: bias and coverage, uniform p-values, and StepMix beside it.

    scripts/bench class_simulations [--parts bakk,coverage,nulls,invariance,stepmix] [--sets 100] [--rows 500]
        [--first 0] [--apart 0.9,0.8]

bakk        Bakk & Kuha's simulation as StepMix draws it: bias, spread, mean error and coverage of 95 % intervals of
            the predictor's slopes and the outcome's means, in one step, by ML and by BCH; items .9 and .8 apart
coverage    sizes and profiles of the same, from the observed information
nulls       residual p-values of pairs where nothing is left: Kolmogorov–Smirnov against uniform, share below .05
invariance  p-values of equal profiles in two groups that are the same, as given and without the scaling by drawing
stepmix     the same tables by StepMix: one step with a predictor, ML and BCH with an outcome; answers and time
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2, kstest

import leverrier as lv
from leverrier.learning.classes.latent_class_result import LatentClassResult
from tests.classes_cases import COLUMNS, INTERCEPTS, MEANS, SLOPES, bakk, in_order


def told(name: str, found: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Bias, spread, median error and coverage of estimates with their errors and the truth."""
    values, errors = np.array([each[0] for each in found]), np.array([each[1] for each in found])
    truth = found[0][2]
    cover = (np.abs(values - truth) < 1.959964 * errors).mean(axis=0)
    print(f"  {name}: {len(found)} sets")
    for label, row in (
        ("bias", values.mean(axis=0) - truth),
        ("spread", values.std(axis=0)),
        ("error", np.median(errors, axis=0)),
        ("covered", cover),
    ):
        print(f"    {label:8}", " ".join(f"{value:7.3f}" for value in row))
    print(f"    covered, all together {cover.mean():.3f}")


def coefficients(result: LatentClassResult) -> tuple[np.ndarray, np.ndarray]:
    """Constant and slope of Bakk's classes 1 and 2 against his 0, with errors: contrasts of ours."""
    order = in_order(result)
    estimates, covariance, terms, _ = result.study._logit
    whole = np.vstack([np.zeros((1, terms.size)), estimates])
    values, errors = [], []
    size = terms.size
    for k in (order[1], order[2]):
        for t in range(size):
            contrast = np.zeros(2 * size)
            if k:
                contrast[(k - 1) * size + t] += 1
            if order[0]:
                contrast[(order[0] - 1) * size + t] -= 1
            values.append(whole[k, t] - whole[order[0], t])
            errors.append(np.sqrt(contrast @ covariance @ contrast))
    return np.array(values), np.array(errors)


def run_bakk(sets: int, rows: int, first: int = 0, aparts: tuple[float, ...] = (0.9, 0.8)) -> None:
    truth = np.array([INTERCEPTS[1], SLOPES[1], INTERCEPTS[2], SLOPES[2]])
    for apart in aparts:
        print(
            f"Bakk's simulation, {rows} rows, items {apart} apart: constants and slopes of classes 1 and 2; three means"
        )
        found = defaultdict(list)
        begin = time.process_time()
        for seed in range(first, first + sets):
            frame, _ = bakk(rows, apart, np.random.default_rng(seed))
            for steps in (1, "ml", "bch"):
                more: dict[str, Any] = {} if steps == 1 else {"outcomes": "outcome"}
                columns = [*COLUMNS, "predictor", *([] if steps == 1 else ["outcome"])]
                result = lv.latent_classes(
                    frame[columns], states=3, predictors="predictor", steps=steps, starts=4, jobs=1, **more
                )
                found[f"predictor, {steps}"].append((*coefficients(result), truth))
                if steps != 1:
                    order = in_order(result)
                    own = [result.outcomes[k] for k in order]
                    means = np.array([row.estimate for row in own])
                    found[f"outcome, {steps}"].append((means, np.array([row.standard_error for row in own]), MEANS))
        for name, each in found.items():
            told(name, each)
        print(f"  {time.process_time() - begin:.1f} s of processor")


def run_coverage(sets: int, rows: int) -> None:
    print(f"Sizes and profiles, {rows} rows: coverage of 95 % intervals")
    inside: dict[str, list[bool]] = defaultdict(list)
    high = np.array([[0.9] * 6, [0.9] * 3 + [0.1] * 3, [0.1] * 6])
    for seed in range(sets):
        frame, _ = bakk(rows, 0.9, np.random.default_rng(seed))
        result = lv.latent_classes(frame[COLUMNS], states=3, starts=4, jobs=1)
        order = in_order(result)
        for scale in ("logit", "probability"):
            table = result.intervals(scale)
            for place, k in enumerate(order):
                for j, name in enumerate(COLUMNS):
                    row = table.where(column=name, state_class=k, of="yes")[0]
                    inside[f"profiles, {scale}"].append(row.lower < high[place, j] < row.upper)
                row = table.where(column="class", state_class=k)[0]
                inside[f"sizes, {scale}"].append(row.lower < 1 / 3 < row.upper)
    for name, each in inside.items():
        print(f"  {name}: {np.mean(each):.3f} of {len(each)}")


def uniform(name: str, found: list[float]) -> None:
    test = kstest(found, "uniform")
    share = np.mean(np.array(found) < 0.05)
    print(
        f"  {name}: {len(found)}, below .05: {share:.3f}, Kolmogorov–Smirnov {test.statistic:.3f}, p {test.pvalue:.3f}"
    )


Made = Callable[[int, int], dict[str, float]]


class Kept:
    """What each seed gave, a line of a file each: a run cut into pieces of `seconds` goes on where it was."""

    def __init__(self, path: Path | None, seconds: float) -> None:
        self.path, self.end = path, time.monotonic() + seconds
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known = {tuple(key): found for key, found in map(json.loads, lines)}

    def each(
        self, part: str, sets: int, rows: int, made: Callable[[int, int], dict[str, float]]
    ) -> dict[str, list[float]]:
        found: dict[str, list[float]] = defaultdict(list)
        for seed in range(sets):
            key = (part, rows, seed)
            if key not in self.known and time.monotonic() < self.end:
                self.known[key] = made(seed, rows)
                if self.path is not None:
                    with self.path.open("a") as file:
                        file.write(json.dumps([key, self.known[key]]) + "\n")
            for name, value in self.known.get(key, {}).items():
                found[name].append(value)
        return found


def null_residuals(seed: int, rows: int) -> dict[str, float]:
    frame, _ = bakk(rows, 0.9, np.random.default_rng(10_000 + seed))
    result = lv.latent_classes(frame[COLUMNS], states=3, starts=4, jobs=1)
    return {f"{row.first} and {row.second}": row.p_value for row in result.residuals}


def null_groups(seed: int, rows: int) -> dict[str, float]:
    rng = np.random.default_rng(20_000 + seed)
    frame = bakk(rows, 0.9, rng)[0][COLUMNS].assign(sex=rng.choice(["f", "m"], rows))
    result = lv.latent_classes(frame, states=3, by_group="sex", starts=4, jobs=1)
    row = result.invariance.where(model="equal", against="free")[0]
    scaled = result.study.invariance.scaled
    whole = row.statistic * (1.0 if scaled is None else scaled[1])
    return {
        "all columns": row.p_value,
        "all columns, not scaled": float(chi2.sf(whole, row.degrees_of_freedom)),
        "sizes": result.invariance.where(model="equal, sizes too")[0].p_value,
        "one column": result.tests.where(about="x0")[0].p_value,
    }


def run_nulls(sets: int, rows: int, kept: Kept) -> None:
    print(f"Residual p-values where nothing is left, {rows} rows")
    for name, each in kept.each("nulls", sets, rows, null_residuals).items():
        uniform(name, each)


def run_invariance(sets: int, rows: int, kept: Kept) -> None:
    print(f"Equal profiles in two groups that are the same, {rows} rows")
    for name, each in kept.each("invariance", sets, rows, null_groups).items():
        uniform(name, each)


def run_stepmix(rows: int) -> None:
    from stepmix import StepMix

    frame, _ = bakk(rows, 0.9, np.random.default_rng(1))
    items = (frame[COLUMNS] == "yes").astype(int)
    print(f"StepMix, {rows} rows, six items, three classes, 10 starts each")
    cases: tuple[tuple[str, str, int, str, dict[str, Any], str | None], ...] = (
        ("one step, predictor", "covariate", 1, "predictor", {"steps": 1, "predictors": "predictor"}, None),
        ("ML, predictor", "covariate", 3, "predictor", {"steps": "ml", "predictors": "predictor"}, "ML"),
        ("ML, outcome", "gaussian_diag", 3, "outcome", {"steps": "ml", "outcomes": "outcome"}, "ML"),
        ("BCH, outcome", "gaussian_diag", 3, "outcome", {"steps": "bch", "outcomes": "outcome"}, "BCH"),
    )
    for name, structural, steps, column, options, correction in cases:
        known = frame[[*COLUMNS, column]]
        lv.latent_classes(known, states=3, starts=10, jobs=1, **options)
        begin = time.process_time()
        result = lv.latent_classes(known, states=3, starts=10, jobs=1, **options)
        figures = result.coefficients if "predictors" in options else result.outcomes
        tests = len(result.tests)
        mine = time.process_time() - begin
        model = StepMix(
            3,
            measurement="binary",
            structural=structural,
            n_steps=steps,
            correction=correction,
            assignment="modal",
            n_init=10,
            max_iter=3000,
            abs_tol=1e-9,
            structural_params={"method": "newton-raphson", "max_iter": 5} if structural == "covariate" else None,
            random_state=0,
            progress_bar=0,
        )
        begin = time.process_time()
        model.fit(items, frame[[column]])
        theirs = time.process_time() - begin
        begin = time.process_time()
        model.bootstrap(items, frame[[column]], n_repetitions=20, progress_bar=False)
        errors = time.process_time() - begin
        print(
            f"  {name}: ours {mine:.3f} s with errors and {tests} tests; StepMix {theirs:.3f} s without "
            f"({theirs / mine:.1f} ×), {theirs + errors:.2f} s with 20 resamples ({(theirs + errors) / mine:.0f} ×)"
        )
        order = in_order(result)
        means = model.get_parameters()["measurement"]["pis"]
        first, last = means[:, :3].mean(axis=1), means[:, 3:].mean(axis=1)
        other = [int((first + last).argmax()), int((first - last).argmax()), int((first + last).argmin())]
        if structural == "covariate":
            beta = np.asarray(model.get_parameters()["structural"]["beta"])
            there = (beta[other] - beta[other[0]])[1:].ravel()
            print("    ours   ", np.round(coefficients(result)[0], 4), f"log-likelihood {result.log_likelihood:.4f}")
            print(
                "    StepMix",
                np.round(there, 4),
                f"log-likelihood {float(model.score(items, frame[[column]])) * rows:.4f}",
            )
        else:
            own = model.get_parameters()["structural"]["means"][other, 0]
            print("    ours   ", np.round([figures[k].estimate for k in order], 4))
            print("    StepMix", np.round(own, 4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="stepmix,bakk,coverage,nulls,invariance")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="bakk: the first seed")
    parser.add_argument("--apart", default="0.9,0.8", help="bakk: how far apart the items are")
    parser.add_argument("--out", type=Path, help="nulls and invariance: a line for each table, not made again")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no table after so many")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="(stepmix|sklearn).*")
    kept = Kept(options.out, options.seconds)
    for part in options.parts.split(","):
        if part == "stepmix":
            run_stepmix(10_000)
        elif part == "bakk":
            run_bakk(options.sets, options.rows, options.first, tuple(map(float, options.apart.split(","))))
        elif part == "coverage":
            run_coverage(options.sets, options.rows)
        else:
            {"nulls": run_nulls, "invariance": run_invariance}[part](options.sets, options.rows, kept)


if __name__ == "__main__":
    main()
