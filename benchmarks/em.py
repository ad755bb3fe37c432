"""EM on ALARM against pyAgrum and pgmpy, with holes, and a stress run: same rows, both answers.

    scripts/bench em [--parts peers,holes,stress] [--without pgmpy] [--fits 5000]

peers   10,000 rows, HYPOVOLEMIA hidden with 2 states, true structure. The peers infer row by row and take seconds for
        one iteration, so they get one or three; the ratio is of the seconds for one iteration.
holes   a fifth of the cells removed from 5,000 rows: EM on the true structure against fitting complete rows only.
stress  random networks, holes, duplicate and constant columns, weights: nothing may fall or be no number.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.learning.em.climb import climb
from leverrier.learning.em.fit import fit
from leverrier.learning.em.fit_task import make_task
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.em.network_em import ParameterClimb
from leverrier.learning.em.pairing import observation_of
from leverrier.learning.em.starting_points import random_start

HIDDEN, STATES, ROWS = "HYPOVOLEMIA", 2, 10_000


def ours(network: lv.Network, table: Table) -> tuple[float, float]:
    """Seconds of one plain iteration (over many), and the log-likelihood of an ordinary fit."""
    start = time.perf_counter()
    result = fit(network, table, hidden={HIDDEN: STATES}, seed=0)
    print(
        f"  leverrier: a whole fit, {len(result.starts)} starts: {time.perf_counter() - start:.4f} s, "
        f"{result.log_likelihood:,.2f} ({result.status}, best reached {result.starts.best_count} times)"
    )
    seen = observation_of(network, table, {HIDDEN: STATES})
    objective = make_task(seen, None, False).objective
    observed = seen.observed_tables(seen.open_nodes)
    steps, seconds = 0, 0.0
    for rng in np.random.default_rng(0).spawn(300):
        climber = ParameterClimb(objective, random_start(seen, observed, rng, False), tolerance=1e-9, accelerate=False)
        begin = time.perf_counter()
        steps += climb(climber, max_iterations=5000).iterations
        seconds += time.perf_counter() - begin
    return seconds / steps, result.log_likelihood


def pyagrum_iteration(network: lv.Network, table: Table) -> tuple[float, float]:
    """From runs of one and of three iterations: what one more costs."""
    import pyagrum as gum

    template = lv.to_pyagrum(network)
    frame = table.to_pandas().astype(str)
    frame[HIDDEN] = "?"
    seconds, learned = [], None
    for limit in (1, 3):
        learner = gum.BNLearner(frame, template, ["?"])
        learner.useSmoothingPrior(1e-3)
        learner.useEM(1e-6)
        learner.EMsetMaxIter(limit)
        begin = time.perf_counter()
        learned = learner.learnParameters(template.dag())
        seconds.append(time.perf_counter() - begin)
    return (seconds[1] - seconds[0]) / 2, lv.from_pyagrum(learned).log_likelihood(table)


def pgmpy_iteration(network: lv.Network, table: Table) -> tuple[float, float]:
    from pgmpy.estimators import ExpectationMaximization
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork(list(network.edges), latents={HIDDEN})
    frame = table.to_pandas().astype(str)
    begin = time.perf_counter()
    tables = ExpectationMaximization(model, frame).get_parameters(
        latent_card={HIDDEN: STATES}, max_iter=1, seed=0, show_progress=False
    )
    seconds = time.perf_counter() - begin
    model.add_cpds(*tables)
    return seconds, lv.from_pgmpy(model).log_likelihood(table)


def peers(without: set[str]) -> None:
    network = lv.datasets.network("alarm")
    table = network.sample(ROWS, seed=0).drop(HIDDEN)
    print(f"ALARM, {ROWS:,} rows, {HIDDEN} hidden with {STATES} states")
    mine, reached = ours(network, table)
    print(f"  leverrier: {mine * 1e6:10.2f} µs an iteration   log-likelihood at the end   {reached:,.2f}")
    runs: dict[str, Callable[[lv.Network, Table], tuple[float, float]]] = {
        "pyagrum": pyagrum_iteration,
        "pgmpy": pgmpy_iteration,
    }
    for name, run in runs.items():
        if name not in without:
            seconds, value = run(network, table)
            print(
                f"  {name:9s}: {seconds:10.2f} s an iteration    log-likelihood where it stopped {value:,.2f}   "
                f"ours is {seconds / mine:,.0f} × faster an iteration"
            )


def holes(rows: int = 5000, share: float = 0.2) -> None:
    network = lv.datasets.network("alarm")
    full, test = network.sample(rows, seed=0), network.sample(rows, seed=1)
    rng = np.random.default_rng(20)  # (not the sample's own seed: holes must not know the cells)
    codes = full.codes.astype(np.int64)
    codes[rng.random(codes.shape) < share] = -1
    table = Table.from_codes(full.states, codes)
    print(f"ALARM, {rows:,} rows, {table.n_missing:,} holes ({share:.0%} of the cells)")
    begin = time.perf_counter()
    result = fit(network, table, prior=0.1)
    seconds = time.perf_counter() - begin
    print(f"  EM, true structure: {seconds:.2f} s, {result.status} after {result.iterations} iterations")
    complete = table.take(~(table.codes == table.missing).any(axis=0))
    uniform = {name: np.full(network.shape(name), 1 / network.cardinality(name)) for name in network.variables}
    on_complete = fit(network, complete, prior=0.1).network if complete.n_rows else network.with_tables(uniform)
    available = network_from_counts(network.graph, table.states, ObservedCounts(table), lv.BDe(0.1))
    without_holes = network_from_counts(network.graph, full.states, ObservedCounts(full), lv.BDe(0.1))
    for label, model in (
        ("true network", network),
        ("the same rows without holes", without_holes),
        ("EM", result.network),
        ("available cases", available),
        (f"complete rows only ({complete.n_rows} of them)", on_complete),
    ):
        print(f"  test log-loss {-model.log_likelihood(test) / rows:8.4f} nats a row   {label}")


def stress(fits: int) -> None:
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    steps, deepest = 0, 0.0
    for case in range(fits):
        network, table = random_problem(rng)
        result = fit(
            network,
            table,
            starts=int(rng.integers(1, 3)),
            method="vb" if case % 7 == 0 else "em",
            prior=[None, None, 0.5, lv.BDeu(1.0)][case % 4],
            seed=case,
            max_iterations=300,
        )
        trace = np.array(result.trace)
        assert np.all(np.isfinite(trace)), f"case {case}: {trace}"
        assert all(np.all(np.isfinite(result.network.cpt(name))) for name in network.variables), f"case {case}"
        deepest = max(deepest, float(-np.diff(trace).min(initial=0.0)))
        steps += sum(start.iterations for start in result.starts)
    print(
        f"{fits:,} random fits, {steps:,} iterations, {time.perf_counter() - begin:.0f} s: "
        f"deepest fall {deepest:.1e} nats, nothing that is no number"
    )
    assert deepest <= 1e-9


def random_problem(rng: np.random.Generator) -> tuple[lv.Network, Table]:
    """A random network with up to seven variables, some hidden, and rows with holes, duplicates and constants."""
    n = int(rng.integers(2, 8))
    order = rng.permutation(n)
    parents: dict[str, list[str]] = {}
    for place, v in enumerate(order):
        count = int(rng.integers(0, min(place, 3) + 1))
        parents[f"v{v}"] = [f"v{p}" for p in rng.choice(order[:place], count, replace=False)] if count else []
    graph = lv.Graph.from_parents({f"v{v}": parents[f"v{v}"] for v in range(n)})
    states = {name: tuple(range(int(rng.integers(1, 4)))) for name in graph}
    shape = {name: [len(states[v]) for v in (*graph.parents(name), name)] for name in graph}
    tables = {name: rng.dirichlet(np.ones(shape[name][-1]), size=shape[name][:-1]) for name in graph}
    network = lv.Network.build(graph, states, tables)
    rows = int(rng.integers(1, 120))
    codes = network.sample(rows, seed=rng).codes.astype(np.int64)
    names = list(graph)
    if n > 2 and rng.random() < 0.5:  # a duplicate column, as far as its states allow
        a, b = rng.choice(n, 2, replace=False)
        codes[a] = np.minimum(codes[b], len(states[names[a]]) - 1)
    if rng.random() < 0.3:
        codes[rng.integers(n)] = 0
    codes[rng.random(codes.shape) < rng.choice([0.0, 0.1, 0.5])] = -1
    shown = [v for v in range(n) if rng.random() > 0.25] or [0]
    weights = rng.choice([0.5, 1.0, 3.0], rows) if rng.random() < 0.3 else None
    return network, Table.from_codes({names[v]: states[names[v]] for v in shown}, codes[shown], weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="peers,holes,stress")
    parser.add_argument("--without", default="", help="peers to leave out, comma-separated")
    parser.add_argument("--fits", type=int, default=5000, help="random fits of the stress run")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)  # (the peers')
    small = lv.datasets.network("asia")
    fit(small, small.sample(200, seed=0).drop("lung"), method="vb")  # compile
    parts = options.parts.split(",")
    if "peers" in parts:
        peers(set(options.without.split(",")))
    if "holes" in parts:
        holes()
    if "stress" in parts:
        stress(options.fits)


if __name__ == "__main__":
    main()
