"""Many hidden variables at once: what is found of what is planted, and what is found where nothing is.

    python -m benchmarks.many stars --tables 20            3, 6, 12 stars in 20, 40, 80 columns, 2,000 rows
    python -m benchmarks.many stars --mechanism shared     the same with columns that two stars share
    python -m benchmarks.many nothing --tables 10          200 columns, independent, chained, trees…
    python -m benchmarks.many blocks --tables 5            120 columns of noisy-max, bands of sums, one-hot groups…
    python -m benchmarks.many layers --tables 20           nine groups under three under one
    python -m benchmarks.many wide                         100 stars in 1,000 columns, 10,000 rows
    python -m benchmarks.many data --data ../shared/data [--only news20 sun09]   or coil2000, election, bfi, adult
    python -m benchmarks.many stars --show                 the table of what is done so far

Each line is kept as it is done (results/many.jsonl); what is there is not run again. Tests are on: 99 simulated tables,
level .01, no resamples. Hidden variables are matched with planted ones by the columns next to them.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import leverrier as lv
from benchmarks import lines
from benchmarks.many_tables import BLOCKS, NOTHING, Planted, among, blocks, layers, nothing, stars

SHAPES = ((3, 20), (6, 40), (12, 80))
SAME = 0.5
"""Of the columns of either, shared by both: then a hidden variable is the planted one."""
DATA = {
    "news20": "news/news20_top99.csv.gz",
    "coil2000": "latent_class/coil2000.csv.gz",
    "sun09": "latent_class/sun09_objects.csv.gz",
    "election": "latent_class/election.csv",
    "bfi": "numbers/bfi.csv",
    "adult": "epidemiology/adult.csv.gz",
}


def recovered(planted: Planted, found: lv.Discovery) -> lines.Line:
    """How many are found, F1 of their columns, states exact, and how many that are claimed stand for nothing."""
    claimed = [each for each in found.believed if each.neighbours & set(planted.table.variables)]
    names = list(planted.columns)
    alike = np.array([[_alike(planted.columns[name], each.neighbours) for each in claimed] for name in names])
    hits = []
    if alike.size:
        rows, places = linear_sum_assignment(-alike)
        hits = [(names[i], claimed[j]) for i, j in zip(rows, places, strict=True) if alike[i, j] >= SAME]
    columns = set(planted.table.variables)
    f1 = [_f1(planted.columns[name], frozenset(each.neighbours & columns)) for name, each in hits]
    return {
        "planted": len(names),
        "found": len(hits),
        "f1": sum(f1) / max(len(f1), 1),
        "states": sum(planted.states[name] == each.states for name, each in hits),
        "claimed": len(found.believed),
        "false": len(claimed) - len(hits),
        "layer": _layer(planted, found, dict(hits)),
    }


def _layer(planted: Planted, found: lv.Discovery, hits: dict[str, lv.HiddenVariable]) -> int:
    """Planted variables of the second layer that have one behind two or more of theirs and of no others."""
    own = {each.name: name for name, each in hits.items()}
    right = 0
    for below in planted.above.values():
        for each in found.believed:
            near = {own[name] for name in each.neighbours if name in own}
            if len(near & below) >= 2 and near <= below and not each.neighbours & set(planted.table.variables):
                right += 1
                break
    return right


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)


def _f1(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / max(len(one) + len(other), 1)


def told(planted: Planted, draws: int) -> lines.Line:
    begun, wall = time.process_time(), time.monotonic()
    found = lv.discover(planted.table, draws=draws, resamples=0, jobs=1)
    seconds, waited = time.process_time() - begun, time.monotonic() - wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    says = {"verdict": str(found.verdict), "processor": round(seconds, 1), "wall": round(waited, 1), "MB": memory}
    return {**recovered(planted, found), **says}


def of_data(path: Path, draws: int) -> lines.Line:
    begun, wall = time.process_time(), time.monotonic()
    found = lv.discover(path, draws=draws, resamples=0, jobs=1)
    hidden = {
        each.name: {
            "states": each.states,
            "gain": round(each.gain, 1),
            "p": None if each.evidence is None else each.evidence.p_value,
            "believed": each in found.believed,
            "over kinds": None if each.evidence is None else each.evidence.over_kinds,
            "held out": None if each.evidence is None else each.evidence.held_out_interval,
            "near": sorted(each.neighbours),
        }
        for each in found.hidden
    }
    seconds, waited = time.process_time() - begun, time.monotonic() - wall
    return {
        "verdict": str(found.verdict),
        "reason": found.result.verdict.reason.name,
        "processor": round(seconds, 1),
        "wall": round(waited, 1),
        "gain": round(found.gain, 1),
        "hidden": hidden,
    }


def work(asked: argparse.Namespace) -> lines.Work:
    kinds = {"stars": _stars, "nothing": _nothing, "blocks": _blocks, "layers": _layers, "wide": _wide, "data": _data}
    yield from kinds[asked.what](asked)


def _seeds(asked: argparse.Namespace) -> range:
    return range(asked.first, asked.first + asked.tables)


def _stars(asked: argparse.Namespace) -> lines.Work:
    for number, columns in SHAPES if asked.columns is None else [each for each in SHAPES if each[1] == asked.columns]:
        for seed in _seeds(asked):
            key = f"stars {asked.mechanism} {number}/{columns} × {asked.rows} seed {seed} draws {asked.draws}"
            make = partial(stars, number, columns, asked.rows, seed, mechanism=asked.mechanism)
            yield key, lambda make=make: told(make(), asked.draws)


def _nothing(asked: argparse.Namespace) -> lines.Work:
    for seed in _seeds(asked):
        for kind in NOTHING:
            key = f"nothing {kind} {asked.columns or 200} × {asked.rows} seed {seed} draws {asked.draws}"
            make = partial(nothing, kind, asked.columns or 200, asked.rows, seed)
            yield key, lambda make=make: told(make(), asked.draws)


def _blocks(asked: argparse.Namespace) -> lines.Work:
    for seed in _seeds(asked):
        for kind in BLOCKS:
            key = f"blocks {kind} {asked.columns or 120} × {asked.rows} seed {seed} draws {asked.draws}"
            make = partial(blocks, kind, asked.columns or 120, asked.rows, seed)
            yield key, lambda make=make: told(make(), asked.draws)
        key = f"blocks and 6 stars × {asked.rows} seed {seed} draws {asked.draws}"
        yield key, lambda seed=seed: told(among(asked.rows, seed), asked.draws)


def _layers(asked: argparse.Namespace) -> lines.Work:
    for seed in _seeds(asked):
        key = f"layers 9/3/1 × {asked.rows} seed {seed} draws {asked.draws}"
        yield key, lambda seed=seed: told(layers(asked.rows, seed), asked.draws)


def _wide(asked: argparse.Namespace) -> lines.Work:
    rows, columns = asked.rows, asked.columns or 1000
    for seed in _seeds(asked):
        key = f"wide {columns // 10}/{columns} × {rows} seed {seed} draws {asked.draws}"
        yield key, lambda seed=seed: told(stars(columns // 10, columns, rows, seed), asked.draws)


def _data(asked: argparse.Namespace) -> Iterator[tuple[str, partial[lines.Line]]]:
    for name, path in DATA.items():
        if asked.only and name not in asked.only:
            continue
        where = asked.data / path
        if not where.exists():
            print(f"{name}: {where} is not here; left out")
            continue
        yield f"data {name} draws {asked.draws}", partial(of_data, where, asked.draws)


def show(done: list[lines.Line]) -> None:
    """Sums by kind of table."""
    kinds: dict[str, list[lines.Line]] = {}
    for line in done:
        kinds.setdefault(line["key"].split(" seed ")[0], []).append(line)
    rows = []
    for kind, each in kinds.items():
        if "planted" not in each[0]:
            continue
        total = {name: sum(line[name] for line in each) for name in ("planted", "found", "states", "claimed", "false")}
        f1 = sum(line["f1"] * line["found"] for line in each) / max(total["found"], 1)
        layer = sum(line["layer"] for line in each)
        seconds = sum(line["processor"] for line in each) / len(each)
        share = f"{total['found']}/{total['planted']}"
        rows.append((kind, len(each), share, f"{f1:.3f}", total["states"], total["false"], layer, f"{seconds:.0f}"))
    heads = ["tables", "number", "found", "F1", "states exact", "false", "second layer", "processor s a table"]
    lines.table(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("stars", "nothing", "blocks", "layers", "wide", "data"))
    parser.add_argument("--tables", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--columns", type=int, default=None)
    parser.add_argument("--mechanism", default="arcs", choices=("plain", "arcs", "shared", "skewed", "chained"))
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--output", type=Path, default=Path("results/many.jsonl"))
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    asked.rows = asked.rows or (10_000 if asked.what == "wide" else 2000)
    if asked.show:
        show([line for line in lines.read(asked.output).values() if line["key"].startswith(asked.what)])
        return
    show(lines.run(work(asked), asked.output))


if __name__ == "__main__":
    main()
