"""`learn_dynamic`: the structure of a network in time, from sequences in which everything is observed.

A k-slice network is a network over windows of k slices in which only the newest slice has parents [boyen1999 2.2], so
the static search learns it unchanged. The first slices of a sequence, with less behind them, get networks of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.paper_table import Papers
from leverrier.data.sequences.read_sequences import lagged, read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Lag, Memory, lag_features
from leverrier.data.table import Label, Table
from leverrier.errors import OptionError
from leverrier.learning.slices.slice_choice import SHAPES, Choice, choose, fit_slices
from leverrier.learning.slices.slice_design import make_design, make_folds
from leverrier.learning.slices.tree_growing import tree_score
from leverrier.learning.structure.learn_structure import Method, StructureResult, learn_structure
from leverrier.learning.structure.score import BDeu, Score, family_score
from leverrier.models.dynamic.cpd import CPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.graph import Graph
from leverrier.models.slices.chain_model import ChainModel
from leverrier.models.slices.shaped_cpd import CPD as ColumnCPD
from leverrier.models.slices.shaped_cpd import SingleCPD, cpd_of
from leverrier.models.slices.slice_model import SliceModel
from leverrier.models.slices.tree_cpd import SliceShape, TreeCPD
from leverrier.run.event import Progress
from leverrier.run.run import Run
from leverrier.status import Status

Kind = Literal["table", "tree"]
Node = tuple[str, int]
MOST_HOLES = 0.2
"""A column that misses more than this share of slices is no parent: families are counted where all of them shows."""
OWN_BEGINNING = 50
"""From this many sequences on the first slices are learnt from first slices alone, else from all slices."""
FOLDS = 5


@dataclass(frozen=True, eq=False)
class DynamicResult(Papers):
    """What was learnt, and how it ended."""

    network: DynamicNetwork
    score: float
    """Of the transition: the newest slice's families, in nats."""
    log_likelihood: float
    trace: tuple[float, ...]
    """The score after each move of the search for the transition, what lies back included."""
    status: Status
    method: str
    lags: int
    choice: Choice | None = None
    """For trees: smoothing, shapes and what they cost on held-out blocks."""
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return f"DynamicResult({self.network!r}, score {self.score:.3f}, {self.status})"


def learn_dynamic(
    sequences: Any,
    lags: int = 1,
    score: Score | None = None,
    max_parents: int = 4,
    *,
    cpds: Kind = "table",
    shapes: Sequence[str] = SHAPES,
    within: bool = True,
    required: Iterable[tuple[Node, str]] = (),
    forbidden: Iterable[tuple[Node, str]] = (),
    method: Method = "auto",
    max_candidates: int | None = None,
    budget: float | None = None,
    progress: Progress | bool | None = None,
    seed: int = 0,
) -> DynamicResult:
    """The network in time that the search finds; lags=k lets a slice look k slices back.

    cpds        "table": one distribution for each configuration of the parents. "tree": splits chosen by a Dirichlet
                score (`max_parents` does not limit them); smoothing and shape chosen by blocked cross-validation
    shapes      for trees: "tree" alone, or also "same" ("same as before, else what") and "step" (so much more or less)
    within      whether arcs within a slice are allowed
    required, forbidden   arcs as ((variable, lag), child), for tables
    Where cells are missing, each family is counted in the windows that show all of it; a column that misses more than
    a fifth of them is nobody's parent.
    """
    found = read_sequences(sequences)
    if lags < 0:
        raise OptionError(f"lags={lags}: expected 0 or more")
    if cpds not in ("table", "tree"):
        raise OptionError(f'cpds={cpds!r}: expected "table" or "tree"')
    options: dict[str, Any] = {
        "score": score or BDeu(),
        "max_parents": max_parents,
        "method": method,
        "max_candidates": max_candidates,
        "seed": seed,
    }
    run = Run.of(budget, progress=progress)
    if cpds == "tree":
        return _learn_trees(found, lags, tuple(map(SliceShape, shapes)), within, options)
    arcs = tuple(required), tuple(forbidden)
    stages = [
        _search(_stage_windows(found, place), place, found.variables, within, arcs, options, run.untold())
        for place in range(lags)
    ]
    windows = found.windows(lags)
    result = _search(windows, lags, found.variables, within, arcs, options, run)
    first = stages or [_search(_stage_windows(found, 0), 0, found.variables, within, arcs, options, run.untold())]
    network = DynamicNetwork(
        found.states,
        tuple(_slice(stage, found.variables, place) for place, stage in enumerate(first)),
        _slice(result, found.variables, lags),
        notes={"learnt": f"{lags} lags, tables, {options['score'].name}"},
    )
    return DynamicResult(
        network,
        newest_score(windows, result.graph, found.variables, options["score"]),
        network.log_likelihood(found),
        result.trace,
        result.status,
        result.method,
        lags,
        notes=(*found.notes, *result.notes),
    )


def newest_score(windows: Table, graph: Graph, names: Sequence[str], score: Score) -> float:
    """The score of the newest slice's families alone."""
    counts = ObservedCounts(windows)
    tables = counts.tables([Family(name, graph.parents(name)) for name in names])
    return float(sum(family_score(score, table, counts.total) for table in tables))


def slice_order(sequences: Sequences, seed: int = 0) -> tuple[str, ...]:
    """An order of the columns in which arcs within a slice may follow: the one a table search at lag 1 found."""
    lags = 1 if sequences.lengths.max() > 1 else 0
    windows = sequences.windows(lags)
    forbidden = [*into_the_past(sequences.variables, lags), *seldom_seen(windows, sequences.variables)]
    found = learn_structure(windows, BDeu(), max_parents=3, forbidden=forbidden, holes="available", seed=seed)
    return tuple(name for name in found.graph.order if name in set(sequences.variables))


