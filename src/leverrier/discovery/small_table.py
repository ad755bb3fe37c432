"""Small tables whose best network is nearly saturated: no gain over it is possible, but a few classes, or one trait,
may say the same with fewer numbers. That is a finding of its own kind."""

from __future__ import annotations

import math
from dataclasses import replace

from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.discovery.evidence.evidence import Compared, Evidence, weighed
from leverrier.discovery.evidence.held_out import held_out_gain
from leverrier.discovery.evidence.simplest_description import Description, needed, simplest_description
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import explain
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import Answer, HiddenKind, ModelKind, Reason, undecided
from leverrier.learning.classes.class_bootstrap import smoothed
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network, as_network
from leverrier.run.run import Run

CERTAIN = 0.999
"""Probability of its class from which a row's class is known."""


def told_simply(found: Result, table: Table, score: Score, plan: Plan, level: float, run: Run) -> Result:
    """The same result, with the simplest description where nothing was found: found if it is clearly preferred to any
    network, undecided where neither is."""
    if found.verdict.answer is not Answer.NOTHING or run.spent:
        return found
    told = simplest_description(table, plan.seed)
    if told is not None and told.said.several and not _written_out(told, table):
        found = replace(found, simplest=told.said)
        pared = _pared(told, table, table, level, plan.seed)
        if pared is not None:
            network = _put_in(pared, as_network(found.baseline), table, score) if pared.said.columns else pared.network
            return _found(replace(found, simplest=pared.said), pared, network, table, score, plan, level, run)
        if told.said.simplest:
            return replace(found, verdict=undecided(Reason.EITHER))
    return _part_told_simply(found, table, score, plan, level, run)


def _part_told_simply(found: Result, table: Table, score: Score, plan: Plan, level: float, run: Run) -> Result:
    """The same of the columns next to a hidden variable that gains over every network and yet fails the null test: four
    columns that one thing drives are as well said by arcs between all of them, whatever the number of rows. The place
    was chosen among those tried, and the level is shared between them."""
    places = max(len(found.attempts), 1)
    for each in found.compressors:
        columns = tuple(v for v in table.variables if v in each.neighbours)
        if each.gain < -math.log(level) or len(columns) in (0, len(table.variables)) or run.spent:
            continue
        part = table.select(columns)
        told = simplest_description(part, plan.seed, name=free_name("H1", table.variables))
        named = None if told is None else _pared(told, part, table, level / places, plan.seed)
        if named is None or _written_out(named, part.select(named.said.columns)):
            continue
        others = tuple(other for other in found.compressors if other is not each)
        whole = replace(found, simplest=named.said, compressors=others)
        network = _put_in(named, as_network(found.baseline), table, score)
        return _found(whole, named, network, table, score, plan, level, run, places)
    return found


def _pared(told: Description, part: Table, table: Table, level: float, seed: int) -> Description | None:
    """A description of a part of the table that is clear, with those columns alone that need it if it is clear with
    them too; None if it is not clear with all: that is what chance is asked about, and which are left out was looked
    for afterwards."""
    if not told.said.clear(level):
        return None
    columns = needed(told, part, seed)
    if len(columns) < len(part.variables):
        again = simplest_description(part.select(columns), seed, name=free_name("H1", table.variables))
        if again is not None and again.said.clear(level):
            told, part = again, part.select(columns)
    named = () if len(part.variables) == len(table.variables) else part.variables
    return replace(told, said=replace(told.said, columns=named))


def _put_in(told: Description, baseline: Network, table: Table, score: Score) -> Network:
    """The best network with the description in place of its arcs between the columns described."""
    name, columns = told.variable, told.said.columns
    outside = {
        v: tuple(p for p in baseline.parents(v) if v not in columns or p not in columns) for v in table.variables
    }
    if not told.said.classes:  # a trait is given by its grades: other parents would ask for tables of their own
        outside |= dict.fromkeys(columns, ())
    graph = Graph.from_parents(
        {v: (*above, name) if v in columns else above for v, above in outside.items()} | {name: ()}
    )
    if told.said.classes:
        posterior = told.network.posterior(table.select(columns), name)
        hidden = {name: told.network.states[name]}
        return fit(graph, table, hidden=hidden, initial={name: posterior}, prior=score, jobs=1).network
    own = {v: told.network.tables[v] for v in (*columns, name)}
    states = {**baseline.states, name: told.network.states[name]}
    return Network(graph, states, {**{v: baseline.tables[v] for v in table.variables}, **own})


def _written_out(told: Description, table: Table) -> bool:
    """Whether the columns tell the class of every row for certain, as the yes/no columns of one category do: it is
    written in them, and not hidden."""
    return bool((told.network.posterior(table, told.variable).max(axis=1) > CERTAIN).all())


def _found(
    found: Result,
    told: Description,
    network: Network,
    table: Table,
    score: Score,
    plan: Plan,
    level: float,
    run: Run,
    places: int = 1,
) -> Result:
    """Believed, with this network, unless held-out rows object; the chance is that of any of so many places."""
    said, name = told.said, told.variable
    p = min(places * math.exp(-said.preferred), 1.0)  # (a Bayes factor of 1 / p comes up with at most that chance)
    evidence = Evidence(said.preferred, p_value=p, tested=True, kind=Compared.SIMPLEST, level=level)
    rival = as_network(found.baseline)
    held = held_out_gain(smoothed(network), rival, table, score, plan, run=run) if said.classes else None
    if held is not None:
        evidence = replace(evidence, held_out=held[0], held_out_interval=held[1])
    kind = HiddenKind.UNDECIDED if said.open else HiddenKind.CLASS if said.classes else HiddenKind.CONTINUUM
    near, where = (said.columns, "some columns") if said.columns else (table.variables, "all columns")
    states = network.cardinality(name)
    variable = HiddenVariable(name, states, near, (), said.preferred, where, "classes", evidence, kind)
    return replace(
        found,
        verdict=weighed([evidence], asked=True),
        kind=ModelKind.NETWORK if said.columns else ModelKind.CLASSES,
        hidden=(variable,),
        network=network,
        score=found.baseline_score + said.preferred,
        meanings={name: explain(network, table, name, network.posterior(table, name))},
        power=None,
    )
