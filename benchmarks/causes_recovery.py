"""Does part D find the causes that made the data? Each prints a table.

    PYTHONPATH=src:. python benchmarks/causes_recovery.py recovery [--method gibbs|rjmcmc]
    … figure3 | figure4 | compare | real DATA_FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from leverrier.model.hidden_causes import hidden_causes as make
from leverrier.sampling.accuracy import edge_f1, error_path, structure_error
from leverrier.sampling.chains import hidden_causes

SOURCE = {"epsilon": 0.01, "lam": 0.9, "p": 0.1, "alpha": 3.0}
STRUCTURES = {
    "degree 1, K=6": np.eye(6, dtype=np.uint8),
    "disconnected, K=4": np.array(
        [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]], np.uint8
    ),
    "under-complete, K=4": np.array(
        [[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], np.uint8
    ),
    "over-complete, K=8": np.array(
        [[1, 0, 0, 1, 0, 0, 0, 1], [0, 1, 0, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0, 0, 1],
         [0, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 0, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0, 1, 0]], np.uint8
    ),
}  # fmt: skip


def recovery(method: str, sampler: str = "default") -> None:
    """N=20, K=10; N=20, K=5; N=40, K=10: ten data sets, three chains each of 500 sweeps, from no links."""
    print("| N | K | numbers | chains with structure error < 1 | data sets, by log joint | CPU s a chain |")
    print("|---|---|---|---|---|---|")
    for n, k, numbers in ((20, 10, SOURCE), (20, 5, SOURCE), (40, 10, SOURCE), (20, 10, {})):
        good = chosen = 0
        start = time.process_time()
        for seed in range(10):
            x, truth = make(n, k, 500, seed=1000 + seed)
            runs = [
                hidden_causes(x, method, 500, 1, seed=100 * seed + c, sampler=sampler, jobs=1, **numbers)
                for c in range(3)
            ]
            errors = [structure_error(run.shared, truth.links) for run in runs]
            good += sum(error < 1 for error in errors)
            chosen += errors[int(np.argmax([run.chains[0].log_joint for run in runs]))] < 1
        each = (time.process_time() - start) / 30
        how = "fixed at the truth" if numbers else "sampled"
        print(f"| {n} | {k} | {how} | {good} of 30 | {chosen} of 10 | {each:.2f} |", flush=True)


def figure3(method: str, sampler: str = "default", n_observed: int = 20) -> None:
    """True K from 1 to 8, ten data sets each, 500 sweeps from no links and from ten random causes: mean K₊."""
    print(f"N = {n_observed}\n\n| K | from no links: mean ± sd | from 10 random causes |\n|---|---|---|")
    for k in range(1, 9):
        means = np.empty((2, 10))
        for seed in range(10):
            x, _ = make(n_observed, k, 500, seed=2000 + 10 * k + seed)
            for s, start in enumerate((0, 10)):
                run = hidden_causes(x, method, 500, 1, seed=seed, start=start, sampler=sampler, jobs=1, **SOURCE)
                means[s, seed] = run.expected_count
        cells = " | ".join(f"{m.mean():.2f} ± {m.std(ddof=1):.2f}" for m in means)
        print(f"| {k} | {cells} |", flush=True)


def figure4(_: str) -> None:
    """Errors against sweeps for the four structures, both samplers, the source's moves and ours; ten data sets."""
    print("| structure | sampler | moves | in-degree error after 10, 100, 500 sweeps | structure error |")
    print("|---|---|---|---|---|")
    for name, links in STRUCTURES.items():
        for method in ("gibbs", "rjmcmc"):
            for sampler in ("wood2006", "default"):
                paths = []
                for seed in range(10):
                    x, _ = make(links=links, n_trials=500, seed=3000 + seed)
                    run = hidden_causes(x, method, 500, 1, seed, sampler=sampler, warmup=0, jobs=1, **SOURCE)
                    path = error_path(run.draws, links, points=500)
                    at = [int(np.searchsorted(path.sweeps, sweep)) for sweep in (10, 100, 500)]
                    paths.append((path.in_degree[at], path.structure[at]))
                mean = np.mean(paths, axis=0)
                cells = " | ".join(", ".join(f"{v:.2f}" for v in row) for row in mean)
                print(f"| {name} | {method} | {sampler} | {cells} |", flush=True)


