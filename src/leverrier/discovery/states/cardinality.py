"""`cardinality`: how many states a hidden variable has, or several have."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.counts.assigned_counts import AssignedCounts
from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.discovery.states.agglomeration import agglomerate
from leverrier.discovery.states.alternating_merge import round_robin
from leverrier.discovery.states.cardinality_result import Cardinalities, Cardinality, ColumnAsked
from leverrier.discovery.states.em_trial import Setting, Trial
from leverrier.discovery.states.first_states import first_states
from leverrier.discovery.states.joint_refinement import refine_together
from leverrier.discovery.states.refinement import Refinement, RefinementRule
from leverrier.discovery.states.surroundings import cut_out, hangs_together
from leverrier.errors import OptionError, TableError
from leverrier.learning.em.fit import fit
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.em.pairing import observation_of
from leverrier.learning.structure.learn_structure import as_graph
from leverrier.learning.structure.score import BDe, Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network, known_states
from leverrier.run.event import Progress
from leverrier.run.run import Run
from leverrier.status import Status
from leverrier.words_of import told

STARTS = 5


def cardinality(
    network: Any,
    data: Any,
    hidden: str | Sequence[str] | None = None,
    *,
    refine: bool | Literal["brief"] = True,
    score: Score | None = None,
    max_states: int | None = None,
    starts: int = STARTS,
    seed: int = 0,
    progress: Progress | bool | None = None,
    budget: float | None = None,
    jobs: int = 1,
) -> Cardinality | Cardinalities:
    """How many states a hidden variable has, from what it does to the variables around it.

    network     a Network, Graph or networkx.DiGraph that holds the variable; None asks of a plain table how many
                classes there are: one hidden variable over all columns
    data        the observed columns, with holes and weights as they are
    hidden      a name (the answer's `states` is a number), several names (a dict), or None for whatever is no column
    refine      let EM decide around what merging found; without it merging alone does, in milliseconds; "brief" lets a
                few steps of EM from the merged states decide, in tens of milliseconds
    score       the prior: BDe(1) by default, with which pair gains are computed once; BDeu, or BIC without refine
    max_states  try no more than this
    starts      random starts of EM for each number of states, besides those from the merge path
    budget      seconds, after which the best found so far is given; `jobs` threads share the starts out

    Columns of the data named in `hidden` are set aside. The answer does not depend on `jobs`.
    """
    rule = score or BDe()
    _check(refine, rule, max_states, starts, budget, jobs)
    graph, table, names, notes = _question(network, data, hidden)
    with ExitStack() as stack:
        how = RefinementRule(
            starts=starts,
            most=max_states,
            seed=seed,
            brief=refine == "brief",
            run=Run.of(budget, jobs=jobs, progress=progress),
            threads=stack.enter_context(ThreadPoolExecutor(jobs)) if jobs > 1 else None,
        )
        answer = _Answer(graph, table, rule, how, bool(refine))
        for group in _groups(graph, table, names):
            answer.add(group)
    alone = isinstance(hidden, str) or (hidden is None and len(names) == 1)
    return answer.result(names, not alone, notes)


def _check(
    refine: bool | str, score: Score, max_states: int | None, starts: int, budget: float | None, jobs: int
) -> None:
    if refine not in (True, False, "brief"):
        raise OptionError(f"refine={refine!r}: expected True, False or 'brief'")
    for name, value in (("max_states", max_states), ("starts", starts), ("jobs", jobs)):
        if value is not None and value < 1:
            raise OptionError(f"{name}={value!r}: expected at least 1")
    if budget is not None and not budget > 0:
        raise OptionError(f"budget={budget!r}: expected a number of seconds above 0")
    if refine and score.alphas(2, 1.0)[0] <= 0:
        raise OptionError(f"score={score.name} has no prior, which EM's score needs: use BDe or BDeu, or refine=False")


def _question(network: Any, data: Any, hidden: str | Sequence[str] | None) -> tuple[Graph, Table, list[str], list[str]]:
    """The graph, the observed columns with the graph's states, the hidden variables, and what was set aside."""
    if network is None:
        table = as_table(data)
        name = hidden if isinstance(hidden, str) else free_name("class", table.variables)
        if hidden is not None and not isinstance(hidden, str):
            raise OptionError("without a network there is one hidden variable: give one name, or a network")
        if name in table.variables:
            table = table.drop(name)
        graph = Graph.from_parents({name: (), **dict.fromkeys(table.variables, (name,))})
        network, data, hidden = graph, table, name
    graph = as_graph(network)
    given = data if isinstance(data, Table) else as_table(data)
    columns = given.variables
    if not known_states(network):  # (a network's states are the columns' too: then the cells are read as those)
        data = given
    names = [hidden] if isinstance(hidden, str) else list(hidden or (n for n in graph if n not in columns))
    if not names:
        raise OptionError("every node of the graph is a column of the data: say which variable is hidden, hidden=…")
    if len(set(names)) != len(names):
        raise OptionError(f"hidden names a variable twice: {', '.join(names)}")
    seen = observation_of(network, data, dict.fromkeys(names, 1))
    unnamed = [node for node in seen.hidden if node not in names]
    if unnamed:
        raise OptionError(
            f"{unnamed[0]!r} has no observed cell in the data: name it in hidden= too, or take it out of the graph"
        )
    if seen.table.n_rows == 0:
        raise TableError("the table has no rows (or no weight): there is nothing to count states by")
    aside = [name for name in names if name in columns]
    return seen.graph, seen.table, names, list(told(ColumnAsked(name) for name in aside))


def _groups(graph: Graph, table: Table, names: Sequence[str]) -> list[list[str]]:
    """Hidden variables that must be treated together; one whose blanket is all observed stands alone."""
    groups: list[list[str]] = []
    placed: set[str] = set()
    for name in names:
        if name not in placed:
            together = hangs_together(graph, table, [name])
            groups.append([other for other in names if other in together])
            placed |= together
    return groups


class _Answer:
    """Gathers what is found for each group of hidden variables."""

    def __init__(self, graph: Graph, table: Table, score: Score, how: RefinementRule, refine: bool) -> None:
        self.graph, self.table, self.score, self.how, self.refine = graph, table, score, how, refine
        self.found: dict[str, Cardinality] = {}
        self.trace: list[tuple[str, int, float]] = []
        self._labels: dict[str, Integers] = {}
        self._ends: dict[str, tuple[Setting, Trial]] = {}

    def add(self, group: list[str]) -> None:
        if len(group) == 1:
            self._alone(group[0])
        elif self.refine:
            self._refine_together(group)
        else:
            self._in_turn(group)

    def _in_turn(self, group: list[str]) -> None:
        found = round_robin(self.graph, self.table, group, self.score, self.how)
        self.trace += found.trace
        for name in group:
            self._labels[name] = found.assigned[name]
            self.found[name] = Cardinality(name, found.states[name], found.agglomerations[name], None, found.status)

    def _alone(self, name: str) -> None:
        path = agglomerate(first_states(self.graph, self.table, name), self.score)
        if not self.refine:
            k = path.best(self.how.most)
            self._labels[name] = path.assignment(k)
            self.trace.append((name, k, path.score(k)))
            self.found[name] = Cardinality(name, k, path, None, Status.CONVERGED)
            return
        refined = Refinement(cut_out(self.graph, self.table, [name]), name, self.score, self.how).search(path)
        k = refined.chosen
        end = refined.levels[k].best
        assert end is not None
        self._ends[name] = refined.setting(k), end
        self.found[name] = Cardinality(name, k, path, refined, refined.status)

    def _refine_together(self, group: list[str]) -> None:
        joint = refine_together(self.graph, self.table, group, self.score, self.how)
        for name in group:
            look = joint.looks[name]
            self._ends[name] = joint.setting, joint.trial
            self.found[name] = Cardinality(
                name, joint.states[name], look.agglomeration, look.refinement, joint.status, joint.tried.get(name)
            )

    def result(self, names: Sequence[str], several: bool, notes: list[str]) -> Cardinality | Cardinalities:
        status = next((self.found[n].status for n in names if not self.found[n].status.converged), Status.CONVERGED)
        if several:
            variables = {name: replace(self.found[name], _network=self.network) for name in names}
            return Cardinalities(variables, status, tuple(notes), tuple(self.trace), self.network)
        return replace(self.found[names[0]], notes=tuple(notes), _network=self.network)

    def network(self) -> Network:
        """The whole network: from the completed counts, or by EM from where the refinement ended."""
        states = {name: tuple(str(k) for k in range(each.states)) for name, each in self.found.items()}
        if not self.refine:
            counts = AssignedCounts(self.table, self._labels)
            return network_from_counts(self.graph, {**self.table.states, **states}, counts, self.score)
        initial = {name: _by_frequency(self._posterior(name), self.table) for name in self.found}
        return fit(self.graph, self.table, states, initial=initial, prior=self.score).network

    def _posterior(self, name: str) -> Floats:
        setting, end = self._ends[name]
        return setting.posterior(end, name)[setting.around.index]


def _by_frequency(posterior: Floats, table: Table) -> Floats:
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return posterior[:, np.argsort(-(weights @ posterior), kind="stable")]
