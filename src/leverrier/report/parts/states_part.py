"""How many states a hidden variable has, and what each of them means; overlapping causes by their signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leverrier.discovery.meaning import State
from leverrier.discovery.result import Result
from leverrier.discovery.states.merge_tree import MergeTree
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.report.charts.discovery_charts import MANY_STATES, active_chart, links_chart, profile_chart, score_chart
from leverrier.report.charts.merge_chart import merge_chart
from leverrier.report.charts.pictures import pictured
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
from leverrier.report.parts.profiles import Profile, profiles
from leverrier.report.words.verdict_words import kind_words

MOST_STATES = 12
LONG = 48
INTERVALS = (
    "Lines are 95 % intervals (Wilson's) from the rows that each state is worth; how far the model itself could move "
    "is not in them. Ticks: all rows."
)
AS_IF = (
    "Lines are 95 % intervals (Wilson's) as if slices were independent; slices that follow each other are not, so the "
    "truth is wider. Ticks: all slices."
)
SHADES = "Shades, not dots with intervals: there are many states."
MEANS = (
    "Lines are 95 % intervals of the means from the rows that each state is worth; how far the model itself could move "
    "is not in them."
)


def _loadings(found: Result, name: str) -> str:
    """How strongly each column follows a continuum."""
    known = getattr(found.model, "loadings", {}).get(name, {})
    said = ", ".join(f"{shortened(column, 40)} {value:+.2f}" for column, value in known.items())
    return f"Loadings (correlations of numbers with it, logits of states a deviation of it): {said}." if said else ""


def how_many_part(found: Result) -> Part:
    """Score against the number of states, where it was measured."""
    blocks: list[Block] = []
    figures = []
    for each in found.hidden:
        scores = found.scores.get(each.name, ())
        if not each.states:
            blocks.append(Words(f"{each.name}: {kind_words(each)}. {_loadings(found, each.name)}"))
            continue
        if not scores:
            blocks.append(
                Words(
                    f"{each.name} has {several(each.states, 'state')}. Scores of other numbers of states were not "
                    f"measured here: see leverrier.{_other(found)}."
                )
            )
            continue
        best = max(scores, key=lambda pair: pair[1])
        words = f"{each.name} has {several(each.states, 'state')}. "
        if best[0] == each.states:
            second = max((pair for pair in scores if pair[0] != each.states), key=lambda pair: pair[1])
            words += (
                f"With the same arcs that scores best: {second[0]} states score {best[1] - second[1]:.1f} nats less."
            )
        else:
            chosen = dict(scores)[each.states]
            words += (
                f"With the same arcs and fresh starts {best[0]} states score {best[1] - chosen:.1f} nats more: "
                "the search, which "
                "changes arcs as well, ended elsewhere, so take the number with care."
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
    return Part("how-many", "How many states", blocks)


def _fit_table(name: str, scores: Sequence[tuple[int, float]]) -> Grid:
    best = max(score for _, score in scores)
    rows = tuple((str(k), f"{score:,.1f}", "best" if score == best else f"−{best - score:,.1f}") for k, score in scores)
    return Grid(("states", "score", "to the best"), rows, f"{name}: Cheeseman–Stutz score, nats")


def _merges(name: str, tree: MergeTree, states: int) -> Figure:
    caption = (
        f"{name}: its neighbours' {tree.configurations:,} configurations merged pair by pair, by the change of score "
        f"(nats); the last {several(len(tree.merges), 'merge')}. Orange: {several(states, 'state')}. Names say what is "
        "most frequent there and rarer elsewhere."
    )
    return pictured(merge_chart(tree, states), caption)


def _other(found: Result) -> str:
    return "cardinality" if found.other is None else "mixed_classes"


def states_part(found: Result) -> Part:
    """For each hidden variable its states in a table, and their profiles."""
    blocks: list[Block] = []
    if not found.hidden:
        blocks.append(Words("Nothing hidden was found, so there are no states."))
    for each in found.hidden:
        states = found.meanings.get(each.name, ())
        if not states:
            blocks.append(Words(f"{each.name}: what its states mean was not worked out."))
            continue
        rows_are = "slices" if found.time is not None else "rows"
        blocks.append(states_grid(each.name, states, abbreviated(each.neighbours, 48), rows_are))
        figures = []
        for profile in profiles(found, each):
            rest = f" The {several(profile.left_out, 'other value')} differ less." if profile.left_out else ""
            figures.append(
                pictured(
                    profile_chart(profile),
                    f"{shortened(each.name, LONG)}: {profile.title}. {_how(found, profile)}{rest}",
                )
            )
        if figures:
            blocks.append(Figures(tuple(figures)))
    return Part("states", "What each state means", blocks)


def _how(found: Result, profile: Profile) -> str:
    if len(profile.states) > MANY_STATES:
        return SHADES
    if found.time is not None:
        return AS_IF
    return INTERVALS if profile.shares else MEANS


def states_grid(name: str, states: tuple[State, ...], names: Mapping[str, str], rows_are: str = "rows") -> Grid:
    """Each state of a hidden variable: how frequent it is, a name for it, what marks it."""
    shown = states if len(states) <= MOST_STATES else sorted(states, key=lambda state: -state.prevalence)[:MOST_STATES]
    rows = tuple(
        (shortened(each.label, 40), percent(each.prevalence), _suggested(each, names), _marks(each, names, rows_are))
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
    figures = [pictured(links_chart(model, names), "Links: how surely a sign shows with one cause alone.")]
    if active:
        figures.append(pictured(active_chart(model, active), "How often each cause is active, from the rows."))
    return Part("causes", "The causes", [Words(words), grid, Figures(tuple(figures))])
