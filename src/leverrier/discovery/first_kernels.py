"""The kernels of a search for hidden variables, compiled in another process on a machine's first run."""

from __future__ import annotations

from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.parted_counts import counts_of
from leverrier.discovery.places.baseline import MOST_CELLS
from leverrier.discovery.places.region import Ground, try_region
from leverrier.discovery.places.search import miniature, practise
from leverrier.discovery.states.agglomeration import agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.kernels.em.iteration import iterate
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.kind_scores import scores_of
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import BDe
from leverrier.models.graph import Graph
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.run.precompile import compile_ahead


def compile_first(jobs: int) -> None:
    """Kernels are compiled elsewhere, the last ones first, while this process compiles those that it needs first."""
    compile_ahead(jobs, iterate, __name__, compile_kernels.__name__)


def compile_kernels() -> None:
    """From the end of a run to its beginning: the two processes meet in the middle, and little is compiled twice."""
    table = miniature()
    graph = Graph.from_parents({"H": (), **dict.fromkeys(table.variables, ("H",))})
    hidden_causes(table, sweeps=2, chains=1, per_cause=("lambda", "p"), jobs=1)
    fit(graph, ObservedCounts(table), hidden={"H": 2}, starts=2, score=BDe(), accelerate=False, jobs=1)
    learn_structure(table, BDe(), families="auto", jobs=1)
    scores = scores_of(counts_of(table), BDe(), MOST_CELLS, kinds=False)
    try_region(Ground(table, scores), graph, {"H": 2}, table.variables, merged="H", starts=2, max_rounds=2)
    agglomerate(first_states(graph, table, "H"), BDe())
    practise()
