"""One hidden class behind all columns, or arcs between them? Cox's test of two models neither of which holds the other.

In a small table arcs can imitate a class at a lower price, so that the score alone says "nothing hidden" though the
arcs do not fit. So both models are asked to explain the difference of their scores: tables simulated from the network
show what it would be if the network were true, tables simulated from the classes what it would be if they were. When
the network cannot have produced it and the classes can, the classes are believed.

The network of the comparison is one of tables alone by one strong search, in the data and in every simulated table
alike (docs/decisions/0016-a-light-statistic.md); tables are drawn from the strongest network, families of every kind
included.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence
from leverrier.discovery.evidence.evidence import LEVEL, Compared, Evidence
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.network_codecs import scored_network_once
from leverrier.discovery.places.baseline import hidden_name
from leverrier.discovery.places.search import Search, begin
from leverrier.discovery.plan import Plan
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

MOST_COLUMNS = 20
ALONE = 10.0
"""Nats over independent columns below which no class is looked for."""
STATES = (2, 3, 4, 5, 6)
STARTS = 6
REVERSE = 9
"""Tables simulated from the classes."""


@dataclass(frozen=True, eq=False)
class WholeClass:
    """The best class model of all columns, and what the test said of it. Its gain is over the best network: it may be
    below 0, and the classes still be what made the table."""

    network: Network
    variable: HiddenVariable
    score: float
    evidence: Evidence
    reverse_gains: tuple[float, ...]
    """The same difference in tables simulated from the classes."""


def whole_class(search: Search, draws: int, level: float = LEVEL) -> WholeClass | None:
    """The class model of all columns if the network cannot explain the data and the classes can; untested if there are
    to be no draws."""
    table, score, run = search.ground.table, search.score, search.run
    if not 3 <= len(table.variables) <= MOST_COLUMNS:
        return None
    name = hidden_name(search.baseline.graph, 0)
    classes, reached = scored_network_once(
        run, ("classes",), lambda: best_classes(table, score, name, run), table.states
    )
    alone = search.ground.total(Graph.from_edges(table.variables, ()))
    if reached - alone <= ALONE:
        return None  # columns that do not depend on each other have no class behind them
    if not draws:
        gain = reached - search.baseline.score
        return _of(search, classes, name, reached, Evidence(gain, kind=Compared.CLASSES), ())
    plan, key = search.plan.light(), ("classes or arcs", "data")
    observed = run.once(key, lambda: reached - _arcs_alone(table, score, plan), otherwise=lambda: float("nan"))
    if np.isnan(observed):
        return None
    seeds = np.random.SeedSequence([search.plan.seed, 19]).spawn(draws + REVERSE)
    keys = [("classes or arcs", *seed.spawn_key) for seed in seeds]
    from_arcs, from_classes = (
        partial(_difference, model, table, score, name, plan) for model in (search.baseline.network, classes)
    )
    event, kind = Event.CLASSES_OR_ARCS, Compared.CLASSES
    evidence = drawn_evidence(observed, from_arcs, seeds[:draws], keys[:draws], level, run, event, kind)
    if evidence.cut or not evidence.tested or not evidence.accepted:
        return None
    reverse = run.map(from_classes, [(seed,) for seed in seeds[draws:]], keys[draws:])
    run.tell(event, 1.0)
    if len(reverse) < REVERSE or not min(reverse) <= observed <= max(reverse) + np.ptp(reverse):
        return None
    return _of(search, classes, name, reached, evidence, tuple(reverse))


def _of(
    search: Search, classes: Network, name: str, reached: float, evidence: Evidence, reverse: tuple[float, ...]
) -> WholeClass:
    score = search.score
    fitted = fit(
        classes, search.table, hidden={name: classes.cardinality(name)}, initial=classes, starts=1, prior=score, jobs=1
    )
    children = classes.children(name)
    variable = HiddenVariable(
        name,
        classes.cardinality(name),
        children,
        (),
        reached - search.baseline.score,
        "all columns",
        "classes",
        evidence,
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


def _difference(
    model: Network, table: Table, score: Score, name: str, plan: Plan, seed: np.random.SeedSequence
) -> float:
    """The classes' score less the network's in a table drawn from the model."""
    drawn = model.sample(round(table.total), seed=np.random.default_rng(seed)).select(table.variables)
    return best_classes(drawn, score, name)[1] - _arcs_alone(drawn, score, plan)


def _arcs_alone(table: Table, score: Score, plan: Plan) -> float:
    """The score of the best network, by the light search."""
    return begin(table, score, plan).baseline.score
