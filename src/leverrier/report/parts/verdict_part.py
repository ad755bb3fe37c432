"""The first sections: the verdict in plain words, what would change our mind, and why we believe it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from leverrier.discovery.evidence.null_test import FLOOR, Evidence
from leverrier.discovery.examined import Examined
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.plan import WORTH
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
    several,
)
from leverrier.report.words.verdict_words import evidence_sentences, headline, null_words, place

LONG = 48
NO_PROOF = (
    "A hidden variable is a model of dependence: it says that these columns vary together as if something unmeasured "
    "drove them. It is no proof of a cause."
)


def verdict_part(found: Examined) -> Part:
    """The headline, the numbers to see first, a paragraph for each hidden variable, what would change our mind."""
    shape = found.shape
    facts = [("rows", f"{shape.rows:,}"), ("columns", f"{shape.columns:,}"), ("empty cells", f"{shape.holes:,}")]
    if found.hidden:
        facts.append(("hidden", str(len(found.hidden))))
        if found.kind != "causes":
            facts.append(("gain, nats", f"{sum(each.gain for each in found.hidden):,.0f}"))
    blocks: list[Block] = [Words(headline(found), strong=True), Facts(tuple(facts))]
    blocks += [
        Words(f"{each.name}: {several(each.states, 'state')}, {place(_short(each))}.") for each in found.hidden[:8]
    ]
    blocks += [
        Words(
            f"Compressor, not a cause: {place(_short(each))}, {several(each.states, 'state')}, gain "
            f"{each.gain:.1f} nats; "
            f"{null_words(each.evidence)}."
        )
        for each in found.compressors
    ]
    if found.power is not None:
        blocks.append(Words(str(found.power)))
    if found.hidden:
        blocks.append(Words(NO_PROOF))
    blocks += [Words("What would change our mind:"), Items(tuple(_doubts(found)))]
    return Part("verdict", "The verdict", blocks)


def _short(each: HiddenVariable) -> HiddenVariable:
    """With at most twelve neighbours, each label short enough to be read within a sentence."""
    short = abbreviated((*each.children, *each.parents), LONG)
    names = tuple(short[name] for name in each.children)
    if len(names) > 12:
        names = (*names[:11], f"{len(names) - 11} more")
    return replace(each, children=names, parents=tuple(short[name] for name in each.parents[:12]))


def _doubts(found: Examined) -> Iterator[str]:
    """Sentences that say what would speak against the verdict, from what was measured."""
    if not found.hidden:
        yield (
            "more rows: a weak hidden variable shows itself only in many"
            if found.power is None
            else ("more rows: what would be found, and what missed, is said under “Why we believe it”")
        )
        yield (
            "columns that were not in this table: a hidden variable shows itself only through several columns it drives"
        )
        yield "finer values: columns cut into few bins or merged categories hide what a hidden variable does to them"
        return
    evidence = found.hidden[0].evidence
    if evidence is None or not evidence.tested:
        yield "a test against chance: it was left out here, so this is not evidence yet (run it with evidence=True)"
    else:
        yield "new rows of the same kind on which the model with it predicts no better than the one without"
    if evidence is not None and evidence.null_gains and evidence.p_value is not None and len(evidence.null_gains) < 19:
        yield (
            f"more simulated tables: with {several(len(evidence.null_gains), 'table')} the smallest possible "
            "p-value is "
            f"{1 / (1 + len(evidence.null_gains)):.2g}"
        )
    if evidence is not None and evidence.held_out_interval is not None and evidence.held_out_interval[0] <= 0:
        yield "the held-out gain: its interval includes zero, so held-out rows do not yet speak for it"
    if evidence is not None and evidence.support is not None and evidence.support < 0.7:
        yield f"how rarely it comes back: in only {percent(evidence.support)} of resamples"
    yield (
        "a measured column that, once added to the table, makes these columns independent: it would be the better name"
    )
    yield (
        "rows that are not alike: two sources put together, or rows that depend on each other, look like a "
        "hidden variable"
    )


def evidence_part(found: Examined) -> Part:
    """Gain, held-out gain with interval, the null histogram, support; and what would have been missed."""
    blocks: list[Block] = []
    tested = [*found.hidden[:1], *found.compressors] if found.kind == "causes" else [*found.hidden, *found.compressors]
    if tested:
        blocks.append(_grid(tested, found.kind == "causes"))
    for each in found.hidden if found.kind != "causes" else found.hidden[:1]:
        if each.evidence is not None:
            words = "All causes together" if found.kind == "causes" else each.name
            blocks.append(Words(f"{words}: " + " ".join(_sentences(each, each.evidence, found.kind))))
    figures = [_null_figure(each) for each in tested if each.evidence is not None and each.evidence.null_gains]
    if figures:
        blocks.append(Figures(tuple(figures)))
    elif tested and found.kind != "causes":
        blocks.append(Words("No simulated tables were drawn, so there is no histogram of what chance shows."))
    if not tested and found.verdict == "not tested":
        blocks.append(Words("The time ran out before the search was done: nothing was tested."))
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


def _nothing_tested(found: Examined) -> str:
    best = max((each.gain for each in found.attempts), default=0.0)
    if best <= WORTH:
        return "No candidate gained anything over the best network of the columns: nothing had to be tested."
    return (
        f"The best candidate gained {best:.1f} nats over the best network of the columns at first; after all was "
        f"compared none gained the {FLOOR:.0f} nats from which a gain is tested."
    )


def _sentences(each: HiddenVariable, evidence: Evidence, kind: str) -> Iterator[str]:
    if kind != "causes":
        yield from evidence_sentences(each, evidence)
        return
    if evidence.held_out is not None and evidence.held_out_interval is not None:
        low, high = evidence.held_out_interval
        yield (
            f"on held-out rows they gain {evidence.held_out:+.4f} nats a row over the best network "
            f"(95 %: {low:+.4f} to {high:+.4f})."
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
                "yes"
                if one is not None and one.tested and one.accepted
                else "not tested"
                if one is None or not one.tested
                else "no",
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


def _null_figure(each: HiddenVariable) -> Figure:
    evidence = each.evidence
    what = (
        "classes less arcs in score, in tables simulated from the arcs"
        if evidence.kind == "classes"
        else "the best gain in tables simulated without it"
    )
    return pictured(null_histogram(evidence), f"{each.name}: grey, {what}; orange, in the data.")
