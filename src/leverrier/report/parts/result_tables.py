"""Tables for papers of every result but a discovery: what was estimated first, then how well it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

from leverrier.data.paper_table import Cell, PaperTable
from leverrier.discovery.findings import Findings
from leverrier.discovery.states.cardinality_result import Cardinalities, Cardinality
from leverrier.discovery.time.memory_findings import MemoryFindings
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.learning.chains.fit_dynamic import DynamicFit
from leverrier.learning.chains.hidden_markov_result import HiddenMarkov
from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.learning.classes.mixed_classes import MixedClassResult
from leverrier.learning.em.fit_result import FitResult
from leverrier.learning.mixtures.fit_mixture import MixtureResult
from leverrier.learning.regimes.hidden_regimes import HiddenRegimes
from leverrier.learning.regimes.latent_transitions import LatentTransitions
from leverrier.learning.slices.learn_dynamic import DynamicResult
from leverrier.learning.structure.learn_structure import StructureResult
from leverrier.learning.structure.structural_em import StructuralResult
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.network import Network
from leverrier.noisy_or.causes_result import HiddenCausesResult

HEADS = {
    "state_class": "class",
    "log_likelihood": "log-likelihood",
    "bic": "BIC",
    "aic": "AIC",
    "icl": "ICL",
    "sabic": "SABIC",
    "caic": "CAIC",
    "g2": "G²",
    "x2": "X²",
    "p_value": "p",
    "best_count": "best reached",
}


def result_tables(found: Any) -> dict[str, PaperTable]:
    """By name, the most important first; those of which nothing is known are not there."""
    for kind, made in _TABLES.items():
        if isinstance(found, kind):
            return {table.name: table for table in made(found) if table.head}
    raise TypeError(f"no tables for {type(found).__name__}")


def _rows_table(name: str, rows: Iterable[Any], caption: str) -> PaperTable:
    """Values of one class as a table, a field a column; those that no row has are left out."""
    known = list(rows)
    if not known:
        return PaperTable(name, (), (), caption)
    names = [each.name for each in fields(known[0]) if any(getattr(row, each.name) not in (None, "") for row in known)]
    cells = tuple(tuple(_cell(getattr(row, each)) for each in names) for row in known)
    return PaperTable(name, tuple(HEADS.get(each, each.replace("_", " ")) for each in names), cells, caption)


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or type(value) in (str, int, float):
        return value
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _causes(found: HiddenCausesResult) -> list[PaperTable]:
    count = found.best.shape[1]
    causes = tuple(
        (
            k + 1,
            float(found.model.p[k]),
            float(found.model.lam[k]),
            float(found.present[k]),
            ", ".join(found.children(k)),
        )
        for k in range(count)
    )
    head = ("cause", "how often", "sets a sign", "in the posterior", "signs")
    links = tuple((name, *map(float, found.links[i])) for i, name in enumerate(found.names))
    over = ("sign", *(f"cause {k + 1}" for k in range(count)))
    return [
        PaperTable("causes", head, causes, "Overlapping hidden causes, and the signs they reach."),
        PaperTable("links", over, links, "The probability of every link."),
    ]


def _cardinality(found: Cardinality) -> list[PaperTable]:
    rows = tuple((k, found.value(k), found.value(k) - found.value(found.states)) for k in sorted(found.scores))
    caption = f"Scores (nats) by number of states of {found.hidden}; {found.states} were chosen."
    return [PaperTable("scores", ("states", "score", "less the choice"), rows, caption, 1)]


def _cardinalities(found: Cardinalities) -> list[PaperTable]:
    rows = tuple((name, each.states) for name, each in found.variables.items())
    return [PaperTable("states", ("hidden", "states"), rows, "How many states each hidden variable has.")]


def _classes(found: LatentClassResult) -> list[PaperTable]:
    study = found.study
    made = [
        _rows_table("profiles", found.intervals(), "Class sizes and profiles with standard errors and intervals."),
        _rows_table("fit", found.table, "Fit by number of classes; criteria: smaller is better."),
        _rows_table("quality", found.quality, "How well each class is told from the others."),
        _rows_table("tests", found.tests, "Tests."),
        _rows_table("residuals", found.residuals, "Pairs of columns that the classes leave unexplained."),
    ]
    if study.predictors:
        made.append(_rows_table("predictors", found.coefficients, "Log odds of each class against class 0."))
    if study.outcomes:
        made.append(_rows_table("outcomes", found.outcomes, "Outcomes by class."))
    return made


def _mixed_classes(found: MixedClassResult) -> list[PaperTable]:
    rows: list[tuple[Cell, ...]] = []
    for number, profile in enumerate(found.profiles):
        rows.append((number, "share", "", profile["share"], None))
        for name, own in profile.items():
            if isinstance(own, tuple):
                rows.append((number, name, "mean", *own))
            elif isinstance(own, Mapping):
                rows += [(number, name, str(state), float(share), None) for state, share in own.items()]
    head = ("class", "column", "of", "estimate", "deviation")
    caption = "Classes: shares, means with deviations, and probabilities of states."
    return [PaperTable("profiles", head, tuple(rows), caption), _fits(found.table, "classes")]


def _mixture(found: MixtureResult) -> list[PaperTable]:
    mixture = found.mixture
    rows = tuple(
        (c + 1, float(mixture.weights[c]), name, float(mixture.means[c, j]), float(mixture.matrices[c][j, j] ** 0.5))
        for c in range(mixture.n_components)
        for j, name in enumerate(mixture.names)
    )
    head = ("component", "weight", "column", "mean", "deviation")
    return [PaperTable("components", head, rows, "The components of the mixture."), _fits(found.table, "components")]


def _fits(rows: Iterable[Any], what: str) -> PaperTable:
    return _rows_table("fit", rows, f"Fit by number of {what}; criteria: smaller is better.")


def _fitted(found: FitResult | StructureResult | StructuralResult) -> list[PaperTable]:
    return [_NETWORKS[type(found.network)](found.network)]


def _explained(network: MixedNetwork) -> PaperTable:
    """A sentence a column."""
    rows = tuple((node, ", ".join(network.parents(node)), network.explain(node)) for node in network.graph)
    return PaperTable("network", ("column", "parents", "how it follows"), rows, "The network.")


def _probabilities(network: Network) -> PaperTable:
    """Every table of a network, a line a probability."""
    lines: list[tuple[Cell, ...]] = []
    for node in network.graph:
        parents = network.graph.parents(node)
        table = network.cpt(node)
        for given in product(*(range(len(network.states[parent])) for parent in parents)):
            said = ", ".join(f"{p} = {network.states[p][k]}" for p, k in zip(parents, given, strict=True))
            lines += [
                (node, said, str(state), float(share))
                for state, share in zip(network.states[node], table[given], strict=True)
            ]
    return PaperTable("network", ("column", "given", "state", "probability"), tuple(lines), "The network's tables.")


_NETWORKS: dict[type, Callable[[Any], PaperTable]] = {Network: _probabilities, MixedNetwork: _explained}


def _moves(table: Any, caption: str) -> PaperTable:
    """A transition table, by row the state before."""
    head = ("from", *(f"to {k}" for k in range(len(table))))
    rows = tuple((k, *map(float, row)) for k, row in enumerate(table))
    return PaperTable("transition", head, rows, caption)


def _arcs(network: DynamicNetwork) -> PaperTable:
    rows = tuple((parent, lag, child) for (parent, lag), child in network.edges)
    return PaperTable("arcs", ("from", "time steps before", "to"), rows, "The arcs of the network in time.")


def _dynamic(found: DynamicFit | DynamicResult) -> list[PaperTable]:
    return [_arcs(found.network)]


MOVES = "Probability of each state at the next time step, by row the state before."


def _markov(found: HiddenMarkov | HiddenRegimes) -> list[PaperTable]:
    stays = tuple((k, float(each)) for k, each in enumerate(found.dwell))
    lasts = PaperTable("dwell", ("state", "time steps"), stays, "How long each state lasts on average.")
    return [_moves(found.transition, MOVES), lasts, _fits(found.table, "states")]


def _transitions(found: LatentTransitions) -> list[PaperTable]:
    head = ("wave", *(f"class {k + 1}" for k in range(found.states)))
    shares = tuple((str(wave), *map(float, row)) for wave, row in zip(found.waves, found.shares, strict=True))
    sizes = PaperTable("shares", head, shares, "Share of each class by wave.")
    return [_moves(found.transition, MOVES), sizes, _fits(found.table, "classes")]


def _findings(found: Findings) -> list[PaperTable]:
    rows = tuple(
        (each.name, each.states, ", ".join(each.children), ", ".join(each.parents), each.gain) for each in found.hidden
    )
    head = ("hidden", "states", "children", "parents", "gain")
    hidden = PaperTable("hidden", head, rows, "Hidden variables, and their gain in nats over the best network without.")
    return [hidden, _rows_table("attempts", found.attempts, "Candidates that were tried.")]


def _in_time(found: TimeFindings) -> list[PaperTable]:
    rows = tuple(
        (one.name, one.states, ", ".join(one.drives), ", ".join(f"{each:.1f}" for each in one.dwell))
        for one in found.hidden
    )
    head = ("hidden", "states", "drives", "lasts, time steps")
    hidden = PaperTable("hidden", head, rows, "Hidden variables in the sequences.")
    tried = _rows_table("models", found.table, "Models that were compared; bits a time step, fewer is better.")
    return [hidden, tried] if rows else [tried]


def _memories(found: MemoryFindings) -> list[PaperTable]:
    rounds = tuple((each.name, each.bits, len(each.arcs)) for each in found.rounds)
    head = ("round", "bits a time step", "arcs that skip steps")
    told = PaperTable("rounds", head, rounds, "The rounds of the loop.")
    return [_rows_table("memories", found.memories, "What is remembered."), told]


_TABLES: dict[type, Callable[[Any], Sequence[PaperTable]]] = {
    HiddenCausesResult: _causes,
    Cardinality: _cardinality,
    Cardinalities: _cardinalities,
    LatentClassResult: _classes,
    MixedClassResult: _mixed_classes,
    MixtureResult: _mixture,
    FitResult: _fitted,
    StructureResult: _fitted,
    StructuralResult: _fitted,
    HiddenMarkov: _markov,  # (before the fit in time, which it is one of)
    HiddenRegimes: _markov,
    DynamicFit: _dynamic,
    DynamicResult: _dynamic,
    LatentTransitions: _transitions,
    Findings: _findings,
    TimeFindings: _in_time,
    MemoryFindings: _memories,
}
