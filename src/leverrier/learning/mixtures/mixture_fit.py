"""One number of components: every start to its end, and the best of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.errors import OptionError
from leverrier.learning.em.fit_result import Start, Starts
from leverrier.learning.em.in_turn import ends_in_turn
from leverrier.learning.mixtures.mixture_climb import MixtureProblem
from leverrier.learning.mixtures.mixture_notes import ColumnDetermined, StartsGivenUp
from leverrier.learning.mixtures.mixture_prior import Components, weak_prior
from leverrier.learning.mixtures.mixture_repair import Ended, remarks, run_start
from leverrier.learning.mixtures.mixture_start import from_labels, from_means, k_means, random_rows, typical_spread
from leverrier.learning.mixtures.mixture_view import View
from leverrier.models.mixture import CovarianceKind, Mixture
from leverrier.run.event import Event
from leverrier.run.run import Run
from leverrier.words_of import Note


@dataclass(frozen=True, eq=False)
class MixtureTask:
    """What the fits of all numbers of components share."""

    view: View
    kind: CovarianceKind
    init: Any
    prior: Any
    starts: int
    tolerance: float
    max_iterations: int
    accelerate: bool
    seed: int
    run: Run
    pool: ThreadPoolExecutor | None


@dataclass(frozen=True, eq=False)
class ComponentsFit:
    """One number of components, fitted."""

    mixture: Mixture
    problem: MixtureProblem
    ended: Ended
    starts: Starts
    events: tuple[Note, ...]


def fit_components(task: MixtureTask, k: int) -> ComponentsFit:
    """Every start of k components, and the best end."""
    view = task.view
    starts = task.starts if k > 1 else 1
    generators = np.random.default_rng([task.seed, k]).spawn(starts + 1)
    groupings = [k_means(view, k, generators[-1]) for _ in range(1 if k == 1 else 3)]
    spreads = [typical_spread(view, labels, k) for labels in groupings]
    spread = min(spreads, key=lambda each: float(np.linalg.slogdet(each)[1]))
    prior = task.prior
    if prior == "weak":
        prior = weak_prior(spread)
    elif prior is not None:
        prior = prior.moved(view.rows.shift, view.rows.scale)
    whole = view.pivots if task.kind.wide else view.variances
    problem = MixtureProblem(view.rows, task.kind, prior, whole, task.tolerance, task.accelerate, task.pool)

    def go(rng: np.random.Generator) -> Ended | None:
        begin = _begin(task, k, rng, spread, first=rng is generators[0])
        return run_start(problem, begin, rng, task.max_iterations, task.run)

    ends = ends_in_turn(task.run, Event.COMPONENTS_START, (k,), generators[:starts], go)
    return _best(task, k, problem, ends)


def _begin(task: MixtureTask, k: int, rng: np.random.Generator, spread: Floats, first: bool) -> Components:
    view, init = task.view, task.init
    shift, scale = view.rows.shift, view.rows.scale
    if isinstance(init, str):
        if init == "random":
            return from_means(random_rows(view, k, rng), spread * k ** (2 / view.d), task.kind)
        if init != "k-means++":
            raise OptionError(f'init={init!r}: expected "k-means++", "random", the means, or a Mixture')
        return from_labels(view, k_means(view, k, rng), k, task.kind, spread)
    if not first:
        return from_labels(view, k_means(view, k, rng), k, task.kind, spread)
    if isinstance(init, Mixture):
        if init.n_columns != view.d:
            raise OptionError(f"init: the mixture is over {init.n_columns} columns and the data has {view.d}")
        matrices = init.matrices * np.outer(scale, scale)
        own = matrices if task.kind.wide else np.diagonal(matrices, axis1=1, axis2=2).copy()
        return Components(init.weights, (init.means - shift) * scale, own)
    means = np.array(init, dtype=np.float64)
    means = means[:, None] if means.ndim == 1 else means
    if means.shape != (k, view.d) or not np.all(np.isfinite(means)):
        raise OptionError(f"init: means of shape {means.shape} were given, expected finite numbers ({k}, {view.d})")
    return from_means((means - shift) * scale, spread, task.kind)


def _best(task: MixtureTask, k: int, problem: MixtureProblem, ends: list[Ended | None]) -> ComponentsFit:
    """The highest sound end; where there is none, the highest; where every start collapsed, one clear line."""
    alive = [end for end in ends if end is not None]
    if not alive:
        if problem.prior is None:
            raise OptionError(
                f"with {k} components and no prior every start collapsed onto a few rows, where the likelihood has no "
                'bound: use fewer components, or prior="weak"'
            )
        if task.view.collinear is not None:
            raise OptionError(
                f"with {k} components no covariance matrix can hold the rows: "
                f"column {task.view.collinear!r} is determined by the others; leave it out"
            )
        far = int(np.argmax(np.abs(np.where(task.view.seen, task.view.cells, 0.0)).max(axis=0)))
        raise OptionError(
            f"with {k} components no covariance matrix can hold the rows: column {task.view.names[far]!r} has values "
            "so far from the rest that floats cannot hold both; set those rows aside, or take their logarithm"
        )
    best = max(alive, key=lambda end: (end.sound, end.climb.value))
    same = max(100 * task.tolerance, 1e-8 * abs(best.climb.value))
    count = sum(end.sound == best.sound and end.climb.value >= best.climb.value - same for end in alive)
    runs = tuple(Start(end.climb.value, end.log_likelihood, end.iterations, end.climb.status) for end in alive)
    order = np.argsort(-best.components.weights, kind="stable")
    found = best.components
    listed = Components(found.weights[order], found.means[order], found.covariances[order])
    best = Ended(listed, best.counts[order], best.climb, best.likelihoods, best.sound, best.events)
    events = [*best.events, *remarks(problem, best)]
    if len(alive) < len(ends):
        events.append(StartsGivenUp(len(ends) - len(alive), len(ends)))
    if task.kind.wide and task.view.collinear is not None:
        events.append(ColumnDetermined(task.view.collinear))
    return ComponentsFit(_mixture(task, listed), problem, best, Starts(runs, count), tuple(events))


def _mixture(task: MixtureTask, found: Components) -> Mixture:
    """The components in the rows' own units."""
    shift, scale = task.view.rows.shift, task.view.rows.scale
    means = found.means / scale + shift
    spread = task.kind.compact(found.covariances / (np.outer(scale, scale) if task.kind.wide else scale**2))
    return Mixture(found.weights, means, spread, task.kind, task.view.names)
