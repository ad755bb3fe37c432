"""Questionnaires of several scales: what `discover` says of planted ones, and of look-alikes with nothing hidden.

python -m benchmarks.scales planted|classes|nothing --first 0 --tables 6 [--draws 99] [--rows 1000] [--search]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import leverrier as lv
from leverrier.data.reading.read_table import read_table
from leverrier.discovery.examine import Tests
from leverrier.discovery.plan import Plan
from leverrier.discovery.traits.traits_route import examine_traits
from leverrier.run.run import UNBOUNDED

Columns = dict[str, Any]
GRADES = 5


def graded(rng: np.random.Generator, eta: np.ndarray, spread: float = 1.5) -> np.ndarray:
    """A column of grades 1 to 5 by an ordered logit."""
    tau = np.sort(rng.normal(float(eta.mean()), spread, GRADES - 1))
    return 1 + np.searchsorted(tau, eta + rng.logistic(size=len(eta)))


def beside(rng: np.random.Generator, rows: int, lean: np.ndarray) -> Columns:
    """Four covariates, the first of which leans on something."""
    return {
        "sex": (0.5 * lean + rng.normal(size=rows) > 0).astype(int),
        "town": rng.integers(0, 2, rows),
        "school": rng.integers(1, 5, rows),
        "age": np.round(rng.normal(40, 10, rows), 1),
    }


def planted(rng: np.random.Generator, rows: int) -> Columns:
    """Three continua, correlated .3, behind five items each."""
    together = np.linalg.cholesky(0.7 * np.eye(3) + 0.3)
    places = rng.normal(size=(rows, 3)) @ together.T
    found = {}
    for v in range(3):
        for i in range(5):
            found[f"s{v}{i}"] = graded(rng, rng.uniform(1.2, 2.5) * rng.choice([1, 1, 1, -1]) * places[:, v])
    return found | beside(rng, rows, places[:, 0])


def classes(rng: np.random.Generator, rows: int) -> Columns:
    """Three hidden classes of two states that lean on each other, behind five items each."""
    first = rng.integers(0, 2, rows)
    states = [first, *(np.where(rng.random(rows) < 0.65, first, rng.integers(0, 2, rows)) for _ in range(2))]
    found = {}
    for v, state in enumerate(states):
        for i in range(5):
            found[f"s{v}{i}"] = graded(rng, rng.uniform(2.2, 3.2) * (state - 0.5))
    return found | beside(rng, rows, first - 0.5)


def by_covariates(rng: np.random.Generator, rows: int) -> Columns:
    """Every scale is driven by an observed number."""
    drivers = {f"x{v}": np.round(rng.normal(size=rows), 2) for v in range(3)}
    items = {f"s{v}{i}": graded(rng, rng.uniform(1.2, 2.5) * drivers[f"x{v}"]) for v in range(3) for i in range(6)}
    return items | drivers | beside(rng, rows, drivers["x0"])


def chains(rng: np.random.Generator, rows: int) -> Columns:
    """In every scale each item leans on the one before it."""
    found: Columns = {}
    for v in range(3):
        before = rng.integers(1, GRADES + 1, rows)
        for i in range(6):
            before = found[f"s{v}{i}"] = graded(rng, rng.uniform(0.8, 1.6) * (before - 3.0))
    return found | beside(rng, rows, found["s00"] - 3.0)


def trees(rng: np.random.Generator, rows: int) -> Columns:
    """In every scale each item leans on one of those before it; the first ones of two scales on the first one's."""
    found: Columns = {}
    for v in range(3):
        for i in range(6):
            own = [f"s{v}{k}" for k in range(i)] or [f"s0{k}" for k in range(6) if v]
            above = found[own[rng.integers(len(own))]] - 3.0 if own else np.zeros(rows)
            found[f"s{v}{i}"] = graded(rng, rng.uniform(1.0, 1.8) * above)
    return found | beside(rng, rows, found["s00"] - 3.0)


