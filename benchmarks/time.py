"""Inference and EM through time against hmmlearn, and Boyen–Koller against exact inference: same numbers, both answers.

    scripts/bench time [--parts hmm,steps,bat] [--slices 600] [--starts 24]

hmm   one EM iteration of a categorical hidden Markov model on 34,000 symbols (7 of them), 5, 27 and 64 states, from the
      same parameters: seconds of the processor, the best of several runs, and both log-likelihoods. hmmlearn gets its
      faster implementation ("scaling").
steps how many evaluations EM takes from one start until it has converged (tolerance .001), and how many with
      quasi-Newton steps; the ends of both. Drawn chains of 3 to 8 states, 3,000 to 20,000 symbols, starts at random.
bat   the true BAT network, ten sensors seen: exact filtering against Boyen–Koller with single variables and with chosen
      clusters, on as many slices as asked: seconds, bits per slice, the largest difference of a slice.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from leverrier.data.sequences.read_sequences import Sequences, read_sequences
from leverrier.data.table import Table
from leverrier.formats.dynamic_files import read_dynamic
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.chains.exact_climb import ExactClimb
from leverrier.learning.em.climb import Outcome
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_unrolled import lay

SYMBOLS, LENGTH, RUNS = 7, 34_000, 12


def best_of(action: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        begin = time.process_time()
        action()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def hmm() -> None:
    from hmmlearn.hmm import CategoricalHMM

    warnings.simplefilter("ignore")
    for states in (5, 27, 64):
        network = drawn_chain(np.random.default_rng(states), states, 1.0)
        first, move = network.stages[0]["H"].table(), network.transition["H"].table()
        shown = network.transition["x"].table()
        drawn = network.sample(LENGTH, seed=0).table.column("x").astype(int)
        data = Sequences.from_table(Table.from_codes({"x": range(SYMBOLS)}, drawn[None]))
        laid = lay(network, network.read(data))
        climber = ExactClimb(DynamicSteps(laid, network), tolerance=0.0, accelerate=False)
        climber.climb(1)  # compiled
        ours = best_of(lambda climber=climber: climber.climb(1), RUNS)
        peers = {}
        for how in ("scaling",) if states > 30 else ("scaling", "log"):  # (the slower one takes seconds)
            peer = CategoricalHMM(states, n_features=SYMBOLS, init_params="", implementation=how, n_iter=1, tol=0)

            def iterate(peer=peer, first=first, move=move, shown=shown, drawn=drawn) -> None:
                peer.startprob_, peer.transmat_, peer.emissionprob_ = first, move, shown
                peer.fit(drawn[:, None])

            peers[how] = best_of(iterate, RUNS if how == "scaling" else 1)
        peer.startprob_, peer.transmat_, peer.emissionprob_ = first, move, shown
        theirs = peer.score(drawn[:, None])
        faster = min(peers, key=lambda how: peers[how])
        print(
            f"{states:>3} states: leverrier {1e3 * ours:8.2f} ms, hmmlearn ({faster}) {1e3 * peers[faster]:8.2f} ms an "
            f"iteration: {peers[faster] / ours:5.1f} times; log-likelihood {network.log_likelihood(data):.8f} and "
            f"{theirs:.8f}"
        )


def drawn_chain(rng: np.random.Generator, states: int, even: float) -> DynamicNetwork:
    first, move = rng.dirichlet(np.ones(states)), rng.dirichlet(np.full(states, even), states)
    shown = rng.dirichlet(np.full(SYMBOLS, even), states)
    return DynamicNetwork.from_tables(
        {"H": range(states), "x": range(SYMBOLS)},
        {"H": ((), first), "x": (("H",), shown)},
        {"H": ((("H", 1),), move), "x": (("H",), shown)},
        hidden=["H"],
    )


def evaluated(steps: DynamicSteps, fast: bool, most: int = 20_000) -> tuple[int, float]:
    """Evaluations until convergence, those that were taken back among them, and the end."""
    climber, calls = ExactClimb(steps.begun_at(steps.network), 1e-3, fast), 0
    while calls < most:
        calls += 1
        if climber.climb(1)[1] is Outcome.CONVERGED:
            break
    return calls, climber.last


def steps(starts: int) -> None:
    ratios, better, worse = [], 0, 0
    for seed in range(starts):
        rng = np.random.default_rng([31, seed])
        states, length = 3 + seed % 6, (3000, 8000, 20_000)[seed % 3]
        seen = drawn_chain(rng, states, 0.4).sample(length, seed=seed).table.column("x").astype(int)
        data = Sequences.from_table(Table.from_codes({"x": range(SYMBOLS)}, seen[None]))
        start = drawn_chain(rng, states, 5.0)
        prepared = DynamicSteps(lay(start, start.read(data)), start)
        (plain, low), (fast, high) = evaluated(prepared, False), evaluated(prepared, True)
        ratios.append(plain / fast)
        better, worse = better + (high > low + 0.1), worse + (high < low - 0.1)
        plainly = f"{states} states, {length} symbols: {plain} evaluations to {low:.3f}"
        print(f"{plainly}; with quasi-Newton steps {fast} to {high:.3f}", flush=True)
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f"{mean:.1f} times fewer on (geometric) average; ends better {better}, worse {worse} of {starts}")


def bat(slices: int) -> None:
    folder = Path(os.environ.get("LEVERRIER_DATA", Path(__file__).parents[2] / "shared" / "data")) / "bat_dbn"
    network = read_dynamic(folder / "bat_2tbn.bif")
    sensors = [name for name in network.variables if name.endswith("Sens")]
    numbers = {name: range(network.cardinality(name)) for name in sensors}
    data = read_sequences(folder / "bat_trajectory_20000.csv.gz", by="sequence", time="time", states=numbers)
    codes = data.table.codes.astype(int)
    data = data.with_table(Table.from_codes({name: network.states[name] for name in sensors}, codes))
    network = network.hiding(*(name for name in network.variables if name not in sensors))
    some = data.split(slices=slices)[0]
    ways: dict[str, tuple] = {
        "exact": ("exact", None),
        "Boyen–Koller, single variables": ("boyen-koller", []),
        "Boyen–Koller, chosen clusters": ("boyen-koller", None),
    }
    short = data.split(slices=5)[0]
    found = {}
    for name, way in ways.items():
        network.surprise(short, *way)  # compiled
        begin = time.perf_counter()
        found[name] = (network.surprise(some, *way), time.perf_counter() - begin)
    exact, seconds = found["exact"]
    for name, (bits, taken) in found.items():
        print(
            f"{name:<32} {taken:6.2f} s, {slices} slices ({seconds / taken:.1f} times exact), {bits.mean():.4f} bits "
            f"a slice ({100 * (bits.mean() / exact.mean() - 1):+.4f} %), a slice differs by at most "
            f"{np.max(np.abs(bits - exact)):.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="hmm,bat")
    parser.add_argument("--slices", type=int, default=600)
    parser.add_argument("--starts", type=int, default=24)
    options = parser.parse_args()
    parts = options.parts.split(",")
    if "hmm" in parts:
        hmm()
    if "steps" in parts:
        steps(options.starts)
    if "bat" in parts:
        bat(options.slices)


if __name__ == "__main__":
    main()
