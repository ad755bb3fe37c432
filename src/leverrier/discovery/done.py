"""What a run did, step by step, as values: report/words makes sentences of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from leverrier.discovery.verdict import ModelKind, Reason
from leverrier.learning.mixed.mixed_space import Unvarying


@dataclass(frozen=True)
class Binned:
    """Columns of numbers were cut: networks of states have no others."""

    columns: int


@dataclass(frozen=True)
class Filled:
    """Empty cells were drawn for the search; posteriors use the table as it came, and so do `fits` where there are."""

    cells: int
    fits: bool


@dataclass(frozen=True)
class Sampled:
    """A large table's hidden variables were looked for and tested in some of its rows; `learned` there too."""

    rows: int
    learned: bool = False


@dataclass(frozen=True)
class Baseline:
    """The best network without hidden variables; `numbers` as they are, or states alone."""

    arcs: int
    numbers: bool = False


@dataclass(frozen=True)
class Tried:
    candidates: int


@dataclass(frozen=True)
class TakenTogether:
    """So many hidden variables in so many rounds, the candidates of a round tested by the same simulated tables; the
    level of each round, None where nothing was tested."""

    hidden: int
    rounds: int
    level: float | None


@dataclass(frozen=True)
class OneClass:
    """One class behind all columns was compared with arcs, and `tested` by simulated tables."""

    tested: bool


@dataclass(frozen=True)
class ByGroups:
    """Whole groups of rows were drawn, held out and simulated."""

    groups: int


@dataclass(frozen=True)
class LearnedFrom:
    """What the model's numbers rest on: all `rows`, or None for those of the sample; its `arcs` as well."""

    rows: int | None
    arcs: bool = True


@dataclass(frozen=True)
class ClassesFitted:
    """One class over numbers as they are and categories."""


@dataclass(frozen=True)
class CausesCompared:
    """Overlapping causes beside the model of this kind, on held-out rows, in nats a row."""

    gain: float
    error: float
    against: ModelKind
    share: float = 1.0
    """Of the rows; the others were left out where these show that causes cannot win."""


class CausesEnd(Enum):
    """Why overlapping causes, compared, are not what is told."""

    UNNAMED = "time"
    UNSHARED = "no cause of two columns"


@dataclass(frozen=True)
class CausesDropped:
    """They were not compared (a reason of the verdict), or did not come to be told."""

    why: Reason | None = None
    end: CausesEnd | None = None


@dataclass(frozen=True)
class SetAside:
    column: str
    why: Unvarying


@dataclass(frozen=True)
class HiddenWeighed:
    """Classes and continua beside the best network of numbers; each must drive so many columns without arcs."""

    beginnings: int
    views: int
    of_class: float | None = None
    """What the best class that so many columns show gained over the network, in nats; None if there was none."""
    of_continuum: float | None = None


@dataclass(frozen=True)
class TraitsTogether:
    """So many continua behind items were compared, all together, with the best network of so many rows without a hole;
    `tried` counts ways of answering too, which are not told."""

    told: int
    tried: int
    rows: int
    gain: float


@dataclass(frozen=True)
class BareClasses:
    """Classes that would gain, but through too few columns that hang together through them alone."""

    states: int
    columns: tuple[str, ...]
    gain: float
    views: int


@dataclass(frozen=True)
class GroupsSeen:
    """Groups of so many rows with fewer rows between them than on both sides, by which columns they differ most, how
    sure that is, and the share of rows that are not placed clearly. `components`: how many Gaussians BIC takes."""

    rows: tuple[int, ...]
    columns: tuple[str, ...]
    p_value: float
    unsure: float
    components: tuple[int, ...]


class Skipped(Enum):
    """Parts that a run cut short may lack."""

    SEARCH = "search"
    TABLES = "simulated tables"
    HELD_OUT = "held-out rows"
    RESAMPLES = "resamples"
    POWER = "power"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Omitted:
    """A part left out; of simulated tables so many of how many, for a hidden variable."""

    part: Skipped
    hidden: str = ""
    short: int = 0
    asked: int = 0


@dataclass(frozen=True)
class CutShort:
    """The time ran out before all was done."""

    omitted: tuple[Omitted, ...]


@dataclass(frozen=True)
class Said:
    """A step in words, as files saved before steps were values have it."""

    words: str


Step = (
    Binned
    | Filled
    | Sampled
    | Baseline
    | Tried
    | TakenTogether
    | OneClass
    | ByGroups
    | LearnedFrom
    | ClassesFitted
    | CausesCompared
    | CausesDropped
    | SetAside
    | HiddenWeighed
    | TraitsTogether
    | BareClasses
    | GroupsSeen
    | CutShort
    | Said
)
