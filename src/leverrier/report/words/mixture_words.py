"""What happened to the components of a mixture, a sentence each."""

from __future__ import annotations

from leverrier.learning.mixtures import mixture_notes as seen
from leverrier.learning.mixtures.mixture_notes import Trouble
from leverrier.words_of import Note


def mixture_words(note: Note) -> str | None:
    """One note as a sentence; None of one that is no mixture's."""
    match note:
        case seen.Collapsed(rows, after):
            about = ", ".join(f"{each:.1f}" for each in rows)
            return f"a component collapsed on about {about} rows after {after} iterations and was restarted"
        case seen.PutElsewhere(why, rows, None):
            return f"{_trouble(why, rows)}; put elsewhere it gained nothing, so it was left"
        case seen.PutElsewhere(why, rows, gain):
            return f"{_trouble(why, rows)}; it was put elsewhere, which changed the objective by {gain:+.3f} nats"
        case seen.EmptyComponent(number):
            return f"component {number} has no rows: fewer components would do"
        case seen.ThinComponent(number, rows, columns, prior):
            held = "the prior alone gives it spread" if prior else "its likelihood is not to be trusted"
            return f"component {number} stands on about {rows:.1f} rows of {columns} columns: {held}"
        case seen.TwinComponents(first, second):
            return f"components {first} and {second} are one: fewer components would do"
        case seen.BestStartEnded(status):
            return f"the best start {status}"
        case seen.TooFewRows():
            return "a component stands on too few rows"
        case seen.StartsGivenUp(given_up, starts):
            return f"{given_up} of {starts} starts were given up: their components kept collapsing"
        case seen.ColumnDetermined(column):
            return f"column {column!r} is determined by the others: the prior alone keeps it apart"
        case seen.ClassColumns(numbers, categories):
            rest = ", ".join(categories) or "none"
            return f"numbers, Gaussian given the class: {', '.join(numbers)}; categories: {rest}."
    return None


def _trouble(why: Trouble, rows: float) -> str:
    if why is Trouble.EMPTY:
        return "a component ended without rows"
    return "two components ended as one" if why is Trouble.TWIN else f"a component ended on about {rows:.1f} rows"
