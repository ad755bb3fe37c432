"""The failures the text warns of, found and cured: a component that collapses, empties, or merges with another.

A cure puts the component elsewhere: one of the others, drawn by its weight, is split in two along a random direction.
Where the likelihood has no bound (no prior) a cure must be made; elsewhere it is kept if it climbs higher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.em.climb import Climb, climb
from leverrier.learning.mixtures.mixture_ascent import CollapsedError
from leverrier.learning.mixtures.mixture_climb import MixtureClimb, MixtureProblem
from leverrier.learning.mixtures.mixture_notes import (
    BestStartEnded,
    Collapsed,
    EmptyComponent,
    PutElsewhere,
    ThinComponent,
    Trouble,
    TwinComponents,
)
from leverrier.learning.mixtures.mixture_prior import Components
from leverrier.learning.mixtures.mixture_start import shaped
from leverrier.models.mixture import CovarianceKind
from leverrier.run.run import Run
from leverrier.status import Status
from leverrier.words_of import Note

MOST_COLLAPSES = 12
MOST_CURES = 2
EMPTY = 0.5
"""A component with less than half a row is empty."""
SAME = 1e-3
"""Two components nearer than this (mean of the two Kullback–Leibler divergences, in nats) are one."""


@dataclass(frozen=True, eq=False)
class Ended:
    """How a start ended. It is `sound` if no component stands on too few rows to have a covariance of its own."""

    components: Components
    counts: Floats
    climb: Climb
    likelihoods: tuple[float, ...]
    sound: bool
    events: tuple[Note, ...]

    @property
    def log_likelihood(self) -> float:
        return self.likelihoods[-1]

    @property
    def iterations(self) -> int:
        """Steps that were kept."""
        return len(self.likelihoods) - 1


def run_start(
    problem: MixtureProblem, begin: Components, rng: np.random.Generator, max_iterations: int, run: Run
) -> Ended | None:
    """EM from here to the end, with cures on the way; None if components kept collapsing."""
    events: list[Note] = []
    ended = _climb_through(problem, begin, rng, max_iterations, run, events)
    for _ in range(MOST_CURES):
        if ended is None or not ended.climb.status.converged:
            break
        which, why = trouble(problem, ended)
        if not which:
            break
        moved = elsewhere(problem, ended.components, ended.counts, which, rng)
        if moved is None:
            break
        said: list[Note] = []
        again = _climb_through(problem, moved, rng, max_iterations, run, said)
        better = again is not None and (again.sound, again.climb.value) > (
            ended.sound,
            ended.climb.value + 10 * problem.tolerance,
        )
        if again is None or not better:
            events.append(PutElsewhere(why, float(ended.counts.min()), None))
            break
        gain = again.climb.value - ended.climb.value
        events += [PutElsewhere(why, float(ended.counts.min()), gain), *said]
        ended = again
    if ended is None:
        return None
    return Ended(ended.components, ended.counts, ended.climb, ended.likelihoods, ended.sound, tuple(events))


def _climb_through(
    problem: MixtureProblem,
    begin: Components,
    rng: np.random.Generator,
    max_iterations: int,
    run: Run,
    events: list[Note],
) -> Ended | None:
    """One climb; a component that collapses on the way is put elsewhere and the climb begins again."""
    components = begin
    for _ in range(MOST_COLLAPSES):
        climber = MixtureClimb(problem, components)
        try:
            found = climb(climber, max_iterations=max_iterations, run=run)
        except CollapsedError as collapse:
            rows = tuple(float(climber.counts[c]) for c in collapse.which)
            moved = elsewhere(problem, climber.model, climber.counts, collapse.which, rng)
            if moved is None:
                return None
            after = len(climber.likelihoods)
            events.append(Collapsed(rows, after))
            components = moved
            continue
        likelihoods = tuple(climber.likelihoods)
        least = climber.counts.min()
        needed = climber.model.means.shape[1] + 1.5 if problem.kind is CovarianceKind.FULL else 2.5
        sound = problem.prior is not None or problem.kind is CovarianceKind.TIED or bool(least >= needed)
        return Ended(climber.model, climber.counts, found, likelihoods, sound, ())
    return None


def trouble(problem: MixtureProblem, ended: Ended) -> tuple[list[int], Trouble]:
    """The component that is empty, a twin, or stands on too few rows; and which of these it is."""
    counts = ended.counts
    least = int(np.argmin(counts))
    if len(counts) == 1:
        return [], Trouble.EMPTY
    if counts[least] < EMPTY:
        return [least], Trouble.EMPTY
    pair = nearest_pair(problem, ended.components)
    if pair is not None and pair[2] < SAME:
        return [pair[1]], Trouble.TWIN
    if not ended.sound or (problem.kind is CovarianceKind.FULL and counts[least] < ended.components.means.shape[1] + 1):
        return [least], Trouble.THIN
    return [], Trouble.THIN


def nearest_pair(problem: MixtureProblem, components: Components) -> tuple[int, int, float] | None:
    """The two most similar components, heavier first, and half the sum of their divergences."""
    k, d = components.means.shape
    best: tuple[int, int, float] | None = None
    inverse = np.linalg.inv(components.covariances) if problem.kind.wide else 1 / components.covariances
    for a in range(k):
        for b in range(a):
            away = components.means[a] - components.means[b]
            if problem.kind.wide:
                both = inverse[a] + inverse[b]
                traces = np.sum(inverse[a] * components.covariances[b]) + np.sum(inverse[b] * components.covariances[a])
                distance = 0.25 * (traces - 2 * d + away @ both @ away)
            else:
                ratio = components.covariances[a] * inverse[b]
                distance = 0.25 * float(np.sum(ratio + 1 / ratio - 2 + away**2 * (inverse[a] + inverse[b])))
            if best is None or distance < best[2]:
                heavy, light = (a, b) if components.weights[a] >= components.weights[b] else (b, a)
                best = heavy, light, float(distance)
    return best


def elsewhere(
    problem: MixtureProblem, now: Components, counts: Floats, which: list[int], rng: np.random.Generator
) -> Components | None:
    """These components moved: each takes half of another one, the two set apart along a direction of its spread."""
    k, d = now.means.shape
    weights, means, covariances = now.weights.copy(), now.means.copy(), now.covariances.copy()
    healthy = [c for c in range(k) if c not in which]
    if not healthy:
        return None
    for c in which:
        chance = np.maximum(counts[healthy], 1e-12)
        host = int(rng.choice(healthy, p=chance / chance.sum()))
        own = covariances[host] if problem.kind.wide else np.diag(covariances[host])
        values, vectors = np.linalg.eigh(own)
        apart = 0.7 * (vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(d)))
        share = 0.5 * weights[host]
        weights[[c, host]] = share
        means[c], means[host] = means[host] + apart, means[host] - apart
        covariances[c] = covariances[host]
    return shaped(problem.kind, Components(weights / weights.sum(), means, covariances))


def remarks(problem: MixtureProblem, ended: Ended) -> list[Note]:
    """What a reader of the components should know, by their numbers (from 1, as they are listed)."""
    said: list[Note] = []
    d = ended.components.means.shape[1]
    for c, count in enumerate(ended.counts):
        if count < EMPTY:
            said.append(EmptyComponent(c + 1))
        elif problem.kind is CovarianceKind.FULL and count < d + 1.5:
            said.append(ThinComponent(c + 1, float(count), d, problem.prior is not None))
    pair = nearest_pair(problem, ended.components)
    if pair is not None and pair[2] < SAME and min(ended.counts[list(pair[:2])]) >= EMPTY:
        said.append(TwinComponents(min(pair[:2]) + 1, max(pair[:2]) + 1))
    if ended.climb.status is Status.ITERATION_LIMIT:
        said.append(BestStartEnded(ended.climb.status))
    return said
