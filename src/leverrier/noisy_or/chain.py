"""One chain: sweeps, traces, kept draws, and when to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from leverrier.errors import as_raised
from leverrier.noisy_or.chain_codec import TRACES, chain_of, chain_piece
from leverrier.noisy_or.draws import Draws
from leverrier.noisy_or.sampler import Sampler
from leverrier.noisy_or.sampler_state import State
from leverrier.run.checkpoint import Journal
from leverrier.status import Status

Progress = Callable[[str, float], None]
"""Called with a line and the share of the chain's sweeps done."""


@dataclass(frozen=True)
class Plan:
    """How long, what is kept, where it is saved."""

    sweeps: int
    warmup: int
    every: int
    start: int
    seconds: float = float("inf")
    """For one chain."""
    journal: Journal | None = None
    """Where chains are kept, and taken up from."""
    progress: Progress | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by whoever wants every chain to end after its sweep."""


@dataclass(eq=False)
class Run:
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


def run_chain(sampler: Sampler, plan: Plan, number: int, seed: np.random.SeedSequence) -> Run:
    """Sweep until done, out of time, or told to stop; a chain can be resumed from where its file left it."""
    rng = np.random.default_rng(seed)
    journal, name = plan.journal, f"chain-{number}"
    kept = None if journal is None else journal.get(name)
    state, trace, draws = sampler.init(rng, plan.start), {name: [] for name in TRACES}, Draws()
    if kept is not None:
        state, trace, draws = chain_of(kept, state, rng)
    run = Run(number, trace, draws, state, Status.ITERATION_LIMIT)
    deadline = time.monotonic() + plan.seconds
    saved = time.monotonic()
    say = max(1, plan.sweeps // 20)
    whole = _Mark(rng.bit_generator.state, state, run.n_sweeps, len(draws))
    try:
        while run.n_sweeps < plan.sweeps:
            if plan.stop.is_set():
                run.status = Status.INTERRUPTED
                break
            if run.n_sweeps and time.monotonic() > deadline:
                run.status = Status.BUDGET
                break
            with as_raised():
                _sweep(sampler, plan, run, rng)
            whole = _Mark(rng.bit_generator.state, run.state, run.n_sweeps, len(draws))
            if journal is not None and time.monotonic() - saved > journal.checkpoint.every:
                journal.add(name, chain_piece(rng, run.state, trace, draws))
                saved = time.monotonic()
            if plan.progress is not None and (run.n_sweeps % say == 0 or run.n_sweeps == plan.sweeps):
                line = f"chain {number + 1}: sweep {run.n_sweeps} of {plan.sweeps}, {run.state.count} causes"
                plan.progress(line, run.n_sweeps / plan.sweeps)
    except KeyboardInterrupt:
        plan.stop.set()
        run.status = Status.INTERRUPTED
        whole.restore(run, rng)
    if journal is not None and run.n_sweeps:
        journal.add(name, chain_piece(rng, run.state, trace, draws))
    return run


class _Mark(NamedTuple):
    """The end of a whole sweep: an interrupt may fall within one, and what is saved must not hold half of it."""

    generator: Any
    state: State
    n_sweeps: int
    n_draws: int

    def restore(self, run: Run, rng: np.random.Generator) -> None:
        rng.bit_generator.state = self.generator
        run.state = self.state
        del run.draws.items[self.n_draws :]
        for values in run.trace.values():
            del values[self.n_sweeps :]


def _sweep(sampler: Sampler, plan: Plan, run: Run, rng: np.random.Generator) -> None:
    """One step, recorded."""
    state, _ = sampler.step(rng, run.state)
    log_joint = sampler.log_joint(state)
    run.state = state
    record(run.trace, state, log_joint)
    past = run.n_sweeps - plan.warmup
    if past > 0 and past % plan.every == 0:
        run.draws.add(run.n_sweeps - 1, state)
