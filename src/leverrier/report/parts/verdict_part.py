"""The first sections: the verdict in plain words, what would change our mind, and why we believe it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.null_test import WORTH_A_TEST
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.plan import WORTH
from leverrier.discovery.result import Result
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.discovery.verdict import Answer
from leverrier.report.charts.discovery_charts import power_chart
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.hidden_table import hidden_table
from leverrier.report.parts.null_figure import null_figure
from leverrier.report.parts.page_parts import (
    Beside,
    Block,
    Facts,
    Figures,
    Fold,
    Grid,
    Items,
    Part,
    Words,
    abbreviated,
    percent,
)
from leverrier.report.parts.time_parts import short_chain
from leverrier.report.words.bet_words import bets, compared_gain, rest_of_evidence, simulated
from leverrier.report.words.data_words import remaining_words, spread_words
from leverrier.report.words.doubt_words import doubts
from leverrier.report.words.page_words import CLASSES_PAGE, NATS, NO_PROOF
from leverrier.report.words.time_words import nats_of, observed_words
from leverrier.report.words.verdict_words import compressor_words, headline, kind_words, place, simplest_words

LONG = 48


def verdict_part(found: Result) -> Part:
    """The headline, the numbers to see first, a paragraph for each hidden variable, what would change our mind."""
    unit = STEP if found.along is None else found.along.unit
    blocks: list[Block] = [Words(headline(found), strong=True), Facts(tuple(_facts(found)))]
    table = hidden_table(found)
    blocks += [] if table is None else [table]
    blocks += [Words(_told(each, unit)) for each in found.believed[:8]]
    if found.untested:
        if found.believed:
            blocks.append(Words("Found, but not tested or not to the end:"))
        blocks += [Words(_told(each, unit)) for each in found.untested[:8]]
    blocks += [Words(compressor_words(_short(each))) for each in found.compressors]
    if found.simplest is not None:
        shown = f" {CLASSES_PAGE}" if found.simplest.classes else ""
        blocks.append(Words(simplest_words(found.simplest) + shown))
    if found.power is not None and not found.hidden:
        blocks.append(Words(str(found.power)))
    if found.time is not None:
        blocks.append(Words(observed_words(found.time, unit)))
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
    yield "time steps" if shape.sequences else "rows", f"{shape.rows:,}"
    yield "columns", f"{shape.columns:,}"
    yield "empty cells", f"{shape.holes:,}"
    if not found.hidden:
        return
    yield "hidden variable" + "s" * (len(found.hidden) > 1), str(len(found.hidden))
    one = found.hidden[0].evidence
    if len(found.hidden) == 1 and one is not None and one.draws:
        yield f"simulated {simulated(one)} that gained as much", f"{one.reached} of {one.draws}"
        return
    if found.time is not None and found.time.tested:
        yield "nats gained in 1,000 time steps", nats_of(found.time.gain).removesuffix(" nats")
    elif not found.together:
        yield "gain in nats", f"{sum(map(compared_gain, found.hidden)):,.0f}"


def _told(each: HiddenVariable, unit: TimeUnit) -> str:
    if each.chain is not None:
        return short_chain(each.chain, unit)
    return f"{each.name}: {kind_words(each)}, {place(_short(each))}."


def _short(each: HiddenVariable) -> HiddenVariable:
    """With at most twelve neighbours, each label short enough to be read within a sentence."""
    short = abbreviated((*each.children, *each.parents), LONG)
    names = tuple(short[name] for name in each.children)
    if len(names) > 12:
        names = (*names[:11], f"{len(names) - 11} more")
    return replace(each, children=names, parents=tuple(short[name] for name in each.parents[:12]))


def evidence_part(found: Result) -> Part:
    """Would you bet on it? Held-out rows, chance and resamples in words; then the numbers; and what would be missed."""
    blocks: list[Block] = []
    hidden = found.hidden[:1] if found.together else found.hidden
    tested = [*hidden, *found.compressors]
    if tested:
        blocks.append(Words(NATS))
    figures = []
    for each in hidden:
        one = each.evidence
        if one is None:
            blocks.append(Words(f"{each.name}: nothing was tested."))
            continue
        said: list[Block] = [Words(f"{each.name}:")] if len(hidden) > 1 else []
        said.append(Items(tuple(bets(found, each, one)) or (rest_of_evidence(each, one),)))
        blocks += [Beside(null_figure(each.name, one), tuple(said))] if one.draws else said
        blocks.append(Fold("All that was measured, in one paragraph", (Words(rest_of_evidence(each, one)),)))
    for each in found.compressors:
        if each.evidence is not None and each.evidence.draws:
            figures.append(null_figure(each.name, each.evidence))
    if found.power is not None:
        caption = (
            f"What would have been found: two-state variables planted behind {found.power.children} columns of the "
            f"best network, {found.power.rows:,} rows; dashes: four of five."
        )
        shown = pictured(power_chart(found.power), caption)
        said = [Words(str(found.power))] if tested else [Words(_not_tested(found)), *_left(found)]
        blocks.append(Beside(shown, tuple(said)))
    if tested:
        blocks.append(_grid(tested, found))
    elif found.power is None:
        blocks.append(Words(_not_tested(found)))
    if figures:
        blocks.append(Figures(tuple(figures)))
    if tested or found.power is None:
        blocks += _left(found)
    heading = "Would you bet on it?" if tested else "What was looked for"
    return Part("evidence", heading, blocks)


def _left(found: Result) -> list[Block]:
    """How far apart searches ended, and what the model leaves unexplained."""
    said: list[Block] = []
    if found.spread and found.settings.finished:  # (searches cut short are apart by what was not done)
        said.append(Words(spread_words(found)))
    if found.remaining is not None and found.remaining.pairs:
        said.append(Words(remaining_words(found.remaining)))
    return said


def _not_tested(found: Result) -> str:
    if found.verdict.answer is not Answer.NOTHING:
        return f"Nothing was tested: {found.verdict.reason}."
    best = max((each.gain for each in found.attempts), default=0.0)
    if best <= WORTH:
        return "No candidate gained anything over the best network of the columns: nothing had to be tested."
    return (
        f"The best candidate gained {best:.1f} nats over the best network of the columns at first; after all was "
        f"compared none gained the {WORTH_A_TEST:.0f} nat from which a gain is tested."
    )


def _grid(tested: list[HiddenVariable], found: Result) -> Grid:
    rows = []
    together, resamples = found.together, found.settings.resamples
    for each in tested:
        one = each.evidence
        rows.append(
            (
                "all causes" if together else each.name,
                f"{compared_gain(each):,.1f}",
                _or_dash(None if one is None or not one.null_gains else f"{max(one.null_gains):,.1f}"),
                _or_dash(None if one is None or one.p_value is None else f"{one.p_value:.2g}"),
                _held_out(one),
                _or_dash(None if one is None or one.support is None else _came_back(one.support, resamples)),
                _believed(one),
            )
        )
    head = ("hidden", "gain", "chance gained at most", "p", "held-out gain a row", "came back", "believed")
    caption = "Chance: the best gain in tables simulated without it. A dash: not measured."
    return Grid(head, tuple(rows), caption, words=(0, 6), stack=True)


def _believed(one: Evidence | None) -> str:
    if one is None or not one.tested:
        return "not tested"
    if not one.believed:
        return "no"
    return "provisionally" if one.provisional else "yes"


def _came_back(support: float, resamples: object) -> str:
    if isinstance(resamples, int) and resamples > 0:
        return f"{round(support * resamples)} of {resamples}"
    return percent(support)


def _held_out(one: Evidence | None) -> str:
    if one is None or one.held_out is None or one.held_out_interval is None:
        return "–"
    low, high = one.held_out_interval
    return f"{one.held_out:+.3f} ({low:+.3f} to {high:+.3f})"


def _or_dash(text: str | None) -> str:
    return "–" if text is None else text
