"""The page of overlapping causes, from the parts that a discovery's page has."""

from __future__ import annotations

from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.report.charts.causes_charts import plot_links, plot_structure, plot_traces
from leverrier.report.charts.pictures import pictured
from leverrier.report.html.page_html import page
from leverrier.report.parts.page_parts import (
    Facts,
    Figure,
    Fold,
    Grid,
    Listing,
    Part,
    Words,
    percent,
    several,
    shortened,
)
from leverrier.report.words.causes_words import UNTESTED, causes_headline, describe_causes


def causes_page(found: HiddenCausesResult, title: str, live: bool = True) -> str:
    """How many causes, which signs each reaches, how sure that is, whether the chains agree."""
    words, said = describe_causes(found).splitlines(), causes_headline(found)
    causes = found.paper_tables()["causes"]
    grid = Grid(
        causes.head,
        tuple(tuple(shortened(text, 200) for text in causes.texts(row)) for row in causes.rows),
        causes.caption,
        words=(4,),
        stack=True,
    )
    chances = ", ".join(
        f"{several(k, 'cause')} with {percent(chance)}" for k, chance in sorted(found.count.items()) if chance >= 0.01
    )
    rows, signs = found.posterior.shape[0], len(found.names)
    facts = (("rows", f"{rows:,}"), ("signs", str(signs)), ("causes expected", f"{found.expected_count:.1f}"))
    agree = [line for line in words if "chain" in line][:1]
    parts = [
        Part("verdict", "The causes", [Words(said, strong=True), Facts(facts), Words(f"{words[1]} {UNTESTED}")]),
        Part("states", "Who the causes are", [grid, _wide(found)]),
        Part("links", "How sure each link is", [pictured(plot_links(found), "Frames: the best structure.", wide=True)]),
        Part("evidence", "How many there are", [Words(f"By the posterior: {chances}."), *map(Words, agree)]),
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


def _wide(found: HiddenCausesResult) -> Figure:
    caption = "Causes above the signs that they reach; a line's strength is the probability of the link."
    return pictured(plot_structure(found), caption, wide=True)
