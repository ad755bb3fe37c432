"""What learners noticed, a sentence each."""

from __future__ import annotations

from leverrier.learning import noted
from leverrier.report.words.classes_words import class_note_words
from leverrier.report.words.done_words import unvarying_words
from leverrier.words_of import Note


def note_words(note: Note) -> str:
    """One note as a sentence."""
    match note:
        case noted.AvailableCases(cells):
            return f"{cells:,} cells are missing: each family was counted in the rows that show all of it, as asked"
        case noted.RefinedByEM(cells):
            return (
                f"{cells:,} cells are missing: structural EM used every row (the score is a lower bound of the log "
                'evidence); holes="available" counts complete cases of each family instead'
            )
        case noted.FittedWhereSeen(cells):
            return f"{cells:,} cells are missing: each family was fitted to the rows that show all of it."
        case noted.ColumnAside(column, why):
            return f"{column!r} is set aside: {unvarying_words(why)}."
    of_classes = class_note_words(note)
    if of_classes is not None:
        return of_classes
    raise TypeError(f"no words for {type(note).__name__}")
