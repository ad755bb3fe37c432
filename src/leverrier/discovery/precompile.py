"""The first run on a machine: another process compiles EM's kernels while this one compiles those of structure search.

Compiling holds a lock, so threads would not help. What both need is compiled by whoever comes first, and read from the
cache by the other; the answer is the same either way.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from leverrier.counts.observed_counts import ObservedCounts
from leverrier.discovery.places.search import miniature, practise
from leverrier.discovery.states.agglomeration import agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.kernels.em.iteration import iterate
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import BDe
from leverrier.models.graph import Graph

_others: list[subprocess.Popen[bytes]] = []


def compile_ahead(jobs: int) -> None:
    """Start the other process, if nothing has been compiled here yet and there is a core for it."""
    if jobs < 2 or _others or not never_compiled() or len(os.sched_getaffinity(0)) < 2 or not sys.executable:
        return
    paths = os.pathsep.join(path for path in sys.path if path)
    program = "from leverrier.discovery.precompile import compile_kernels; compile_kernels()"
    with suppress(OSError):  # (no process to be had: then all is compiled here)
        _others.append(
            subprocess.Popen(
                [sys.executable, "-c", program],
                env={**os.environ, "PYTHONPATH": paths},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        atexit.register(end_compiling)


def end_compiling() -> None:
    """What is compiled by now is kept; nobody is there to use the rest."""
    for other in _others:
        with suppress(OSError):
            other.kill()


def never_compiled() -> bool:
    """Whether the cache on disk has no EM kernel."""
    folder = getattr(getattr(iterate, "_cache", None), "cache_path", None)
    return folder is not None and not any(Path(folder).glob("iteration.iterate-*.nbi"))


def compile_kernels() -> None:
    """EM and merging first: who started this begins with the rest."""
    table = miniature()
    graph = Graph.from_parents({"H": (), **dict.fromkeys(table.variables, ("H",))})
    fit(graph, ObservedCounts(table), hidden={"H": 2}, starts=2, score=BDe(), accelerate=False, jobs=1)
    agglomerate(first_states(graph, table, "H"), BDe())
    practise()
