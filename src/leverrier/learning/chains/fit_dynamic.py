"""`fit_dynamic`: parameters of a dynamic network from sequences with hidden variables and holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.chart_of import chart_of
from leverrier.data.card import card
from leverrier.data.paper_table import Papers
from leverrier.errors import OptionError
from leverrier.learning.chains.drawn_starts import drawn_starts
from leverrier.learning.chains.dynamic_climb import ApproximateClimb, ExactClimb, climber_of, reordered, state_order
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.criteria import bic
from leverrier.learning.em.climb import Climb, climb
from leverrier.learning.em.fit_result import Start, Starts
from leverrier.learning.em.in_turn import counted, ends_in_turn
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference, NamedClusters, posterior
from leverrier.models.dynamic.dynamic_unrolled import Laid, lay
from leverrier.run.event import Event, Progress
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, eq=False)
class DynamicFit(Papers):
    """The best start's end."""

    network: DynamicNetwork
    log_likelihood: float
    """Of what the sequences show, in nats (under Boyen–Koller an estimate)."""
    trace: tuple[float, ...]
    """What was climbed, at the start and after each step: log-likelihood, or log posterior (prior=)."""
    status: Status
    iterations: int
    starts: Starts
    n_slices: int
    inference: Inference = "exact"
    notes: tuple[str, ...] = ()

    @property
    def bic(self) -> float:
        """−2 log-likelihood + ln(slices) for each free parameter: smaller is better (see learning/criteria.py)."""
        return bic(self.log_likelihood, self.network.dimension, self.n_slices)

    @property
    def bits_per_slice(self) -> float:
        return -self.log_likelihood / (self.n_slices * float(np.log(2)))

    def plot_trace(self) -> altair.TopLevelMixin:
        """Bits per slice, iteration by iteration, as an Altair chart."""
        return chart_of("dynamic_charts.bits_by_iteration", self)

    def _repr_html_(self) -> str:
        facts = {"log-likelihood": f"{self.log_likelihood:,.2f}", "bits a slice": f"{self.bits_per_slice:.3f}"}
        facts |= {"slices": f"{self.n_slices:,}", "status": f"{self.status} after {self.iterations} iterations"}
        network = self.network
        rows = [
            (name, len(network.states[name]), "yes" if name in network.hidden else "") for name in network.variables
        ]
        return card("A network in time", facts, ("variable", "states", "hidden"), rows, self.notes[:4])

    def __repr__(self) -> str:
        return (
            f"DynamicFit({self.network!r}, log-likelihood {self.log_likelihood:.4f}, {self.status} after "
            f"{self.iterations} iterations, best of {len(self.starts)} starts)"
        )


def fit_dynamic(
    network: DynamicNetwork,
    sequences: Any,
    inference: Inference = "exact",
    clusters: NamedClusters | None = None,
    *,
    starts: int = 1,
    initial: str = "own",
    counts: str = "joint",
    prior: float | None = None,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | bool | None = None,
) -> DynamicFit:
    """Parameters by EM for any hidden variables and any holes; with exact inference what is climbed never falls.

    inference   "exact", or "boyen-koller": what passes between slices is a product of cluster marginals
    clusters    for Boyen–Koller: lists of variables; by default chosen from the arcs within a slice
    starts      the first is the network's own parameters, further ones are drawn
    initial     "own", or "random": then every start is drawn, most of them from slices grouped by what they look like
    counts      "joint": families' joint posteriors; "factored": products of single ones, as a structure search uses
    prior       a pseudo-count in every cell: then the log posterior is climbed
    tolerance   stop when what is still to be gained is estimated to be below so many nats
    budget      in seconds
    progress    is called with a line and the share of starts done, at the end of each

    Tables of a variable that are equal at the beginning and later, with the same parents, stay one table. Hidden
    states are put in order of falling frequency, unless the network's own parameters gave them their meaning.
    """
    _check(starts, initial, prior, max_iterations, tolerance)
    if counts not in ("joint", "factored"):
        raise OptionError(f'counts={counts!r}: expected "joint" or "factored"')
    if counts == "factored" and network.numbers:
        raise OptionError('counts="factored" is for states only: the network has columns of numbers')
    data = network.read(sequences)
    laid = lay(network, data, network.variables if counts == "factored" else ())
    points = drawn_starts(network, data, starts, initial, seed, groups=counts != "factored")
    return climb_all(
        laid,
        points,
        inference=inference,
        clusters=clusters,
        prior=prior or 0.0,
        max_iterations=max_iterations,
        tolerance=tolerance,
        run=Run.of(budget, progress=progress),
        in_order=initial == "random",
        factored=counts == "factored",
    )


def climb_all(
    laid: Laid,
    points: Sequence[DynamicNetwork],
    *,
    inference: Inference = "exact",
    clusters: NamedClusters | None = None,
    prior: float = 0.0,
    max_iterations: int = 500,
    tolerance: float = 0.01,
    run: Run = UNBOUNDED,
    in_order: bool = True,
    factored: bool = False,
) -> DynamicFit:
    """Every start to its end; the best one's result, all of them told."""

    steps = DynamicSteps(laid, points[0], prior=prior, inference=inference, clusters=clusters, factored=factored)

    def go(point: DynamicNetwork) -> _Ended:
        climber = climber_of(steps.begun_at(point), tolerance)
        return _Ended(climber, climb(climber, max_iterations=max_iterations, run=run))

    ends = [end for end in ends_in_turn(run, Event.START, (), points, go) if end is not None]
    runs = [end.start for end in ends]
    best = int(np.argmax([each.value for each in runs]))
    climber, done = ends[best].climber, ends[best].climb
    fitted = climber.result()
    if in_order and fitted.hidden:
        shown = posterior(fitted, laid.sequences, fitted.hidden, inference, clusters)
        fitted = reordered(fitted, state_order(fitted, shown))
    return DynamicFit(
        fitted,
        runs[best].log_likelihood,
        done.trace,
        done.status,
        done.iterations,
        counted(runs, max(10 * tolerance, 1e-6)),
        laid.n_slices,
        inference,
    )


@dataclass(frozen=True, eq=False)
class _Ended:
    climber: ExactClimb | ApproximateClimb
    climb: Climb

    @property
    def start(self) -> Start:
        done = self.climb
        return Start(done.value, done.value - self.climber.log_prior(), done.iterations, done.status)


def _check(starts: int, initial: str, prior: float | None, max_iterations: int, tolerance: float) -> None:
    if starts < 1 or max_iterations < 1:
        raise OptionError(f"starts={starts}, max_iterations={max_iterations}: expected at least 1 of each")
    if initial not in ("own", "random"):
        raise OptionError(f'initial={initial!r}: expected "own" or "random"')
    if not tolerance >= 0 or (prior is not None and not prior >= 0):
        raise OptionError(f"tolerance={tolerance!r}, prior={prior!r}: expected numbers of at least 0")
