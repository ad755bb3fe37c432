"""Which search sequences are asked: numbers, persons and inputs by their laws; categories also by trees."""

from __future__ import annotations

from collections.abc import Collection

from leverrier.data.sequences.panel import panel_of
from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.evidence.evidence import LEVEL
from leverrier.discovery.regimes.column_roles import number_columns, roles_of
from leverrier.discovery.regimes.regime_route import DRAWS, LEAST_SLICES, regimes_in_time
from leverrier.discovery.time.find_in_time import search_in_time
from leverrier.discovery.time.lag_models import best_observed
from leverrier.discovery.time.tested_slices import FOLDS
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.learning.slices.learn_dynamic import slice_order
from leverrier.learning.slices.slice_design import make_folds
from leverrier.run.run import UNBOUNDED, Run

MOST_COLUMNS, MOST_STATES = 12, 8
"""Of categories: with more columns or states only the search by trees is run."""


def hidden_in_time(
    sequences: Sequences,
    seed: int = 0,
    *,
    max_hidden: int = 3,
    inputs: Collection[str] = (),
    evidence: bool = True,
    draws: int = DRAWS,
    resamples: int = 0,
    level: float = LEVEL,
    run: Run = UNBOUNDED,
) -> TimeFindings:
    """What is hidden in sequences, by the search that suits their columns."""

    def by_laws() -> TimeFindings:
        return regimes_in_time(
            sequences,
            seed,
            inputs=inputs,
            max_hidden=max_hidden,
            evidence=evidence,
            draws=draws,
            resamples=resamples,
            level=level,
            run=run,
        )

    numbers = number_columns(sequences)
    given = roles_of(panel_of(sequences, numbers), inputs).inputs
    if sequences.n_slices >= LEAST_SLICES and (numbers or given):
        return by_laws()
    states = [column.cardinality for column in sequences.table.columns]
    if (
        max_hidden > 0
        and sequences.n_slices >= LEAST_SLICES
        and len(states) <= MOST_COLUMNS
        and max(states) <= MOST_STATES
    ):
        found = by_laws()
        if found.verdict.found and _beats_trees(sequences, found, seed, run):
            return found
    return search_in_time(sequences, seed, max_hidden=max_hidden, draws=draws if evidence else 0, level=level, run=run)


def _beats_trees(sequences: Sequences, found: TimeFindings, seed: int, run: Run) -> bool:
    """Whether slices left out cost less with the hidden state than with the best trees of the columns' past."""
    if not found.folds or run.spent:
        return not run.spent
    parts = make_folds(sequences, FOLDS, seed)
    order = run.once(("order",), lambda: slice_order(sequences, seed), list, tuple, lambda: sequences.variables)
    trees = best_observed(sequences, order, parts, run.untold()).best.bits
    slices = sum(fold.slices for fold in found.folds)
    own = sum(fold.slices * fold.hidden for fold in found.folds if fold.hidden is not None) / slices
    return own < trees
