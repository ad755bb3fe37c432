"""What is said of the data themselves, of rows, and of what the model leaves unexplained."""

from __future__ import annotations

from collections.abc import Iterator

from leverrier.data.variable import ColumnKind
from leverrier.discovery.evidence.certainty import AMBIGUOUS, Certainty
from leverrier.discovery.evidence.residual import Remaining
from leverrier.discovery.result import Result
from leverrier.report.parts.page_parts import percent, several


def spread_words(found: Result) -> str:
    """How far the searches for the rival agree."""
    return (
        f"Searches for the best network without hidden variables ended {found.spread:.1f} nats apart; a gain below "
        "that would mean nothing."
    )


def remaining_words(left: Remaining) -> str:
    """Whether pairs of columns depend on each other more than the model says."""
    if left.clear:
        return (
            f"The model is not the whole story: {several(len(left.clear), 'pair')} of columns of {left.n_pairs:,} "
            f"depend on each other more than it says, and more than chance shows ({left.draws} tables drawn from it)."
        )
    return (
        f"Nothing is left over: of {several(left.n_pairs, 'pair')} of columns none depends on each other more than the "
        f"model says, by more than chance shows ({left.draws} tables drawn from the model)."
    )


def holes_words(found: Result) -> str:
    """Where cells were empty, and what was done about them."""
    shape = found.shape
    cells = max(shape.rows * shape.columns, 1)
    if not shape.holes:
        return "No cell was empty."
    return (
        f"{shape.holes:,} of {cells:,} cells were empty ({percent(shape.holes / cells)}). No row was dropped: fits and "
        "posteriors sum over what was not seen. That is right if a cell's being empty does not depend on its value."
    )


_OF = {
    ColumnKind.CATEGORY: "of categories",
    ColumnKind.ORDERED: "of ordered categories",
    ColumnKind.BOOLEAN: "of yes and no",
    ColumnKind.INTEGER: "of whole numbers, each a state",
    ColumnKind.BINNED: "of numbers",
}


def kinds_words(found: Result) -> Iterator[str]:
    """How columns were read."""
    kinds: dict[ColumnKind, int] = {}
    for column in found.shape.variables:
        kinds[column.kind] = kinds.get(column.kind, 0) + 1
    if kinds:
        yield "Columns: " + ", ".join(f"{count} {_OF[kind]}" for kind, count in kinds.items()) + "."


def doubt_of_rows(name: str, known: Certainty, total: float) -> str:
    """How many rows are in doubt, and how often the most probable state is expected to be right."""
    return (
        f"{name}: the most probable state is expected to be right in {percent(known.mean)} of rows. "
        f"{known.ambiguous:,.0f} rows ({percent(known.ambiguous / max(total, 1e-300))}) are in doubt: none of the "
        f"states reaches {percent(AMBIGUOUS)} there. found.add_to(data) gives every row its state and probability."
    )
