"""Structure search against pyAgrum, pgmpy and causal-learn: same rows, same score, every answer.

    scripts/bench structure [--networks alarm,insurance] [--samples 3] [--rows 10000] [--without causal-learn,pgmpy]

Every answer is scored by one exact BDeu (ours, which the tests compare with published figures). Times are processor
times, the best of several runs after compilation, in which all take turns; pgmpy's hill-climbing, causal-learn's GES,
BOSS and GRaSP, which take minutes, run once on the first sample. Ours is timed from a `Table` and from the data frame
that pyAgrum is given.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # (pyAgrum's threads wait for each other by spinning, which would count)

import numpy as np

import leverrier as lv

ROWS = 10_000
MAX_PARENTS = 4
SCORE = "local_score_BDeu"
Prepared = Callable[[], Callable[[], lv.Graph]]


def in_turn(runs: dict[str, tuple[int, Prepared]]) -> dict[str, tuple[float, Any]]:
    """The least processor time of each, so many times, and its answer. All take turns, so that whatever else the
    machine does meets all of them; each is prepared anew (a learner may keep what it has scored)."""
    best: dict[str, tuple[float, Any]] = {}
    for turn in range(max(times for times, _ in runs.values())):
        for label, (times, prepare) in runs.items():
            if turn < times:
                work = prepare()
                start = time.process_time()
                answer = work()
                seconds = time.process_time() - start
                best[label] = (min(seconds, best.get(label, (np.inf, None))[0]), answer)
    return best


def ours(data: Any, method: str) -> Prepared:
    work = lambda: lv.learn_structure(data, score=lv.BDeu(1.0), max_parents=MAX_PARENTS, method=method).graph  # noqa: E731
    return lambda: work


def pyagrum_hill_climbing(table: lv.Table, loaded: bool) -> Prepared:
    """With its database loaded beforehand, or from a frame as a user would call it."""
    import pyagrum as gum

    frame = table.to_pandas().astype(str)

    def learner() -> Any:
        made = gum.BNLearner(frame)
        made.useScoreBDeu()
        made.useGreedyHillClimbing()
        made.setMaxIndegree(MAX_PARENTS)
        return made

    def prepare() -> Callable[[], lv.Graph]:
        ready = learner() if loaded else None

        def run() -> lv.Graph:
            network = (ready or learner()).learnBN()
            name = lambda node: network.variable(node).name()  # noqa: E731
            return lv.Graph.from_edges(table.variables, ((name(a), name(b)) for a, b in network.arcs()))

        return run

    return prepare


def pgmpy_hill_climbing(table: lv.Table) -> Prepared:
    from pgmpy.estimators import BDeu, HillClimbSearch

    frame = table.to_pandas().astype(str)

    def run() -> lv.Graph:
        score = BDeu(frame, equivalent_sample_size=1)
        found = HillClimbSearch(frame).estimate(score, max_indegree=MAX_PARENTS, show_progress=False)
        return lv.Graph.from_edges(table.variables, found.edges())

    return lambda: run


def causal_learn(table: lv.Table, method: str) -> Prepared:
    """GES, BOSS or GRaSP with its BDeu, whose prior strength is 1 by default."""
    from causallearn.search.PermutationBased.BOSS import boss
    from causallearn.search.PermutationBased.GRaSP import grasp
    from causallearn.search.ScoreBased.GES import ges

    cells, names = table.codes.T.astype(np.int64), list(table.variables)

    def run() -> lv.Graph:
        if method == "ges":
            return graph_of_class(table.variables, ges(cells, SCORE, maxP=MAX_PARENTS, node_names=names)["G"].graph)
        learn = boss if method == "boss" else grasp
        found = learn(cells, SCORE, verbose=False, node_names=names)
        return graph_of_class(table.variables, found.graph)

    return lambda: run


def graph_of_class(names: tuple[str, ...], ends: np.ndarray) -> lv.Graph:
    """One graph of causal-learn's answer, where ends[i, j] = −1 and ends[j, i] = 1 say i → j."""
    from leverrier.kernels.search.equivalence import extend

    arcs = ((ends == -1) & (ends.T != 0)).astype(np.uint8)
    dag = np.empty_like(arcs)
    assert extend(arcs, dag)
    return lv.Graph.from_edges(names, ((names[a], names[b]) for a, b in np.argwhere(dag)))


def families_per_second(table: lv.Table) -> None:
    from leverrier.counts.observed_counts import ObservedCounts
    from leverrier.learning.structure.family_scores import FamilyScores

    rng = np.random.default_rng(0)
    n = len(table.variables)
    work = []
    for extra in (0, 1, 2):
        for child in range(n):
            others = [v for v in range(n) if v != child]
            work += [(child, sum(1 << int(p) for p in rng.choice(others, extra, replace=False))) for _ in range(5)]

    def run() -> int:  # (counting anew each time: what was counted is kept)
        scores = FamilyScores(ObservedCounts(table), lv.BDeu(1.0), 2**14)
        for family in dict.fromkeys(work):
            scores.expand(*family)
        return scores.families_scored

    seconds, scored = in_turn({"ours": (6, lambda: run)})["ours"]
    print(f"  {scored / seconds:,.0f} family scores a second on one core (1–3 parents, {scored:,} families)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="alarm,insurance,hailfinder,child,win95pts")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--without", default="", help="peers to leave out, comma-separated")
    options = parser.parse_args()
    lv.learn_structure(lv.datasets.network("asia").sample(100, seed=0))  # compile
    for name in options.networks.split(","):
        network = lv.datasets.network(name)
        for seed in range(options.samples):
            table = network.sample(options.rows, seed=seed)
            print(
                f"{name}, {options.rows:,} rows, sample {seed}: true graph {lv.score(network, table):,.1f}", flush=True
            )
            compare(table, set(options.without.split(",")), first=seed == 0)


def compare(table: lv.Table, without: set[str], first: bool) -> None:
    runs: dict[str, tuple[int, Prepared]] = {
        "leverrier auto": (7, ours(table, "auto")),
        "leverrier from a frame": (5, ours(table.to_pandas().astype(str), "auto")),
        "leverrier best": (2, ours(table, "best")),
        "leverrier ges": (5, ours(table, "ges")),
        "leverrier hill-climb": (5, ours(table, "hill-climb")),
    }
    if "pyagrum" not in without:
        runs["pyagrum from a frame"] = (5, pyagrum_hill_climbing(table, loaded=False))
        runs["pyagrum, rows loaded"] = (5, pyagrum_hill_climbing(table, loaded=True))
    if "pgmpy" not in without and first:
        runs["pgmpy hill-climb"] = (1, pgmpy_hill_climbing(table))
    for method in ("ges", "boss", "grasp"):
        if "causal-learn" not in without and method not in without and first:
            runs[f"causal-learn {method}"] = (1, causal_learn(table, method))
    results = in_turn(runs)
    default = results["leverrier auto"][0]
    for label, (seconds, graph) in results.items():
        reached = lv.score(graph, table)
        print(f"  {label:22s} {seconds:10.4f} s  BDeu {reached:14,.1f}  default is {seconds / default:8.1f} × faster")
    if first:
        families_per_second(table)


if __name__ == "__main__":
    main()
