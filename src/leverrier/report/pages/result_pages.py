"""Pages of latent classes and of overlapping causes, each from the parts that a discovery's page has."""

from __future__ import annotations

from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.noisy_or.causes_result import HiddenCausesResult
from leverrier.report.charts.causes_charts import plot_links, plot_structure, plot_traces
from leverrier.report.charts.class_profiles import class_profile, class_states
from leverrier.report.charts.pictures import pictured
from leverrier.report.html.page_html import page
from leverrier.report.parts.heat_map import INTERVALS, heat_of
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
from leverrier.report.words.causes_words import describe_causes

MOST_COLUMNS = 12


def classes_page(found: LatentClassResult, title: str, live: bool = True) -> str:
    """Who the classes are, how many there are and why, how sure rows are of theirs."""
    states = class_states(found)
    rows = round(found.fit.total)
    heat = heat_of(class_profile(found), states, range(len(states)), INTERVALS)
    sure = found.posterior.max(axis=1)
    facts = (("rows", f"{rows:,}"), ("columns", str(len(states[0].profile))), ("classes", str(found.states)))
    doubt = int((sure < 0.8).sum())
    words = (
        f"The most probable class has {percent(float(sure.mean()))} on average; in {several(doubt, 'row')} no class "
        "has 80 %. `found.posterior` has every row's probabilities."
    )
    listed = found.table.to_dicts()
    head = tuple(name for name in listed[0] if any(each[name] is not None for each in listed))[:MOST_COLUMNS]
    grid = Grid(
        tuple(name.replace("_", " ") for name in head),
        tuple(tuple(_number(each[name]) for name in head) for each in listed),
        "One line for each number of classes that was tried.",
        words=(),
        stack=True,
    )
    parts = [
        Part("verdict", "The classes", [Words(found.why, strong=True), Facts(facts)]),
        Part("states", "Who the classes are", [heat]),
        Part("fit", "How many classes", [grid]),
        Part("rows", "Rows in doubt", [Words(words)]),
        Part("details", "Details", [Fold("All of it as text", (Listing(str(found)),))]),
    ]
    return page(title, found.why, parts, live)


def causes_page(found: HiddenCausesResult, title: str, live: bool = True) -> str:
    """How many causes, which signs each reaches, how sure that is, whether the chains agree."""
    words = describe_causes(found).splitlines()
    causes = found.paper_tables()["causes"]
    grid = Grid(
        causes.head,
        tuple(tuple(shortened(text, 200) for text in causes.texts(row)) for row in causes.rows),
        causes.caption,
        words=(4,),
        stack=True,
    )
    chances = ", ".join(f"{k}: {percent(chance)}" for k, chance in sorted(found.count.items()) if chance >= 0.01)
    rows, signs = found.posterior.shape[0], len(found.names)
    facts = (("rows", f"{rows:,}"), ("signs", str(signs)), ("causes expected", f"{found.expected_count:.1f}"))
    agree = [line for line in words if "chain" in line][:1]
    parts = [
        Part("verdict", "The causes", [Words(words[0], strong=True), Facts(facts), Words(words[1])]),
        Part("states", "Who the causes are", [grid, _wide(found)]),
        Part("links", "How sure each link is", [pictured(plot_links(found), "Frames: the best structure.", wide=True)]),
        Part("evidence", "How many there are", [Words(f"Number of causes: {chances}."), *map(Words, agree)]),
        Part(
            "details",
            "Details",
            [
                Fold("Traces of the sampler", (pictured(plot_traces(found), "Grey: left out as warm-up.", wide=True),)),
                Fold("All of it as text", (Listing("\n".join(words), wrap=True),)),
            ],
        ),
    ]
    return page(title, words[0], parts, live)


def _wide(found: HiddenCausesResult) -> Figure:
    caption = "Causes above the signs that they reach; a line's strength is the probability of the link."
    return pictured(plot_structure(found), caption, wide=True)


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return "–" if value is None else str(value)
