"""[elidan2000 figure 2]: one case, every method, score and test log-loss relative to no hidden variable.

Twice: over the strongest search for a network without one, and over plain hill-climbing, as the source did.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import leverrier as lv
from experiments.experiment import Json
from experiments.strawmen import naive, original
from experiments.tables import split, table_of
from leverrier.discovery.evidence.null_test import null_test
from leverrier.discovery.findings import Baseline, Findings
from leverrier.discovery.places.deepening import Screening
from leverrier.discovery.places.screening import best_hidden
from leverrier.discovery.places.search import Search, begin, next_hidden
from leverrier.discovery.plan import Construction, Method, Plan
from leverrier.learning.em.fit import fit
from leverrier.models.network import Network

CASES = {
    "insurance": ("Accident", "Age", "MakeModel", "VehicleYear"),
    "alarm": ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG"),
}
WAYS: tuple[tuple[Method, Construction], ...] = (
    ("region", "default"),
    ("fixed", "default"),
    ("full", "default"),
    ("region", "elidan2000"),
    ("fixed", "elidan2000"),
)
TEST_ROWS = 10_000
STARTS = 3


def f1(true: set[str], found: set[str]) -> float:
    """Agreement of two sets of names: 1 is the same, 0 nothing in common."""
    return 2 * len(true & found) / max(len(true) + len(found), 1)


def figure2_line(name: str, hide: str, rows: int, seed: int, tested: bool) -> dict[str, Any]:
    """Score and test log-loss relative to no hidden variable, for every method."""
    truth = lv.datasets.network(name)
    data, test = _sampled(truth, hide, rows, seed)
    around = set(truth.children(hide)) | set(truth.parents(hide))
    search = begin(data, lv.BDe(), Plan(max_hidden=1))
    plain = search.baseline.network.log_likelihood(test)
    line: dict[str, Any] = {"baseline": search.baseline.score, **_searched(data, test, plain, around)}
    line["naive"] = _naive(data, test, plain, search.baseline.score)
    straw = original(truth.graph, data, {hide: truth.cardinality(hide)})
    line["original"] = _put(straw.network, straw.score - search.baseline.score, test, plain)
    if tested and next_hidden(search):
        evidence = null_test(search, 19)
        line["accepted"], line["null"] = evidence.accepted, list(evidence.null_gains)
    return line


def real_line(name: str, seed: int, data: Path) -> Json:
    """The same for a real table; there is no original network. Of the winner, what its states mean."""
    training, test = split(table_of(name, data), seed)
    search = begin(training, lv.BDe(), Plan(max_hidden=1))
    baseline = search.baseline
    plain = baseline.network.log_likelihood(test)
    found: dict[str, Findings] = {}
    line = {"baseline": baseline.score, **_searched(training, test, plain, set(), found)}
    line["naive"] = _naive(search.ground.table, test, plain, baseline.score)  # (holes filled, as for the baseline)
    best = max(found.values(), key=lambda each: each.gain)
    return {**line, "meaning": _meaning(best, training)}


def _sampled(truth: Network, hide: str, rows: int, seed: int) -> tuple[lv.Table, lv.Table]:
    return truth.sample(rows, seed=seed).drop(hide), truth.sample(TEST_ROWS, seed=900 + seed).drop(hide)


def _searched(
    data: lv.Table, test: lv.Table, plain: float, around: set[str], keep: dict[str, Findings] | None = None
) -> dict[str, Any]:
    """Every variant of the search, by its name."""
    line = {}
    for method, construction in WAYS:
        begun = time.process_time()
        found = lv.find_hidden(data, method=method, construction=construction, max_hidden=1)
        label = method if construction == "default" else f"{method}, source's construction"
        neighbours = set(found.hidden[0].neighbours) if found.hidden else set()
        line[label] = _put(found.network, found.gain, test, plain, f1(around, neighbours), time.process_time() - begun)
        if keep is not None:
            keep[label] = found
    return line


def _naive(data: lv.Table, test: lv.Table, plain: float, base: float) -> dict[str, Any]:
    straw = naive(data, 2)
    return _put(straw.network, straw.score - base, test, plain)


def _put(
    network: Network, gain: float, test: lv.Table, plain: float, near: float = 0.0, seconds: float = 0.0
) -> dict[str, Any]:
    return {
        "gain": gain,
        "test nats a row": (network.log_likelihood(test) - plain) / test.n_rows,
        "F1": round(near, 3),
        "seconds": round(seconds, 1),
    }


def over_plain(name: str, hide: str, rows: int, seed: int) -> Json:
    """FindHidden over plain hill-climbing, with nothing that repairs the search, as in the source."""
    return _over_plain(*_sampled(lv.datasets.network(name), hide, rows, seed))


def real_over_plain(name: str, seed: int, data: Path) -> Json:
    """The same for a real table."""
    return _over_plain(*split(table_of(name, data), seed))


def _over_plain(data: lv.Table, test: lv.Table) -> Json:
    """Scores, and test log-likelihood a row, absolute: of plain hill-climbing, of the strongest search, of both with a
    hidden variable put upon the plain one."""
    search = begin(data, lv.BDe(), Plan(max_hidden=1))
    climbed = lv.learn_structure(search.ground.table, lv.BDe(), method="hill-climb", jobs=1)
    plain = Baseline(climbed.network, climbed.score, 0.0)
    lines = {
        "plain": _whole(plain.network, plain.score, test),
        "strongest": _whole(search.baseline.network, search.baseline.score, test),
    }
    source = [_upon(search, plain, Plan(method, "elidan2000", 2, 1), test) for method in ("fixed", "region", "full")]
    lines["source"] = max(source, key=lambda each: each["score"])
    lines["ours"] = _upon(search, plain, Plan("region", max_hidden=1), test)
    return lines


def _upon(search: Search, plain: Baseline, plan: Plan, test: lv.Table) -> dict[str, Any]:
    """The best hidden variable upon this network; the network itself if none helps."""
    screening = Screening(search.ground, plan, search.run, plain.graph, plain.score, {}, "H1")
    best = best_hidden(screening)
    if isinstance(best, str):
        return _whole(plain.network, plain.score, test)
    fitted = fit(best.tried.graph, search.table, hidden=dict(best.sizes), starts=STARTS, prior=lv.BDe(), jobs=1)
    return {
        **_whole(fitted.network, best.tried.score, test),
        "states": best.sizes["H1"],
        "neighbours": sorted(best.tried.graph.neighbours("H1")),
    }


def _whole(network: Network, score: float, test: lv.Table) -> dict[str, Any]:
    return {"score": score, "test": network.log_likelihood(test) / test.n_rows}


def _meaning(found: Findings, training: lv.Table) -> dict[str, Any]:
    """The hidden variable's children, and the share of their states in each of its own."""
    if not found.hidden:
        return {}
    hidden = found.hidden[0]
    posterior = found.network.posterior(training, hidden.name)
    shares = {}
    for child in hidden.children:
        column, states = training.column(child), training.states[child]
        counts = np.array([posterior[column == code].sum(axis=0) for code in range(len(states))])
        rows = (counts / counts.sum(axis=0)).tolist()
        shares[child] = {str(state): row for state, row in zip(states, rows, strict=True)}
    among = sum(set(arc) <= set(hidden.children) for arc in found.network.edges)
    return {
        "states": hidden.states,
        "children": list(hidden.children),
        "parents": list(hidden.parents),
        "weights": posterior.mean(axis=0).tolist(),
        "shares": shares,
        "arcs among children": among,
    }
