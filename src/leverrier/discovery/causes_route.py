"""Overlapping causes behind yes/no columns, when they explain held-out rows better than the network does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leverrier.data.table import Table
from leverrier.discovery.done import CausesCompared, CausesDropped, CausesEnd, Step
from leverrier.discovery.evidence.evidence import Compared, Evidence, weighed
from leverrier.discovery.evidence.held_out import learned_again
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.hidden_model import CausesModel
from leverrier.discovery.meaning import Mark, State
from leverrier.discovery.places.search import practise
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import ModelKind, Reason
from leverrier.errors import TooLargeError
from leverrier.kernels.em.iteration import iterate
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.noisy_or.signs import read_signs
from leverrier.run.codecs import Key
from leverrier.run.event import Event
from leverrier.run.pool import prepare
from leverrier.run.precompile import never_compiled
from leverrier.run.run import UNBOUNDED, Run

LEAST_COLUMNS, LEAST_ROWS = 5, 50
MOST_CELLS = 400_000
"""Beyond this many cells the sampler would take longer than everything else: `hidden_causes` is there for it."""
SMALL = 20_000
"""With fewer cells another process would take longer to start."""
SWEEPS, CHAINS = 400, 2
GLANCED = 60
"""Sweeps of one chain that shows whether causes of few columns are out of the question."""
FEW_COLUMNS, FAR = 10, 6.0
"""With so many columns the chain has settled by then; and standard errors that causes are behind the network."""
OWN = ("lambda", "p")
"""Every cause has its own strength and frequency: with one for all, a frequent cause is cut into many rare ones."""
FOLDS = 4
Z = 3.0
"""Standard errors by which causes must be better on held-out rows."""
BEHIND = 2.5
"""After a share s of the folds, causes that end at Z stand at Z √s on average, with a standard error of 1. Those that
are so far behind it are not followed to the end: of causes that would just pass, one in 160 is lost at each look."""


def applies(table: Table) -> bool:
    """Yes/no columns, enough of them, and a table that the sampler gets through in seconds."""
    binary = bool((table.cardinalities == 2).all())
    large_enough = len(table.variables) >= LEAST_COLUMNS and table.n_rows >= LEAST_ROWS and table.weights is None
    return binary and large_enough and len(table.variables) * table.n_rows <= MOST_CELLS


def with_causes(
    table: Table, found: Result, score: Score, plan: Plan, run: Run = UNBOUNDED, asked: bool = True
) -> Result:
    """The same findings, or overlapping causes in their place where held-out rows prefer them clearly. A description
    from which drawn tables look like this one leaves nothing for causes to explain."""
    if found.verdict.reason is Reason.SIMPLEST and found.simplest is not None and not found.simplest.columns:
        return found
    run.tell(Event.OVERLAPPING_CAUSES, 0.0)
    try:
        gains = _held_out(table, found, score, plan, run)
    except TooLargeError:
        return _unfinished(found, Reason.CAUSES_SIZE, CausesDropped(Reason.CAUSES_SIZE))
    if gains is None:
        return _unfinished(found, Reason.CAUSES_TIME, CausesDropped(Reason.CAUSES_TIME))
    mean, error = _mean_and_error(gains)
    compared = CausesCompared(mean, error, found.kind, len(gains) / table.n_rows)
    if len(gains) < table.n_rows or mean <= Z * error:
        return replace(found, did=(*found.did, compared))
    whole = _sampled(table, plan, run)
    if run.spent:
        return _unfinished(found, Reason.CAUSES_TIME, compared, CausesDropped(end=CausesEnd.UNNAMED))
    run.tell(Event.OVERLAPPING_CAUSES, 1.0)
    half = float(ndtri(0.975)) * error
    evidence = Evidence(
        mean * table.n_rows,
        held_out=mean,
        held_out_interval=(mean - half, mean + half),
        kind=Compared.CAUSES,
        p_value=float(ndtr(-mean / error)),
        tested=True,
    )
    return _in_place(table, found, whole, evidence, compared, asked)


def _unfinished(found: Result, reason: Reason, *notes: Step) -> Result:
    """Causes that were not compared may be there: without them nothing is not said."""
    return replace(found, verdict=found.verdict.unfinished(reason), did=(*found.did, *notes))


def begin_causes(table: Table, plan: Plan, run: Run) -> None:
    """Have another process begin with causes of the first fold, which is often enough: they do not depend on what else
    is found."""
    if len(table.variables) * table.n_rows >= SMALL and not never_compiled(iterate):
        prepare(run.workers.jobs, practise)
        asked = table.take(_fold_of(table, plan) != 0), plan, run.silent()
        glance = [((*asked, GLANCED, 1), _key("glance"))] if len(table.variables) <= FEW_COLUMNS else []
        calls = [*glance, (asked, _key(0))]
        run.begin_ahead(_sampled, [call for call, _ in calls], [key for _, key in calls])


def _key(fold: int | str) -> Key:
    return ("sampled causes", fold)


def _fold_of(table: Table, plan: Plan) -> NDArray[np.int64]:
    return np.random.default_rng([plan.seed, 29]).permutation(table.n_rows) % FOLDS


def _sampled(table: Table, plan: Plan, run: Run, sweeps: int = SWEEPS, chains: int = CHAINS) -> HiddenCausesResult:
    return hidden_causes(
        table, sweeps=sweeps, chains=chains, seed=plan.seed, per_cause=OWN, jobs=1, budget=run.seconds_left()
    )


def _held_out(table: Table, found: Result, score: Score, plan: Plan, run: Run) -> NDArray[np.float64] | None:
    """By row, what causes learned on the other folds say of it, less what the network says. Fewer rows where the first
    folds show that causes will not be believed; None if time ran out."""
    fold = _fold_of(table, plan)
    gains, rival = np.zeros(0), found.model.network
    assert rival is not None  # (yes/no columns only)
    if len(table.variables) <= FEW_COLUMNS:
        train, test = table.take(fold != 0), table.take(fold == 0)
        glanced = partial(_gains, train, test, rival, score, plan, run, "glance", sweeps=GLANCED, chains=1)
        glance = run.once(("causes", "glance"), glanced, otherwise=lambda: None)
        if glance is None:
            return None
        mean, error = _mean_and_error(glance)
        if mean < -FAR * error:
            return glance
    for k in range(FOLDS):
        train, test = table.take(fold != k), table.take(fold == k)
        compute = partial(_gains, train, test, rival, score, plan, run, k)
        of_fold = run.once(("causes", k), compute, otherwise=lambda: None)
        if of_fold is None:
            return None
        gains = np.concatenate([gains, of_fold])
        run.tell(Event.OVERLAPPING_CAUSES, (k + 1) / (FOLDS + 1))
        mean, error = _mean_and_error(gains)
        if mean < (Z * np.sqrt(len(gains) / table.n_rows) - BEHIND) * error:
            break
    return gains


def _mean_and_error(gains: NDArray[np.float64]) -> tuple[float, float]:
    return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))


def _gains(
    train: Table,
    test: Table,
    rival: Network,
    score: Score,
    plan: Plan,
    run: Run,
    number: int | str,
    sweeps: int = SWEEPS,
    chains: int = CHAINS,
) -> NDArray[np.float64] | None:
    """By row of the fold; None if time runs out meanwhile."""
    causes = run.begun_or(partial(_sampled, train, plan, run, sweeps, chains), _key(number))
    if run.spent or causes is None:
        return None
    network = learned_again(rival, train, score)
    return causes.row_log_likelihoods(test) - network.row_log_likelihood(test)


def _in_place(
    table: Table,
    found: Result,
    result: HiddenCausesResult,
    evidence: Evidence,
    compared: CausesCompared,
    asked: bool = True,
) -> Result:
    """Causes of several signs are findings; a cause of one sign is that sign's own rate, and only part of the model."""
    signs = read_signs(table)
    yes = {name: table.states[name][signs.yes[name]] for name in signs.names}
    order = [k for k in range(result.model.n_causes) if result.children(k)]
    several = [k for k in order if len(result.children(k)) > 1]
    if not several:
        return replace(found, did=(*found.did, compared, CausesDropped(end=CausesEnd.UNSHARED)))
    order = [*several, *(k for k in order if k not in several)]
    model = replace(
        result.model,
        links=result.model.links[:, order],
        lam=result.model.lam[order],
        p=result.model.p[order],
        names=signs.names,
    )
    hidden, meanings = [], {}
    for number, k in enumerate(several):
        name = f"cause {number + 1}"
        children = result.children(k)
        hidden.append(HiddenVariable(name, 2, children, (), evidence.gain, "yes/no columns", "causes", evidence))
        meanings[name] = _meaning(table, result, k, yes)
    return replace(
        found,
        verdict=weighed([evidence], asked),
        kind=ModelKind.CAUSES,
        hidden=tuple(hidden),
        meanings=meanings,
        other=CausesModel(model, tuple(meanings), yes, table.columns),
        did=(*found.did, compared),
    )


def _meaning(table: Table, result: HiddenCausesResult, k: int, yes: dict[str, Any]) -> tuple[State, ...]:
    """A cause present: how often, and how its signs look then."""
    active = result.posterior[:, k]
    marks = []
    for column in result.children(k):
        codes = table.column(column)
        sign = (codes == table.states[column].index(yes[column])) & (codes != table.missing)
        share = float(active @ sign / max(active.sum(), 1e-12))
        marks.append(Mark(column, yes[column], share, float(sign.mean())))
    marks.sort(key=lambda mark: mark.overall - mark.share)
    name = ", ".join(mark.column for mark in marks[:2])
    present = State("present", float(active.mean()), tuple(marks[:5]), {}, name)
    return (State("absent", 1 - float(active.mean()), (), {}, f"no {name}"), present)
