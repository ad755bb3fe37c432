"""Rows (how sure their states are), what is left unexplained, and the candidates that were tried."""

from __future__ import annotations

from collections.abc import Mapping

from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.report.charts.discovery_charts import certainty_chart, remaining_chart
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.page_parts import Beside, Block, Grid, Part, Words, abbreviated, percent, shortened
from leverrier.report.words.bet_words import comeback_words
from leverrier.report.words.data_words import doubt_of_rows, remaining_words

MOST_FIGURES = 4
MOST_ATTEMPTS = 20


def rows_part(found: Result) -> Part | None:
    """Who is in doubt. No row is shown: the page holds none."""
    known = {} if found.rows is None else found.rows.certainty
    if not known or found.rows is None:
        return None
    blocks: list[Block] = []
    for place, (name, each) in enumerate(known.items()):
        words = Words(doubt_of_rows(name, each, found.rows.total))
        caption = f"{name}: rows by the probability of their most probable state."
        blocks.append(words if place >= MOST_FIGURES else Beside(pictured(certainty_chart(each), caption), (words,)))
    return Part("rows", "Rows in doubt", blocks)


def remaining_part(found: Result) -> Part | None:
    """Pairs of columns that depend on each other more than the model says."""
    left = found.remaining
    if left is None or not left.pairs:
        return None
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
    return Part("remaining", "What is left unexplained", [Beside(figure, (Words(remaining_words(left)),)), grid])


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
        resamples = found.settings.resamples
        said = (comeback_words(each.name, share, resamples) for each, share, _ in support)
        blocks.append(Words(" ".join(said)))
        blocks += [_links(each, links) for each, _, links in support if links]
    if not found.attempts:
        blocks.append(
            Words(
                "No places were tried one by one: this model looks at all columns at once."
                if found.hidden
                else "No group of columns suggested a place for a hidden variable."
            )
        )
        return Part("starts", "What was tried", blocks)
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
    return Part("starts", "What was tried", blocks)


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
