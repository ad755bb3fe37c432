"""[elidan2001] all tables and figures: the number of states of a hidden variable."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import elidan2001_claims as claims
from experiments.elidan2001_claims import ROWS
from experiments.elidan2001_find import alarm_case, real_case
from experiments.elidan2001_several import figure_5, figure_6
from experiments.elidan2001_states import breakdown, deviations, four, scores, times, tree
from experiments.experiment import Experiment, Results, Shown, Unit, beginning
from experiments.tables import FILES, STAND_INS

CASES = ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG")


def units(quick: bool, seed: int) -> Sequence[Unit]:
    samples = 2 if quick else 10
    found = [Unit("figure 2", tree, {"name": "HYPOVOLEMIA", "rows": 1000, "seed": seed}, cost=1)]
    found += [
        Unit(f"times #{seed + i}", times, {"rows": 10_000, "seed": seed + i}, cost=60) for i in range(1 if quick else 3)
    ]
    found += [
        Unit(f"figure 3 #{seed + i}", scores, {"name": "STROKEVOLUME", "rows": 10_000, "seed": seed + i}, cost=1)
        for i in range(2 * samples)
    ]
    found += [
        Unit(f"breakdown #{seed + i}", breakdown, {"rows": 10_000, "sample": seed + i}, cost=9) for i in range(samples)
    ]
    found += [
        Unit(f"figure 4 {rows}", deviations, {"rows": rows, "samples": samples}, cost=1 + samples / 4) for rows in ROWS
    ]
    found += [
        Unit(f"figure 5 #{seed + i}", four, {"rows": 10_000, "sample": seed + i, "structure": not quick}, cost=20)
        for i in range(1 if quick else 5)
    ]
    rows = (1000,) if quick else (1000, 5000)
    found += [
        Unit(f"figure 6 ALARM {hide} {n}", alarm_case, {"hide": hide, "rows": n, "seed": seed}, cost=n / 100)
        for n in rows
        for hide in CASES
    ]
    for name in ("stocks", "nhefs", "tb_maryland", "news"):
        columns = 40 if quick and name == "news" else None
        arguments = {"name": name, "seed": seed, "columns": columns}
        found.append(Unit(f"figure 6 {name}", real_case, arguments, FILES[name], cost=90 if name == "news" else 20))
    return found


def show(results: Results, quick: bool) -> Shown:
    parts = [
        claims.figure_2(results.get("figure 2")),
        claims.figure_3(beginning(results, "figure 3")),
        claims.breakdown(beginning(results, "breakdown")),
        claims.figure_4(results),
        claims.times(beginning(results, "times")),
        figure_5(beginning(results, "figure 5")),
        figure_6(beginning(results, "figure 6"), quick),
    ]
    return Shown(tuple(s for s, _ in parts if s), tuple(c for _, own in parts for c in own))


EXPERIMENT = Experiment(
    "elidan2001",
    "How many states: Elidan and Friedman 2001",
    f"ALARM as in the source. {STAND_INS} News: 7,505 messages of the 20 newsgroups, 5,000 for training.",
    units,
    show,
)
