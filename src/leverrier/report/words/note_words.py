"""What learners noticed, a sentence each."""

from __future__ import annotations

from leverrier.discovery.states.cardinality_result import ColumnAsked
from leverrier.inference.exact.elimination import in_words
from leverrier.inference.taken_apart import TakenApart
from leverrier.learning import noted
from leverrier.models.impossible import ImpossibleRows, ImpossibleSequence
from leverrier.noisy_or import sampler_notes as sampled
from leverrier.report.words.classes_words import class_note_words
from leverrier.report.words.done_words import unvarying_words
from leverrier.report.words.mixture_words import mixture_words
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
        case noted.LeftAside(column, why):
            return f"{column!r} is set aside: {why}."
        case noted.ColumnAside(column, why):
            return f"{column!r} is set aside: {unvarying_words(why)}."
        case TakenApart(variables, cells):
            return (
                f"approximate: {variables} unobserved variables hang together in some rows, too many for exact "
                f"inference (a clique tree of at most {in_words(cells)} cells). They are taken as independent given "
                "what is observed, and the log-likelihood is a lower bound."
            )
        case ImpossibleRows(rows):
            return f"{rows} rows cannot happen under the network: their holes stay."
        case ImpossibleSequence():
            return "a sequence cannot happen under the network: what it leaves open there stays open."
        case ColumnAsked(column):
            return f"The column {column} of the data was set aside: it is what is asked for."
        case sampled.ChainLeftOut(number):
            return f"chain {number} stayed below the best one and was left out"
        case sampled.CausesRepeated():
            return (
                "several causes reach the same signs: one frequent cause may be cut up, because all share one p; "
                "per_cause=('lambda', 'p') gives each its own"
            )
        case sampled.NotYesNo(columns):
            return f"set aside, not yes/no: {', '.join(columns)}"
        case sampled.RarerIsYes(column, state):
            return f"{column}: {state!r} is taken for yes, as the rarer state"
    for words in (mixture_words, class_note_words):
        said = words(note)
        if said is not None:
            return said
    raise TypeError(f"no words for {type(note).__name__}")
