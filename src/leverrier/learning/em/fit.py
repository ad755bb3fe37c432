"""`fit`: parameters of a given graph from data with hidden variables and holes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.observation import Observation, Pairing
from leverrier.data.table import Label
from leverrier.errors import OptionError
from leverrier.learning.criteria import bic
from leverrier.learning.em.cheeseman_stutz import completed_score, require_bayesian
from leverrier.learning.em.climb import Climb
from leverrier.learning.em.every_start import StartRule, run_starts
from leverrier.learning.em.fit_result import FitResult, Method, Start
from leverrier.learning.em.fit_task import Task, make_task
from leverrier.learning.em.in_turn import counted
from leverrier.learning.em.network_em import ParameterClimb
from leverrier.learning.em.pairing import pairing_of
from leverrier.learning.em.starting_points import assigned_start, network_start, random_start
from leverrier.learning.em.state_order import reordered, state_orders
from leverrier.learning.structure.score import BDe, Score
from leverrier.models.network import Network
from leverrier.run.event import Progress
from leverrier.run.run import Run


def fit(
    network: Any,
    data: Any,
    hidden: Mapping[str, int | Sequence[Label]] | None = None,
    *,
    starts: int | None = None,
    keep: int | None = None,
    initial: Network | Mapping[str, Any] | None = None,
    method: Method = "em",
    prior: float | Score | None = None,
    score: Score | None = None,
    max_iterations: int = 10_000,
    tolerance: float = 1e-6,
    accelerate: bool | float = True,
    seed: int = 0,
    jobs: int | None = None,
    budget: float | None = None,
    max_memory: int | str | None = None,
    client: Any = None,
    progress: Progress | bool | None = None,
) -> FitResult:
    """Parameters by EM, for any hidden variables and any pattern of holes; what is climbed never falls.

    network     a Network (its graph and states), a Graph, or a networkx.DiGraph
    hidden      how many states each hidden variable has, or their labels; by default a Network's own
    starts      how many starts are drawn: 5 by default, 1 if there are only holes or `initial` is given
    keep        run only so many to the end: the best after a few steps of each
    initial     the first start: a network with this graph, or {variable: states or posteriors, by row}
    method      "em", or "vb" for variational EM: a posterior of the parameters, whose bound is the score
    prior       a pseudo-count in every cell (or a score that has one): then the log posterior is climbed
    score       whose prior the Cheeseman–Stutz score takes: by default `prior`, if that is a score, or BDe(1)
    tolerance   stop when what is still to be gained is estimated to be below so many nats
    accelerate  extrapolate between steps, never downhill; False: each step is one plain EM step; a number: extrapolate
                once a step gains fewer nats than that, so that the climb ends on the hill where plain EM would
    jobs        how many starts, or parts of a long one, run at once (the answer does not depend on it): by default
                one a core; `budget` is in seconds
    max_memory  bytes, or "2GB", of a file of any size: docs/large.md
    client      a Dask client, or its address: its workers hold the parts of a Parquet file, or run the starts on a
                table in memory; the answer is that of one machine
    progress    is called with a line and the share of starts done, at the end of each

    Hidden states are put in order of falling frequency, unless `initial` gave them their meaning.
    """
    for name, value in (("starts", starts), ("keep", keep), ("max_iterations", max_iterations), ("jobs", jobs)):
        if value is not None and value < 1:
            raise OptionError(f"{name}={value!r}: expected at least 1")
    if not accelerate >= 0:
        raise OptionError(f"accelerate={accelerate!r}: expected True, False, or a number of nats")
    if not tolerance >= 0:
        raise OptionError(f"tolerance={tolerance!r}: expected a number of nats, at least 0")
    rule = _rule(method, prior, score)
    run = Run.of(budget, jobs=jobs, client=client, progress=progress)
    seen = pairing_of(network, data, hidden, max_memory, run.workers.client)
    task = make_task(seen, rule if method == "vb" else prior, method == "vb")
    count = starts or (5 if seen.hidden and initial is None else 1)
    how = StartRule(max_iterations, tolerance, accelerate, keep)
    climbers, climbs = run_starts(task, _points(seen, initial, count, seed), how, run)
    result = _result(task, climbers, climbs, tolerance, rule, in_order=initial is None)
    seen.release()
    return result


def _rule(method: str, prior: float | Score | None, score: Score | None) -> Score:
    """The score whose prior counts; in variational EM it is also the prior of the parameters."""
    if method not in ("em", "vb"):
        raise OptionError(f'method={method!r}: expected "em" or "vb"')
    own: Score | None = None
    if prior is not None and not isinstance(prior, int | float):
        own = prior
    elif method == "vb" and prior is not None:
        own = BDe(float(prior))
    if method == "vb" and score is not None and own is not None and score != own:
        raise OptionError("prior and score differ: variational EM has one prior, and the score takes the same")
    rule = score or own or BDe()
    require_bayesian(rule)
    return rule


def _points(seen: Pairing, initial: Any, starts: int, seed: int) -> list[Floats]:
    """The starting parameters of every start."""
    observed = seen.open_counts
    if isinstance(initial, Network) and starts == 1:
        return [network_start(seen, initial)]
    generators = np.random.default_rng(seed).spawn(starts)
    points = [random_start(seen, observed, rng, first=i == 0) for i, rng in enumerate(generators)]
    if isinstance(initial, Network):
        points[0] = network_start(seen, initial)
    elif isinstance(initial, Mapping):
        if not isinstance(seen, Observation):
            raise OptionError("initial: rows in parts of a file have no order: give a network instead of their states")
        points[0] = assigned_start(seen, observed, initial, generators[0])
    elif initial is not None:
        raise OptionError(f"initial: expected a Network or {{variable: states by row}}, not {type(initial).__name__}")
    return points


def _result(
    task: Task, climbers: list[ParameterClimb], climbs: list[Climb], tolerance: float, rule: Score, in_order: bool
) -> FitResult:
    seen, layout = task.seen, task.seen.layout
    runs = tuple(
        Start(found.value + task.constant, task.log_likelihood(climber, found.value), found.iterations, found.status)
        for climber, found in zip(climbers, climbs, strict=True)
    )
    best = int(np.argmax([run.value for run in runs]))
    winner = runs[best]
    expected = climbers[best].counts
    bound = None
    if task.objective.variational:
        bound, expected = completed_score(seen, task.objective.plan, climbers[best].theta, rule)
    opened = dict(zip(seen.open_nodes, layout.unpack(task.final_parameters(climbers[best])), strict=True))
    climbed = opened
    if task.objective.variational:
        climbed = dict(zip(seen.open_nodes, layout.unpack(climbers[best].theta), strict=True))
    tables = {**task.closed, **opened}
    if in_order:
        counts = dict(zip(seen.open_nodes, layout.unpack(expected), strict=True))
        orders = state_orders(seen.graph, opened, counts, seen.hidden)
        tables = {**tables, **reordered(seen.graph, opened, orders)}
        climbed = reordered(seen.graph, climbed, orders) if task.objective.variational else climbed
    network = Network.trusted(seen.graph, seen.states, tables)
    return FitResult(
        network=network,
        log_likelihood=winner.log_likelihood,
        bic=bic(winner.log_likelihood, network.dimension, seen.total),
        trace=tuple(value + task.constant for value in climbs[best].trace),
        status=winner.status,
        iterations=winner.iterations,
        starts=counted(runs, max(100 * tolerance, 1e-8 * abs(winner.value))),
        method="vb" if task.objective.variational else "em",
        hidden=seen.hidden,
        table=seen.table,
        total=seen.total,
        rule=rule,
        bound=bound,
        weights=climbed if task.objective.variational else None,
        approximate=task.objective.plan.approximate,
        entropy=None if task.objective.variational else task.entropy(climbers[best], winner.log_likelihood),
        notes=seen.table.notes + task.objective.plan.notes,
        seen=seen,
    )
