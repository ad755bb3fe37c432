"""One chain: sweeps, traces, kept draws, and when to stop."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leverrier.errors import as_raised
from leverrier.noisy_or.chain_codec import TRACES, chain_of, chain_piece
from leverrier.noisy_or.draws import Draws
from leverrier.noisy_or.sampler import Sampler
from leverrier.noisy_or.sampler_state import State
from leverrier.run.event import Event
from leverrier.run.run import Run
from leverrier.status import Status


@dataclass(frozen=True)
class Sweeping:
    """How long each chain is, and which of its sweeps are kept."""

    sweeps: int
    warmup: int
    every: int
    start: int
    seconds: float = float("inf")
    """That one chain may take, of all the time there is."""


@dataclass(eq=False)
class ChainRun:
    """A chain as far as it came."""

    number: int
    trace: dict[str, list[float]]
    draws: Draws
    state: State
    status: Status

    @property
    def n_sweeps(self) -> int:
        return len(self.trace["count"])


def record(trace: dict[str, list[float]], state: State, log_joint: float) -> None:
    """One sweep's numbers; with a λ or p for each cause, their mean over causes that reach anything."""
    linked = state.linked
    for name, value in (("lambda", state.lam), ("p", state.p)):
        if isinstance(value, np.ndarray):
            value = float(value[linked].mean()) if linked.any() else float("nan")
        trace[name].append(value)
    trace["epsilon"].append(state.epsilon)
    trace["alpha"].append(state.alpha)
    trace["count"].append(state.count)
    trace["log_joint"].append(log_joint)


def run_chain(sampler: Sampler, how: Sweeping, number: int, seed: np.random.SeedSequence, run: Run) -> ChainRun:
    """Sweep until done, out of time, or told to stop; a chain can be resumed from where its file left it."""
    rng = np.random.default_rng(seed)
    own = run.within(how.seconds)
    journal, name = run.journal, f"chain-{number}"
    kept = None if journal is None else journal.get(name)
    state, trace, draws = sampler.init(rng, how.start), {name: [] for name in TRACES}, Draws()
    if kept is not None:
        state, trace, draws = chain_of(kept, state, rng)
    chain = ChainRun(number, trace, draws, state, Status.ITERATION_LIMIT)
    saved = time.monotonic()
    say = max(1, how.sweeps // 20)
    whole = _Mark(rng.bit_generator.state, state, chain.n_sweeps, len(draws))
    try:
        while chain.n_sweeps < how.sweeps:
            if own.stopped:
                chain.status = Status.INTERRUPTED
                break
            if chain.n_sweeps and own.late:
                chain.status = Status.BUDGET
                break
            with as_raised():
                _sweep(sampler, how, chain, rng)
            whole = _Mark(rng.bit_generator.state, chain.state, chain.n_sweeps, len(draws))
            if journal is not None and time.monotonic() - saved > journal.checkpoint.every:
                journal.add(name, chain_piece(rng, chain.state, trace, draws))
                saved = time.monotonic()
            if chain.n_sweeps % say == 0 or chain.n_sweeps == how.sweeps:
                said = f"sweep {chain.n_sweeps} of {how.sweeps}, {chain.state.count} causes"
                run.tell(Event.SAMPLED_CHAIN, chain.n_sweeps / how.sweeps, number + 1, said=said)
    except KeyboardInterrupt:
        if run.stop is not None:
            run.stop.spread()
        chain.status = Status.INTERRUPTED
        whole.restore(chain, rng)
    if journal is not None and chain.n_sweeps:
        journal.add(name, chain_piece(rng, chain.state, trace, draws))
    return chain


class _Mark(NamedTuple):
    """The end of a whole sweep: an interrupt may fall within one, and what is saved must not hold half of it."""

    generator: Any
    state: State
    n_sweeps: int
    n_draws: int

    def restore(self, chain: ChainRun, rng: np.random.Generator) -> None:
        rng.bit_generator.state = self.generator
        chain.state = self.state
        del chain.draws.items[self.n_draws :]
        for values in chain.trace.values():
            del values[self.n_sweeps :]


def _sweep(sampler: Sampler, how: Sweeping, chain: ChainRun, rng: np.random.Generator) -> None:
    """One step, recorded."""
    state, _ = sampler.step(rng, chain.state)
    log_joint = sampler.log_joint(state)
    chain.state = state
    record(chain.trace, state, log_joint)
    past = chain.n_sweeps - how.warmup
    if past > 0 and past % how.every == 0:
        chain.draws.add(chain.n_sweeps - 1, state)
