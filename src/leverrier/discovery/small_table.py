"""Small tables whose best network is nearly saturated: no gain over it is possible, but a few classes, or one trait,
may say the same with fewer numbers. That is a finding of its own kind."""

from __future__ import annotations

import math
from dataclasses import replace

from leverrier.data.table import Table
from leverrier.discovery.evidence.evidence import Compared, Evidence, weighed
from leverrier.discovery.evidence.held_out import held_out_gain
from leverrier.discovery.evidence.simplest_description import Description, simplest_description
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import explain
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import Answer, HiddenKind, ModelKind, Reason, undecided
from leverrier.learning.classes.class_bootstrap import smoothed
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.run import Run

CERTAIN = 0.999
"""Probability of its class from which a row's class is known."""


def told_simply(found: Result, table: Table, score: Score, plan: Plan, level: float, run: Run) -> Result:
    """The same result, with the simplest description where nothing was found: found if it is clearly preferred to any
    network, undecided where neither is."""
    if found.verdict.answer is not Answer.NOTHING or run.spent:
        return found
    told = simplest_description(table, plan.seed)
    if told is None or not told.said.several or _written_out(told, table):
        return found
    found = replace(found, simplest=told.said)
    if told.said.clear(level):
        return _found(found, told, table, score, plan, level, run)
    return replace(found, verdict=undecided(Reason.EITHER)) if told.said.simplest else found


def _written_out(told: Description, table: Table) -> bool:
    """Whether the columns tell the class of every row for certain, as the yes/no columns of one category do: it is
    written in them, and not hidden."""
    return bool((told.network.posterior(table, told.variable).max(axis=1) > CERTAIN).all())


def _found(found: Result, told: Description, table: Table, score: Score, plan: Plan, level: float, run: Run) -> Result:
    said, network, name = told.said, told.network, told.variable
    p = math.exp(-said.preferred)  # (a Bayes factor of 1 / p comes up with a probability of at most p)
    evidence = Evidence(said.preferred, p_value=p, tested=True, kind=Compared.SIMPLEST, level=level)
    assert isinstance(found.baseline, Network)
    held = held_out_gain(smoothed(network), found.baseline, table, score, plan, run=run) if said.classes else None
    if held is not None:
        evidence = replace(evidence, held_out=held[0], held_out_interval=held[1])
    kind = HiddenKind.UNDECIDED if said.open else HiddenKind.CLASS if said.classes else HiddenKind.CONTINUUM
    variable = HiddenVariable(
        name, network.cardinality(name), table.variables, (), said.preferred, "all columns", "classes", evidence, kind
    )
    return replace(
        found,
        verdict=weighed([evidence], asked=True),
        kind=ModelKind.CLASSES,
        hidden=(variable,),
        network=network,
        score=found.baseline_score + said.preferred,
        meanings={name: explain(network, table, name, network.posterior(table, name))},
        power=None,
    )
