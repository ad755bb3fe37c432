"""`find_in_time`: lags first, then memories, then hidden chains, each accepted on blocks that were held out."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import lag_features
from leverrier.discovery.evidence.evidence import LEVEL, Evidence
from leverrier.discovery.network_codecs import identity
from leverrier.discovery.plan import Plan
from leverrier.discovery.time.chain_building import Built, ChainGround
from leverrier.discovery.time.chain_search import best_chains
from leverrier.discovery.time.chain_test import chain_evidence
from leverrier.discovery.time.hidden_chain import HiddenChain, column_profile
from leverrier.discovery.time.lag_models import Alternative, Ask, Observed, best_observed
from leverrier.discovery.time.tested_slices import FOLDS, with_held_out
from leverrier.discovery.time.time_codecs import grouping, if_there_is_time, read_choice, write_choice
from leverrier.discovery.time.time_findings import Fold, TimeFindings, Tried
from leverrier.discovery.verdict import Reason, Verdict, undecided
from leverrier.discovery.verdict import found as found_verdict
from leverrier.errors import TableError
from leverrier.learning.slices.learn_dynamic import slice_order
from leverrier.learning.slices.slice_choice import bag_slices, choose, compare
from leverrier.learning.slices.slice_design import make_blocks, make_folds
from leverrier.models.slices.chain_passes import marginal
from leverrier.run.event import Event, Progress
from leverrier.run.run import UNBOUNDED, Run
from leverrier.run.stop import Stop

LEAST_SLICES = 30


def find_in_time(
    sequences: Any,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | bool | None = None,
    *,
    max_hidden: int = 3,
    bagged: int = 0,
    folds: int = FOLDS,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> TimeFindings:
    """What sequences remember, and whether something hidden drives them.

    The best model of lags and memories comes first; hidden chains are accepted only if they predict held-out blocks
    better than it, by 0.005 bits a slice and three standard errors. `bagged` asks for so many trees to be averaged too;
    `checkpoint` is a folder for what is done so far, from which a run with resume=True goes on.
    """
    found = read_sequences(sequences)
    whole = Run.of(budget, stop=stop, progress=progress)
    belongs = (*identity(found.table), *grouping(found), seed, max_hidden, bagged, folds)
    with whole.kept_in(checkpoint, resume, "find_in_time", *belongs) as run:
        return search_in_time(found, seed, max_hidden=max_hidden, bagged=bagged, folds=folds, run=run)


def search_in_time(
    found: Sequences,
    seed: int = 0,
    *,
    max_hidden: int = 3,
    bagged: int = 0,
    folds: int = FOLDS,
    draws: int = 0,
    level: float = LEVEL,
    run: Run = UNBOUNDED,
) -> TimeFindings:
    """The same of sequences that are read, as part of a run. With `draws` chains are tested against chance too."""
    if found.n_slices < LEAST_SLICES:
        raise TableError(f"{found.n_slices} slices in all: at least {LEAST_SLICES} are needed to hold some out")
    plan = Plan(max_hidden=max_hidden, seed=seed)
    parts = make_folds(found, folds, seed)
    run.tell(Event.COLUMN_ORDER, 0.0)
    order = run.once(("order",), lambda: slice_order(found, seed), list, tuple, lambda: found.variables)
    observed = best_observed(found, order, parts, run.part(0.0, 0.4))
    built = _hidden(found, observed, order, parts, plan, run.part(0.4, 0.7 if draws else 1.0))
    bag = bag_slices(observed.best.design, observed.best.choice, bagged, seed) if bagged else None

    def tested(one: Built) -> Evidence | None:
        if not draws:
            return None
        return chain_evidence(observed, one, found, order, draws, level, run.part(0.7, 1.0))

    return _findings(found, observed, built, order, parts, run, bag, tested)


def _hidden(
    found: Sequences, observed: Observed, order: tuple[str, ...], folds: NDArray[np.int64], plan: Plan, run: Run
) -> list[Built]:
    """Chains on one lag, and on all that the best observed model asks."""
    ask = Ask(found, lag_features(found.variables, min(1, observed.best.lags or 1)), (), run)
    choice = if_there_is_time(run, ("one lag",), lambda: choose(ask.design, folds), write_choice, read_choice)
    if choice is None:
        return []
    residual: dict[str, Any] = {"means": None, "one lag": (ask, choice)}
    built = []
    for number, ground in enumerate(_grounds(observed, order, residual, plan, run)):
        run.tell(Event.HIDDEN_CHAINS, 0.5 * number, ground.name)
        best = best_chains(ground, folds, observed.best.bits)
        if best is not None:
            built.append(best)
    return built


def _grounds(
    observed: Observed, order: tuple[str, ...], residual: dict[str, Any], plan: Plan, run: Run
) -> list[ChainGround]:
    """One lag (or none, where sequences have length 1), and what the best observed model asks."""
    lag_one = next((one for one in observed.alternatives if one.lags == 1 and not one.memories), None)
    first = lag_one or observed.alternatives[0]
    grounds = [ChainGround(first.name, first.ask, first.choice, residual, plan, run)]
    if observed.best is not first and observed.best.lags >= 1:
        asked = set(observed.model.features)
        own = tuple(feature for feature in observed.best.ask.features if feature in asked)
        before = lag_features(observed.best.ask.sequences.variables, 1)
        ask = Ask(observed.best.ask.sequences, tuple(dict.fromkeys((*before, *own))), order, run)
        grounds.append(ChainGround(observed.best.name, ask, observed.best.choice, residual, plan, run))
    return grounds


def _findings(
    found: Sequences,
    observed: Observed,
    built: list[Built],
    order: tuple[str, ...],
    parts: NDArray[np.int64],
    run: Run,
    bag: Any,
    tested: Callable[[Built], Evidence | None],
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
    best = accepted or min(built, key=lambda one: one.bits, default=None)
    memories = observed.model.memories if observed.clear_memories else ()
    common: dict[str, Any] = {
        "observed": observed.model,
        "observed_name": observed.best.name,
        "lags": observed.clear_lags,
        "memories": memories,
        "table": tuple(rows),
        "order": order,
        "n_slices": found.n_slices,
        "status": run.status,
        "bagged": bag,
        "notes": found.notes,
        "folds": fold_costs(found, parts, base, None if best is None else best.block_bits),
    }
    if accepted is None:
        return TimeFindings(hidden=(), gain=0.0, z=0.0, model=observed.model, **common)
    assert accepted.block_bits is not None
    judged = compare(base, accepted.block_bits, found.n_slices)
    hidden = _chains(found, accepted)
    evidence = tested(accepted)
    if evidence is not None:
        evidence = with_held_out(evidence, judged)
        common["evidence"] = {chain.name: evidence for chain in hidden}
        common["decided"] = _decided(evidence)
        common["status"] = run.status
    return TimeFindings(hidden=hidden, gain=judged.gain, z=judged.z, model=accepted.model, **common)


def _decided(evidence: Evidence) -> Verdict:
    """Blocks left out speak for the chains; what chance does has the second word."""
    if evidence.believed:
        return found_verdict(Reason.FEW_DRAWS if evidence.draws < evidence.needed else Reason.TESTED_IN_TIME)
    if evidence.cut or not evidence.tested:
        return undecided(Reason.TIME)
    return undecided(Reason.CHANCE_IN_TIME)


def _row(observed: Observed, one: Alternative) -> Tried:
    judged = observed.comparisons.get(one.name)
    if judged is None:
        return Tried(one.name, one.bits, 0.0, 0.0, "", True)
    against = "the best lags" if one.memories else "the lags accepted before"
    return Tried(one.name, one.bits, judged.gain, judged.z, against, judged.clear())


def fold_costs(
    found: Sequences, parts: NDArray[np.int64], observed: NDArray[np.float64], hidden: NDArray[np.float64] | None
) -> tuple[Fold, ...]:
    """By fold, what its slices cost without and with hidden variables, from the costs of blocks."""
    blocks = make_blocks(found, parts)
    fold_of = np.zeros(int(blocks[-1]) + 1, dtype=np.int64)
    fold_of[blocks] = parts
    made = []
    for fold in np.unique(parts):
        slices = int(np.count_nonzero(parts == fold))
        here = fold_of == fold
        after = None if hidden is None else float(hidden[here].sum()) / slices
        made.append(Fold(slices, float(observed[here].sum()) / slices, after))
    return tuple(made)


def _chains(found: Sequences, built: Built) -> tuple[HiddenChain, ...]:
    model = built.model
    made = []
    for i, (chain, link) in enumerate(zip(model.chains, built.links, strict=True)):
        own = marginal(built.posterior, model.sizes, i)
        drives = model.driven(chain.name)
        seen = {name: column_profile(found, name, own) for name in drives}
        made.append(
            HiddenChain(chain.name, chain.states, drives, chain.transition, own.mean(axis=0), link.window, own, seen)
        )
    return tuple(made)
