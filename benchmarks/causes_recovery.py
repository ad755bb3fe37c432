"""Does part D find the causes that made the data? Each line is JSON in build/causes_recovery.jsonl; then a table.

python benchmarks/causes_recovery.py recovery [--method gibbs|rjmcmc] [--sampler default|wood2006] [--cases A|B|C|D]
… figure3 [--method …] [--sampler …] [--observed 20]     [wood2006 figure 3]
… figure4 [--sweeps 500]                                 [wood2006 figure 4], and docs/figures/causes-errors.png
… compare                                                edge F1 beside NMF and linear CorEx
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.lines import Line, run, table
from experiments.accuracy import ErrorPath, edge_f1, structure_error
from experiments.truth_charts import plot_errors
from experiments.wood2006 import (
    SAMPLERS,
    STARTS,
    STRUCTURES,
    chain,
    figure3_curves,
    figure3_line,
    figure3_verdicts,
    figure4_curves,
    figure4_line,
    figure4_verdicts,
)
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as make
from leverrier.noisy_or.hidden_causes import hidden_causes

CASES = {"A": (20, 10, True), "B": (20, 5, True), "C": (40, 10, True), "D": (20, 10, False)}
"""Signs, causes, and whether ε, λ, p, α are fixed at the truth or sampled."""


def recovery_line(n_observed: int, n_causes: int, fixed: bool, seed: int, method: str, sampler: str) -> Line:
    """One data set, three chains of 500 sweeps from no links; the chain chosen by log joint, not by the truth."""
    x, truth = make(n_observed, n_causes, 500, seed=1000 + seed)
    begun = time.process_time()
    seeds = range(100 * seed, 100 * seed + 3)
    if fixed:
        runs = [chain(x, method, sampler, 500, each) for each in seeds]
    else:
        runs = [hidden_causes(x, method, 500, 1, each, sampler=sampler, jobs=1) for each in seeds]
    seconds = (time.process_time() - begun) / 3
    errors = [structure_error(each.shared, truth.links) for each in runs]
    joints = [each.chains[0].log_joint for each in runs]
    covered = {}
    if not fixed:
        best = runs[int(np.argmax(joints))]
        for name, value in (("epsilon", 0.01), ("lambda", 0.9), ("p", 0.1)):
            low, high = np.quantile(best.kept[name], [0.05, 0.95])
            covered[name] = bool(low <= value <= high)
    return {
        "errors": errors,
        "log_joints": joints,
        "chosen": errors[int(np.argmax(joints))],
        "counts": [each.expected_count for each in runs],
        "seconds": seconds,
        "covered": covered,
    }


def recovery(asked: argparse.Namespace) -> None:
    rows = []
    for case in asked.cases:
        n, k, fixed = CASES[case]
        lines = run(
            (
                (
                    f"recovery {asked.method} {asked.sampler} {n}x{k} {'fixed' if fixed else 'sampled'} #{seed}",
                    partial(recovery_line, n, k, fixed, seed, asked.method, asked.sampler),
                )
                for seed in range(10)
            ),
            asked.output,
        )
        good = sum(error < 1 for line in lines for error in line["errors"])
        chosen = sum(line["chosen"] < 1 for line in lines)
        seconds = np.mean([line["seconds"] for line in lines])
        covered = [value for line in lines for value in line["covered"].values()]
        how = "fixed at the truth" if fixed else f"sampled: {sum(covered)} of {len(covered)} intervals cover"
        rows.append((n, k, how, f"{good} of 30", f"{chosen} of 10", f"{seconds:.2f}"))
    table(["N", "K", "numbers", "chains with structure error < 1", "data sets, by log joint", "CPU s a chain"], rows)


def figure3(asked: argparse.Namespace) -> None:
    lines = run(
        (
            (
                f"figure3 {asked.method} {asked.sampler} N={asked.observed} K={k} from {start} #{seed}",
                partial(figure3_line, k, seed, start, asked.method, asked.sampler, n_observed=asked.observed),
            )
            for k in range(1, 9)
            for seed in range(10)
            for start in STARTS
        ),
        asked.output,
    )
    curves = {(c["start"], c["causes"]): c for c in figure3_curves(lines)}
    cells = {place: f"{c['mean']:.2f} ± {c['sd']:.2f}" for place, c in curves.items()}
    rows = ((k, cells[0, k], cells[10, k]) for k in range(1, 9))
    table(["K", "from no links: mean ± sd", "from 10 random causes"], rows)
    for verdict in figure3_verdicts(lines):
        print(verdict)


def figure4(asked: argparse.Namespace) -> None:
    lines = run(
        (
            (
                f"figure4 {name} {method} {sampler} {asked.sweeps} #{seed}",
                partial(figure4_line, name, seed, method, sampler, sweeps=asked.sweeps),
            )
            for name in STRUCTURES
            for method, sampler in SAMPLERS
            for seed in range(10)
        ),
        asked.output,
    )
    rows = []
    for curve in figure4_curves(lines):
        at = [int(np.searchsorted(curve["sweeps"], sweep)) for sweep in (10, 100, asked.sweeps)]
        errors = (", ".join(f"{curve[kind][j]:.2f}" for j in at) for kind in ("in_degree", "structure_error"))
        rows.append((curve["structure"], curve["method"], curve["sampler"], *errors, f"{curve['seconds']:.2f}"))
    table(
        [
            "structure",
            "sampler",
            "moves",
            f"in-degree error after 10, 100, {asked.sweeps} sweeps",
            "structure error",
            "CPU s",
        ],
        rows,
    )
    for verdict in figure4_verdicts(lines):
        print(verdict)
    names = {
        ("gibbs", "wood2006"): "Gibbs, source's moves",
        ("rjmcmc", "wood2006"): "RJMCMC, source's moves",
        ("gibbs", "default"): "Gibbs, ours",
        ("rjmcmc", "default"): "RJMCMC, ours",
    }
    paths: dict[str, list[ErrorPath]] = {}
    for line in lines:
        if line["structure"] == "under-complete":
            path = ErrorPath(*(np.array(line[kind]) for kind in ("sweeps", "in_degree", "structure_error")))
            paths.setdefault(names[line["method"], line["sampler"]], []).append(path)
    plot_errors(paths).save(str(asked.picture))


def compare_line(seed: int) -> Line:
    """The recovery data, N=20, K=10: the others get the true K, and the threshold that is best for them."""
    from linearcorex import Corex
    from sklearn.decomposition import NMF

    x, truth = make(20, 10, 500, seed=1000 + seed)
    scores = {}
    for name, sampler in (("ours", "default"), ("ours, source's moves", "wood2006")):
        scores[name] = edge_f1(hidden_causes(x, sweeps=500, chains=2, seed=seed, sampler=sampler).best, truth.links)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = NMF(10, init="nndsvda", max_iter=2000, random_state=seed).fit(x.astype(float)).components_
        corex = Corex(n_hidden=10, seed=seed).fit(x.astype(float)).ws
    for name, loadings in (("NMF", parts), ("linear CorEx", np.abs(corex))):
        level = loadings / np.maximum(loadings.max(axis=1, keepdims=True), 1e-12)
        scores[name] = max(edge_f1((level > cut).T, truth.links) for cut in np.linspace(0.05, 0.95, 19))
    return scores


def compare(asked: argparse.Namespace) -> None:
    lines = run(((f"compare #{seed}", partial(compare_line, seed)) for seed in range(10)), asked.output)
    names = [name for name in lines[0] if name != "key"]
    table(
        ["method", "edge F1, mean of 10 data sets", "worst"],
        (
            (name, f"{np.mean([line[name] for line in lines]):.3f}", f"{min(line[name] for line in lines):.2f}")
            for name in names
        ),
    )


if __name__ == "__main__":
    checks = {"recovery": recovery, "figure3": figure3, "figure4": figure4, "compare": compare}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--method", default="gibbs", choices=("gibbs", "rjmcmc"))
    parser.add_argument("--sampler", default="default", choices=("default", "wood2006"))
    parser.add_argument("--cases", default="ABCD", help="recovery: which of A, B, C, D")
    parser.add_argument("--observed", type=int, default=20, help="figure3: signs")
    parser.add_argument("--sweeps", type=int, default=500, help="figure4")
    parser.add_argument("--picture", type=Path, default=Path("build/causes-errors.png"), help="figure4")
    parser.add_argument("--output", type=Path, default=Path("build/causes_recovery.jsonl"))
    asked = parser.parse_args()
    checks[asked.check](asked)
