"""What is said of hidden variables, as one value: an answer, and the reason for it in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Answer(StrEnum):
    """The four things that can be said. `NOTHING` only after everything that was to be done is done."""

    FOUND = "found"
    NOTHING = "nothing"
    UNDECIDED = "undecided"
    NOT_TESTED = "not tested"


class Reason(StrEnum):
    """Why; the value is the words."""

    TESTED = "its gain is clear of what tables with nothing hidden show"
    TESTED_IN_TIME = "its gain is clear of what sequences with nothing like it show"
    FEW_DRAWS = "provisional: fewer simulated tables than the level needs"
    HELD_OUT = "it predicts what was held out clearly better"
    PARSIMONY = "it says what any network of the columns says with fewer parameters, and held-out rows do not object"
    SIMPLEST = "it describes the table as well as any network of the columns, with fewer numbers"
    EITHER = "classes behind the columns and arcs between them describe these rows about equally well: too few rows"
    NO_CANDIDATES = "no group of columns hangs together enough to suggest one"
    NO_GAIN = "no hidden variable explains these rows better than the columns themselves"
    SMALL_GAIN = "no hidden variable gains enough to be worth a test"
    COMPRESSOR = "tables simulated without it gain as much: it compresses the table and is no sign of a hidden cause"
    SAMPLE_ONLY = "what a sample of the rows suggested did not hold in all of them"
    NO_CHAIN = "none that could be begun drives a column"
    NOT_CLEARER = "the columns' own past predicts as well"
    SCALE = "on another scale of the numbers, by their ranks, the columns' own past predicts as well"
    CHANCE_IN_TIME = "sequences simulated without it gain as much"
    NO_SKIP = "no arc skips a slice and no memory drives a column"
    TIME = "the time ran out"
    CAUSES_TIME = "the time ran out before overlapping causes were compared"
    CAUSES_SIZE = "so many causes overlap in one row that held-out rows could not be compared"
    UNSTABLE = "searches without a hidden variable end too far apart"
    HELD_OUT_AGAINST = "held-out rows speak against it"
    NOT_AGAIN = "it does not come back when rows are drawn anew: it depends on which rows there are"
    RIVAL = "the best model without it does not describe these columns: a function of them foretells as well as it does"
    DROWNED = (
        "the best model without it does not describe these columns: tables simulated from that model gain more than it "
        "does"
    )
    COPY = "what was found is a coarser copy of one of the columns"
    FEW_VIEWS = (
        "fewer than three columns hang together through it alone: a hidden class and arcs between the columns cannot "
        "be told apart here"
    )
    FEW_ROWS = "too few rows"
    ALIKE_ROWS = (
        "rows beside each other are alike and may belong together, so that they say less than so many rows would: name "
        "the column that tells what belongs together (groups=), or the one that orders them (time=)"
    )
    COPIED_ROWS = (
        "many rows are copies of others, and say less than so many rows would: leave the copies out, or name the "
        "column that tells what belongs together (groups=)"
    )
    NOT_ASKED = "the tests were left out"
    ENOUGH = "as many hidden variables as asked for"


class ModelKind(StrEnum):
    """What kind of model a verdict rests on."""

    NETWORK = "network"
    CLASSES = "classes"
    NUMBERS = "numbers"
    CAUSES = "causes"
    SEQUENCES = "sequences"


class HiddenKind(StrEnum):
    """What a hidden variable is: states, or a continuum; undecided where the data cannot tell."""

    CLASS = "class"
    CONTINUUM = "continuum"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict:
    """`str(verdict)` is "found", "nothing", "undecided" or "not tested"."""

    answer: Answer
    reason: Reason

    def __str__(self) -> str:
        return self.answer.value

    @property
    def found(self) -> bool:
        return self.answer is Answer.FOUND

    def unfinished(self, reason: Reason = Reason.TIME) -> Verdict:
        """The same of a run that was cut short: nothing can then not be told from not yet."""
        return Verdict(Answer.UNDECIDED, reason) if self.answer is Answer.NOTHING else self


def found(reason: Reason) -> Verdict:
    return Verdict(Answer.FOUND, reason)


def nothing(reason: Reason) -> Verdict:
    return Verdict(Answer.NOTHING, reason)


def undecided(reason: Reason) -> Verdict:
    return Verdict(Answer.UNDECIDED, reason)


def not_tested(reason: Reason) -> Verdict:
    return Verdict(Answer.NOT_TESTED, reason)
