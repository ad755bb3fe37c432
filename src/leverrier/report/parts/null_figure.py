"""The gain beside those of simulated data with nothing hidden, as a figure of a page."""

from __future__ import annotations

from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.report.charts.discovery_charts import null_dots
from leverrier.report.charts.pictures import pictured
from leverrier.report.parts.page_parts import Figure
from leverrier.report.words.bet_words import gate_of

_DRAWN = {
    Compared.SCORE: "the best gain in tables simulated without it",
    Compared.CLASSES: "classes less arcs in score, in tables simulated from the arcs",
    Compared.TIME: "the best gain in sequences simulated without it",
}


def null_figure(name: str, evidence: Evidence) -> Figure:
    """A dot for every simulated table or set of sequences, a line for the data."""
    gate = gate_of(evidence)
    dashes = "" if gate is None else "; dashes, what a gain must exceed to be believed"
    drawn = _DRAWN.get(evidence.kind, _DRAWN[Compared.SCORE])
    return pictured(null_dots(evidence, gate), f"{name}: grey dots, {drawn}; the orange line, in the data{dashes}.")
