"""How many states a hidden variable has, and what each of them means; overlapping causes by their signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from leverrier.discovery.meaning import State
from leverrier.discovery.result import Result
from leverrier.discovery.states.merge_tree import MergeTree
from leverrier.discovery.states.states_fit import StatesFit
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.report.charts.discovery_charts import active_chart, links_chart, score_chart, sign_chances
from leverrier.report.charts.merge_chart import merge_chart
from leverrier.report.charts.palette import symbol
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.heat_map import heat_maps
from leverrier.report.parts.page_parts import (
    Block,
    Figure,
    Figures,
    Grid,
    Part,
    Words,
    abbreviated,
    percent,
    several,
    shortened,
)
from leverrier.report.words.page_words import RENAME
from leverrier.report.words.verdict_words import kind_words

if TYPE_CHECKING:
    import altair

MOST_STATES = 12
FIT = {
    "states": "states",
    "score": "score",
    "log_likelihood": "log-likelihood",
    "parameters": "parameters",
    "aic": "AIC",
    "bic": "BIC",
    "entropy": "entropy",
    "smallest": "smallest state",
    "best_count": "best reached",
}
"""Columns of the fit table."""
FIT_CAPTION = (
    "the same arcs with other numbers of states. Score: Cheeseman–Stutz, less the best (nats, larger is better); AIC "
    "and BIC: smaller is better; entropy: 1 if every row is surely in one state; best reached: by how many starts."
)
LONG = 48


def _loadings(found: Result, name: str) -> list[Block]:
    """How strongly each column follows a continuum."""
    known = getattr(found.model, "loadings", {}).get(name, {})
    best = sorted(known.items(), key=lambda pair: -abs(pair[1]))
    rows = tuple((shortened(column, LONG), f"{value:+.2f}") for column, value in best)
    caption = "Loadings: correlations of numbers with it; of states, logits for each deviation of it."
    return [Grid(("column", "loading"), rows, caption)] if rows else []


def how_many_part(found: Result) -> Part | None:
    """Score against the number of states, where it was measured."""
    blocks: list[Block] = []
    figures = []
    for each in found.hidden:
        scores = found.scores.get(each.name, ())
        if not each.states:
            continue
        if not scores:
            blocks.append(
                Words(
                    f"{each.name} has {several(each.states, 'state')}. Scores of other numbers of states were not "
                    f"measured here: see leverrier.{_other(found)}."
                )
            )
            continue
        best = max(scores, key=lambda one: one.score)
        words = f"{each.name} has {several(each.states, 'state')}. "
        if best.states == each.states:
            second = max((one for one in scores if one.states != each.states), key=lambda one: one.score)
            words += (
                f"With the same arcs that scores best: {second.states} states score "
                f"{best.score - second.score:.1f} nats less."
            )
        else:
            chosen = next(one.score for one in scores if one.states == each.states)
            words += (
                f"With the same arcs and fresh starts {best.states} states score {best.score - chosen:.1f} nats more: "
                "the search, which changes arcs as well, ended elsewhere, so take the number with care."
            )
        blocks.append(Words(words))
        blocks.append(_fit_table(each.name, scores))
        caption = f"{each.name}: Cheeseman–Stutz score with the same arcs, less the best. Orange: the number chosen."
        figures.append(pictured(score_chart(scores, each.states), caption))
    figures += [
        _merges(each.name, found.merges[each.name], each.states) for each in found.hidden if each.name in found.merges
    ]
    if figures:
        blocks.append(Figures(tuple(figures)))
    return Part("how-many", "How many states", blocks) if blocks else None


def _fit_table(name: str, fits: Sequence[StatesFit]) -> Grid:
    """Every number of states that was tried, with what papers ask for."""
    best = max(one.score for one in fits)
    shown = [key for key in FIT if any(getattr(one, key) is not None for one in fits)]
    rows = tuple(tuple(_fit_cell(key, one, best) for key in shown) for one in fits)
    caption = f"{name}: {FIT_CAPTION}" if len(shown) > 2 else f"{name}: Cheeseman–Stutz score, nats, less the best"
    return Grid(tuple(FIT[key] for key in shown), rows, caption)


def _fit_cell(key: str, one: StatesFit, best: float) -> str:
    value = getattr(one, key)
    if value is None:
        return ""
    if key == "score":
        return "best" if value == best else f"−{best - value:,.1f}"
    if key == "best_count":
        return f"{value} of {one.starts}"
    if key == "smallest":
        return percent(value)
    return f"{value:.3f}" if key == "entropy" else str(value) if isinstance(value, int) else f"{value:,.1f}"


def _merges(name: str, tree: MergeTree, states: int) -> Figure:
    caption = (
        f"{name}: its neighbours' {tree.configurations:,} configurations merged pair by pair, by the change of score "
        f"(nats); the last {several(len(tree.merges), 'merge')}. Orange: {several(states, 'state')}. Names say what is "
        "most frequent there and rarer elsewhere."
    )
    return pictured(merge_chart(tree, states), caption)


def _other(found: Result) -> str:
    return "cardinality" if found.other is None else "mixed_classes"


def states_part(found: Result) -> Part | None:
    """Who the states are: each in a line, then columns by states, the most telling column first."""
    blocks: list[Block] = []
    rows_are = "time steps" if found.time is not None else "rows"
    for each in found.hidden:
        states = found.meanings.get(each.name, ())
        if not each.states:
            blocks += [Words(f"{shortened(each.name, LONG)}: {kind_words(each)}."), *_loadings(found, each.name)]
        elif not states:
            blocks.append(Words(f"{each.name}: what its states mean was not worked out."))
        else:
            blocks.append(states_grid(each.name, states, abbreviated(each.neighbours, 48), rows_are))
            blocks += heat_maps(found, each)
    if blocks and any(each.states for each in found.hidden):
        blocks.append(Words(RENAME))
    return Part("states", "Who the states are", blocks) if blocks else None


def states_grid(name: str, states: tuple[State, ...], names: Mapping[str, str], rows_are: str = "rows") -> Grid:
    """Each state of a hidden variable: how frequent it is, a name for it, what marks it."""
    shown = states if len(states) <= MOST_STATES else sorted(states, key=lambda state: -state.prevalence)[:MOST_STATES]
    rows = tuple(
        (
            f"{symbol(states.index(each))} {shortened(each.label, 40)}",
            percent(each.prevalence),
            _suggested(each, names),
            _marks(each, names, rows_are),
        )
        for each in shown
    )
    rest = f": the {MOST_STATES} largest of {len(states)} states" if len(states) > MOST_STATES else ""
    caption = shortened(name, LONG) + rest
    return Grid(("state", rows_are, "suggested name", "what marks it"), rows, caption, words=(0, 2, 3), stack=True)


def _suggested(state: State, names: Mapping[str, str]) -> str:
    """The name made of what marks the state, in short words."""
    if not state.marks or max(len(mark.column) for mark in state.marks) <= 48:
        return shortened(state.suggested, 120)
    return ", ".join(f"{names.get(m.column, m.column)} {shortened(m.value, 40)}" for m in state.marks[:2])


def _marks(state: State, names: Mapping[str, str], rows_are: str = "rows") -> str:
    said = []
    for mark in state.marks:
        if mark.number:
            said.append(f"{names.get(mark.column, mark.column)} {mark.value}")
        else:
            said.append(
                f"{names.get(mark.column, mark.column)} is {shortened(mark.value, 40)} in {percent(mark.share)} "
                f"(all {rows_are} {percent(mark.overall)})"
            )
    return "; ".join(said) or "nothing in particular"


def _links(model: HiddenCauses, causes: int) -> altair.TopLevelMixin:
    return links_chart(model.names, sign_chances(model, causes), model.links[:, :causes], "P(sign | one cause)")


def causes_part(found: Result, model: HiddenCauses) -> Part:
    """Overlapping causes: which signs each reaches, how surely, how often it is active."""
    names = [each.name for each in found.hidden]
    active = {name: found.meanings[name][1].prevalence for name in names if len(found.meanings.get(name, ())) > 1}
    rows = []
    for k, each in enumerate(found.hidden):
        states = found.meanings.get(each.name, ())
        marks = _marks(states[1], abbreviated(each.neighbours, 48)) if len(states) > 1 else ""
        rows.append((each.name, percent(active.get(each.name, float(model.p[k]))), percent(float(model.lam[k])), marks))
    grid = Grid(("cause", "active in", "sets a sign", "its signs when present"), tuple(rows), words=(0, 3), stack=True)
    words = (
        "Each cause is there or not, several can be there at once, and a sign shows if any of its causes sets "
        "it; by itself a "
        f"sign comes in {percent(model.epsilon)} of rows."
    )
    figures = [
        pictured(_links(model, len(names)), "How surely a sign shows with one cause alone; frames: what it reaches.")
    ]
    if active:
        figures.append(pictured(active_chart(model, active), "How often each cause is active, from the rows."))
    return Part("states", "Who the causes are", [Words(words), grid, Figures(tuple(figures))])
