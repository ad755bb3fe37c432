"""The first sections: the verdict in plain words, what would change our mind, and why we believe it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.evidence.null_test import WORTH_A_TEST
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.plan import WORTH
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import Answer
from leverrier.report.charts.discovery_charts import null_histogram, power_chart
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.page_parts import (
    Block,
    Facts,
    Figure,
    Figures,
    Grid,
    Items,
    Part,
    Words,
    abbreviated,
    percent,
)
from leverrier.report.parts.time_parts import short_chain
from leverrier.report.words.doubt_words import doubts
from leverrier.report.words.time_words import observed_words
from leverrier.report.words.verdict_words import compressor_words, evidence_sentences, headline, kind_words, place

LONG = 48
NO_PROOF = (
    "A hidden variable is a model of dependence: it says that these columns vary together as if something unmeasured "
    "drove them. It is no proof of a cause."
)


def verdict_part(found: Result) -> Part:
    """The headline, the numbers to see first, a paragraph for each hidden variable, what would change our mind."""
    blocks: list[Block] = [Words(headline(found), strong=True), Facts(tuple(_facts(found)))]
    blocks += [Words(_told(each)) for each in found.believed[:8]]
    if found.untested:
        if found.believed:
            blocks.append(Words("Found, but not tested or not to the end:"))
        blocks += [Words(_told(each)) for each in found.untested[:8]]
    blocks += [Words(compressor_words(_short(each))) for each in found.compressors]
    if found.power is not None:
        blocks.append(Words(str(found.power)))
    if found.time is not None:
        blocks.append(Words(observed_words(found.time)))
        if not found.time.status.converged:
            blocks.append(Words(f"Note: {found.time.status}."))
    if found.believed:
        blocks.append(Words(NO_PROOF))
    blocks += [Words("What would change our mind:"), Items(tuple(doubts(found)))]
    return Part("verdict", "The verdict", blocks)


def _facts(found: Result) -> Iterator[tuple[str, str]]:
    shape = found.shape
    if shape.sequences:
        yield "sequences", f"{shape.sequences:,}"
    yield "slices" if shape.sequences else "rows", f"{shape.rows:,}"
    yield "columns", f"{shape.columns:,}"
    yield "empty cells", f"{shape.holes:,}"
    if not found.hidden:
        return
    yield "hidden", str(len(found.hidden))
    if found.time is not None and found.time.tested:
        yield "gain, bits a slice", f"{found.time.gain:+.3f}"
    elif not found.together:
        yield "gain, nats", f"{sum(each.gain for each in found.hidden):,.0f}"


def _told(each: HiddenVariable) -> str:
    if each.chain is not None:
        return short_chain(each.chain)
    return f"{each.name}: {kind_words(each)}, {place(_short(each))}."


def _short(each: HiddenVariable) -> HiddenVariable:
    """With at most twelve neighbours, each label short enough to be read within a sentence."""
    short = abbreviated((*each.children, *each.parents), LONG)
    names = tuple(short[name] for name in each.children)
    if len(names) > 12:
        names = (*names[:11], f"{len(names) - 11} more")
    return replace(each, children=names, parents=tuple(short[name] for name in each.parents[:12]))


def evidence_part(found: Result) -> Part:
    """Gain, held-out gain with interval, the null histogram, support; and what would have been missed."""
    blocks: list[Block] = []
    hidden = found.hidden[:1] if found.together else found.hidden
    tested = [*hidden, *found.compressors]
    if tested:
        blocks.append(_grid(tested, found.together))
    for each in hidden:
        if each.evidence is not None:
            words = "All causes together" if found.together else each.name
            blocks.append(Words(f"{words}: " + " ".join(evidence_sentences(each, each.evidence))))
    figures = [
        _null_figure(each, each.evidence) for each in tested if each.evidence is not None and each.evidence.draws
    ]
    if figures:
        blocks.append(Figures(tuple(figures)))
    elif tested and not found.together:
        blocks.append(Words("No simulated tables were drawn, so there is no histogram of what chance shows."))
    if not tested and found.verdict.answer is not Answer.NOTHING:
        blocks.append(Words(f"Nothing was tested: {found.verdict.reason}."))
    elif not tested:
        blocks.append(Words(_nothing_tested(found)))
    if found.power is not None:
        blocks.append(Words(str(found.power)))
        caption = (
            f"What would have been found: two-state variables planted behind {found.power.children} columns of "
            "the best "
            f"network, {found.power.rows:,} rows; dashes: four of five."
        )
        blocks.append(Figures((pictured(power_chart(found.power), caption),)))
    if found.spread:
        blocks.append(
            Words(
                f"Searches for the best network without hidden variables ended {found.spread:.1f} nats apart; "
                "a gain below that would mean nothing."
            )
        )
    return Part("evidence", "Why we believe it", blocks)


def _nothing_tested(found: Result) -> str:
    best = max((each.gain for each in found.attempts), default=0.0)
    if best <= WORTH:
        return "No candidate gained anything over the best network of the columns: nothing had to be tested."
    return (
        f"The best candidate gained {best:.1f} nats over the best network of the columns at first; after all was "
        f"compared none gained the {WORTH_A_TEST:.0f} nat from which a gain is tested."
    )


def _grid(tested: list[HiddenVariable], together: bool) -> Grid:
    rows = []
    for each in tested:
        one = each.evidence
        rows.append(
            (
                "all causes" if together else each.name,
                f"{each.gain:,.1f}",
                _or_dash(None if one is None or not one.null_gains else f"{max(one.null_gains):,.1f}"),
                _or_dash(None if one is None or one.p_value is None else f"{one.p_value:.2g}"),
                _held_out(one),
                _or_dash(None if one is None or one.support is None else percent(one.support)),
                "not tested" if one is None or not one.tested else "yes" if one.believed else "no",
            )
        )
    head = ("", "gain", "chance gained at most", "p", "held-out gain a row", "resamples", "believed")
    caption = "Gains in nats. Chance: the best gain in tables simulated without it. A dash: not measured."
    return Grid(head, tuple(rows), caption, words=(0, 6), stack=True)


def _held_out(one: Evidence | None) -> str:
    if one is None or one.held_out is None or one.held_out_interval is None:
        return "–"
    low, high = one.held_out_interval
    return f"{one.held_out:+.3f} ({low:+.3f} to {high:+.3f})"


def _or_dash(text: str | None) -> str:
    return "–" if text is None else text


def _null_figure(each: HiddenVariable, evidence: Evidence) -> Figure:
    return pictured(null_histogram(evidence), f"{each.name}: grey, {_DRAWN[evidence.kind]}; orange, in the data.")


_DRAWN = {
    Compared.SCORE: "the best gain in tables simulated without it",
    Compared.CLASSES: "classes less arcs in score, in tables simulated from the arcs",
}
