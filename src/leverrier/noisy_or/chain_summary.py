"""From chains to one answer: rank them, leave out the stuck, align, average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.noisy_or.best_structure import best_draw
from leverrier.noisy_or.cause_alignment import summarise
from leverrier.noisy_or.causes_result import Chain, HiddenCausesResult
from leverrier.noisy_or.chain import ChainRun
from leverrier.noisy_or.chain_codec import TRACES
from leverrier.noisy_or.chain_diagnostics import AGREED, r_hat
from leverrier.noisy_or.draws import Draw
from leverrier.noisy_or.observations import Observations
from leverrier.noisy_or.sampler_notes import CausesRepeated, ChainLeftOut
from leverrier.noisy_or.sampler_state import Settings
from leverrier.noisy_or.signs import Signs
from leverrier.status import Status
from leverrier.words_of import Note, told

STUCK = 3.0
"""A chain is stuck when its mean log joint lies this many of the best chain's standard deviations below its mean."""


def make_result(
    runs: Sequence[ChainRun], signs: Signs, observations: Observations, settings: Settings, warmup: int
) -> HiddenCausesResult:
    """The answer of all chains that got anywhere."""
    runs = [run for run in runs if run.n_sweeps]
    n_sweeps = min(run.n_sweeps for run in runs)
    warmup = min(warmup, n_sweeps // 2)  # stopped early: still leave out the first half
    trace = {name: np.array([run.trace[name][:n_sweeps] for run in runs], np.float64) for name in TRACES}
    chains, used = _rank(runs, trace, warmup)
    draws, joints = _draws_of([run for run in runs if run.number in used], warmup)
    kept = {name: values[[run.number in used for run in runs], warmup:] for name, values in trace.items()}
    reference = _sorted(best_draw(draws, joints, observations))
    summary = summarise(reference, draws, observations.n_trials)
    model = HiddenCauses(reference.links.T, float(kept["epsilon"].mean()), summary.lam, summary.p, signs.names)
    sizes, times = np.unique(kept["count"].astype(np.int64), return_counts=True)
    remarks: list[Note] = [ChainLeftOut(c.number + 1) for c in chains if not c.used]
    if settings.shared and len(np.unique(reference.links, axis=0)) < len(reference.links):
        remarks.append(CausesRepeated())
    return HiddenCausesResult(
        model=model,
        signs=signs,
        method=settings.method,
        count={int(k): float(n / times.sum()) for k, n in zip(sizes, times, strict=True)},
        links=summary.links.T.copy(),
        shared=_shared(draws, observations.n_observed),
        best=reference.links.T.copy(),
        posterior=signs.by_row(summary.active.T),
        present=summary.present,
        trace=trace,
        warmup=warmup,
        chains=chains,
        status=_status(runs, trace, warmup),
        notes=(*signs.notes, *told(remarks)),
        draws=tuple(draws),
    )


def _rank(
    runs: Sequence[ChainRun], trace: dict[str, NDArray[np.float64]], warmup: int
) -> tuple[tuple[Chain, ...], set[int]]:
    """Chains by mean log joint, and which of them the summary uses."""
    joints = trace["log_joint"][:, warmup:]
    means, best = joints.mean(axis=1), int(joints.mean(axis=1).argmax())
    floor = means[best] - STUCK * max(float(joints[best].std()), 1.0)
    chains = [
        Chain(run.number, float(mean), float(count.mean()), run.n_sweeps, run.status, bool(mean >= floor))
        for run, mean, count in zip(runs, means, trace["count"][:, warmup:], strict=True)
    ]
    chains.sort(key=lambda chain: -chain.log_joint)
    return tuple(chains), {chain.number for chain in chains if chain.used}


def _draws_of(runs: Sequence[ChainRun], warmup: int) -> tuple[list[Draw], list[float]]:
    """Kept draws with their log joints; a chain stopped before it kept any gives its last state."""
    draws: list[Draw] = []
    joints: list[float] = []
    for run in runs:
        if not any(draw.sweep >= warmup for draw in run.draws):
            run.draws.add(run.n_sweeps - 1, run.state)
        kept = [draw for draw in run.draws if draw.sweep >= warmup]
        draws += kept
        joints += [run.trace["log_joint"][draw.sweep] for draw in kept]
    return draws, joints


def _shared(draws: Sequence[Draw], n_observed: int) -> NDArray[np.float64]:
    """E[Z Zᵀ]."""
    total = np.zeros((n_observed, n_observed))
    for draw in draws:
        links = draw.links.astype(np.float64)
        total += links.T @ links
    return total / len(draws)


def _sorted(draw: Draw) -> Draw:
    """Causes by how many signs they reach, then by their first signs: the same structure always reads the same."""
    order = sorted(range(len(draw.links)), key=lambda k: (-int(draw.links[k].sum()), (1 - draw.links[k]).tolist()))
    return replace(draw, links=draw.links[order], active=draw.active[order], lam=draw.lam[order], p=draw.p[order])


def _status(runs: Sequence[ChainRun], trace: dict[str, NDArray[np.float64]], warmup: int) -> Status:
    """Converged when every chain ended and all agree; else why not."""
    for status in (Status.INTERRUPTED, Status.BUDGET):
        if any(run.status is status for run in runs):
            return status
    agreed = all(r_hat(values[:, warmup:]) < AGREED for values in trace.values())
    return Status.CONVERGED if agreed and trace["count"].shape[1] > 4 else Status.ITERATION_LIMIT
