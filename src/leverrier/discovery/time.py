"""`find_in_time`: lags first, then memories, then hidden chains, each accepted on blocks that were held out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences import read_sequences
from leverrier.data.slice_features import lag_features
from leverrier.data.slices import Sequences
from leverrier.discovery.time_chains import Built, Ground, best_chains
from leverrier.discovery.time_findings import HiddenChain, TimeFindings, Tried
from leverrier.discovery.time_observed import Alternative, Observed, best_observed
from leverrier.errors import TableError
from leverrier.learning.dynamic import slice_order
from leverrier.learning.slice_choice import bag_slices, choose, compare
from leverrier.learning.slice_design import make_design, make_folds
from leverrier.model.chain_model import marginal
from leverrier.status import Status

Progress = Callable[[str, float], None]
FOLDS = 5
LEAST_SLICES = 30


def find_in_time(
    sequences: Any,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | None = None,
    *,
    bagged: int = 0,
    folds: int = FOLDS,
) -> TimeFindings:
    """What sequences remember, and whether something hidden drives them.

    The best model of lags and memories comes first; hidden chains are accepted only if they predict held-out blocks
    better than it, by 0.005 bits a slice and three standard errors. `bagged` asks for so many trees to be averaged too.
    """
    found = read_sequences(sequences)
    if found.n_slices < LEAST_SLICES:
        raise TableError(f"{found.n_slices} slices in all: at least {LEAST_SLICES} are needed to hold some out")
    deadline = np.inf if budget is None else time.monotonic() + budget
    parts = make_folds(found, folds, seed)
    order = slice_order(found, seed)
    observed = best_observed(found, order, parts, deadline, _part(progress, 0.0, 0.4))
    built = _hidden(found, observed, order, parts, seed, deadline, progress)
    bag = bag_slices(observed.best.design, observed.best.choice, bagged, seed) if bagged else None
    status = Status.BUDGET if time.monotonic() > deadline else Status.CONVERGED
    return _findings(found, observed, built, order, status, bag)


def _part(progress: Progress | None, low: float, high: float) -> Progress | None:
    if progress is None:
        return None
    return lambda what, share: progress(what, low + (high - low) * share)


def _hidden(
    found: Sequences, observed: Observed, order: tuple[str, ...], folds: NDArray[np.int64], seed: int, deadline: float,
    progress: Progress | None,
) -> list[Built]:  # fmt: skip
    """Chains on one lag, and on all that the best observed model asks."""
    plain = make_design(found, lag_features(found.variables, min(1, observed.best.lags or 1)), ())
    residual: dict[str, Any] = {"means": None, "one lag": (plain, choose(plain, folds))}
    built = []
    for number, ground in enumerate(_grounds(observed, order, residual, seed, deadline)):
        if progress is not None:
            progress(f"hidden chains on {ground.name}", 0.4 + 0.3 * number)
        if ground.spent:
            break
        best = best_chains(ground, folds, observed.best.bits)
        if best is not None:
            built.append(best)
    return built


def _grounds(
    observed: Observed, order: tuple[str, ...], residual: dict[str, Any], seed: int, deadline: float
) -> list[Ground]:
    """One lag (or none, where sequences have length 1), and what the best observed model asks."""
    lag_one = next((one for one in observed.alternatives if one.lags == 1 and not one.memories), None)
    first = lag_one or observed.alternatives[0]
    grounds = [Ground(first.name, first.design, first.choice, residual, seed, deadline)]
    if observed.best is not first and observed.best.lags >= 1:
        kept = [feature for feature in observed.best.design.features if feature in set(observed.model.features)]
        own = tuple(feature for feature in kept if getattr(feature, "lag", 1) != 0)
        before = lag_features(observed.best.design.variables, 1)
        design = make_design(observed.best.design.sequences, tuple(dict.fromkeys((*before, *own))), order)
        grounds.append(Ground(observed.best.name, design, observed.best.choice, residual, seed, deadline))
    return grounds


def _findings(
    found: Sequences, observed: Observed, built: list[Built], order: tuple[str, ...], status: Status, bag: Any
) -> TimeFindings:
    rows = [_row(observed, one) for one in observed.alternatives]
    accepted: Built | None = None
    base = observed.best.choice.block_bits
    for one in built:
        assert one.block_bits is not None
        judged = compare(base, one.block_bits, found.n_slices)
        good = judged.clear()
        rows.append(Tried(one.name, one.bits, judged.gain, judged.z, observed.best.name, good, True))
        if good and (accepted is None or one.bits < accepted.bits):
            accepted = one
    memories = observed.model.memories if observed.clear_memories else ()
    common: dict[str, Any] = {
        "observed": observed.model, "observed_name": observed.best.name, "lags": observed.clear_lags,
        "memories": memories, "table": tuple(rows), "order": order, "n_slices": found.n_slices, "status": status,
        "bagged": bag, "notes": found.notes,
    }  # fmt: skip
    if accepted is None:
        return TimeFindings(hidden=(), gain=0.0, z=0.0, model=observed.model, **common)
    assert accepted.block_bits is not None
    judged = compare(base, accepted.block_bits, found.n_slices)
    hidden = _chains(found, accepted)
    return TimeFindings(hidden=hidden, gain=judged.gain, z=judged.z, model=accepted.fit.model, **common)


def _row(observed: Observed, one: Alternative) -> Tried:
    judged = observed.comparisons.get(one.name)
    if judged is None:
        return Tried(one.name, one.bits, 0.0, 0.0, "", True)
    against = "the best lags" if one.memories else "the lags accepted before"
    return Tried(one.name, one.bits, judged.gain, judged.z, against, judged.clear())


def _chains(found: Sequences, built: Built) -> tuple[HiddenChain, ...]:
    model = built.fit.model
    made = []
    for i, (chain, link) in enumerate(zip(model.chains, built.links, strict=True)):
        own = marginal(built.fit.posterior, model.sizes, i)
        drives = model.driven(chain.name)
        made.append(
            HiddenChain(chain.name, chain.states, drives, chain.persistence, chain.dwell, own.mean(axis=0), link.window,
                        chain, own, {name: _profile(found, name, own) for name in drives})
        )  # fmt: skip
    return tuple(made)


def _profile(found: Sequences, name: str, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each state of a column was seen in each state of the chain."""
    cells = found.table.column(name)
    states = len(found.states[name])
    seen = cells != found.table.missing
    counts = np.stack([np.bincount(cells[seen], own[seen], states) for own in posterior.T])
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
