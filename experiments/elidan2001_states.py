"""[elidan2001 section 5]: how many states a hidden variable of ALARM has, and four interacting ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

import leverrier as lv
from experiments.experiment import Json
from leverrier.discovery.states.cardinality import cardinality
from leverrier.discovery.states.cardinality_result import Cardinalities, Cardinality
from leverrier.learning.em.fit import fit
from leverrier.report.charts.cardinality_charts import merge_tree, score_by_states

FOUR = {"h0": 3, "h1": 2, "h2": 4, "h3": 3}
EARLY = 10
"""Iterations of EM stopped early."""
SWEPT = 8
"""EM at every number of states "up to a certain point" [elidan2001 section 3]: here, twice the most that any has."""


def alarm_variables(network: lv.Network) -> list[str]:
    """The 20 with a child and at least two neighbours."""
    graph = network.graph
    return [name for name in graph if graph.children(name) and len(graph.neighbours(name)) >= 2]


def alarm_24(network: lv.Network) -> list[str]:
    """The 24 with a child and at least two variables in the blanket.

    The source does not name its 24: no leaves, not few neighbours. This is the rule that gives 24; of the 26 that are
    no leaves it leaves out ANAPHYLAXIS and MINVOLSET, whose blanket is one variable.
    """
    return [name for name in network.graph if network.children(name) and len(network.blanket(name)) >= 2]


def _alone(
    network: lv.Network, data: lv.Table, name: str, refine: bool | Literal["brief"], seed: int = 0
) -> Cardinality:
    found = cardinality(network, data, hidden=name, refine=refine, seed=seed)
    assert isinstance(found, Cardinality)
    return found


def tree(name: str, rows: int, seed: int) -> Json:
    """Figure 2: the merge tree."""
    network = lv.datasets.network("alarm")
    found = _alone(network, network.sample(rows, seed=seed).drop(name), name, refine=False)
    return {
        "states": found.states,
        "true": network.cardinality(name),
        "first": found.agglomeration.n_first,
        "gains": [merge.gain for merge in found.merges],
        "chart": merge_tree(found).to_dict(),
        "blanket": list(network.blanket(name)),
    }


def scores(name: str, rows: int, seed: int) -> Json:
    """Figure 3: score against the number of states by merging, EM from its path, EM at random."""
    network = lv.datasets.network("alarm")
    found = _alone(network, network.sample(rows, seed=seed).drop(name), name, refine=True, seed=seed)
    path = dict(found.path)
    lines = [
        {"states": k, "merging": path[k], "path": _number(each.path), "random": _number(each.random)}
        for k, each in sorted(found.scores.items())
    ]
    return {
        "states": found.states,
        "true": network.cardinality(name),
        "lines": lines,
        "chart": score_by_states(found).to_dict(),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def breakdown(rows: int, sample: int) -> Json:
    """Merging and refined answers for the 24 variables; of those that collapse, whether EM agrees."""
    network = lv.datasets.network("alarm")
    data = network.sample(rows, seed=sample)
    answers = {}
    for name in alarm_24(network):
        table = data.drop(name)
        found = _alone(network, table, name, refine=True, seed=sample)
        line = {"true": network.cardinality(name), "merging": found.agglomeration.best(), "refined": found.states}
        if line["merging"] == 1:
            line["EM"] = em_sweep(network, table, name, line["true"] + 1)
        answers[name] = line
    return answers


def em_sweep(
    network: lv.Network, table: lv.Table, name: str, most: int | None = None, iterations: int | None = None
) -> int:
    """The number of states that EM from 5 random starts at every number says: the best Cheeseman–Stutz score. Without
    `most` it goes on until two numbers beyond the best have been tried."""
    reached: list[float] = []
    while len(reached) < most if most else len(reached) < int(np.argmax(reached or [0.0])) + 3:
        found = fit(
            network,
            table,
            hidden={name: len(reached) + 1},
            starts=5,
            prior=lv.BDe(),
            jobs=1,
            max_iterations=iterations or 10_000,
        )
        reached.append(found.score)
    return 1 + int(np.argmax(reached))


def deviations(rows: int, samples: int) -> Json:
    """Figure 4: [sample, variable, found by merging, true] for a number of rows."""
    network = lv.datasets.network("alarm")
    lines = []
    for sample in range(samples):
        data = network.sample(rows, seed=sample)
        for name in alarm_24(network):
            found = _alone(network, data.drop(name), name, refine=False)
            lines.append([sample, name, found.states, network.cardinality(name)])
    return lines


def times(rows: int, seed: int) -> Json:
    """All 20 variables merged, merged with a few steps of EM after it, refined, and by EM from 5 random starts: at
    every number up to 8, until two beyond the best, and that stopped early. Seconds of processor and exact answers."""
    network = lv.datasets.network("alarm")
    names = alarm_variables(network)
    data = network.sample(rows, seed=seed)
    tables = {name: data.drop(name) for name in names}
    ways: dict[str, Callable[[str], int]] = {
        "merging": lambda name: _alone(network, tables[name], name, refine=False).states,
        "merging, brief EM": lambda name: _alone(network, tables[name], name, refine="brief").states,
        "refined": lambda name: _alone(network, tables[name], name, refine=True, seed=seed).states,
        "EM at every number": lambda name: em_sweep(network, tables[name], name, SWEPT),
        "EM until two lose": lambda name: em_sweep(network, tables[name], name),
        "EM stopped early": lambda name: em_sweep(network, tables[name], name, iterations=EARLY),
    }
    lines = {}
    for label, way in ways.items():
        for name in names if label.startswith("merging") else ["HR"]:
            way(name)  # (compiles, and looks at the tables for the first time)
        begun = time.process_time()
        answers = {name: way(name) for name in names}
        seconds = time.process_time() - begun
        exact = sum(k == network.cardinality(name) for name, k in answers.items())
        lines[label] = {"seconds": seconds, "exact": exact, "states": answers}
    first = max(_alone(network, tables[name], name, refine=False).agglomeration.n_first for name in names)
    return {"variables": len(names), "first states": first, "lines": lines}


def four_hidden(seed: int = 1) -> lv.Network:
    """h0 → h1, h0 → h2, {h1, h2} → h3, four to six binary columns below each, and two columns shared by a pair."""
    parents: dict[str, tuple[str, ...]] = {"h0": (), "h1": ("h0",), "h2": ("h0",), "h3": ("h1", "h2")}
    for name, columns in zip(FOUR, (4, 4, 6, 5), strict=True):
        parents |= {f"{name}_{i}": (name,) for i in range(columns)}
    parents |= {"h0_h1": ("h0", "h1"), "h1_h3": ("h1", "h3")}
    graph = lv.Graph.from_parents(parents)
    rng = np.random.default_rng(seed)
    tables = {}
    for node in graph:
        rows = tuple(FOUR.get(parent, 2) for parent in graph.parents(node))
        if node in FOUR:
            k = FOUR[node]
            tables[node] = 0.7 * rng.dirichlet(np.ones(k), size=rows) + 0.3 / k if rows else np.full(k, 1 / k)
        else:
            p = rng.permutation(np.linspace(0.08, 0.92, int(np.prod(rows)))).reshape(rows)
            tables[node] = np.stack([1 - p, p], axis=-1)
    return lv.Network.build(graph, {node: tuple(map(str, range(FOUR.get(node, 2)))) for node in graph}, tables)


def four(rows: int, sample: int, structure: bool) -> Json:
    """Figure 5: four interacting hidden variables, against all of them binary; with `structure`, structural EM from the
    true graph after it, as in the source."""
    network = four_hidden()
    test = network.sample(rows, seed=10_000).drop(*FOUR)
    data = network.sample(rows, seed=sample).drop(*FOUR)
    begun = time.process_time()
    found = cardinality(network.graph, data, hidden=list(FOUR), starts=3, seed=sample)
    assert isinstance(found, Cardinalities)
    seconds = time.process_time() - begun
    binary = fit(network.graph, data, hidden=dict.fromkeys(FOUR, 2), starts=5, prior=lv.BDe(), seed=sample, jobs=1)
    known = fit(network.graph, data, hidden=FOUR, starts=5, prior=lv.BDe(), seed=sample, jobs=1)
    models = {"agglomeration": found.network, "binary": binary.network, "original, EM": known.network, "true": network}
    answer: dict[str, Json] = {"states": found.states, "seconds": seconds}
    if structure:
        arcs = {}
        for label, sizes in (("agglomeration", found.states), ("binary", dict.fromkeys(FOUR, 2))):
            learned = lv.structural_em(network.graph, data, sizes, score=lv.BDe(), seed=sample).network
            models[f"{label}, structural EM"] = learned
            arcs[label] = _arcs(network.graph.edges, learned.graph.edges)
        answer["arcs"] = arcs
    return {**answer, "test": {label: -each.log_likelihood(test) / rows for label, each in models.items()}}


def _arcs(true: Sequence[tuple[str, str]], found: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Arcs removed and added, whatever their direction."""
    before, after = ({frozenset(arc) for arc in arcs} for arcs in (true, found))
    return {"removed": len(before - after), "added": len(after - before)}
