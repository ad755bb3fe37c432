"""The verdict for a terminal: at most so many lines, the report has the rest."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.report.words.bet_words import bets
from leverrier.report.words.verdict_words import compressor_words, headline, kind_words, place, verdict

MOST_LINES = 25
WIDTH = 100
MOST_VARIABLES, MOST_STATES = 3, 6
REST = "… the rest is in the report."


def terminal_words(found: Result, most: int = MOST_LINES, width: int = WIDTH) -> str:
    """All that `print` says where it fits, else the same in short."""
    whole = _wrapped(verdict(found).splitlines(), width)
    if len(whole) <= most:
        return "\n".join(whole)
    short = _wrapped(list(_short(found)), width)
    return "\n".join(short if len(short) <= most else [*short[: most - 1], REST])


def _short(found: Result) -> Iterator[str]:
    shape = found.shape
    yield headline(found)
    rows = f"{shape.sequences:,} sequences, {shape.rows:,} time steps" if shape.sequences else f"{shape.rows:,} rows"
    yield f"({rows}, {shape.columns} columns, {shape.holes:,} empty cells)"
    for each in found.hidden[:MOST_VARIABLES]:
        yield ""
        yield f"{each.name}: {kind_words(each)}, {place(each)}."
        if each.evidence is not None:
            yield from (f"  - {said}" for said in bets(found, each, each.evidence))
        yield from _states(found, each)
    if len(found.hidden) > MOST_VARIABLES:
        yield f"and {len(found.hidden) - MOST_VARIABLES} more hidden variables"
    for each in found.compressors[:1]:
        yield compressor_words(each)
    if found.power is not None and not found.hidden:
        yield str(found.power)


def _states(found: Result, each: HiddenVariable) -> Iterator[str]:
    states = found.meanings.get(each.name, ())
    for state in states[:MOST_STATES]:
        yield f"  {state.label}: {100 * state.prevalence:.0f} % of the rows: {state.suggested}"
    if len(states) > MOST_STATES:
        yield f"  and {len(states) - MOST_STATES} more states"


def _wrapped(lines: list[str], width: int) -> list[str]:
    made: list[str] = []
    for line in lines:
        inside = " " * (len(line) - len(line.lstrip()) + 2)
        made += textwrap.wrap(line, width, subsequent_indent=inside, break_long_words=False) or [""]
    return made
