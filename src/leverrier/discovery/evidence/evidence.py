"""What speaks for a hidden variable, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from leverrier.discovery.evidence.coarser_copy import ToldBy
from leverrier.discovery.evidence.free_learner import FreeLearner
from leverrier.discovery.evidence.sequential_test import draws_needed
from leverrier.discovery.verdict import Answer, Reason, Verdict

LEVEL = 0.01
"""How often a variable may be found where nothing is hidden."""
PROVISIONAL = 0.05
"""A test that time cut before it could show a p-value so small says nothing yet."""
UNSUPPORTED = 0.1
"""A variable that comes back in no larger share of resamples depends on which rows there are."""
UNSURE, NOWHERE = 1 / 3, 0.5
"""The same of one that held-out rows do not clearly speak for, and of one that was found in no part of the rows: there
resamples alone speak for it."""
KINDS_WORTH = 10.0
"""Nats over a network of every kind that one of many must gain: no simulated table says what chance gains there, and
searches for that network end as far apart."""


class Stopped(StrEnum):
    """Why fewer tables than asked for were simulated; the value is the words."""

    BUDGET = "the budget ran out"
    ALIKE = "tables with nothing hidden gained as much"
    UNSEEN = "the quick search that simulated tables get finds nothing in the data"
    CLEAR = "the gain was far above that of every table with nothing hidden"


class Compared(StrEnum):
    """What was compared with what."""

    SCORE = "score"
    """The gain over the best network without it."""
    CLASSES = "classes"
    """One class behind all columns with arcs between them: see evidence/class_or_arcs.py."""
    CAUSES = "causes"
    """All causes together with the network, on held-out rows."""
    PARSIMONY = "parsimony"
    """A continuum, or something whose kind is open, with the best network: it says the same with fewer parameters."""
    SIMPLEST = "simplest"
    """The fewest classes, or one trait, with the best network, by BIC: see evidence/simplest_description.py."""
    TIME = "time"
    """All hidden variables together with the best model without, on held-out blocks."""

    @property
    def drawn(self) -> bool:
        """Whether the comparison is made on simulated tables."""
        return self in (Compared.SCORE, Compared.CLASSES)


@dataclass(frozen=True)
class Evidence:
    """What speaks for a hidden variable."""

    gain: float
    null_gains: tuple[float, ...] = ()
    """The best gain found in each table simulated without the hidden variable."""
    p_value: float | None = None
    accepted: bool = True
    tested: bool = False
    stopped: Stopped | None = None
    """Why fewer tables than asked for were simulated; None if all were."""
    held_out: float | None = None
    """Gain on rows not learned from, nats a row."""
    held_out_interval: tuple[float, float] | None = None
    support: float | None = None
    """Share of resamples in which a variable with mostly the same neighbours and aligned states came back."""
    links: Mapping[str, float] | None = None
    """By column, the share of resamples in which it is next to that variable."""
    rows: int | None = None
    """Of a large table, in how many rows drawn at random it was looked for and tested; then `gain` is that there."""
    kind: Compared = Compared.SCORE
    free: FreeLearner | None = None
    """The columns next to it foretold with it, against any function of the other columns."""
    over_kinds: float | None = None
    """Of a wide table, its gain in its own surroundings where both sides may have families of any kind."""
    claimed: float | None = None
    """Its gain over the best network of every kind, both searched for in full: `gain` is what the quick search that
    simulated tables get shows, with tables on both sides."""
    told_by: ToldBy | None = None
    """The observed column that tells most of it."""
    level: float | None = None
    """What the p-value was compared with; None where no p-value decides."""
    p_interval: tuple[float, float] | None = None
    """95 % for the chance that a simulated table gains as much: the p-value's own error, with so many draws."""
    tail: float | None = None
    """That chance extrapolated beyond the largest draw, by a generalised Pareto tail: information, never the gate."""

    def __post_init__(self) -> None:
        if self.level is not None and not 0 < self.level < 1:  # (a damaged file's)
            raise ValueError(f"level {self.level!r}: expected a share between 0 and 1")

    @property
    def draws(self) -> int:
        """Tables that were simulated without it."""
        return len(self.null_gains)

    @property
    def reached(self) -> int:
        """Of those, how many gained as much."""
        return sum(each >= self.gain for each in self.null_gains)

    @property
    def cut(self) -> bool:
        """Whether time ended the test before it could say anything."""
        return self.stopped is Stopped.BUDGET and 1 / (1 + self.draws) > PROVISIONAL + 1e-12

    @property
    def needed(self) -> int:
        """Draws without which no p-value can be as small as the level."""
        return draws_needed(PROVISIONAL if self.level is None else self.level)

    @property
    def provisional(self) -> bool:
        """Whether there were too few draws for the level, though none of them gained as much."""
        clear = self.stopped is Stopped.CLEAR  # (of findings that were saved before there was a level)
        return self.tested and self.kind.drawn and self.accepted and not clear and self.draws < self.needed

    @property
    def contradicted(self) -> bool:
        """Whether rows that were held out are clearly worse off with it."""
        return self.held_out_interval is not None and self.held_out_interval[1] < 0

    @property
    def unsupported(self) -> bool:
        """Whether it comes back in too few resamples, seen how clearly held-out rows speak for it."""
        least = UNSUPPORTED
        if self.held_out_interval is not None and self.held_out_interval[0] <= 0:
            least = NOWHERE if self.held_out_interval == (0.0, 0.0) else UNSURE
        return self.support is not None and self.support <= least + 1e-9

    @property
    def outguessed(self) -> bool:
        """Whether a function of the other columns foretells as well, or families of other kinds say as much: simulated
        tables share the rival's misfit, so a gain over one that does not describe the columns is no sign of a hidden
        cause."""
        said = self.over_kinds is not None and self.over_kinds <= KINDS_WORTH
        return said or (self.free is not None and not self.free.outdone)

    @property
    def drowned(self) -> bool:
        """Whether half of the tables with nothing hidden show more than it claims: then what is compared is how poorly
        tables of counts say these columns, of which the data, that no rival describes wholly, may have more."""
        return self.claimed is not None and self.draws > 0 and median(self.null_gains) >= self.claimed

    @property
    def copied(self) -> bool:
        """Whether it only says again, more coarsely, what one observed column says."""
        return self.told_by is not None and self.told_by.copy

    @property
    def believed(self) -> bool:
        """Whether it may be said to be at work."""
        doubted = self.cut or self.contradicted or self.unsupported or self.outguessed or self.drowned or self.copied
        return self.tested and self.accepted and not doubted

    @property
    def doubt(self) -> Reason:
        """Why one that was accepted is not believed."""
        if self.copied:
            return Reason.COPY
        if self.outguessed:
            return Reason.RIVAL
        if self.contradicted:
            return Reason.HELD_OUT_AGAINST
        if self.drowned:
            return Reason.DROWNED
        return Reason.NOT_AGAIN if self.unsupported else Reason.TIME

    @property
    def compressor(self) -> bool:
        """Whether simulated tables show as large a gain: real in score, but no sign of a hidden cause."""
        return self.tested and not self.accepted


_BY_KIND = {Compared.PARSIMONY: Reason.PARSIMONY, Compared.SIMPLEST: Reason.SIMPLEST}


def weighed(evidence: Sequence[Evidence], asked: bool) -> Verdict:
    """The verdict on hidden variables that were found; `asked` says whether tests were to be run."""
    believed = [one for one in evidence if one.believed]
    if asked and believed:
        held_out = believed[0].kind in (Compared.CAUSES, Compared.TIME)
        provisional = any(one.provisional for one in believed)
        reason = Reason.FEW_DRAWS if provisional else Reason.HELD_OUT if held_out else Reason.TESTED
        reason = _BY_KIND.get(believed[0].kind, reason)
        return Verdict(Answer.FOUND, reason)
    if asked and any(one.tested for one in evidence):
        return Verdict(Answer.UNDECIDED, next(one.doubt for one in evidence if one.tested))
    return Verdict(Answer.NOT_TESTED, Reason.TIME if asked else Reason.NOT_ASKED)
