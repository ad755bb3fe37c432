"""Rows (how sure their states are), what is left unexplained, holes, and the candidates that were tried."""

from __future__ import annotations

from collections.abc import Mapping

from leverrier.discovery.evidence.certainty import AMBIGUOUS
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.report.charts.discovery_charts import certainty_chart, holes_chart, remaining_chart
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.page_parts import (
    Block,
    Figures,
    Grid,
    Part,
    Words,
    abbreviated,
    percent,
    several,
    shortened,
)

MOST_FIGURES = 4
MOST_ATTEMPTS = 20


def rows_part(found: Result) -> Part:
    """How surely rows belong to states. No row is shown."""
    known = {} if found.rows is None else found.rows.certainty
    if not known or found.rows is None:
        return Part("rows", "Rows", [Words("Posteriors of the rows were not summed up in this run.")])
    total = max(found.rows.total, 1e-300)
    lines, figures = [], []
    for name, each in known.items():
        lines.append(
            (
                name,
                percent(each.mean),
                f"{each.ambiguous:,.0f} ({percent(each.ambiguous / total)})",
                f"{each.sharpness:.2f}",
            )
        )
        if len(figures) < MOST_FIGURES:
            figures.append(
                pictured(certainty_chart(each), f"{name}: rows by the probability of their most probable state.")
            )
    head = ("", "expected to be right", f"rows in doubt (below {percent(AMBIGUOUS)})", "sharpness")
    caption = "Sharpness: 1 if every row's state is certain, 0 if rows say nothing about it."
    return Part("rows", "Rows", [Grid(head, tuple(lines), caption), Figures(tuple(figures))])


def remaining_part(found: Result) -> Part:
    """Pairs of columns that depend on each other more than the model says."""
    left = found.remaining
    if left is None or not left.pairs:
        return Part(
            "remaining", "What is left unexplained", [Words("Remaining dependencies were not measured in this run.")]
        )
    clear = left.clear
    if clear:
        words = (
            f"{several(len(clear), 'pair')} of columns of {left.n_pairs:,} depend on each other more than the "
            "model says, and more "
            f"than chance shows (the {left.draws} tables drawn from the model itself)."
        )
    else:
        words = (
            f"Nothing stands out: of {several(left.n_pairs, 'pair')} of columns none depends more than the most "
            "unusual pair of "
            f"one in twenty tables drawn from the model itself ({left.draws} were drawn)."
        )
    names = abbreviated(dict.fromkeys(name for pair in left.pairs for name in (pair.first, pair.second)), 40)
    rows = tuple(
        (
            f"{names[pair.first]} – {names[pair.second]}",
            f"{pair.observed:.4f}",
            f"{pair.expected:.4f}",
            f"{pair.z:+.1f}",
            f"{pair.p_value:.2g}",
        )
        for pair in left.pairs
    )
    caption = (
        f"Mutual information in nats a row, on {left.rows:,} rows; z in standard deviations of the drawn tables; "
        "p over all pairs."
    )
    figure = pictured(
        remaining_chart(left), "Dashes: what the most unusual pair reaches by chance in one of twenty tables."
    )
    grid = Grid(("pair", "in the data", "in the model", "z", "p"), rows, caption)
    return Part("remaining", "What is left unexplained", [Words(words), Figures((figure,)), grid])


def holes_part(found: Result) -> Part:
    """Where cells were empty, and what was done about them."""
    shape = found.shape
    cells = max(shape.rows * shape.columns, 1)
    if not shape.holes:
        return Part("holes", "Holes", [Words("No cell was empty.")])
    blocks: list[Block] = [
        Words(
            f"{shape.holes:,} of {cells:,} cells were empty ({percent(shape.holes / cells)}). No row was "
            "dropped: fits and posteriors "
            "sum over what was not seen. That is right if a cell's being empty does not depend on its value."
        )
    ]
    if found.rows is not None and found.rows.holes:
        count = len(found.rows.holes)
        caption = f"Empty cells by column{' (the 20 with most)' if count > 20 else ''}."
        blocks.append(Figures((pictured(holes_chart(found.rows.holes, shape.rows), caption),)))
    return Part("holes", "Holes", blocks)


def attempts_part(found: Result) -> Part:
    """The candidates that were tried, best first, and how far the searches agree."""
    blocks: list[Block] = [
        Words(
            f"Searches for the best network without hidden variables ended {found.spread:.1f} nats apart"
            + (
                f"; removing a hidden variable and searching on from there added {found.repaired:.1f} nats."
                if found.repaired
                else "."
            )
        )
    ]
    known = [(each, each.evidence) for each in found.hidden if each.evidence is not None]
    support = [(each, one.support, one.links) for each, one in known if one.support is not None]
    if support:
        said = (f"{each.name} came back in {percent(share)} of resamples." for each, share, _ in support)
        blocks.append(Words(" ".join(said)))
        blocks += [_links(each, links) for each, _, links in support if links]
    elif found.hidden:
        blocks.append(Words("Whether it comes back in resamples was not measured."))
    if not found.attempts:
        blocks.append(
            Words(
                "No places were tried one by one: this model looks at all columns at once."
                if found.hidden
                else "No group of columns suggested a place for a hidden variable."
            )
        )
        return Part("starts", "Starts and replication", blocks)
    names = abbreviated([variable.name for variable in found.shape.variables], 32)
    best = sorted(found.attempts, key=lambda each: -each.gain)[:MOST_ATTEMPTS]
    rows = tuple(
        (
            _few(tuple(names.get(member, member) for member in each.members)),
            shortened(each.signature, 60),
            shortened(each.start, 40),
            str(each.states),
            f"{each.gain:+.1f}",
        )
        for each in best
    )
    more = f", the best {len(best)} of {len(found.attempts)}" if len(found.attempts) > len(best) else ""
    caption = (
        f"Candidates tried{more}: gain in nats when first tried, over the best network so far; the best are then "
        "refined."
    )
    blocks.append(Grid(("behind", "why there", "start", "states", "gain"), rows, caption, words=(0, 1, 2), stack=True))
    return Part("starts", "Starts and replication", blocks)


def _links(each: HiddenVariable, shares: Mapping[str, float]) -> Grid:
    links = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = tuple(
        (shortened(column, 60), percent(share), "yes" if column in each.neighbours else "no")
        for column, share in links[:24]
    )
    return Grid((f"next to {each.name}", "resamples", "here too"), shown, words=(0, 2))


def _few(names: tuple[str, ...], most: int = 6) -> str:
    shown = ", ".join(shortened(name, 32) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
