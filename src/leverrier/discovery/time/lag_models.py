"""The best model without hidden variables: how far back it looks, and whether it keeps memories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, lag_features, memory_features
from leverrier.discovery.time.time_codecs import if_there_is_time, read_choice, write_choice
from leverrier.learning.slices.slice_choice import Choice, Comparison, choose, compare, fit_slices
from leverrier.learning.slices.slice_design import Design, make_design
from leverrier.models.slices.slice_model import SliceModel
from leverrier.run.event import Event
from leverrier.run.run import Run

LAGS = (0, 1, 2, 3, 4, 6, 8, 10)
PATIENCE = 2
"""So many longer lags in a row that do not lower the bits end the search for longer ones."""


@dataclass(frozen=True, eq=False)
class Ask:
    """What an alternative may ask of the slices. The design is made when it is needed: a resumed run needs few."""

    sequences: Sequences
    features: tuple[Feature, ...]
    order: tuple[str, ...]
    run: Run

    @cached_property
    def design(self) -> Design:
        key = ("design", self.features, self.order)
        return self.run.made(key, lambda: make_design(self.sequences, self.features, self.order))


@dataclass(frozen=True, eq=False)
class Alternative:
    """One way to model the slices without hidden variables, with what it cost on held-out blocks."""

    name: str
    ask: Ask
    choice: Choice
    lags: int
    memories: bool = False

    @property
    def design(self) -> Design:
        return self.ask.design

    @property
    def bits(self) -> float:
        return self.choice.bits


@dataclass(frozen=True, eq=False)
class Observed:
    """All that was tried; the best of them; and what of it is beyond doubt."""

    alternatives: tuple[Alternative, ...]
    best: Alternative
    model: SliceModel
    clear_lags: int
    """The lag beyond which nothing longer was clearly better."""
    clear_memories: bool
    comparisons: dict[str, Comparison]
    """By alternative: against what was accepted before it."""


def best_observed(sequences: Sequences, order: tuple[str, ...], folds: NDArray[np.int64], run: Run) -> Observed:
    """Lags first, then memories; each is claimed only if held-out blocks say so clearly, the best is used anyway."""
    tried: list[Alternative] = []
    comparisons: dict[str, Comparison] = {}
    longest = int(sequences.lengths.max()) // 2
    accepted: Alternative | None = None
    best: Alternative | None = None
    stale = 0
    for lags in (lag for lag in LAGS if lag <= max(longest, 0)):
        if stale >= PATIENCE:
            break
        run.tell(Event.LAGS, len(tried) / (len(LAGS) + 1), lags)
        ask = Ask(sequences, lag_features(sequences.variables, lags), order, run)
        one = _alternative(_lag_name(lags), ask, folds, lags)
        if one is None and best is not None:
            break
        one = one or _in_haste(sequences, folds, run)
        tried.append(one)
        stale = stale + 1 if best is not None and one.bits >= best.bits else 0
        best = one if best is None or one.bits < best.bits else best
        if accepted is None:
            accepted = one
            continue
        comparisons[one.name] = compare(accepted.choice.block_bits, one.choice.block_bits, sequences.n_slices)
        accepted = one if comparisons[one.name].clear() else accepted
    assert best is not None
    assert accepted is not None
    remembering = None
    if longest >= 1:
        features = (*lag_features(sequences.variables, max(best.lags, 1)), *memory_features(sequences.table))
        remembering = _alternative(
            f"{_lag_name(max(best.lags, 1))} and memories",
            Ask(sequences, features, order, run),
            folds,
            max(best.lags, 1),
            True,
        )
    if remembering is not None:
        tried.append(remembering)
        comparisons[remembering.name] = compare(
            best.choice.block_bits, remembering.choice.block_bits, sequences.n_slices
        )
    clear = remembering is not None and comparisons[remembering.name].clear()
    winner = min(tried, key=lambda one: one.bits)
    model = run.made(("observed", winner.name), lambda: fit_slices(winner.design, winner.choice))
    return Observed(tuple(tried), winner, model, accepted.lags, clear, comparisons)


def _lag_name(lags: int) -> str:
    return "independent slices" if lags == 0 else f"{lags} lag{'s' if lags > 1 else ''}"


def _alternative(
    name: str, ask: Ask, folds: NDArray[np.int64], lags: int, memories: bool = False
) -> Alternative | None:
    """None where time has run out before it."""
    choice = if_there_is_time(ask.run, ("choice", name), lambda: choose(ask.design, folds), write_choice, read_choice)
    return None if choice is None else Alternative(name, ask, choice, lags, memories)


def _in_haste(sequences: Sequences, folds: NDArray[np.int64], run: Run) -> Alternative:
    """Something to answer with when time has run out before anything was tried: every column by itself."""
    ask = Ask(sequences, (), (), run)
    return Alternative("columns by themselves", ask, choose(ask.design, folds), 0)
