"""Where hidden variables sit, and whether they are real: the experiments behind docs/find-hidden.md.

    python benchmarks/find_hidden.py shapes --samples 20     stars, two stars, chains, two layers
    python benchmarks/find_hidden.py nothing                 60 tables with nothing hidden
    python benchmarks/find_hidden.py uniform                 p-values of the null test where nothing is hidden
    python benchmarks/find_hidden.py figure2 --samples 3     [elidan2000 figure 2]: ALARM and INSURANCE cases

Each line is printed and appended to --output as JSON when it is done; lines already there are not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import leverrier as lv
from experiments.elidan2000_cases import CASES, f1, figure2_line
from experiments.strawmen import original
from leverrier.discovery.evidence.null_test import Null
from leverrier.discovery.examine import Tests, examine
from leverrier.discovery.places.search import Search, begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.models.graph import Graph
from leverrier.models.network import Network


def tables(graph: Graph, states: dict[str, int], rng: np.random.Generator, peak: float = 0.75) -> Network:
    """Each configuration of the parents prefers one state of the child, another one for each hidden state."""
    found = {}
    for name in graph:
        shape = [states[p] for p in graph.parents(name)]
        table = rng.dirichlet(np.full(states[name], 2.0), size=shape or ())
        if shape:
            start = rng.integers(states[name])
            for place in np.ndindex(*shape):
                favourite = (start + sum(place)) % states[name]
                table[place] = (1 - peak) * table[place]
                table[place][favourite] += peak
        found[name] = table
    labels = {name: tuple(f"s{k}" for k in range(count)) for name, count in states.items()}
    return Network.build(graph, labels, found)


def simulated(shape: str, seed: int) -> tuple[Network, tuple[str, ...]]:
    """A network of the shape with distractors, and which of its nodes to hide."""
    rng = np.random.default_rng([seed, 41])
    hidden = ("H1", "H2") if shape in ("two stars", "chain") else ("H1",)
    states = {name: int(rng.integers(2, 5)) for name in hidden}
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(hidden, ())
    if shape == "chain":
        parents["H2"] = ("H1",)
    children = int(rng.integers(5, 8))
    for name in hidden:
        for k in range(children):
            parents[f"{name}c{k}"] = (name,)
    if shape == "two layers":
        above = tuple(f"P{k}" for k in range(2))
        parents |= dict.fromkeys(above, ())
        parents["H1"] = above
    for k in range(int(rng.integers(3, 5))):
        parents[f"D{k}"] = (f"D{k - 1}",) if k % 2 else ()
    for name in parents:
        states.setdefault(name, int(rng.integers(2, 4)))
    return tables(Graph.from_parents(parents), states, rng), hidden


def shape_line(shape: str, seed: int, tested: bool, rows: int = 2000) -> dict[str, Any]:
    """One sample: was every hidden variable found, in its place, with its number of states?"""
    truth, hidden = simulated(shape, seed)
    data = truth.sample(rows, seed=1000 + seed).drop(*hidden)
    begun = time.process_time()
    found = examine(data, lv.BDe(), Plan(max_hidden=3), Tests(5 if tested else 0, 0, held_out=False, power=False))
    seconds = time.process_time() - begun
    true = original(truth.graph, data, {name: truth.cardinality(name) for name in hidden}, starts=5)
    matched = []
    for name in hidden:
        around = (set(truth.children(name)) | set(truth.parents(name))) - set(hidden)
        best = max(found.hidden, key=lambda each: f1(around, set(each.neighbours)), default=None)
        if best is not None:
            names = {each.name for each in found.hidden}
            matched.append((f1(around, set(best.neighbours) - names), best.states == truth.cardinality(name)))
    return {
        "tested": tested,
        "true gain": true.score - found.baseline_score,
        "hidden": len(hidden),
        "found": len(found.hidden),
        "F1": [round(each[0], 3) for each in matched],
        "exact": [each[1] for each in matched],
        "verdict": found.verdict,
        "gain": found.gain,
        "seconds": seconds,
    }


def nothing_tables() -> Iterator[tuple[str, Callable[[], lv.Table]]]:
    """60 tables with nothing hidden."""
    for name in ("asia", "child", "alarm", "insurance"):
        for rows in (1000, 5000):
            for seed in range(3):
                yield f"{name} {rows} #{seed}", lambda n=name, r=rows, s=seed: lv.datasets.network(n).sample(r, seed=s)
    for seed in range(10):
        yield f"independent #{seed}", lambda s=seed: independent(s)
    for seed in range(10):
        yield f"star observed #{seed}", lambda s=seed: simulated("star", s)[0].sample(2000, seed=s)
    for seed in range(16):
        yield f"random network #{seed}", lambda s=seed: random_network(s).sample(2000, seed=s)


def independent(seed: int) -> lv.Table:
    rng = np.random.default_rng([seed, 43])
    sizes = rng.integers(2, 5, 12)
    codes = np.stack([rng.choice(int(r), 2000, p=rng.dirichlet(np.full(int(r), 3.0))) for r in sizes])
    return lv.Table.from_codes({f"v{i}": tuple(range(int(r))) for i, r in enumerate(sizes)}, codes)


def random_network(seed: int) -> Network:
    rng = np.random.default_rng([seed, 47])
    count = int(rng.integers(10, 21))
    names = [f"v{i}" for i in range(count)]
    above = [rng.permutation(names[:i])[: int(rng.integers(0, 3))].tolist() for i in range(count)]
    parents = {name: tuple(chosen) for name, chosen in zip(names, above, strict=True)}
    states = {name: int(rng.integers(2, 4)) for name in names}
    return tables(Graph.from_parents(parents), states, rng, peak=0.5)


def nothing_line(make: Callable[[], lv.Table]) -> dict[str, Any]:
    begun = time.process_time()
    table = make()
    found = examine(table, lv.BDe(), Plan(max_hidden=1), Tests(resamples=0, held_out=False, power=False))
    gains = [
        (each.gain, each.evidence.p_value, list(each.evidence.null_gains))
        for each in (*found.hidden, *found.compressors)
    ]
    return {"verdict": found.verdict, "kind": found.kind, "tested": gains, "seconds": time.process_time() - begun}


def uniform_line(make: Callable[[], lv.Table], draws: int = 19) -> dict[str, Any]:
    """The null test's statistic without early stops, tables drawn from the rival that `discover` has. Where nothing
    helps, the best attempt's loss stands for the gain: zeros would tie."""
    table, plan = make(), Plan(max_hidden=1)
    begun = time.process_time()
    null = Null(begin(table, lv.BDe(), plan).baseline.network, table, lv.BDe(), plan, None)
    gain = best_gain(begin(table, lv.BDe(), plan.light()))
    seeds = np.random.SeedSequence([0, 7]).spawn(draws)
    gains = [best_gain(begin(null.simulated(seed), lv.BDe(), plan.light())) for seed in seeds]
    p = (1 + sum(each >= gain for each in gains)) / (1 + draws)
    return {"gain": gain, "null": gains, "p": p, "seconds": time.process_time() - begun}


