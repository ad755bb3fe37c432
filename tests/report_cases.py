"""Findings to make reports of, put together by hand: a search for each would take minutes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import leverrier as lv
from leverrier.api.discovery import Discovery
from leverrier.data.table import Table, Variable
from leverrier.discovery.asked import Asked
from leverrier.discovery.causes_route import _in_place
from leverrier.discovery.diagnostics import described
from leverrier.discovery.done import CausesCompared, Tried
from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.examine import shape_of
from leverrier.discovery.findings import Attempt, HiddenVariable
from leverrier.discovery.meaning import explain
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.states.states_fit import states_fit
from leverrier.discovery.verdict import Answer, ModelKind, Reason, Verdict
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.run.run import Run

EVIL = "</script><img src=x onerror=alert(1)>"
HOSTILE = (
    EVIL,
    "<!-- <script>",
    "\"'><svg/onload=alert(2)>",
    "{{ 7*7 }}",
    "&amp; &lt;",
    "</style>]]>",
    "a\u2028b\x00c",
)
LONG = tuple(
    f"Over the past twelve months, how often was {what} not available to you or anyone near you"
    for what in ("medical care", "public transport", "clean drinking water", "childcare", "legal advice")
)
FOREIGN = ("Кашель при вдохе", "发烧温度", "صداع مزمن", "Πόνος στο στήθος", "息切れ", "두통")
QUICK = Run(deadline=1e18)
"""With a deadline scores by number of states are left out."""


def found(
    names: tuple[str, ...] = ("age", "cough", "fever", "pain", "rash"),
    values: tuple[str, ...] = ("no", "yes"),
    states: int = 2,
    rows: int = 400,
    holes: bool = False,
    others: int = 0,
) -> Result:
    """One hidden variable behind these columns, and further columns beside them."""
    rng = np.random.default_rng(len(names) + states)
    rest = tuple(f"column {i:03d}" for i in range(others))
    parents = {"H1": (), **dict.fromkeys(names, ("H1",)), rest[0] if rest else names[-1]: (("H1",) if not rest else ())}
    parents |= {name: (rest[i - 1],) if i else () for i, name in enumerate(rest)}
    graph = Graph.from_parents(parents)
    labels = {"H1": tuple(range(states)), **dict.fromkeys(names, values), **dict.fromkeys(rest, ("a", "b"))}
    tables = {
        node: rng.dirichlet(np.full(len(labels[node]), 0.4), [len(labels[p]) for p in graph.parents(node)])
        for node in graph
    }
    tables["H1"] = rng.dirichlet(np.full(states, 8.0))
    network = Network.build(graph, labels, tables)
    table = network.sample(rows, seed=1).drop("H1")
    if holes:
        codes = table.codes.copy()
        codes[rng.random(codes.shape) < 0.05] = table.missing
        table = Table(table.columns, codes)
    evidence = Evidence(
        54.2,
        (0.0, 1.2, 3.4, 2.2),
        0.2,
        tested=True,
        held_out=0.031,
        held_out_interval=(0.01, 0.05),
        support=0.75,
        links={name: i / len(names) for i, name in enumerate(names)},
    )
    hidden = HiddenVariable("H1", states, names, (), 54.2, "semi-clique", "no arcs among its children", evidence)
    plain = network.without("H1") if others else lv.learn_structure(table, holes="available", max_parents=1).network
    attempts = tuple(Attempt(names[:3], "semi-clique", "as found", states, 3.0 - i, names) for i in range(30))
    posterior = network.posterior(table, "H1")
    examined = Result(
        verdict=Verdict(Answer.FOUND, Reason.TESTED),
        kind=ModelKind.NETWORK,
        hidden=(hidden,),
        compressors=(),
        network=network,
        baseline=plain,
        score=-1000.0,
        baseline_score=-1054.2,
        spread=0.4,
        repaired=0.0,
        shape=shape_of(table),
        attempts=attempts,
        meanings={"H1": explain(network, table, "H1", posterior)},
        did=(Tried(30),),
        settings=Asked(draws=4, resamples=4, score="BDe(1)", version=lv.__version__),
        seconds=12.0,
    )
    examined = described(examined, table, table, lv.BDe(), Plan(), run=QUICK)
    fits = [lv.fit(network.graph, table, hidden={"H1": k}, starts=2, prior=lv.BDe(), seed=0, jobs=1) for k in (2, 3, 4)]
    return replace(examined, scores={"H1": tuple(states_fit(each, "H1") for each in fits)}) if states <= 4 else examined


def hostile() -> Result:
    return found(HOSTILE, (f"no {EVIL}", "yes <!--"))


def nothing() -> Result:
    """Nothing hidden, and what would have been found."""
    table = lv.datasets.network("asia").sample(300, seed=0)
    plain = lv.learn_structure(table).network
    power = Power(300, 6, {0.1: 0.0, 0.2: 0.0, 0.4: 0.5, 0.6: 0.84, 0.8: 1.0})
    examined = Result(
        verdict=Verdict(Answer.NOTHING, Reason.NO_GAIN),
        kind=ModelKind.NETWORK,
        hidden=(),
        compressors=(),
        network=plain,
        baseline=plain,
        score=-600.0,
        baseline_score=-600.0,
        spread=0.0,
        repaired=0.0,
        shape=shape_of(table),
        power=power,
    )
    return described(examined, table, table, lv.BDe(), Plan(), run=QUICK)


def signs(names: tuple[str, ...] | None = None) -> Result:
    """Overlapping causes behind yes/no columns."""
    x, _ = lv.datasets.hidden_causes(n_observed=7, n_causes=3, n_trials=200, seed=0)
    columns = tuple(Variable(name, (0, 1), "boolean") for name in names or tuple(f"sign {i}" for i in range(7)))
    table = Table(columns, np.ascontiguousarray(x.T.astype(np.uint8)))
    result = hidden_causes(table, sweeps=60, chains=1, seed=0, jobs=1)
    evidence = Evidence(
        40.0, held_out=0.2, held_out_interval=(0.1, 0.3), kind=Compared.CAUSES, p_value=0.001, tested=True
    )
    empty = Result(
        verdict=Verdict(Answer.NOTHING, Reason.NO_GAIN),
        kind=ModelKind.NETWORK,
        hidden=(),
        compressors=(),
        network=lv.learn_structure(table).network,
        baseline=lv.learn_structure(table).network,
        score=0.0,
        baseline_score=0.0,
        spread=0.0,
        repaired=0.0,
        shape=shape_of(table),
        settings=Asked(),
    )
    compared = CausesCompared(0.05, 0.01, ModelKind.NETWORK)
    return described(_in_place(table, empty, result, evidence, compared), table, table, lv.BDe(), Plan(), run=QUICK)


def numbers() -> Result:
    """Classes over numbers and a category."""
    from leverrier.discovery.examine import Tests
    from leverrier.discovery.mixed_route import examine_classes

    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, 300)
    data = {
        "height": rng.normal(170 + 12 * state, 4),
        "weight": rng.normal(60 + 15 * state, 5),
        "smoker": np.where(rng.random(300) < 0.2 + 0.5 * state, "yes", "no").tolist(),
    }
    table = lv.read_table(data)
    examined = examine_classes(table, lv.BDe(), Plan(), Tests(draws=0, resamples=0), QUICK)
    return described(examined, table, table, lv.BDe(), Plan(), run=QUICK)


def diary(
    names: tuple[str, ...] = ("x0", "x1", "x2", "noise"),
    values: tuple[str, ...] = ("lo", "hi"),
    days: int = 200,
    method: str = "auto",
    regime: bool = True,
) -> Discovery:
    """A regime that lasts drives all columns but the last, in two sequences; or nothing does."""
    rng = np.random.default_rng(4)
    state = np.concatenate([np.cumsum(rng.random(days) < 0.03) % 2 for _ in range(2)])
    data = {"patient": np.repeat(["ann", "bob"], days), "day": np.tile(np.arange(days), 2)}
    for place, name in enumerate(names):
        odds = np.where(state == 1, 0.85, 0.15) if regime and place < len(names) - 1 else np.full(2 * days, 0.5)
        data[name] = np.array(values)[(rng.random(2 * days) < odds).astype(int)]
    return lv.discover(data, by="patient", time="day", method=method)
