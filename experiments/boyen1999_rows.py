"""[boyen1999 table 2]: bits per slice on test data, a row at a time, everything chosen inside the training part."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.boyen1999_data import LONGEST, pair
from experiments.online_counts import choose_forgetting, online_surprise
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import lag_features, memory_features
from leverrier.discovery.time.find_in_time import find_in_time
from leverrier.discovery.time.find_memories import find_memories
from leverrier.learning.chains.factorial import factorial_hmm
from leverrier.learning.chains.hidden_markov import hidden_markov
from leverrier.learning.chains.hidden_markov_result import HiddenMarkov
from leverrier.learning.slices.learn_dynamic import learn_dynamic, slice_order
from leverrier.learning.slices.slice_choice import SHAPES, bag_slices, choose, fit_slices
from leverrier.learning.slices.slice_design import Design, make_design, make_folds

Bits = dict[str, Any]
"""By row of the table, bits per slice on the test part; under "about", what was found."""
FOLDS = 5
STATES = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
PATIENCE = 2
BOOSTED, QUICK_BOOSTED = 100, 30
BAG, QUICK_BAG = 25, 8
ONLY_CLASS = 1e-3
"""Of every prediction by boosting so much is spread over all states: it may never have seen one of them."""


def table2(name: str, part: str, quick: bool, split: int = 0, *, data: Path) -> Bits:
    """One part of a column of table 2: a dictionary from rows to bits."""
    train, test = pair(name, data, quick, split)
    return PARTS[part](train, test, quick, LONGEST[name])


def hmm(train: Sequences, test: Sequences, quick: bool, _: int) -> Bits:
    """A hidden Markov model; the number of states by parts of the training data left out (BIC takes too few), more and
    more until two numbers in a row do not help."""
    tried: list[HiddenMarkov] = []
    worth: list[float] = []
    for states in STATES[: 3 if quick else None]:
        tried.append(hidden_markov(train, states=[states], criterion="held-out", prior=0.5, seed=0))
        worth.append(tried[-1].table[0].held_out or 0.0)
        if len(worth) - 1 - int(np.argmax(worth)) >= PATIENCE:
            break
    found = tried[int(np.argmax(worth))]
    return {"HMM, best number of states": found.network.bits_per_slice(test), "about": f"{found.states} states"}


def fhmm(train: Sequences, test: Sequences, quick: bool, _: int) -> Bits:
    """Two, four and six binary chains behind everything."""
    return {
        f"FHMM {chains} hid vars": factorial_hmm(train, chains=chains, prior=0.5, seed=0).network.bits_per_slice(test)
        for chains in ((2, 4) if quick else (2, 4, 6))
    }


def tables(train: Sequences, test: Sequences, _: bool, longest: int) -> Bits:
    """Networks of tables: fully observable, and with arcs that skip slices."""
    return {
        f"tables, lag {lags}": learn_dynamic(train, lags).network.bits_per_slice(test) for lags in (1, min(4, longest))
    }


def loop(train: Sequences, test: Sequences, quick: bool, _: int) -> Bits:
    """The source's own loop: fully observable, iteration 0, and two of structural EM with memories."""
    found = find_memories(train, lags=3, most_memories=2 if quick else 4, max_iterations=6 if quick else 30)
    bits: Bits = {each.name: each.network.bits_per_slice(test, each.inference) for each in found.rounds}
    return {**bits, "about": "; ".join(memory.name for memory in found.memories) or "nothing to remember"}


def trees(train: Sequences, test: Sequences, quick: bool, longest: int) -> Bits:
    """Trees at several lags, alone and with "same as before" and steps."""
    folds, order = make_folds(train, FOLDS, 0), slice_order(train)
    bits: Bits = {}
    for lags in (1,) if quick else dict.fromkeys((1, min(4, longest), longest)):
        design = make_design(train, lag_features(train.variables, lags), order)
        for name, shapes in (("trees", SHAPES[:1]), ("trees, same as before, steps", SHAPES)):
            bits[f"{name}, lag {lags}"] = fit_slices(design, choose(design, folds, shapes)).bits_per_slice(test)
    return bits


def remembering(train: Sequences, test: Sequences, quick: bool, longest: int) -> Bits:
    """Deterministic memories on top of the longest lags, bagged, and counting on while predicting (apart)."""
    design, choice = _remembering(train, 1 if quick else longest)
    model = fit_slices(design, choice)
    forget = choose_forgetting(design, choice)
    return {
        "+ memories": model.bits_per_slice(test),
        "+ memories, bagged": bag_slices(design, choice, QUICK_BAG if quick else BAG, 0).bits_per_slice(test),
        "(apart) counting on": float(online_surprise(model, test, forget).mean()),
        "about": f"forgetting {forget:g}",
    }


def _remembering(train: Sequences, longest: int) -> tuple[Design, Any]:
    features = (*lag_features(train.variables, longest), *memory_features(train.table))
    design = make_design(train, features, slice_order(train))
    return design, choose(design, make_folds(train, FOLDS, 0))


def default(train: Sequences, test: Sequences, quick: bool, _: int) -> Bits:
    """What `discover` does: lags, memories, hidden chains, each accepted on held-out blocks."""
    found = find_in_time(train, seed=0, bagged=QUICK_BAG if quick else BAG, budget=20 if quick else None)
    assert found.bagged is not None
    hidden = ", ".join(f"{one.name} of {one.states} states" for one in found.hidden)
    return {
        "discover, best observed": found.observed.bits_per_slice(test),
        "discover": found.model.bits_per_slice(test),
        "discover, bagged": found.bagged.bits_per_slice(test),
        "about": f"{found.observed_name}; {hidden or 'nothing hidden'}",
    }


def boosting(train: Sequences, test: Sequences, quick: bool, longest: int) -> Bits:
    """Gradient boosting of each column on the same lags and the columns before it in the slice."""
    order = slice_order(train)
    features = lag_features(train.variables, longest)
    designs = make_design(train, features, order), make_design(test, features, order)
    bits = sum(_boosted(name, *designs, QUICK_BOOSTED if quick else BOOSTED) for name in train.variables)
    return {f"gradient boosting, lag {longest}": bits / test.n_slices}


def _boosted(name: str, train: Design, test: Design, rounds: int) -> float:
    """Bits of one column over the test part."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    child, seen = train.child(name)
    other, there = test.child(name)
    chance = np.full((int(there.sum()), train.states(name)), ONLY_CLASS / train.states(name))
    if len(np.unique(child[seen])) > 1:
        kept = train.allowed(name)
        x, y = (design.table.codes[kept].T.astype(np.float32) for design in (train, test))
        often = np.bincount(child[seen])  # (to stop early some rows are held out, of every class: it needs two)
        early = bool(often[often > 0].min() > 1)
        how: dict[str, Any] = {"max_iter": rounds, "early_stopping": early, "random_state": 0}
        model = HistGradientBoostingClassifier(**how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # (a class with one row, when some are held out)
            model.fit(x[seen], child[seen])
        classes = np.asarray(model.classes_, dtype=np.int64)
        chance[:, classes] += (1 - ONLY_CLASS) * np.asarray(model.predict_proba(y[there]))
    else:
        chance += (1 - ONLY_CLASS) / chance.shape[1]
    return -float(np.log2(chance[np.arange(len(chance)), other[there]]).sum())


PARTS: dict[str, Callable[[Sequences, Sequences, bool, int], Bits]] = {
    "hmm": hmm,
    "fhmm": fhmm,
    "tables": tables,
    "loop": loop,
    "trees": trees,
    "remembering": remembering,
    "default": default,
    "boosting": boosting,
}
