"""Hidden chains on a ground: how they begin, their fit on all slices, and what they cost on blocks held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.discovery.plan import Plan
from leverrier.discovery.time.lag_models import Ask
from leverrier.discovery.time.time_codecs import Halfways, costs_of, if_there_is_time, read_model, write_model
from leverrier.learning.chains.chain_em import ChainFit, ChainSettings, chain_posterior, fit_chains
from leverrier.learning.chains.chain_starts import Expectation, chain_start, copy_start
from leverrier.learning.slices.slice_choice import LN2, Choice, fit_slices
from leverrier.learning.slices.slice_design import Design, make_blocks
from leverrier.models.slices.chain_model import ChainModel
from leverrier.run.run import Run

COPY = 0
"""The "window" of a chain that began as a noisy copy of a column."""


@dataclass(frozen=True)
class Link:
    """How one chain began: whose residuals, over which window, in how many states."""

    residuals: str
    """Whose residuals; or the column of which it began as a copy."""
    window: int
    """Slices averaged, or COPY."""
    states: int


@dataclass(frozen=True, eq=False)
class ChainGround:
    """What every chain is built on: the columns' design and choice, and models whose residuals may be clustered."""

    name: str
    ask: Ask
    choice: Choice
    residual: Mapping[str, tuple[Ask, Choice] | None]
    """By name: how the model is learnt whose residuals are clustered; None stands for the columns' means."""
    plan: Plan
    run: Run

    @property
    def design(self) -> Design:
        return self.ask.design

    @property
    def n_slices(self) -> int:
        return self.ask.sequences.n_slices

    @property
    def settings(self) -> ChainSettings:
        return ChainSettings(self.choice.shapes, self.choice.smoothing, self.choice.leaf_count)


@dataclass(frozen=True, eq=False)
class Stood:
    """Chains as they were kept."""

    model: ChainModel
    posterior: Floats


@dataclass(frozen=True, eq=False)
class Built:
    """Chains that were built, with their model of all slices."""

    ground: ChainGround
    links: tuple[Link, ...]
    model: ChainModel
    worth: float
    block_bits: Floats | None = None

    @cached_property
    def posterior(self) -> Floats:
        """(slices, joint states), made when it is asked: of most of those that are tried it never is."""
        key = ("posterior", self.ground.name, self.links)
        return self.ground.run.made(key, lambda: chain_posterior(self.ground.design, self.model))

    @property
    def name(self) -> str:
        sizes = " and ".join(str(link.states) for link in self.links)
        many = "chain" if len(self.links) == 1 else "chains"
        return f"hidden {many} of {sizes} states on {self.ground.name}"

    @property
    def bits(self) -> float:
        """Held out, per slice."""
        return np.nan if self.block_bits is None else float(self.block_bits.sum()) / self.ground.n_slices


Stands = ChainFit | Built | Stood
"""What a further chain is begun from: it has a model and a posterior."""


def chain_names(count: int) -> tuple[str, ...]:
    return tuple(f"H{i + 1}" for i in range(count))


def held_out(built: Built, folds: NDArray[np.int64]) -> Floats | None:
    """By block, the bits it costs when its fold is left out of everything; None if there was no time for all folds."""
    ground = built.ground
    blocks = make_blocks(ground.ask.sequences, folds)
    cost = np.zeros(int(blocks[-1]) + 1)
    for fold in np.unique(folds).tolist():
        key = ("fold", ground.name, built.links, fold)
        part = if_there_is_time(ground.run, key, partial(_fold, built, folds, blocks, fold), costs_of, costs_of)
        if part is None:
            return None
        cost += part
    return cost


def _fold(built: Built, folds: NDArray[np.int64], blocks: NDArray[np.int64], fold: int) -> Floats:
    """The same of one fold, left out of starts, trees and moves."""
    out = np.flatnonzero(folds == fold)
    fit = build(built.ground, built.links, (folds != fold).astype(np.float64), f"without {fold}")
    logs = _without(built.ground, fit, folds, fold)
    return costs_of(np.bincount(blocks[out], -logs[out] / LN2, int(blocks[-1]) + 1))


def _without(ground: ChainGround, fit: ChainFit | None, folds: NDArray[np.int64], fold: int) -> Floats:
    """ln P(slice | before); where no chain could be begun, of the model without one."""
    if fit is not None:
        return fit.slice_log_likelihood
    model = fit_slices(ground.design, ground.choice, (folds != fold).astype(np.float64))
    return model.column_log_likelihood(ground.design.sequences).sum(axis=0)


def build(ground: ChainGround, links: tuple[Link, ...], live: Floats, part: str) -> ChainFit | None:
    """Begin and fit the chains one after another on the slices that may be used; `part` names those slices."""
    fit: Stands | None = None
    for count, link in enumerate(links[:-1]):
        compute = partial(extend, ground, fit, links[:count], link, live, part)
        fit = ground.run.once(
            ("built", ground.name, links[: count + 1], part), compute, _write_stood, partial(_read_stood, ground, live)
        )
        if fit is None:
            return None
    return extend(ground, fit, links[:-1], links[-1], live, part)


def _write_stood(fit: Stands | None) -> dict[str, Any]:
    return {"model": None if fit is None else write_model(fit.model)}


def _read_stood(ground: ChainGround, live: Floats, piece: Mapping[str, Any]) -> Stood | None:
    if piece["model"] is None:
        return None
    model = read_model(piece["model"], ground.ask.sequences.table.columns)
    return Stood(model, chain_posterior(ground.design, model, live))


def extend(
    ground: ChainGround, fit: Stands | None, before: tuple[Link, ...], link: Link, live: Floats, part: str = "all"
) -> ChainFit | None:
    """One more chain; None where it cannot be begun."""
    sequences = ground.design.sequences
    if link.window == COPY:
        start = copy_start(sequences, link.residuals, live)
    else:
        start = chain_start(
            sequences, _expectation(ground, fit, link.residuals, live), link.window, link.states, live, ground.plan.seed
        )
    if start is None:
        return None
    if fit is not None:
        start = (fit.posterior[:, :, None] * start[:, None, :]).reshape(len(start), -1)
    sizes = [earlier.states for earlier in before] + [link.states]
    chains = dict(zip(chain_names(len(sizes)), sizes, strict=True))
    halfways = Halfways(ground.run, (ground.name, before, link, part), sequences.table.columns)
    ended = fit_chains(
        ground.design,
        chains,
        start,
        ground.settings,
        None if live.all() else live,
        begun=halfways.begun,
        keep=halfways.keep,
    )
    halfways.done()
    return ended


def _expectation(ground: ChainGround, fit: Stands | None, name: str, live: Floats) -> Expectation | None:
    if fit is not None:
        return lambda column: fit.model.expected(ground.design.sequences, column, fit.posterior)
    known = ground.residual[name]
    if known is None:
        return None
    model = fit_slices(known[0].design, known[1], live)
    return lambda column: model.predict(ground.design.sequences, column)
