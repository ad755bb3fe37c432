"""Latent classes against StepMix, and a million rows: same data, both answers.

    scripts/bench latent_classes [--parts stepmix,million]

stepmix  10,000 × 20 binary columns, 4 classes, plain EM from random starts: seconds an iteration on both sides, and
         the best log-likelihood of several starts run to the end.
million  1,000,000 × 100 binary columns, 8 classes, 50 iterations: seconds and the most memory the process ever had.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

from leverrier.data.table import Table, Variable
from leverrier.learning.classes.latent_classes import star
from leverrier.learning.em.fit import fit


def drawn(rows: int, columns: int, classes: int, seed: int = 0) -> Table:
    """Binary rows of a random latent class model."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 5.0))
    high = rng.uniform(0.05, 0.95, (columns, classes))
    member = rng.choice(classes, rows, p=shares)
    codes = np.empty((columns, rows), dtype=np.uint8)
    for column, p in zip(codes, high, strict=True):
        column[:] = rng.random(rows) < p[member]
    return Table(tuple(Variable(f"x{j}", ("0", "1")) for j in range(columns)), codes)


def against_stepmix(rows: int = 10_000, columns: int = 20, classes: int = 4, starts: int = 5) -> None:
    from stepmix import StepMix

    table = drawn(rows, columns, classes)
    graph = star(table, "class")
    print(f"{rows:,} × {columns} binary columns, {classes} classes")

    def mine(limit: int) -> float:
        begin = time.perf_counter()
        fit(graph, table, {"class": classes}, starts=1, max_iterations=limit, tolerance=0.0, accelerate=False, jobs=1)
        return time.perf_counter() - begin

    mine(2)
    one = min((mine(210) - mine(10)) / 200 for _ in range(5))
    x = np.ascontiguousarray(table.codes.T)

    def theirs(limit: int) -> float:
        model = StepMix(classes, measurement="binary", max_iter=limit, abs_tol=0.0, random_state=0, progress_bar=0)
        begin = time.perf_counter()
        model.fit(x)
        return time.perf_counter() - begin

    theirs(2)
    other = min((theirs(60) - theirs(10)) / 50 for _ in range(3))
    print(f"  an iteration: leverrier {one * 1e3:.3f} ms, StepMix {other * 1e3:.3f} ms: {other / one:.1f} × faster")
    begin = time.perf_counter()
    ours = fit(graph, table, {"class": classes}, starts=starts)
    mine_all = time.perf_counter() - begin
    begin = time.perf_counter()
    model = StepMix(
        classes, measurement="binary", n_init=starts, max_iter=5000, abs_tol=1e-6 / rows, random_state=0, progress_bar=0
    ).fit(x)
    theirs_all = time.perf_counter() - begin
    value = float(model.score(x)) * rows
    print(
        f"  {starts} starts to the end: leverrier {mine_all:.3f} s, {ours.log_likelihood:,.4f}, reached "
        f"{ours.starts.best_count} times; StepMix {theirs_all:.3f} s, {value:,.4f}: "
        f"{theirs_all / mine_all:.1f} × faster"
    )


def million(rows: int = 1_000_000, columns: int = 100, classes: int = 8, iterations: int = 50) -> None:
    table = drawn(rows, columns, classes)
    begin = time.perf_counter()
    result = fit(
        star(table, "class"),
        table,
        {"class": classes},
        starts=1,
        max_iterations=iterations,
        tolerance=0.0,
        accelerate=False,
    )
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{rows:,} × {columns} binary columns, {classes} classes: {result.iterations} iterations in {seconds:.1f} s "
        f"(plan included), {memory:.2f} GiB at most, log-likelihood {result.log_likelihood:,.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="million,stepmix", help="million comes first: the memory is the process's")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="(stepmix|sklearn).*")
    small = drawn(500, 5, 2)
    fit(star(small, "class"), small, {"class": 2})  # compile
    for part in options.parts.split(","):
        {"million": million, "stepmix": against_stepmix}[part]()


if __name__ == "__main__":
    main()
