"""[elidan2001 figure 6]: FindHidden with a binary hidden variable, and with its number of states determined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import leverrier as lv
from experiments.experiment import Json
from experiments.tables import NEWS_TRAINING, split, table_of
from leverrier.discovery.findings import Findings

TEST_ROWS = 10_000


def alarm_case(hide: str, rows: int, seed: int) -> Json:
    """ALARM with one variable hidden."""
    truth = lv.datasets.network("alarm")
    test = truth.sample(TEST_ROWS, seed=900 + seed).drop(hide)
    return {"true": truth.cardinality(hide), **_both(truth.sample(rows, seed=seed).drop(hide), test)}


def real_case(name: str, seed: int, columns: int | None, data: Path) -> Json:
    """A real table: two thirds for training (of the news 5,000 messages); with `columns`, only the first so many."""
    table = table_of(name, data)
    if columns is not None:
        table = table.select(table.variables[:columns])
    training, test = split(table, seed, NEWS_TRAINING if name == "news" else None)
    return _both(training, test)


def _both(training: lv.Table, test: lv.Table) -> dict[str, Any]:
    two = lv.find_hidden(training, cardinality=2, max_hidden=1)
    auto = lv.find_hidden(training, cardinality="auto", max_hidden=1)
    base = max(two.baseline, auto.baseline, key=lambda each: each.score)
    return {
        "baseline": base.score,
        "baseline test": _loss(base.network, test),
        "binary": _line(two, test),
        "agglomeration": _line(auto, test),
    }


def _line(found: Findings, test: lv.Table) -> dict[str, Any]:
    hidden = found.hidden[0] if found.hidden else None
    return {
        "score": found.score,
        "test": _loss(found.network, test),
        "states": hidden.states if hidden else 1,
        "children": list(hidden.children) if hidden else [],
        "parents": list(hidden.parents) if hidden else [],
    }


def _loss(network: lv.Network, test: lv.Table) -> float:
    """Nats a row."""
    return -network.log_likelihood(test) / test.n_rows
