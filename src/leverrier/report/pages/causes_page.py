"""The page of overlapping causes, from the parts that a discovery's page has."""

from __future__ import annotations

from collections.abc import Sequence

from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.report.charts.causes_charts import plot_links, plot_structure, plot_traces
from leverrier.report.charts.pictures import pictured
from leverrier.report.html.page_html import page
from leverrier.report.parts.page_parts import (
    Facts,
    Figure,
    Fold,
    Grid,
    Items,
    Listing,
    Part,
    Words,
    percent,
    several,
    shortened,
)
from leverrier.report.words.causes_words import UNTESTED, causes_headline, describe_causes

MOST_DRAWN = 20


def causes_page(found: HiddenCausesResult, title: str, live: bool = True) -> str:
    """How many causes, which signs each reaches, how sure that is, whether the chains agree."""
    words, said = describe_causes(found).splitlines(), causes_headline(found)
    grid = Grid(
        ("causes", "how often", "sets a sign", "in the posterior", "signs"), _lines(found), words=(0, 4), stack=True
    )
    chances = ", ".join(
        f"{several(k, 'cause')} with {percent(chance)}" for k, chance in sorted(found.count.items()) if chance >= 0.01
    )
    rows, signs = found.posterior.shape[0], len(found.names)
    facts = (("rows", f"{rows:,}"), ("signs", str(signs)), ("causes expected", f"{found.expected_count:.1f}"))
    agree = [line for line in words if "chain" in line][:1]
    care = [Items(tuple(note[:1].upper() + note[1:] for note in found.notes))] if found.notes else []
    parts = [
        Part("verdict", "The causes", [Words(said, strong=True), Facts(facts), Words(f"{words[1]} {UNTESTED}")]),
        Part("states", "Who the causes are", [grid, *_graph(found)]),
        Part("links", "How sure each link is", [pictured(plot_links(found), "Frames: the best structure.", wide=True)]),
        Part("evidence", "How many there are", [Words(f"By the posterior: {chances}."), *map(Words, agree), *care]),
        Part(
            "details",
            "Details",
            [
                Fold("Traces of the sampler", (pictured(plot_traces(found), "Grey: left out as warm-up.", wide=True),)),
                Fold("All of it as text", (Listing("\n".join(words), wrap=True),)),
            ],
        ),
    ]
    return page(title, said, parts, live)


def _lines(found: HiddenCausesResult) -> tuple[tuple[str, ...], ...]:
    """A line for every set of signs: causes that reach the same ones stand together."""
    together: dict[tuple[str, ...], list[int]] = {}
    for k in range(found.best.shape[1]):
        together.setdefault(found.children(k), []).append(k)
    return tuple(
        (
            _numbers(own),
            _span([found.model.p[k] for k in own]),
            _span([found.model.lam[k] for k in own]),
            _span([found.present[k] for k in own]),
            shortened(", ".join(signs), 200),
        )
        for signs, own in together.items()
    )


def _numbers(causes: Sequence[int]) -> str:
    """Causes by number, as ranges: "7 (4, 9–14)"."""
    said: list[str] = []
    first = causes[0]
    for k, after in zip(causes, [*causes[1:], -1], strict=True):
        if after != k + 1:
            said.append(str(first + 1) if first == k else f"{first + 1}–{k + 1}")
            first = after
    return said[0] if len(causes) == 1 else f"{len(causes)} ({', '.join(said)})"


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}–{high}"


def _graph(found: HiddenCausesResult) -> list[Figure]:
    """Causes above signs, as long as lines can be told apart."""
    if found.best.shape[1] > MOST_DRAWN:
        return []
    caption = "Causes above the signs that they reach; a line's strength is the probability of the link."
    return [pictured(plot_structure(found), caption, wide=True)]
