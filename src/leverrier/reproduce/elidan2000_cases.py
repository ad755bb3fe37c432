"""[elidan2000 figure 2]: one case, every method, score and test log-loss relative to no hidden variable."""

from __future__ import annotations

import time
from typing import Any

import leverrier as lv
from leverrier.discovery.baseline import naive, original
from leverrier.discovery.evidence import null_test
from leverrier.discovery.find import begin, next_hidden
from leverrier.discovery.plan import Construction, Method, Plan
from leverrier.model.network import Network

CASES = {
    "insurance": ("Accident", "Age", "MakeModel", "VehicleYear"),
    "alarm": ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG"),
}
WAYS: tuple[tuple[Method, Construction], ...] = (
    ("region", "default"), ("fixed", "default"), ("full", "default"), ("region", "elidan2000"), ("fixed", "elidan2000"),
)  # fmt: skip


def f1(true: set[str], found: set[str]) -> float:
    """Agreement of two sets of names: 1 is the same, 0 nothing in common."""
    return 2 * len(true & found) / max(len(true) + len(found), 1)


def figure2_line(name: str, hide: str, rows: int, seed: int, tested: bool) -> dict[str, Any]:
    """Score and test log-loss relative to no hidden variable, for every method."""
    truth = lv.datasets.network(name)
    data, test = truth.sample(rows, seed=seed).drop(hide), truth.sample(10_000, seed=900 + seed).drop(hide)
    around = set(truth.children(hide)) | set(truth.parents(hide))
    search = begin(data, lv.BDe(), Plan(max_hidden=1))
    plain = search.baseline.network.log_likelihood(test)
    line: dict[str, Any] = {"baseline": search.baseline.score}

    def put(label: str, network: Network, score: float, base: float, seconds: float, neighbours: set[str]) -> None:
        line[label] = {"gain": score - base, "test nats a row": (network.log_likelihood(test) - plain) / 10_000,
                       "F1": round(f1(around, neighbours), 3), "seconds": round(seconds, 1)}  # fmt: skip

    for method, construction in WAYS:
        begun = time.process_time()
        found = lv.find_hidden(data, method=method, construction=construction, max_hidden=1)
        label = method if construction == "default" else f"{method}, source's construction"
        neighbours = set(found.hidden[0].neighbours) if found.hidden else set()
        put(label, found.network, found.score, found.baseline.score, time.process_time() - begun, neighbours)
    states = truth.cardinality(hide)
    for label, straw in (("naive", naive(data, 2)), ("original", original(truth.graph, data, {hide: states}))):
        put(label, straw.network, straw.score, search.baseline.score, 0.0, set())
    if tested and next_hidden(search):
        evidence = null_test(search, 19, 1)
        line["accepted"], line["null"] = evidence.accepted, list(evidence.null_gains)
    return line
