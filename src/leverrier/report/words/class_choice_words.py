"""Why so many classes, in words."""

from __future__ import annotations

from leverrier.learning.classes.class_choice import Choice
from leverrier.learning.classes.class_fit import HEADINGS, FitTable


def choice_words(choice: Choice, table: FitTable) -> str:
    """The criterion that chose, the next best, and what speaks against relying on it."""
    best, score = choice.states, choice.criterion == "score"
    word = "highest Cheeseman–Stutz score" if score else f"lowest {HEADINGS[choice.criterion]}"
    said = f"{best} {'class' if best == 1 else 'classes'}: the {word}, {choice.value:.2f}"
    if choice.next_value is not None:
        worse = abs(choice.next_value - choice.value)
        said += f"; next is {choice.next_best} with {choice.next_value:.2f}, {worse:.2f} worse"
    said += "."
    row = table.row(best)
    if not row.status.converged:
        said += f" Its fit is not final: {row.status}."
    elif row.best_count == 1 and row.starts > 1:
        said += f" Only 1 of {row.starts} starts reached this end: try more starts before relying on it."
    if choice.largest:
        said += " It is the largest number tried: try more."
    if choice.untried:
        said += f" The time ran out before {', '.join(map(str, choice.untried))} classes were tried."
    return said