def best_gain(search: Search) -> float:
    return search.found[-1].gain if next_hidden(search) else max((each.gain for each in search.attempts), default=0.0)


def draw_uniform(output: Path, picture: Path) -> None:
    """The p-values' distribution beside the uniform one, and Kolmogorov's distance with its 95 % limit."""
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    found = np.sort([line["p"] for line in lines if line["key"].startswith("uniform ")])
    steps = np.arange(1, 11) / 10
    share = [float(np.mean(found <= p + 1e-9)) for p in steps]
    distance, limit = max(abs(share - steps)), 1.36 / np.sqrt(len(found))
    print(
        f"{len(found)} p-values: shares at most .1 … 1: {np.round(share, 2).tolist()}; "
        f"farthest from uniform {distance:.3f} (95 % limit {limit:.3f})"
    )
    save_shares(list(zip(steps.tolist(), share, strict=True)), len(found), picture)


def save_shares(steps: list[tuple[float, float]], count: int, picture: Path) -> None:
    """(p, share of the tables at or below it) beside the line of p-values that are what they say."""
    import altair as alt

    rows = [{"p": p, "share": share, "of": "found"} for p, share in [(0.0, 0.0), *steps]]
    rows += [{"p": p, "share": p, "of": "uniform"} for p in (0.0, 1.0)]
    chart = (
        alt.Chart(alt.InlineData(values=rows), width=320, height=320)
        .mark_line(point=True)
        .encode(
            x=alt.X("p:Q", title="p-value"),
            y=alt.Y("share:Q", title=f"share of {count:,} tables at or below"),
            color=alt.Color("of:N", title=None),
            strokeDash=alt.StrokeDash("of:N", legend=None),
        )
    )
    lv.save_picture(chart, picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("shapes", "nothing", "uniform", "figure2"))
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="*", default=[1000, 5000])
    parser.add_argument("--only", default="", help="lines whose key holds this text")
    parser.add_argument("--picture", type=Path, help="uniform: where its picture goes")
    parser.add_argument("--tested-samples", type=int, default=3, help="shapes: so many samples with the null test")
    parser.add_argument("--tested", action="store_true", help="figure2: the null test too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", default="build/find_hidden.jsonl")
    options = parser.parse_args()
    output = Path(options.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    done = {json.loads(line)["key"] for line in output.read_text().splitlines()} if output.exists() else set()
    work = [(key, call) for key, call in lines_of(options) if key not in done and options.only in key]
    Parallel(n_jobs=options.jobs)(delayed(run)(key, call, output) for key, call in work)
    if options.picture is not None:
        draw_uniform(output, options.picture)


def lines_of(options: argparse.Namespace) -> Iterator[tuple[str, tuple[Any, ...]]]:
    if options.part == "shapes":
        for seed in range(options.samples):
            for shape in ("star", "two stars", "chain", "two layers"):
                yield f"shapes {shape} #{seed}", (shape_line, shape, seed, seed < options.tested_samples)
    elif options.part == "nothing":
        for key, make in nothing_tables():
            yield f"nothing {key}", (nothing_line, make)
    elif options.part == "uniform":
        for key, make in nothing_tables():
            if key.startswith(("asia", "child 1000", "independent", "star", "random")):  # (a table takes ten searches)
                yield f"uniform {key}", (uniform_line, make)
    else:
        for seed in range(options.samples):
            for rows in options.rows:
                for name, hidden in CASES.items():
                    for hide in hidden:
                        key = f"figure2 {name} {hide} {rows} #{seed}"
                        yield key, (figure2_line, name, hide, rows, seed, options.tested)


def run(key: str, call: tuple[Any, ...], output: Path) -> None:
    function, *arguments = call
    line = {"key": key, **function(*arguments)}
    with output.open("a") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
