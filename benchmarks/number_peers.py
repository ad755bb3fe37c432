"""Numbers beside other packages, in one run: factor analysis, mixtures of mixed columns, mixed networks, latent graphs.

    python -m benchmarks.number_peers factor mixture network latent

Needs scikit-learn, stepmix, pgmpy and causal-learn; a package that is not there is named and passed over.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import leverrier as lv
from leverrier.learning.behind.factor_ascent import ascend_factor
from leverrier.models.behind.block import Block, add_number
from leverrier.models.behind.links import Link


def clocked(call: Callable[[], Any], warm: bool = False) -> tuple[Any, float]:
    """What the call gives, and its seconds; `warm`: of a second call, for the first may compile."""
    if warm:
        call()
    begun = time.perf_counter()
    return call(), time.perf_counter() - begun


def factor(seed: int) -> None:
    """One factor: the largest log-likelihood, ours on the matrix of products and scikit-learn's on the rows."""
    from sklearn.decomposition import FactorAnalysis

    for rows, columns in ((1000, 5), (20_000, 20), (100_000, 20)):
        rng = np.random.default_rng([seed, rows])
        x = np.outer(rng.normal(size=rows), rng.uniform(0.4, 1.2, columns)) + rng.normal(size=(rows, columns))
        x -= x.mean(axis=0)
        design = [np.ones(rows)]
        seen = {f"x{j}": add_number(design, f"x{j}", each, None, None) for j, each in enumerate(x.T)}
        block = Block(np.ascontiguousarray(np.column_stack(design)), seen)
        links = tuple(Link(name) for name in seen)
        ours, ms = clocked(lambda b=block, l=links: ascend_factor(b, l, close=1e-10, most=100_000, floor=False))
        theirs, their_ms = clocked(lambda x=x: FactorAnalysis(1, tol=1e-12, max_iter=100_000).fit(x))
        gap = ours.log_likelihood - theirs.score(x) * rows
        print(f"factor {rows:,} × {columns}: ours − scikit-learn {gap:+.1e} nats; {ms:.3f} s and {their_ms:.3f} s")


def mixture(seed: int) -> None:
    """Classes over numbers and categories, three classes, ten starts: log-likelihoods of the same model."""
    from stepmix.stepmix import StepMix

    for rows in (1000, 10_000):
        rng = np.random.default_rng([seed, rows])
        h = rng.integers(0, 3, rows)
        numbers = {f"x{j}": h * rng.choice([1.2, -1.2]) + rng.normal(size=rows) for j in range(4)}
        labels = {f"c{j}": (rng.random(rows) < np.array([0.2, 0.5, 0.8])[h]).astype(int) for j in range(3)}
        table = pd.DataFrame({**numbers, **{name: np.array(["n", "y"])[each] for name, each in labels.items()}})
        ours, ours_s = clocked(
            lambda t=table, n=numbers: lv.mixed_classes(t, 3, numbers=list(n), starts=10, seed=seed), rows == 1000
        )
        described = {
            "numbers": {"model": "gaussian_diag", "n_columns": 4},
            "labels": {"model": "categorical", "n_columns": 3},
        }
        coded = pd.DataFrame({**numbers, **labels})
        theirs, theirs_s = clocked(
            lambda c=coded, d=described: StepMix(
                3, measurement=d, n_init=10, random_state=seed, progress_bar=0, max_iter=2000, abs_tol=1e-10
            ).fit(c)
        )
        told = theirs.score(coded) * rows
        print(f"mixture {rows:,} × 7: ours {_logs(ours):.2f}, StepMix {told:.2f}; {ours_s:.2f} s and {theirs_s:.2f} s")


def _logs(found: Any) -> float:
    return float(found.log_likelihood)


