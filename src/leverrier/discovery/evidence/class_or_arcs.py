"""One hidden class behind all columns, or arcs between them? Cox's test of two models neither of which holds the other.

In a small table arcs can imitate a class at a lower price, so that the score alone says "nothing hidden" though the
arcs do not fit. So both models are asked to explain the difference of their scores: tables simulated from the network
show what it would be if the network were true, tables simulated from the classes what it would be if they were. When
the network cannot have produced it and the classes can, the classes are believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.evidence.null_test import FLOOR
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.network_codecs import scored_network_once
from leverrier.discovery.places.baseline import MOST_CELLS, hidden_name
from leverrier.discovery.places.search import Search
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

MOST_COLUMNS = 20
STATES = (2, 3, 4, 5, 6)
STARTS = 6
LEAST_DRAWS = 19
"""With fewer tables simulated from the network a p-value of 0.05 could not be reached."""
REVERSE = 9
"""Tables simulated from the classes."""


@dataclass(frozen=True, eq=False)
class WholeClass:
    """The best class model of all columns, and what the test said of it. Its variable's gain is over independent
    columns; the evidence holds the difference from the network's score."""

    network: Network
    variable: HiddenVariable
    score: float
    evidence: Evidence
    reverse_gains: tuple[float, ...]
    """The same difference in tables simulated from the classes."""


def whole_class(search: Search, draws: int) -> WholeClass | None:
    """The class model of all columns if the network cannot explain the data and the classes can; untested if there are
    to be no draws."""
    table, score = search.ground.table, search.score
    if not 3 <= len(table.variables) <= MOST_COLUMNS:
        return None
    name = hidden_name(search.baseline.graph, 0)
    classes, reached = scored_network_once(
        search.run, ("classes",), lambda: best_classes(table, score, name, search.run), table.states
    )
    alone = search.ground.total(Graph.from_edges(table.variables, ()))
    if reached - alone <= FLOOR:
        return None  # columns that do not depend on each other have no class behind them
    observed = reached - search.baseline.score
    if not draws:
        return _of(search, classes, name, reached, alone, Evidence(observed, kind=Compared.CLASSES), ())
    draws = max(draws, LEAST_DRAWS)
    seeds = np.random.SeedSequence([search.plan.seed, 19]).spawn(draws + REVERSE)
    null = _differences(search.baseline.network, table, score, name, seeds[:draws], search.run, above=observed)
    search.run.tell(Event.CLASSES_OR_ARCS, 0.6)
    if null is None or sum(each >= observed for each in null) > 0.05 * draws:
        return None
    reverse = _differences(classes, table, score, name, seeds[draws:], search.run, above=None)
    search.run.tell(Event.CLASSES_OR_ARCS, 1.0)
    if reverse is None or not min(reverse) <= observed <= max(reverse) + np.ptp(reverse):
        return None
    p = (1 + sum(each >= observed for each in null)) / (1 + len(null))
    evidence = Evidence(observed, tuple(null), p, accepted=True, tested=True, kind=Compared.CLASSES)
    return _of(search, classes, name, reached, alone, evidence, tuple(reverse))


def _of(
    search: Search,
    classes: Network,
    name: str,
    reached: float,
    alone: float,
    evidence: Evidence,
    reverse: tuple[float, ...],
) -> WholeClass:
    score = search.score
    fitted = fit(
        classes, search.table, hidden={name: classes.cardinality(name)}, initial=classes, starts=1, prior=score, jobs=1
    )
    children = classes.children(name)
    variable = HiddenVariable(
        name, classes.cardinality(name), children, (), reached - alone, "all columns", "classes", evidence
    )
    return WholeClass(fitted.network, variable, reached, evidence, reverse)


def best_classes(table: Table, score: Score, name: str, run: Run = UNBOUNDED) -> tuple[Network, float]:
    """One hidden parent of every column with the number of states that scores best, and its score."""
    graph = Graph.from_parents({**dict.fromkeys(table.variables, (name,)), name: ()})
    best: tuple[Network, float] | None = None
    for states in STATES:
        fitted = fit(
            graph,
            table,
            hidden={name: states},
            starts=STARTS,
            method="vb",
            score=score,
            accelerate=False,
            tolerance=1e-2,
            jobs=1,
            budget=run.seconds_left(),
        )
        if best is not None and fitted.score < best[1]:
            break
        best = fitted.network, fitted.score
    assert best is not None
    return best


def _differences(
    model: Network,
    table: Table,
    score: Score,
    name: str,
    seeds: list[np.random.SeedSequence],
    run: Run,
    above: float | None,
) -> list[float] | None:
    """Classes less network, each learned anew on simulated tables; stops when too many are above the observed one.
    None if time ran out."""
    found: list[float] = []
    step = 5
    for first in range(0, len(seeds), step):
        batch = seeds[first : first + step]
        keys = [("classes or arcs", *seed.spawn_key) for seed in batch]
        drawn = run.map(_difference, [(model, table, score, name, seed) for seed in batch], keys)
        found += drawn
        if len(drawn) < len(batch):
            return None
        if above is not None and sum(each >= above for each in found) > 0.05 * len(seeds):
            break
    return found


def _difference(model: Network, table: Table, score: Score, name: str, seed: np.random.SeedSequence) -> float:
    rows = round(table.total)
    drawn = model.sample(rows, seed=np.random.default_rng(seed)).select(table.variables)
    kinds = "auto" if model.families else "tables"
    plain = learn_structure(drawn, score, method="best", rounds=3, max_cells=MOST_CELLS, families=kinds, jobs=1)
    return best_classes(drawn, score, name)[1] - plain.score
