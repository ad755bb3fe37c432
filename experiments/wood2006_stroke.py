"""[wood2006 figures 5 and 6]: the causes behind the signs of stroke patients.

The source's 50 patients are not public. `simulated_patients` makes 50 like them, with the numbers it prints (42 signs,
14 localisations, 1.96 of them and 8.24 signs a patient); any table of yes/no signs can be given in their place. Each
function gives back plain values: `posterior_line` what figure 5 draws (numbers' intervals, histograms, thinned traces)
and figure 6 (the best structure).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.report.charts.causes_charts import plot_structure, plot_traces

CLAIMS: dict[str, str] = {
    "5 epsilon": "ε is low: these signs are rare without a stroke that explains them",
    "5 lambda": "λ is reasonably high: a localisation produces its signs with high probability",
    "5 p": "p is slightly above the truth (0.14), K₊ below it (14): they are coupled, and the patients are few",
    "6 sides": "the best structure separates signs of the left from signs of the right side",
}
TRUTH = {"causes": 14, "p": 0.14, "signs": 42, "patients": 50}
"""Of the source's data bank [wood2006 section 6]."""
NAMES = ("epsilon", "lambda", "p", "alpha", "count")


def simulated_patients(seed: int = 0, patients: int = 50) -> tuple[NDArray[np.uint8], HiddenCauses]:
    """About as many signs and localisations a patient as the source's, five of the 14 seen about once among 50.

    Signs 0 to 19 are of the left side, 20 to 39 of the right, the last two of none; a cause keeps to its side.
    """
    rng = np.random.default_rng([seed, 2006])
    links = np.zeros((TRUTH["signs"], TRUTH["causes"]), np.uint8)
    for k in range(TRUTH["causes"]):
        side = np.concatenate([np.arange(20) + 20 * (k % 2), [40, 41]])
        links[rng.choice(side, rng.integers(2, 8), replace=False), k] = 1
    often = np.where(np.arange(TRUTH["causes"]) < 5, 0.02, (14 * TRUTH["p"] - 0.1) / 9)
    model = HiddenCauses(links, 0.01, np.array(0.85), often)
    return model.sample(patients, rng)[0], model


def posterior_line(
    x: Any, sweeps: int = 20_000, chains: int = 2, seed: int = 0, *, own: bool = False, traced: int = 200
) -> dict[str, Any]:
    """Figure 5's numbers and figure 6's structure; `own` gives every cause its own λ and p."""
    begun = time.process_time()
    run = hidden_causes(x, sweeps=sweeps, chains=chains, seed=seed, per_cause=("lambda", "p") if own else ())
    line: dict[str, Any] = {"seconds": time.process_time() - begun, "sweeps": sweeps, "chains": chains}
    every = max(1, sweeps // traced)
    for name in NAMES:
        kept = run.kept[name][np.isfinite(run.kept[name])]
        heights, edges = np.histogram(kept, 20)
        line[name] = {
            "mean": float(kept.mean()),
            "interval": np.quantile(kept, [0.05, 0.95]).tolist(),
            "trace": run.trace[name][:, ::every].tolist(),
            "histogram": [heights.tolist(), edges.tolist()],
        }
    line["r_hat"] = run.r_hat
    line["structure"] = [list(run.children(k)) for k in range(run.best.shape[1])]
    line["status"] = str(run.status)
    line["crossing"] = crossing(run)
    line["traces chart"], line["structure chart"] = plot_traces(run).to_dict(), plot_structure(run).to_dict()
    return line


def crossing(run: HiddenCausesResult) -> float:
    """Of the causes with two signs or more, the share that reaches signs of both sides (of simulated patients)."""
    if run.best.shape[0] != TRUTH["signs"]:
        return float("nan")
    left, right = run.best[:20].any(axis=0), run.best[20:40].any(axis=0)
    several = run.best.sum(axis=0) > 1
    return float((left & right & several).sum() / max(several.sum(), 1))


def stroke_verdicts(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The source's claims of figures 5 and 6 beside the simulated patients' posterior."""
    means = {name: line[name]["mean"] for name in NAMES}
    checks = {
        "5 epsilon": (means["epsilon"], means["epsilon"] < 0.05),
        "5 lambda": (means["lambda"], means["lambda"] > 0.6),
        "5 p": ([means["p"], means["count"]], means["count"] < TRUTH["causes"] and means["p"] > TRUTH["p"]),
        "6 sides": (line["crossing"], line["crossing"] <= 0.2),
    }
    return [
        {"figure": key[0], "claim": CLAIMS[key], "ours": value, "holds": bool(holds)}
        for key, (value, holds) in checks.items()
    ]
