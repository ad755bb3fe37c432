"""What would change our mind, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from leverrier.discovery.result import Result
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.report.parts.page_parts import percent, several

NOT_TESTED = "a test against chance: it was left out here, so this is not evidence yet (run it with evidence=True)"


def doubts(found: Result) -> Iterator[str]:
    """What would speak against the verdict, from what was measured."""
    if found.time is not None:
        return _over_time(found.time, found.shape.sequences)
    return _of_table(found) if found.hidden else _of_none(found)


def _of_none(found: Result) -> Iterator[str]:
    if not found.settings.finished:
        yield "more time: not all was tried"
    more = "a weak hidden variable shows itself only in many"
    said = "what would be found, and what missed, is said under “What was looked for”"
    yield f"more rows: {more if found.power is None else said}"
    yield "columns that were not in this table: a hidden variable shows itself only through several columns it drives"
    yield "finer values: columns cut into few bins or merged categories hide what a hidden variable does to them"


def _of_table(found: Result) -> Iterator[str]:
    one = found.hidden[0].evidence
    if one is None or not one.tested:
        yield NOT_TESTED
    else:
        yield "new rows of the same kind on which the model with it predicts no better than the one without"
        if one.provisional:
            least = f"{1 / (1 + one.draws):.2g}"
            yield f"more simulated tables: with {several(one.draws, 'table')} the smallest possible p-value is {least}"
    if one is not None and one.held_out_interval is not None and one.held_out_interval[0] <= 0:
        yield "the held-out gain: its interval includes zero, so held-out rows do not yet speak for it"
    if one is not None and one.support is not None and one.support < 0.7:
        yield f"how rarely it comes back: in only {percent(one.support)} of resamples"
    yield "a column that, once measured and added, explains why these columns move together: then it is that column"
    yield "rows of two kinds put together, or rows that belong together (one person twice): these look the same"


def _over_time(found: TimeFindings, sequences: int) -> Iterator[str]:
    if not found.hidden:
        yield "more time steps: a regime that changes only once or twice cannot be told from chance"
        yield "columns that were not measured: something hidden shows itself through several columns, or by lasting"
        yield "finer values or shorter steps: columns cut into few bins hide what a hidden variable does to them"
    elif not found.tested:
        yield NOT_TESTED
    elif not found.accepted:
        yield "more time steps, or new sequences, that the memories predict clearly better than the columns' own past"
        yield 'the default method, which looks for states that last, not only for copies (leave method="boyen1999" out)'
    else:
        yield "new sequences of the same kind on which the model with it predicts no better than the one without"
        lost = sum(fold.hidden is not None and fold.hidden >= fold.observed for fold in found.folds)
        if lost:
            yield f"the parts that were held out: in {lost} of {len(found.folds)} the hidden variables gain nothing"
        yield "a longer memory of the columns themselves, beyond the lags and memories tried here"
        yield "a measured column that, once added, tells the state: then it is that column"
        if sequences == 1:
            yield "a second sequence: what lasts in one sequence may be that sequence's own history, not a law"
        else:
            yield "sequences that are not alike: a state that never changes within one only tells sequences apart"