def into_the_past(names: Sequence[str], lags: int) -> list[tuple[str, str]]:
    """The arcs that no network in time has: those into slices that lie back."""
    every = [lagged(name, lag) for lag in range(lags + 1) for name in names]
    return [(one, other) for other in every[len(names) :] for one in every if one != other]


def seldom_seen(windows: Table, names: Sequence[str]) -> list[tuple[str, str]]:
    """The arcs from columns that are mostly holes, and into those never seen: few rows cannot speak for them."""
    holes = (windows.codes == windows.missing).mean(axis=1)
    share = dict(zip(windows.variables, holes.tolist(), strict=True))
    return [
        (one, other)
        for other in names
        for one in windows.variables
        if one != other and (share[one] > MOST_HOLES or share[other] == 1.0)
    ]


def _stage_windows(sequences: Sequences, place: int) -> Table:
    """Windows for the slices at this place; of all later slices too where there are few sequences."""
    windows = sequences.windows(place)
    slices = sequences.window_slices(place)
    here = np.flatnonzero(sequences.position[slices] == place)
    return windows.take(here) if len(here) >= OWN_BEGINNING else windows


def _search(
    windows: Table,
    lags: int,
    names: Sequence[str],
    within: bool,
    arcs: tuple[Sequence[tuple[Node, str]], Sequence[tuple[Node, str]]],
    options: dict[str, Any],
    run: Run,
) -> StructureResult:
    must, may_not = ([(lagged(*parent), child) for parent, child in part if parent[1] <= lags] for part in arcs)
    may_not += [arc for arc in seldom_seen(windows, names) if arc not in must]
    may_not += into_the_past(names, lags)
    if not within:
        may_not += [(one, other) for one in names for other in names if one != other]
    return learn_structure(
        windows,
        required=must,
        forbidden=may_not,
        holes="available",
        budget=run.seconds_left(),
        progress=run.progress,
        **options,
    )


def _slice(result: StructureResult, names: Sequence[str], lags: int) -> dict[str, CPD]:
    node = {lagged(name, lag): (name, lag) for lag in range(lags + 1) for name in names}
    network = result.network
    return {name: TableCPD(tuple(node[p] for p in network.parents(name)), network.cpt(name)) for name in names}


def _learn_trees(
    found: Sequences, lags: int, shapes: Sequence[SliceShape], within: bool, options: dict[str, Any]
) -> DynamicResult:
    order = slice_order(found, options["seed"]) if within else ()
    design = make_design(found, lag_features(found.variables, lags), order)
    choice = choose(design, make_folds(found, FOLDS, options["seed"]), shapes)
    model = fit_slices(design, choice)
    network = as_dynamic(model, found.states)
    score = sum(_cpd_score(cpd, choice.leaf_count) for cpd in model.cpds.values())
    return DynamicResult(
        network,
        score,
        model.log_likelihood(found),
        (score,),
        Status.CONVERGED,
        "trees",
        lags,
        choice,
        notes=found.notes,
    )


def _cpd_score(cpd: ColumnCPD, leaf_count: float) -> float:
    return sum(tree_score(part.tree, leaf_count) for single in cpd.singles for part in single.trees)


def as_dynamic(model: SliceModel | ChainModel, states: Mapping[str, Sequence[Label]]) -> DynamicNetwork:
    """The same model as a network in time; early slices follow the trees with what lies before the start unknown."""
    asked = [feature for name in model.cpds for feature in model.asked(name)]
    if any(isinstance(feature, Memory) for feature in asked):
        raise OptionError("a model with deterministic memories is no network of lags: use it as it is")
    chains = model.chains
    lags = max((feature.lag for feature in asked if isinstance(feature, Lag)), default=0)
    named = {name: tuple(labels) for name, labels in states.items()}
    named |= {chain.name: tuple(str(k) for k in range(chain.states)) for chain in chains}

    def at(place: int) -> dict[str, CPD]:
        slice_: dict[str, CPD] = {name: _at(cpd, place) for name, cpd in model.cpds.items()}
        for chain in chains:
            slice_[chain.name] = (
                TableCPD(((chain.name, 1),), chain.transition) if place else TableCPD((), chain.initial)
            )
        return slice_

    deepest = max(lags, 1 if chains else 0)
    stages = tuple(at(place) for place in range(max(deepest, 1)))
    return DynamicNetwork(
        named, stages, at(deepest), tuple(chain.name for chain in chains), notes={"learnt": f"{lags} lags, trees"}
    )


def _at(cpd: Any, place: int) -> SingleCPD:
    """A column's distribution where only `place` slices lie behind."""
    beyond = {i: cpd.cardinalities[i] - 1 for i, p in enumerate(cpd.parents) if isinstance(p, Lag) and p.lag > place}
    return _named(cpd.restricted(beyond) if beyond else cpd.compacted())


def _named(cpd: SingleCPD) -> SingleCPD:
    """Parents as (variable, lag), without the code for what is not known."""
    made = [
        TreeCPD(
            tuple((p.variable, p.lag) for p in part.parents),
            tuple(r - 1 for r in part.cardinalities),
            part.tree,
            part.leaf_probabilities,
            part.notes,
        )
        for part in cpd.trees
    ]
    return cpd_of(cpd.shape, made)
