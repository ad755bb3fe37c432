"""The report of a discovery: one page from its parts."""

from __future__ import annotations

from leverrier.discovery.result import Result
from leverrier.report.html.page_html import page
from leverrier.report.parts.along_time_part import time_part
from leverrier.report.parts.methods_part import methods_part
from leverrier.report.parts.network_part import network_part
from leverrier.report.parts.page_parts import Part
from leverrier.report.parts.rows_part import attempts_part, holes_part, remaining_part, rows_part
from leverrier.report.parts.slices_part import slices_part
from leverrier.report.parts.states_part import causes_part, how_many_part, states_part
from leverrier.report.parts.time_parts import held_out_part, remembered_part
from leverrier.report.parts.verdict_part import evidence_part, verdict_part
from leverrier.report.words.verdict_words import headline


def discovery_page(found: Result, title: str, live: bool = True) -> str:
    """The whole report as HTML."""
    return page(title, headline(found), discovery_parts(found), live)


def discovery_parts(found: Result) -> list[Part]:
    """The sections, in the order they are read: what the data do not have is left out."""
    parts = [verdict_part(found)]
    if found.time is not None and found.along is not None:
        parts += [slices_part(found.time), held_out_part(found.time), states_part(found)]
        return [*parts, time_part(found.time, found.along), remembered_part(found.time), methods_part(found)]
    parts += [network_part(found), evidence_part(found)]
    causes = found.model.causes
    if causes is not None:
        parts.append(causes_part(found, causes))
    elif found.hidden:
        parts += [how_many_part(found), states_part(found)]
    if found.hidden:
        parts.append(rows_part(found))
    return [*parts, remaining_part(found), attempts_part(found), holes_part(found), methods_part(found)]
