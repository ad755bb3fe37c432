"""Sentences of a latent class analysis."""

from __future__ import annotations

from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.report.parts.page_parts import percent

READINGS = {
    "predictors": (
        "Log odds of each class against class 0, the largest. A predictor above 0 makes the class likelier; the odds "
        "ratio is by how much for each unit."
    ),
    "outcomes": "What each class has on average, with the errors of assigning rows to classes undone.",
    "groups": (
        "Are the classes the same everywhere? Models are compared with the one named beside them: a small p says that "
        "making them equal costs more than chance."
    ),
    "quality": (
        "The average posterior is how sure we are of the rows put into a class (above 0.7 is usual); the odds of "
        "correct assignment compare that with guessing by size (above 5 is called good)."
    ),
    "residuals": (
        "Pairs of columns that agree more than the classes explain, the worst first. The p-value is a score test, "
        "which allows for the classes having been fitted to the same rows. With many pairs a few small ones are chance."
    ),
    "numbers": "Columns of numbers and counts are shown by their means in the table.",
}


def headline(found: LatentClassResult) -> str:
    """The classes and their sizes in a sentence."""
    shares = ", ".join(percent(float(share)) for share in found.shares)
    if found.states == 1:
        return "One class: nothing in these columns asks for more."
    return f"{found.states} classes, of {shares} of the rows. {found.why}"


def reading(what: str) -> str:
    """How a section is to be read."""
    return READINGS[what]
