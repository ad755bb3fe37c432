"""[elidan2000 figure 2] both rows, twice: over plain hill-climbing as the source did, and over the strongest search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.elidan2000_cases import CASES, figure2_line, over_plain, real_line, real_over_plain
from experiments.elidan2000_claims import Case, claims, figure_2, meanings
from experiments.experiment import Experiment, Json, Results, Shown, Unit
from experiments.tables import FILES, STAND_INS

REAL = ("stocks", "nhefs", "tb_maryland")


def units(quick: bool, seed: int) -> Sequence[Unit]:
    found = []
    for rows in (1000,) if quick else (1000, 5000):
        for name, hidden in CASES.items():
            for hide in hidden:
                key = f"{name} {hide} {rows} #{seed}"
                case = {"name": name, "hide": hide, "rows": rows, "seed": seed}
                found.append(Unit(f"figure 2 {key}", figure2_line, {**case, "tested": False}, cost=20 + rows / 100))
                found.append(Unit(f"over plain {key}", over_plain, case, cost=10 + rows / 200))
    for name in REAL:
        case, cost = {"name": name, "seed": seed}, 2 if name == "tb_maryland" else 40
        found.append(Unit(f"figure 2 {name}", real_line, case, FILES[name], cost=cost))
        found.append(Unit(f"over plain {name}", real_over_plain, case, FILES[name], cost=cost / 2))
    return found


def show(results: Results, quick: bool) -> Shown:  # noqa: ARG001
    cases = [Case(key, *_pair(results, key)) for key in _keys(results)]
    meaning = {name: results[f"figure 2 {name}"]["meaning"] for name in REAL if f"figure 2 {name}" in results}
    return Shown((*figure_2(cases), *meanings(meaning)), tuple(claims(cases, meaning)))


def _keys(results: Results) -> list[str]:
    found = (key.removeprefix("figure 2 ").removeprefix("over plain ") for key in results)
    return list(dict.fromkeys(found))


def _pair(results: Results, key: str) -> tuple[Mapping[str, Json] | None, Mapping[str, Json] | None]:
    return results.get(f"figure 2 {key}"), results.get(f"over plain {key}")


EXPERIMENT = Experiment(
    "elidan2000",
    "Where a hidden variable sits: Elidan, Lotner, Friedman and Koller 2000",
    f"ALARM and INSURANCE as in the source, 10,000 fresh rows for testing. {STAND_INS}",
    units,
    show,
)
