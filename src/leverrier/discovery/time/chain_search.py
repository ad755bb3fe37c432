"""Hidden chains in time: built one after another from clustered residuals, judged on blocks that were held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leverrier.discovery.time.chain_building import COPY, Built, ChainGround, Link, chain_names, extend, held_out
from leverrier.discovery.time.time_codecs import if_there_is_time, read_chains, write_chains
from leverrier.learning.chains.chain_starts import WINDOWS
from leverrier.learning.slices.slice_choice import compare, fit_slices
from leverrier.models.slices.chain_model import ChainModel

STATES = (2, 3, 4, 6, 8)
"""Numbers of states tried for a chain, as long as more of them pay."""
LEAST_COPIED, MOST_COPIED = 5, 12
"""Columns of so many states may be copied: fewer states are found from residuals as well."""
SLACK = 0.005
"""Nats a slice by which a chain may be worth less than the one before it and still be judged."""
MOST_JOINT = 64
CLIMBED = 2
"""Of the starts with two states so many are tried with more."""
HOPELESS = 3.0
"""More states are not tried where what is still missing is so many times what was gained."""
PATIENCE = 2
"""So many larger numbers of states in a row that are not clearly better end the search for more."""


def best_chains(ground: ChainGround, folds: NDArray[np.int64], to_beat: float = np.inf) -> Built | None:
    """Chains added one at a time while the next one lowers the bits of held-out blocks clearly; None if none drives.

    Each chain gains less than the one before it: so when the last one gained less than is still missing to `to_beat`
    (bits per slice of the best model without chains), more of them would not get there.
    """
    best: Built | None = None
    before = ground.choice.bits
    for _ in range(ground.plan.max_hidden):
        found = _best_next(ground, best, folds, before, to_beat)
        if found is None or (best is not None and not _clearly_better(best, found)):
            break
        best = found
        if best.bits - to_beat > before - best.bits:
            break
        before = best.bits
    return best


def _clearly_better(one: Built, other: Built) -> bool:
    assert one.block_bits is not None
    assert other.block_bits is not None
    return compare(one.block_bits, other.block_bits, one.ground.n_slices).clear()


def _best_next(
    ground: ChainGround, best: Built | None, folds: NDArray[np.int64], before: float, to_beat: float
) -> Built | None:
    """Every start with two states, then more states for the best of them, as long as held-out blocks clearly say so.

    Starts of as many states are compared by their log-likelihood less a price, which costs nothing.
    """
    found: Built | None = None
    places = list(_places(ground, best))
    room = MOST_JOINT // int(np.prod([link.states for link in (best.links if best else ())]))
    stale = 0
    for states in STATES:
        if states > room or stale >= PATIENCE:
            break
        links = [Link(residuals, window, states) for residuals, window in places]
        tried = _tried(ground, best, links)
        if states == STATES[0]:
            places = [(one.links[-1].residuals, one.links[-1].window) for one in tried[:CLIMBED]]
        better = _if_better(found or best, found, tried, folds)
        found, stale = (found, stale + 1) if better is None else (better, 0)
        if found is not None and found.bits - to_beat > HOPELESS * (before - found.bits):
            return found
    copies = _tried(ground, best, [link for link in _copies(ground) if link.states <= room])
    return _if_better(None, found, copies, folds) or found


def _if_better(
    worthier: Built | None, found: Built | None, tried: list[Built], folds: NDArray[np.int64]
) -> Built | None:
    """The first of those tried whose chains all drive something, judged on held-out blocks; None if not better.

    What is worth less than `worthier` already is not judged: that would cost far more than finding it did.
    """
    for one in tried:
        if worthier is not None and one.worth < worthier.worth - SLACK * one.ground.n_slices:
            return None
        if all(one.model.driven(name) for name in chain_names(len(one.links))):
            bits = held_out(one, folds)
            if bits is None:
                return None
            judged = replace(one, block_bits=bits)
            return judged if found is None or _clearly_better(found, judged) else None
    return None


def _copies(ground: ChainGround) -> Iterator[Link]:
    """Columns of several states whose own past tells something: each may be a noisy sign of a chain with as many."""
    key = ("columns", ground.name)
    if ground.run.spent and not ground.run.is_made(key):
        return
    model = ground.run.made(key, lambda: fit_slices(ground.design, ground.choice))
    for name in ground.design.variables:
        states = ground.design.states(name)
        own = any(getattr(feature, "variable", "") == name for feature in model.asked(name))
        if own and LEAST_COPIED <= states <= MOST_COPIED:
            yield Link(name, COPY, states)


def _places(ground: ChainGround, best: Built | None) -> Iterator[tuple[str, int]]:
    names = ("the chains so far",) if best is not None else tuple(ground.residual)
    return ((name, window) for name in names for window in WINDOWS)


def _tried(ground: ChainGround, best: Built | None, links: Sequence[Link]) -> list[Built]:
    """Each link added to the chains so far, best first."""
    before = best.links if best is not None else ()
    columns = ground.ask.sequences.table.columns
    built = []
    for link in links:
        chain = (*before, link)
        found = if_there_is_time(
            ground.run,
            ("chains", ground.name, chain),
            partial(_model, ground, best, link),
            write_chains,
            partial(read_chains, columns=columns),
        )
        if found is not None:
            built.append(Built(ground, chain, *found))
    return sorted(built, key=lambda one: -one.worth)


def _model(ground: ChainGround, best: Built | None, link: Link) -> tuple[ChainModel, float] | None:
    """One more chain on all slices: the model and its worth."""
    before = best.links if best is not None else ()
    fit = extend(ground, best, before, link, np.ones(ground.n_slices))
    return None if fit is None else (fit.model, fit.worth(ground.n_slices))
