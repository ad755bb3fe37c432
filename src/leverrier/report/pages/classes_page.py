"""The page of a latent class analysis: the choice, the classes, what explains them and what they explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leverrier.errors import OptionError
from leverrier.learning.classes.class_tables import RowTable, cell_text
from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.report.charts.class_profiles import class_profiles, fit_scree
from leverrier.report.charts.pictures import pictured
from leverrier.report.html.page_html import page
from leverrier.report.parts.page_parts import Beside, Block, Facts, Fold, Grid, Items, Part, Words, percent
from leverrier.report.words.classes_words import headline, reading

MOST_ROWS = 60
SMALL, NOTHING = 1e-4, 1e-6
"""A probability at its bound ends a little off it: 1.389e-11 says no more than 0."""
WORDS = (
    "column",
    "of",
    "predictor",
    "outcome",
    "about",
    "what",
    "method",
    "first",
    "second",
    "model",
    "against",
    "term",
)
HEADS = {"state_class": "class", "of": "", "p_value": "p", "bvr": "residual / df", "degrees_of_freedom": "df"}


def classes_page(found: LatentClassResult, title: str, live: bool = True) -> str:
    """The whole page as HTML."""
    return page(title, headline(found), classes_parts(found), live)


def classes_parts(found: LatentClassResult) -> list[Part]:
    """The sections, in the order they are read: what was not asked is left out."""
    study = found.study
    parts = [_number_part(found), _profile_part(found)]
    if study.predictors:
        parts.append(
            Part("predictors", "What explains the class", [Words(reading("predictors")), _grid(found.coefficients)])
        )
    if study.outcomes:
        parts.append(Part("outcomes", "What the class explains", [Words(reading("outcomes")), _grid(found.outcomes)]))
    if len(found.regressions):
        parts.append(Part("regressions", "Regressions within classes", [_grid(found.regressions)]))
    if study.groups is not None:
        blocks: list[Block] = [Words(reading("groups")), _grid(found.invariance), _grid(found.sizes)]
        parts.append(Part("groups", f"The groups of {study.groups.name}", blocks))
    if len(found.tests):
        parts.append(Part("tests", "Tests", [_grid(found.tests)]))
    parts.append(Part("quality", "How well rows are told apart", [Words(reading("quality")), _grid(found.quality)]))
    if len(found.residuals):
        parts.append(
            Part(
                "residuals", "What the classes leave unexplained", [Words(reading("residuals")), _grid(found.residuals)]
            )
        )
    if found.notes:
        parts.append(Part("notes", "With care", [Items(found.notes)]))
    return parts


def _number_part(found: LatentClassResult) -> Part:
    row = found.table.row(found.states)
    facts = Facts(
        (
            ("classes", str(found.states)),
            ("log-likelihood", f"{found.log_likelihood:,.2f}"),
            ("BIC", f"{row.bic:,.1f}"),
            ("entropy R²", f"{row.entropy:.3f}"),
            ("starts that ended best", f"{row.best_count} of {row.starts}"),
        )
    )
    head = ("classes", "log-likelihood", "parameters", "AIC", "BIC", "entropy R²", "smallest", "best reached")
    rows = tuple(
        (
            str(each.states),
            f"{each.log_likelihood:,.2f}",
            str(each.parameters),
            f"{each.aic:,.1f}",
            f"{each.bic:,.1f}",
            f"{each.entropy:.3f}",
            percent(each.smallest_class),
            f"{each.best_count} of {each.starts}",
        )
        for each in found.table
    )
    why, grid = Words(found.why), Grid(head, rows)
    if len(found.table) == 1:
        return Part("number", "How many classes", [facts, why, grid])
    scree = pictured(fit_scree(found), "By number of classes: smaller is better.")
    blocks: list[Block] = [facts, Beside(scree, (why,)), grid]
    return Part("number", "How many classes", blocks)


def _profile_part(found: LatentClassResult) -> Part:
    blocks: list[Block] = []
    try:
        blocks.append(pictured(class_profiles(found), "The probability of each state in each class."))
    except OptionError:  # numbers and counts have no table: the grid has their means
        blocks.append(Words(reading("numbers")))
    blocks.append(Fold("Every estimate with its standard error and interval", (_grid(found.intervals()),)))
    return Part("classes", "What the classes are like", blocks)


def _grid(table: RowTable[Any]) -> Grid:
    names = [name for name in table.columns if any(getattr(row, name) not in (None, "") for row in table)]
    head = tuple(HEADS.get(name, name.replace("_", " ")) for name in names)
    rows = tuple(tuple(_cell(name, getattr(row, name)) for name in names) for row in list(table)[:MOST_ROWS])
    left = len(table) - len(rows)
    caption = f"The first {len(rows)} of {len(table)} rows." if left > 0 else ""
    return Grid(head, rows, caption, _word_places(names), stack=len(names) > 6)


def _word_places(names: Sequence[str]) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(names) if place == 0 or name in WORDS)


def _cell(name: str, value: Any) -> str:
    if name != "p_value" and isinstance(value, float) and abs(value) < SMALL:
        return "0" if abs(value) < NOTHING else f"{value:.6f}"
    return cell_text(name, value, large=",.1f")
