"""[boyen1999] all tables and figures: hidden variables in time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from experiments import boyen1999_claims as claims
from experiments.boyen1999_bat import divergence, estimated, figure1, gold
from experiments.boyen1999_data import BAT, FILES, NAMES, STAND_INS
from experiments.boyen1999_rows import PARTS, table2
from experiments.experiment import Experiment, Results, Shown, Unit, beginning

SPLITS = 10
"""Random splits of the chorales, in the full run."""
SEEDS = (0, 1, 2)
QUICK_PARTS = ("tables", "fhmm", "hmm", "loop", "trees", "default", "boosting")
COST = {"apnea": 40.0, "bat": 30.0, "stocks": 15.0, "chorales": 20.0}
"""Seconds of a core for a part of the full table, about."""


def units(quick: bool, seed: int) -> Sequence[Unit]:
    em: dict[str, Any] = (
        {"iterations": 20, "training": 1000, "slices": 2000}
        if quick
        else {"iterations": 100, "training": 5000, "slices": 10_000}
    )
    found = [
        Unit("gold", gold, {"slices": 2000 if quick else 10_000, "exact": not quick}, BAT, cost=1 if quick else 120),
        Unit("divergence", divergence, {"slices": 60 if quick else 1500}, BAT, cost=2 if quick else 60),
    ]
    found += [
        Unit(
            f"table 1 {kind} #{seed + each}",
            estimated,
            {"counts": kind, "seed": seed + each, **em},
            BAT,
            cost=4 if quick else 90,
        )
        for kind in ("joint", "factored")
        for each in SEEDS
    ]
    for name in NAMES:
        for part in QUICK_PARTS if quick else PARTS:
            for split in range(SPLITS if name == "chorales" and not quick else 1):
                arguments = {"name": name, "part": part, "quick": quick, "split": seed + split}
                cost = 3.0 if quick else COST[name]
                found.append(Unit(f"table 2 {name} {part} #{split}", table2, arguments, FILES[name], cost))
    drawn = ("original", "stocks", "chorales") if quick else ("original", "bat", "stocks", "apnea", "chorales")
    found += [
        Unit(f"figure 1 {name}", figure1, {"name": name, "quick": quick}, FILES.get(name, BAT), cost=5)
        for name in drawn
    ]
    return found


def show(results: Results, quick: bool) -> Shown:
    columns, about = columns_of(results)
    first = beginning(results, "table 1")
    parts = [
        claims.table_1(results.get("gold"), first),
        claims.table_2(columns, about, quick),
        claims.divergence(results.get("divergence")),
        claims.figure_1(beginning(results, "figure 1")),
    ]
    return Shown(tuple(s for s, _ in parts if s), tuple(c for _, own in parts for c in own))


def columns_of(results: Results) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Ours of table 2 by data set, means over splits; and what was found, of the first split."""
    columns: dict[str, dict[str, float]] = {}
    about: dict[str, str] = {}
    for name in NAMES:
        values: dict[str, list[float]] = {}
        said = []
        for key, found in beginning(results, f"table 2 {name}").items():
            for row, value in found.items():
                if row == "about":
                    said += [f"{key.split()[0]}: {value}"] if key.endswith("#0") else []
                else:
                    values.setdefault(row, []).append(value)
        columns[name] = {row: fmean(each) for row, each in values.items()}
        if said:
            about[name] = "; ".join(said)
    if "gold" in results:
        columns["bat"]["gold standard"] = results["gold"]["bits"]
    em = [each["bits"] for key, each in beginning(results, "table 1").items() if key.startswith("joint")]
    if em:
        columns["bat"].setdefault("parametric EM", fmean(em))  # (ours learn from as many slices in both tables)
    return columns, about


EXPERIMENT = Experiment(
    "boyen1999", "Hidden variables in time: Boyen, Friedman and Koller 1999", STAND_INS, units, show
)
