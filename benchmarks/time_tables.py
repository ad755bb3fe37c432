"""Bits per slice on test data, all rows of the source's table 2 and ours, on one data set in one run.

    scripts/bench time_tables apnea|chorales|stocks|bat [--quick] [--splits 10] [--rows trees,chains]

Everything is chosen inside the training part. apnea: 7 bins, first 20,000 slices against the last 14,000; chorales:
mean of random 71/29 splits; stocks: mixed20, first 1,195 days against the rest, a stock not yet listed is a hole;
bat: the ten sensors, 5,000 slices against the next 10,000. --quick takes fewer slices and leaves slow rows out.
The last rows count on while they predict, which is another task: they stand apart.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from leverrier.data.sequences import read_sequences
from leverrier.data.slice_features import lag_features, memory_features
from leverrier.data.slices import Sequences
from leverrier.discovery.memory import find_memories
from leverrier.discovery.time import find_in_time
from leverrier.learning.dynamic import learn_dynamic, slice_order
from leverrier.learning.factorial import factorial_hmm
from leverrier.learning.hidden_markov import hidden_markov
from leverrier.learning.online import choose_forgetting, online_surprise
from leverrier.learning.slice_choice import SHAPES, bag_slices, choose, fit_slices
from leverrier.learning.slice_design import make_design, make_folds

DATA = Path(os.environ.get("LEVERRIER_DATA", Path(__file__).parents[2] / "shared" / "data"))
Pair = tuple[Sequences, Sequences]
Row = tuple[str, float]
LONGEST = {"apnea": 10, "chorales": 8, "stocks": 2, "bat": 6}


def load(name: str, splits: int, quick: bool) -> list[Pair]:
    """Training and test sequences, one pair for each split."""
    if name == "apnea":
        found = read_sequences(pd.read_csv(DATA / "apnea/santafe_b_7bins.csv.gz"), ignore=["sequence", "time"])
        return [_cut(found, 4_000 if quick else 20_000, 3_000 if quick else 14_000)]
    if name == "stocks":
        tickers = pd.read_csv(DATA / "stocks/tickers.csv")
        chosen = tickers.loc[tickers["mixed20"] == 1, "ticker"].tolist()
        frame = pd.read_csv(DATA / "stocks/trends_exact_1992_1999.csv.gz")
        frame = frame[(frame["date"] >= "1992-02-01") & (frame["date"] < "1999-03-01")]
        found = read_sequences(frame[chosen], missing=["na"], types={key: ["down", "same", "up"] for key in chosen})
        return [_cut(found, 1_195, found.n_slices - 1_195)]
    if name == "bat":
        nodes = pd.read_csv(DATA / "bat_dbn/nodes.csv")
        frame = pd.read_csv(DATA / "bat_dbn/bat_trajectory_20000.csv.gz")
        sensors = nodes.loc[nodes["sensor"] == 1, "node"].tolist()
        ordered = {s: sorted(frame[s].unique().tolist()) for s in sensors}
        return [
            _cut(read_sequences(frame[sensors], types=ordered), 2_000 if quick else 5_000, 3_000 if quick else 10_000)
        ]
    frame = pd.read_csv(DATA / "chorales/chorales.csv")
    pitches = {"pitch": sorted(frame["pitch"].unique().tolist())}
    found = read_sequences(frame, by="sequence", time="time", ignore=["start_time"], types=pitches)
    pairs = []
    for split in range(1 if quick else splits):
        order = np.random.default_rng(split).permutation(len(found))
        pairs.append((found.take(np.sort(order[:71])), found.take(np.sort(order[71:]))))
    return pairs


def _cut(found: Sequences, train: int, test: int) -> Pair:
    return found.stretches([(0, train)]), found.stretches([(train, train + test)])


def baselines(train: Sequences, test: Sequences, quick: bool, longest: int) -> Iterator[Row]:
    best = hidden_markov(train, states=(2, 4, 8) if quick else (2, 4, 8, 12, 16, 24), prior=0.5, seed=0)
    yield "HMM, best number of states", best.network.bits_per_slice(test)
    for chains in (2,) if quick else (2, 4, 6):
        yield (
            f"FHMM {chains} chains",
            factorial_hmm(train, chains=chains, prior=0.5, seed=0).network.bits_per_slice(test),
        )
    for lags in (1, min(4, longest)):
        yield f"BDeu tables, lag {lags}", learn_dynamic(train, lags).network.bits_per_slice(test)


def source_loop(train: Sequences, test: Sequences, quick: bool, _: int) -> Iterator[Row]:
    found = find_memories(train, lags=3, most_memories=3 if quick else 4, max_iterations=10 if quick else 30)
    for each in found.rounds:
        yield f"boyen1999, {each.name}", each.network.bits_per_slice(test, each.inference)


def trees(train: Sequences, test: Sequences, quick: bool, longest: int) -> Iterator[Row]:
    folds, order = make_folds(train, 5, 0), slice_order(train)
    for lags in dict.fromkeys((1, min(4, longest), longest)):
        design = make_design(train, lag_features(train.variables, lags), order)
        for name, shapes in (("trees", ("tree",)), ("trees, same-as-before, steps", SHAPES)):
            model = fit_slices(design, choose(design, folds, shapes))
            yield f"{name}, lag {lags}", model.bits_per_slice(test)
    features = (*lag_features(train.variables, longest), *memory_features(train.table))
    design = make_design(train, features, order)
    choice = choose(design, folds)
    model = fit_slices(design, choice)
    yield "+ memories", model.bits_per_slice(test)
    yield "+ bagged", bag_slices(design, choice, 8 if quick else 25, 0).bits_per_slice(test)
    forget = choose_forgetting(design, choice)
    yield f"(apart) counting on, forgetting {forget:g}", float(online_surprise(model, test, forget).mean())


def default(train: Sequences, test: Sequences, quick: bool, _: int) -> Iterator[Row]:
    found = find_in_time(train, seed=0, bagged=8 if quick else 25, budget=120 if quick else None)
    yield f"default, observed: {found.observed_name}", found.observed.bits_per_slice(test)
    if found.hidden:
        sizes = ", ".join(f"{one.name} of {one.states} states" for one in found.hidden)
        yield f"default, hidden: {sizes}", found.model.bits_per_slice(test)
    else:
        yield "default (no hidden variable)", found.model.bits_per_slice(test)
    assert found.bagged is not None
    yield "default, observed and bagged", found.bagged.bits_per_slice(test)


def boosting(train: Sequences, test: Sequences, quick: bool, longest: int) -> Iterator[Row]:
    """Gradient boosting of each column on the same lags and the columns before it in the slice."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    order = slice_order(train)
    features = lag_features(train.variables, longest)
    designs = [make_design(data, features, order) for data in (train, test)]
    bits = 0.0
    for name in train.variables:
        child, seen = designs[0].child(name)
        other, there = designs[1].child(name)
        states = designs[0].states(name)
        chance = np.full((int(there.sum()), states), 1e-3 / states)
        if len(np.unique(child[seen])) > 1:
            kept = designs[0].allowed(name)
            x, y = (design.table.codes[kept].T.astype(np.float32) for design in designs)
            model = HistGradientBoostingClassifier(max_iter=30 if quick else 100, early_stopping=True, random_state=0)
            model.fit(x[seen], child[seen])
            chance[:, model.classes_] += (1 - 1e-3) * model.predict_proba(y[there])
        else:
            chance += (1 - 1e-3) / states
        bits -= float(np.log2(chance[np.arange(len(chance)), other[there]]).sum())
    yield f"gradient boosting, lag {longest}", bits / test.n_slices


PARTS: dict[str, Callable[[Sequences, Sequences, bool, int], Iterator[Row]]] = {
    "baselines": baselines,
    "boyen1999": source_loop,
    "trees": trees,
    "default": default,
    "boosting": boosting,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=tuple(LONGEST))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", default=",".join(PARTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    pairs = load(options.data, options.splits, options.quick)
    print(f"{options.data}: {pairs[0][0].n_slices} / {pairs[0][1].n_slices} slices, {len(pairs)} split(s)", flush=True)
    for part in options.rows.split(","):
        found: dict[str, list[float]] = {}
        begin = time.perf_counter()
        for train, test in pairs:
            for place, (name, bits) in enumerate(PARTS[part](train, test, options.quick, LONGEST[options.data])):
                label = name if len(pairs) == 1 else f"{place}|{name.split(':')[0].split(', forgetting')[0]}"
                found.setdefault(label, []).append(bits)
        for name, values in found.items():
            spread = f" ± {np.std(values):.3f}" if len(values) > 1 else ""
            print(f"  {name.split('|')[-1]:55s} {np.mean(values):8.3f}{spread}", flush=True)
        print(f"  ({part}: {time.perf_counter() - begin:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
