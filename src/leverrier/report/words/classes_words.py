"""Sentences of a latent class analysis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leverrier.learning.classes import class_notes as noted
from leverrier.learning.classes.analysis.class_study import ClassStudy
from leverrier.learning.classes.class_choice import Choice
from leverrier.learning.classes.class_fit import HEADINGS, FitTable
from leverrier.learning.classes.class_tables import ProfileRow
from leverrier.learning.classes.latent_class_result import LatentClassResult
from leverrier.report.parts.page_parts import percent
from leverrier.words_of import Note, told

SHOWN_COLUMNS = 40
MOST_NAMES = 8

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


def result_text(found: LatentClassResult) -> str:
    """The whole analysis for a terminal."""
    if found.asked is not None:
        return _study_text(found.table, found.why, found.asked)
    fitted = found.fit.table
    rows = fitted.n_cases or round(found.fit.total)
    head = f"Latent classes of {rows} rows and {len(fitted.variables)} columns"
    return "\n".join([head, "", str(found.table), "", found.why, "", _profile_text(found)])


def _study_text(table: FitTable, why: str, study: ClassStudy) -> str:
    """An analysis with predictors, outcomes, groups or columns of other kinds."""
    spec = study.fitted.spec
    rows = int(np.count_nonzero(spec.row_weights))
    parts = [f"Latent classes of {rows} rows and {len(spec.items)} columns", "", str(table), "", why, ""]
    parts.append(_profile_lines(study))
    if study.predictors:
        parts += ["", "Predictors of the class, against class 0 (log odds)", str(study.coefficients)]
    if len(study.regressions):
        parts += ["", "Regressions within classes", str(study.regressions)]
    if study.outcomes:
        parts += ["", "Outcomes by class", str(study.outcome_table)]
    if study.groups is not None and study.invariance is not None:
        parts += ["", f"Profiles in the groups of {study.groups.name}", str(study.invariance.table)]
        parts += ["", "Class sizes", str(study.sizes)]
    if len(study.tests):
        parts += ["", "Tests", str(study.tests)]
    if study.warnings:
        parts += ["", *told(study.warnings)]
    return "\n".join(parts)


def _profile_lines(study: ClassStudy) -> str:
    """Figures with their standard errors, a column for each class."""
    classes = study.fitted.classes
    wide: dict[tuple[str, object], list[str]] = {}
    names = [study.variable, *[item.name for item in study.fitted.spec.items][:SHOWN_COLUMNS]]
    for row in study.profile_table():
        if row.column in names:
            wide.setdefault((row.column, row.of), [""] * classes)[row.state_class] = _figure(row)
    lines = [["", *(f"class {k}" for k in range(classes))]]
    counts = {name: sum(1 for key in wide if key[0] == name) for name in names}
    for (name, of), cells in wide.items():
        first = next(key[1] for key in wide if key[0] == name)
        if counts[name] == 2 and of == first and of != "mean":
            continue  # of two states one says it all
        lines.append([of if name == study.variable else f"{name} = {of}", *cells])  # type: ignore[list-item]
    width = max(len(str(line[0])) for line in lines)
    rest = max(len(cell) for line in lines for cell in line[1:])
    return "\n".join("  ".join([str(line[0]).ljust(width), *(cell.rjust(rest) for cell in line[1:])]) for line in lines)


def _figure(row: ProfileRow) -> str:
    return f"{row.estimate:.4g} ({row.standard_error:.2g})"


def _profile_text(result: LatentClassResult) -> str:
    """Shares and, for each column's states, the probability in each class."""
    labels = [f"class {label}" for label in result.network.states[result.variable]]
    lines = [["", *labels], ["share", *(f"{share:.1%}" for share in result.shares)]]
    columns = [name for name in result.network.variables if name != result.variable]
    for name in columns[:SHOWN_COLUMNS]:
        table = result.network.cpt(name)
        states = result.network.states[name]
        skip = 1 if len(states) == 2 else 0  # of two states one says it all
        for k in range(skip, len(states)):
            lines.append([f"{name} = {states[k]}", *(f"{p:.3f}" for p in table[:, k])])
    if len(columns) > SHOWN_COLUMNS:
        lines.append([f"… and {len(columns) - SHOWN_COLUMNS} more columns (see profiles)", *("" for _ in labels)])
    first = max(len(line[0]) for line in lines)
    widths = [max(len(line[i]) for line in lines) for i in range(1, len(lines[0]))]
    return "\n".join(
        "  ".join([line[0].ljust(first), *(text.rjust(w) for text, w in zip(line[1:], widths, strict=True))]).rstrip()
        for line in lines
    )


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
                "that by error rates which are themselves uncertain: effects are less sure than in one step, and 95 % "
                "intervals covered 92 to 96 % in simulations. steps=1 is surer here."
            )
    return None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return "; ".join(names[:MOST_NAMES]) + more