def network(seed: int) -> None:
    """A conditional-Gaussian table: arcs found of those planted, seconds."""
    from pgmpy.estimators import HillClimbSearch

    for columns in (6, 10):
        rng = np.random.default_rng([seed, columns])
        group = rng.integers(0, 3, 1000)
        table: dict[str, Any] = {"g": np.array(list("abc"))[group]}
        truth, last = set(), None
        for j in range(columns - 1):
            value = rng.normal(size=1000)
            if j % 3 == 0:
                value += np.array([0.0, 1.0, -1.0])[group]
                truth.add(frozenset(("g", f"x{j}")))
            if last is not None:
                value += 0.7 * table[last]
                truth.add(frozenset((last, f"x{j}")))
            table[f"x{j}"], last = value, f"x{j}"
        frame = pd.DataFrame(table)
        ours, seconds = clocked(lambda f=frame: lv.learn_structure(f, families="auto", seed=seed), columns == 6)
        theirs, their_seconds = clocked(
            lambda f=frame: HillClimbSearch(f).estimate(scoring_method="bic-cg", show_progress=False)
        )
        mine = {frozenset((p, c)) for c, above in ours.network.graph.parent_map.items() for p in above}
        other = {frozenset(edge) for edge in theirs.edges()}
        print(
            f"network 1,000 × {columns}: links F1 ours {_f1(mine, truth):.2f}, pgmpy bic-cg {_f1(other, truth):.2f}; "
            f"{seconds:.2f} s and {their_seconds:.2f} s"
        )


def latent(seed: int) -> None:
    """Factors of four columns each, two of them: which columns hang on the same one; beside causal-learn's RLCD."""
    from causallearn.search.HiddenCausal.RLCD.RLCD_alg import RLCD

    for rows in (2000, 5000, 10_000):
        scores: dict[str, list[float]] = {"ours": [], "RLCD": []}
        spent = {"ours": 0.0, "RLCD": 0.0}
        for table in range(3):
            rng = np.random.default_rng([seed, rows, table])
            above = rng.normal(size=(rows, 2))
            x = np.column_stack([rng.uniform(0.6, 1.4) * above[:, j // 4] + rng.normal(size=rows) for j in range(8)])
            truth = {(j, k) for k in range(8) for j in range(k) if j // 4 == k // 4}
            frame = pd.DataFrame(x, columns=[f"X{j + 1}" for j in range(8)])
            found, seconds = clocked(lambda f=frame: lv.discover(f, evidence=False, jobs=1), rows == 2000)
            spent["ours"] += seconds
            scores["ours"].append(_f1(_together([set(each.children) for each in found.hidden]), truth))
            theirs, seconds = clocked(lambda x=x: RLCD(x))
            spent["RLCD"] += seconds
            scores["RLCD"].append(_f1(_together(_groups(theirs)), truth))
        told = ", ".join(f"{name} {np.mean(each):.2f} ({spent[name] / 3:.1f} s)" for name, each in scores.items())
        print(f"latent {rows:,} × 8, three tables: F1 of columns that share one: {told}")


def _groups(found: Any) -> list[set[str]]:
    """The observed children of each latent node."""
    names = [node.get_name() for node in found.G.get_nodes()]
    groups = []
    for i, name in enumerate(names):
        if name.startswith("L"):
            groups.append({names[j] for j in range(len(names)) if found.G.graph[j, i] == 1 and names[j][0] == "X"})
    return groups


def _together(groups: list[set[str]]) -> set[tuple[int, int]]:
    numbers = [sorted(int(name[1:]) - 1 for name in group) for group in groups]
    return {(a, b) for group in numbers for b in group for a in group if a < b}


def _f1(found: set[Any], truth: set[Any]) -> float:
    return 2 * len(found & truth) / max(len(found) + len(truth), 1)


PARTS = {
    "factor": (factor, "sklearn"),
    "mixture": (mixture, "stepmix"),
    "network": (network, "pgmpy"),
    "latent": (latent, "causallearn"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in asked.parts or PARTS:
        run, needed = PARTS[part]
        if importlib.util.find_spec(needed) is None:
            print(f"{part}: {needed} is not installed")
            continue
        run(asked.seed)


if __name__ == "__main__":
    main()