def compare(_: str) -> None:
    """Edge F1 on the recovery data, N=20, K=10: other methods get the true K, and their best threshold."""
    from linearcorex import Corex
    from sklearn.decomposition import NMF

    scores: dict[str, list[float]] = {"ours": [], "ours, source's moves": [], "NMF": [], "linear CorEx": []}
    for seed in range(10):
        x, truth = make(20, 10, 500, seed=1000 + seed)
        for name, sampler in (("ours", "default"), ("ours, source's moves", "wood2006")):
            found = hidden_causes(x, sweeps=500, chains=2, seed=seed, sampler=sampler)
            scores[name].append(edge_f1(found.best, truth.links))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = NMF(10, init="nndsvda", max_iter=2000, random_state=seed).fit(x.astype(float)).components_
            corex = Corex(n_hidden=10, seed=seed).fit(x.astype(float)).ws
        for name, loadings in (("NMF", parts), ("linear CorEx", np.abs(corex))):
            level = loadings / np.maximum(loadings.max(axis=1, keepdims=True), 1e-12)
            scores[name].append(max(edge_f1((level > cut).T, truth.links) for cut in np.linspace(0.05, 0.95, 19)))
    print("| method | edge F1, mean of 10 data sets | worst |\n|---|---|---|")
    for name, values in scores.items():
        print(f"| {name} | {np.mean(values):.2f} | {min(values):.2f} |")


def real(folder: str) -> None:
    """Stroke signs, audiology and SPECT: what is found, and how it lies to the known classes."""
    import pandas as pd
    from sklearn.metrics import adjusted_rand_score, roc_auc_score

    labels = {"audiology.csv": "class", "spect_heart.csv": "OVERALL_DIAGNOSIS", "ist_stroke_signs.csv.gz": "syndrome"}
    for name, label in labels.items():
        frame = pd.read_csv(f"{folder}/medical/{name}")
        signs = frame.drop(columns=[label, *({"split"} & set(frame.columns))])
        start = time.perf_counter()
        run = hidden_causes(signs, sweeps=600, chains=3, seed=0, per_cause=("lambda", "p"))
        took = time.perf_counter() - start
        print(f"\n{name}: {len(frame)} rows, {len(run.names)} signs, {took:.0f} s. {run.status}.")
        print(f"K₊ {run.expected_count:.1f} {dict(list(run.count.items())[:8])}, R-hat {run.r_hat}")
        kept = {key: float(values.mean()) for key, values in run.kept.items()}
        print({key: round(value, 3) for key, value in kept.items()})
        for k in range(run.best.shape[1]):
            active = run.posterior[:, k] > 0.5
            rates = pd.crosstab(active, frame[label], normalize="columns")
            row = rates.loc[True].round(2).to_dict() if True in rates.index else {}
            numbers = f"p {run.model.p[k]:.2f}, λ {run.model.lam[k]:.2f}, in {run.present[k]:.2f}"
            print(f"  cause {k + 1} ({numbers}): {', '.join(run.children(k))}")
            print(f"    active in: {dict(sorted(row.items(), key=lambda item: -item[1])[:5])}")
        active = (run.posterior > 0.5).astype(int)
        patterns = [tuple(r) for r in active]
        rand = adjusted_rand_score(frame[label].astype(str), [str(p) for p in patterns])
        print(f"  adjusted Rand of activity patterns against {label}: {rand:.3f}")
        for c in frame[label].value_counts().index[:8]:
            own = frame[label] == c
            best = max(f1(active[:, k], own) for k in range(active.shape[1]))
            many = run.posterior[:, run.best.sum(axis=0) > 1].sum(axis=1)
            print(f"  {c}: best F1 of one cause {best:.2f} (always yes: {f1(np.ones(len(own)), own):.2f}), "
                  f"AUC of the number of active causes of several signs {roc_auc_score(own, many):.2f}")


def f1(found: np.ndarray, truth: np.ndarray) -> float:
    both = float((found.astype(bool) & np.asarray(truth)).sum())
    return 2 * both / max(float(found.sum() + np.asarray(truth).sum()), 1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=("recovery", "figure3", "figure4", "compare", "real"))
    parser.add_argument("folder", nargs="?", default="../shared/data")
    parser.add_argument("--method", default="gibbs")
    parser.add_argument("--sampler", default="default")
    parser.add_argument("--observed", type=int, default=20)
    asked = parser.parse_args()
    if asked.check == "figure3":
        figure3(asked.method, asked.sampler, asked.observed)
    elif asked.check == "recovery":
        recovery(asked.method, asked.sampler)
    else:
        {"figure4": figure4, "compare": compare, "real": real}[asked.check](asked.folder)
