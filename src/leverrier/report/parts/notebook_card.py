"""A discovery in a notebook cell: the sentence, the states, the evidence."""

from __future__ import annotations

from leverrier.data.card import card
from leverrier.discovery.result import Result
from leverrier.report.charts.palette import symbol
from leverrier.report.parts.page_parts import percent, shortened
from leverrier.report.words.bet_words import bets
from leverrier.report.words.verdict_words import headline, kind_words, place

MOST = 3


def discovery_card(found: Result) -> str:
    """What `print` says first, as a small table; the whole of it is in the report."""
    shape = found.shape
    sequences = {"sequences": f"{shape.sequences:,}", "time steps": f"{shape.rows:,}"}
    facts = sequences if shape.sequences else {"rows": f"{shape.rows:,}"}
    facts |= {"columns": str(shape.columns), "empty cells": f"{shape.holes:,}"}
    rows, words = [], []
    for each in found.hidden[:MOST]:
        for number, state in enumerate(found.meanings.get(each.name, ())[:6]):
            mark = f"{symbol(number)} {shortened(state.label, 24)}"
            rows.append((each.name, mark, percent(state.prevalence), shortened(state.suggested, 60)))
        words.append(f"{each.name}: {kind_words(each)}, {place(each)}.")
        words += [] if each.evidence is None else list(bets(found, each, each.evidence))
    if found.power is not None and not found.hidden:
        words.append(str(found.power))
    words.append('found.report("report.html") writes the whole report')
    return card(headline(found), facts, ("hidden", "state", "rows", "what marks it"), rows, words)
