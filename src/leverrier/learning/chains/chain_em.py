"""EM for hidden chains over slices; the columns' trees are grown again as the posteriors become clear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.slices.column_fit import Grown, Smoothing, grow_column, log_probabilities, recount_column
from leverrier.learning.slices.slice_design import Design, with_chains
from leverrier.models.slices.chain_model import Chain, ChainModel
from leverrier.models.slices.chain_passes import marginal, smoothed
from leverrier.models.slices.tree_cpd import SliceShape
from leverrier.status import Status

MOVE_PRIOR = 0.5
"""Pseudo-counts of each move of a chain, spread over the states it may go to."""
LEAST_WEIGHT = 1e-3
"""Slices count in a state's splits from this posterior on: most are nearly sure, so growing stays fast."""
GROWN_AT = (0, 1, 2, 4, 7, 11, 16)
"""Iterations at which the trees are grown anew; in between only their counts change, and EM cannot fall."""


@dataclass(frozen=True, eq=False)
class ChainSettings:
    """What is not learnt by EM: shapes and smoothing of the columns, and when to stop."""

    shapes: Mapping[str, SliceShape]
    smoothing: Smoothing
    leaf_count: float
    max_iterations: int = 40
    tolerance: float = 1e-4
    """Nats a slice that an iteration must still gain."""


@dataclass(frozen=True, eq=False)
class ChainFit:
    """Where EM ended."""

    model: ChainModel
    posterior: Floats
    """(slices, joint states)"""
    log_likelihood: float
    """Of the slices that were used."""
    slice_log_likelihood: Floats
    """By slice given those before it, slices that were left out included."""
    trace: tuple[float, ...]
    status: Status

    def worth(self, slices: float) -> float:
        """Log-likelihood less ½ ln n for each parameter: only to compare starts."""
        return self.log_likelihood - 0.5 * np.log(max(slices, 2.0)) * self.model.dimension


@dataclass(frozen=True, eq=False)
class Halfway:
    """Where EM stood when trees were to be grown anew: all that it goes on from, bit for bit."""

    model: ChainModel
    trace: tuple[float, ...]


def fit_chains(
    design: Design,
    chains: Mapping[str, int],
    start: Floats,
    settings: ChainSettings,
    used: Floats | None = None,
    *,
    begun: Halfway | None = None,
    keep: Callable[[Halfway], None] | None = None,
) -> ChainFit:
    """EM from posteriors (slices, joint states) of the chains' states.

    `used` is 1 where a slice may be learnt from: the others are treated as holes, and only scored at the end. `keep` is
    told where EM stands now and then, and `begun` goes on from there.
    """
    n = design.n_slices
    live = np.ones(n) if used is None else used
    wide = with_chains(design, chains)
    names, sizes = tuple(chains), tuple(chains.values())
    posterior, moves, first = start, _pair_counts(start, design, live), start[design.sequences.starts[:-1]].sum(axis=0)
    grown: list[Grown] = []
    trace: list[float] = []
    status = Status.ITERATION_LIMIT
    model, emissions, logs = None, None, np.zeros(n)
    if begun is not None:
        model, trace = begun.model, list(begun.trace)
        emissions = _emissions(wide, model, names)
        posterior, moves, first, logs = smoothed(model, emissions * live[:, None], design.sequences.starts)
    for iteration in range(len(trace), settings.max_iterations):
        weights = (posterior * live[:, None]).T.ravel()
        if iteration in GROWN_AT:
            likely = np.where(weights > LEAST_WEIGHT, weights, 0.0)
            grown = [
                grow_column(wide, name, likely, settings.shapes[name], settings.leaf_count) for name in design.variables
            ]
        else:
            grown = [recount_column(wide, one, weights) for one in grown]
        model = ChainModel(
            design.sequences.table.columns,
            {one.name: one.cpd(wide, settings.smoothing).compacted() for one in grown},
            _chains(names, sizes, moves, first),
        )
        emissions = _emissions(wide, model, names)
        posterior, moves, first, logs = smoothed(model, emissions * live[:, None], design.sequences.starts)
        trace.append(float(logs.sum()))
        if iteration > max(GROWN_AT) or (iteration > 2 and iteration not in GROWN_AT):
            gain = trace[-1] - trace[-2]
            if gain < settings.tolerance * n and iteration + 1 not in GROWN_AT:
                later = [at for at in GROWN_AT if at > iteration]
                if not later or gain < 0.1 * settings.tolerance * n:
                    status = Status.CONVERGED
                    break
        if keep is not None and iteration + 1 in GROWN_AT:
            keep(Halfway(model, tuple(trace)))
    assert model is not None
    assert emissions is not None
    if used is not None:
        logs = smoothed(model, emissions, design.sequences.starts)[3]
    return ChainFit(model, posterior, trace[-1], logs, tuple(trace), status)


def chain_posterior(design: Design, model: ChainModel, used: Floats | None = None) -> Floats:
    """(slices, joint states): the posterior that a fit ended with, from its model alone."""
    chains = {chain.name: chain.states for chain in model.chains}
    emissions = _emissions(with_chains(design, chains), model, tuple(chains))
    if used is not None:
        emissions = emissions * used[:, None]
    return smoothed(model, emissions, design.sequences.starts)[0]


def _emissions(wide: Design, model: ChainModel, names: tuple[str, ...]) -> Floats:
    """(slices, joint states); a column that asks no chain is computed once."""
    n = wide.n_slices
    total = np.zeros((wide.copies, n))
    hidden = set(names)
    for name, cpd in model.cpds.items():
        asks = any(getattr(parent, "variable", None) in hidden for parent in model.asked(name))
        rows = np.arange(n * wide.copies if asks else n)
        total += log_probabilities(wide, name, cpd, rows).reshape(-1, n)
    return np.ascontiguousarray(total.T)


def _pair_counts(posterior: Floats, design: Design, live: Floats) -> Floats:
    """Moves between neighbouring slices, as if their posteriors were independent."""
    inside = np.flatnonzero(design.sequences.position > 0)
    inside = inside[(live[inside] > 0) & (live[inside - 1] > 0)]
    return posterior[inside - 1].T @ posterior[inside]


def _chains(names: tuple[str, ...], sizes: tuple[int, ...], moves: Floats, first: Floats) -> tuple[Chain, ...]:
    """Each chain's own moves, from those of the joint state."""
    whole = moves.reshape(*sizes, *sizes)
    made = []
    for i, (name, size) in enumerate(zip(names, sizes, strict=True)):
        others = tuple(a for a in range(2 * len(sizes)) if a not in (i, i + len(sizes)))
        own = whole.sum(axis=others) + MOVE_PRIOR / size
        begin = marginal(first[None, :], sizes, i)[0] + MOVE_PRIOR / size
        made.append(Chain(name, begin / begin.sum(), own / own.sum(axis=1, keepdims=True)))
    return tuple(made)
