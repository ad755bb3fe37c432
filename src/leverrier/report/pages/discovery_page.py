"""The report of a discovery: one page from its parts."""

from __future__ import annotations

from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.result import Result
from leverrier.report.html.page_html import page
from leverrier.report.parts.along_time_part import time_part
from leverrier.report.parts.data_part import data_part
from leverrier.report.parts.explore_part import explore_part
from leverrier.report.parts.methods_part import details_part
from leverrier.report.parts.network_part import network_part
from leverrier.report.parts.page_parts import Part
from leverrier.report.parts.rows_part import attempts_part, remaining_part, rows_part
from leverrier.report.parts.slices_part import slices_part
from leverrier.report.parts.states_part import causes_part, how_many_part, states_part
from leverrier.report.parts.time_parts import held_out_part, remembered_part
from leverrier.report.parts.verdict_part import evidence_part, verdict_part
from leverrier.report.words.verdict_words import headline


def discovery_page(found: Result, title: str, live: bool = True, sequences: Sequences | None = None) -> str:
    """The whole report as HTML. It holds no row of the data, unless their sequences are given to be drawn."""
    return page(title, headline(found), discovery_parts(found, sequences), live, rows=sequences is not None)


def discovery_parts(found: Result, sequences: Sequences | None = None) -> list[Part]:
    """The sections in the order of a reader's questions; what the data do not have is left out."""
    time, along = found.time, found.along
    if time is not None and along is not None:
        parts = [
            verdict_part(found),
            states_part(found),
            time_part(time, along, sequences),
            held_out_part(found, time, along.unit),
        ]
        parts += [
            slices_part(time, along.unit),
            remembered_part(time, along.unit),
            data_part(found),
            details_part(found, ()),
        ]
        return [part for part in parts if part is not None]
    causes = found.model.causes
    who = states_part(found) if causes is None else causes_part(found, causes)
    parts = [verdict_part(found), who, network_part(found), explore_part(found), evidence_part(found)]
    details = [how_many_part(found) if causes is None else None, attempts_part(found), remaining_part(found)]
    parts += [data_part(found), rows_part(found), details_part(found, details)]
    return [part for part in parts if part is not None]
