"""All that `discover` needs compiled, once, at install: `python -m leverrier.discovery.kernel_cache`.

Two processes share the work, where there are two cores. What is in the cache already is not compiled again.
"""

from __future__ import annotations

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.examine import Tests, examine
from leverrier.discovery.first_kernels import compile_first
from leverrier.discovery.places.search import begin, miniature
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import BDe
from leverrier.run.precompile import wait_for_compiling


def fill_cache() -> None:
    """A search in miniature with all its tests; EM's kernels elsewhere, at the same time."""
    compile_first(jobs=2)
    begin(miniature(), BDe(), Plan())
    wait_for_compiling()
    examine(_star(), BDe(), Plan(max_hidden=1), Tests(draws=1, resamples=1))
    learn_structure(_groups(), BDe(), families="auto", jobs=1)


def _star(columns: int = 7, rows: int = 800) -> Table:
    """Columns with a hidden variable behind them, strong enough to be put to every test."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 3, rows)
    codes = np.where(rng.random((columns, rows)) < 0.65, hidden, rng.integers(0, 3, (columns, rows)))
    return Table.from_codes({f"c{i}": (0, 1, 2) for i in range(columns)}, codes)


def _groups(rows: int = 300) -> Table:
    """A column that follows from groups of another's five states."""
    rng = np.random.default_rng(1)
    code = rng.integers(0, 5, rows)
    follows = np.where(rng.random(rows) < 0.8, np.array([0, 1, 0, 1, 0])[code], rng.integers(0, 2, rows))
    return Table.from_codes({"code": (0, 1, 2, 3, 4), "follows": (0, 1)}, np.stack([code, follows]))


if __name__ == "__main__":
    fill_cache()