def bands(rng: np.random.Generator, rows: int) -> Columns:
    """In every scale an item is the band that the sum of two before it falls into, one in five rows at random."""
    found: Columns = {}
    for v in range(3):
        for i in range(6):
            if i < 2:
                found[f"s{v}{i}"] = rng.integers(1, GRADES + 1, rows)
                continue
            one, other = rng.choice(i, 2, replace=False)
            total = found[f"s{v}{one}"] + found[f"s{v}{other}"]
            cuts = np.quantile(total, np.arange(1, GRADES) / GRADES)
            band = 1 + np.searchsorted(cuts, total)
            found[f"s{v}{i}"] = np.where(rng.random(rows) < 0.2, rng.integers(1, GRADES + 1, rows), band)
    return found | beside(rng, rows, found["s00"] - 3.0)


def several_before(rng: np.random.Generator, rows: int) -> Columns:
    """Each item leans on up to three before it in its scale, on one of another scale, and on the school."""
    covariates = beside(rng, rows, rng.normal(size=rows))
    found: Columns = {}
    for v in range(3):
        for i in range(6):
            eta = 0.2 * (covariates["school"] - 2.5)
            for k in rng.choice(i, min(i, 3), replace=False) if i else []:
                eta = eta + rng.uniform(0.3, 0.9) * (found[f"s{v}{k}"] - 3.0)
            if v and rng.random() < 0.5:
                eta = eta + 0.4 * (found[f"s{rng.integers(v)}{rng.integers(6)}"] - 3.0)
            found[f"s{v}{i}"] = graded(rng, eta)
    return found | covariates


NOTHING = {each.__name__: each for each in (by_covariates, chains, trees, bands, several_before)}


def f1(hidden: list[tuple[str, ...]]) -> float:
    """Of which item goes where: pairs of items said to share a hidden variable."""
    said = {(a, b) for own in hidden for a in own for b in own if a < b}
    true = {(f"s{v}{a}", f"s{v}{b}") for v in range(3) for a in range(5) for b in range(5) if a < b}
    return 2 * len(said & true) / max(len(said) + len(true), 1)


def told(columns: Columns, draws: int, seed: int, search: bool) -> dict[str, Any]:
    begun = time.process_time()
    table = pd.DataFrame(columns)
    if search:
        found = examine_traits(read_table(table), Plan(seed=seed, max_hidden=99), Tests(0, 0), UNBOUNDED)
        answer, hidden = "none" if found is None else "named", () if found is None else found.hidden
    else:
        whole = lv.discover(table, jobs=1, resamples=0, draws=draws, seed=seed, progress=False)
        answer, hidden = str(whole.verdict), whole.hidden
    return {
        "answer": answer,
        "seconds": round(time.process_time() - begun, 1),
        "kinds": [str(each.kind) for each in hidden],
        "states": [each.states for each in hidden],
        "items": [each.children for each in hidden],
        "gains": [round(each.gain, 1) for each in hidden],
        "p": [None if each.evidence is None else each.evidence.p_value for each in hidden],
        "held out": [None if each.evidence is None else each.evidence.held_out_interval for each in hidden],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("planted", "classes", "nothing"))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--search", action="store_true", help="the search for traits alone, without any test")
    asked = parser.parse_args()
    made: dict[str, Callable[[np.random.Generator, int], Columns]] = (
        NOTHING if asked.what == "nothing" else {asked.what: planted if asked.what == "planted" else classes}
    )
    for seed in range(asked.first, asked.first + asked.tables):
        for place, (name, make) in enumerate(made.items()):
            columns = make(np.random.default_rng([seed, place]), asked.rows)
            said = told(columns, asked.draws, seed, asked.search)
            if asked.what != "nothing":
                said["f1"] = round(f1(said["items"]), 3)
            print(json.dumps({"made": name, "seed": seed, **said}), flush=True)


if __name__ == "__main__":
    main()
