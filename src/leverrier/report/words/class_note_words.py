"""What should make a reader of a latent class analysis careful, a sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from leverrier.learning.classes import class_notes as noted
from leverrier.words_of import Note

MOST = 8


def class_note_words(note: Note) -> str | None:
    """The sentence; None for a note that is not of a latent class analysis."""
    match note:
        case noted.SamplingWeights(zeros):
            unused = f" {zeros} rows of weight 0 are not used; they get posteriors." if zeros else ""
            return (
                "sampling weights are scaled to a mean of 1; errors are linearised (sandwich), and information "
                f"criteria and likelihood-ratio tests of weighted rows are approximate.{unused}"
            )
        case noted.GroupsOfRows(groups, few):
            unsure = " With so few groups their errors are themselves uncertain." if few else ""
            return f"{groups} groups of rows: errors allow for alikeness within groups.{unsure}"
        case noted.WithoutPredictor(rows, predictor):
            return f"{rows} rows have no {predictor!r}: they are left out of the fit, and get posteriors without it."
        case noted.NotUsedWithout(column, rows, others):
            return f"{column!r} is not used in {rows} rows without {' or '.join(map(repr, others))}."
        case noted.SmallGroup(rows, column, label):
            return f"only {rows} rows have {column} = {label}: what differs there is unsure."
        case noted.FewPatterns(classes, patterns):
            return f"{classes} classes for {patterns} different rows: more classes than anything to tell apart."
    return _fitted_words(note)


def _fitted_words(note: Note) -> str | None:
    """Of what the fit itself shows."""
    match note:
        case noted.SpreadAtLimit(parameter):
            return f"the spread of {parameter} is at its limit: none beyond that of its kind."
        case noted.AtEdge(parameters):
            return f"at probability 0 or 1 (no standard error): {_some(parameters)}."
        case noted.Separated(predictors):
            return (
                f"{', '.join(predictors)} tells classes apart without error: its coefficient has no finite maximum; "
                "the one shown is where the climb stopped, and its interval means nothing."
            )
        case noted.NotIdentified(parameters):
            return f"not identified, the likelihood is level along: {_some(parameters)}."
        case noted.MoreNotIdentified(directions):
            return f"the likelihood is level in {directions} more directions: fewer classes would do."
        case noted.ScaledByDrawing(draws, factor):
            return (
                f"few rows for so many parameters: the statistic of equal profiles in all columns is divided by "
                f"{factor:.3f}, its mean over its degrees of freedom in {draws} tables drawn with equal profiles."
            )
        case noted.PoorlyTold(wrong):
            return (
                f"about {wrong:.0%} of these few rows are assigned to a class that is not theirs. Three steps undo "
                "that by error rates which come out too small then, so that effects are drawn towards 0 and intervals "
                "cover too little: steps=1 does not have that fault."
            )
    return None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return "; ".join(names[:MOST]) + more
