"""The report of a discovery: one page from its parts."""

from __future__ import annotations

from collections.abc import Sequence

from leverrier.discovery.examined import Examined
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.report.html.page_html import page
from leverrier.report.parts.methods_part import methods_part
from leverrier.report.parts.network_part import network_part
from leverrier.report.parts.page_parts import Part
from leverrier.report.parts.rows_part import attempts_part, holes_part, remaining_part, rows_part
from leverrier.report.parts.states_part import causes_part, how_many_part, states_part
from leverrier.report.parts.verdict_part import evidence_part, verdict_part
from leverrier.report.words.verdict_words import headline


def discovery_page(found: Examined, title: str, over_time: Sequence[Part] = (), live: bool = True) -> str:
    """The whole report as HTML; `over_time` are the parts of sequences, put after the states."""
    return page(title, headline(found), discovery_parts(found, over_time), live)


def discovery_parts(found: Examined, over_time: Sequence[Part] = ()) -> list[Part]:
    """The sections, in the order they are read."""
    parts = [verdict_part(found), network_part(found), evidence_part(found)]
    if found.hidden:
        if isinstance(found.model, HiddenCauses):
            parts.append(causes_part(found, found.model))
        else:
            parts += [how_many_part(found), states_part(found)]
    parts += over_time
    if found.hidden:
        parts.append(rows_part(found))
    return [*parts, remaining_part(found), attempts_part(found), holes_part(found), methods_part(found)]
