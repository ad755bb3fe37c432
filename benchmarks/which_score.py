"""Which score finds most at the same rate of false alarms? It is only a statistic: simulated tables make it a test.

    python -m benchmarks.which_score --tables 8 --draws 9

For every planted table and score: the gain of the best hidden variable, and the gains in tables drawn from that score's
own best network without it. Found is what exceeds all of them, so each score errs in 1 of draws + 1. Families are
tables. BIC has no Cheeseman–Stutz form: the hidden variable is looked for under BDe and counted by BIC.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import leverrier as lv
from leverrier.data.table import Table
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network

PLAN = Plan(max_hidden=1, kinds=False)
ALPHAS = (0.1, 0.3, 1.0, 3.0)


def star(seed: int, states: int, rows: int) -> Table:
    """Six columns of a class with as many states as they have, of uneven strength."""
    rng = np.random.default_rng([seed, states, 3])
    hidden = rng.choice(states, rows, p=rng.dirichlet(np.full(states, 8.0)))
    kept = [rng.random(rows) < rng.uniform(0.25, 0.7) for _ in range(6)]
    codes = np.array([np.where(each, hidden, rng.integers(0, states, rows)) for each in kept])
    return Table.from_codes({f"x{i}": tuple(range(states)) for i in range(6)}, codes)


def by_evidence(table: Table) -> Score:
    """BDe with the pseudo-count under which the best network without hidden variables scores most."""
    reached = {alpha: begin(table, lv.BDe(alpha), PLAN).baseline.score for alpha in ALPHAS}
    return lv.BDe(max(reached, key=lambda alpha: reached[alpha]))


SCORES = {
    "BDe(1)": lambda _: lv.BDe(),
    "BDeu(1)": lambda _: lv.BDeu(),
    "BIC": lambda _: lv.BIC(),
    "BDe by evidence": by_evidence,
}


def gained(table: Table, score: Score) -> tuple[float, Network]:
    """The gain of the best hidden variable, and the network without it."""
    bayesian = lv.BDe() if isinstance(score, lv.BIC) else score
    search = begin(table, bayesian, PLAN)
    found = next_hidden(search)
    if bayesian is score:
        return search.found[-1].gain if found else 0.0, search.baseline.network
    rival = lv.learn_structure(table, score, method="best", rounds=PLAN.baseline_rounds)
    if not found:
        return 0.0, rival.network
    network = search.networks[-1]
    free = sum(each.size - each.size // each.shape[-1] for each in network.tables.values())
    return network.log_likelihood(table) - 0.5 * np.log(table.n_rows) * free - rival.score, rival.network


def tested(table: Table, score: Score, draws: int) -> tuple[float, list[float]]:
    """The gain, and those of tables without anything hidden."""
    gain, network = gained(table, score)
    seeds = np.random.SeedSequence(5).spawn(draws)
    null = [gained(network.sample(table.n_rows, seed=np.random.default_rng(s)), score)[0] for s in seeds]
    return gain, null


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--draws", type=int, default=9)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sizes", nargs="*", default=["2x200", "2x500", "3x200", "3x500"], help="states x rows")
    asked = parser.parse_args()
    for states, rows in (tuple(map(int, size.split("x"))) for size in asked.sizes):
        for name, made in SCORES.items():
            begun, found, gains, chance = time.process_time(), 0, [], []
            for seed in range(asked.first, asked.first + asked.tables):
                table = star(seed, states, rows)
                gain, null = tested(table, made(table), asked.draws)
                found += gain > max(null)
                gains.append(gain)
                chance += null
            told = f"median gain {np.median(gains):5.1f}, null 95 % {np.quantile(chance, 0.95):5.1f}"
            seconds = time.process_time() - begun
            print(
                f"{states} states {rows:5d} rows  {name:16s} {found} of {asked.tables}  {told}  {seconds:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
