"""The report of a discovery, as one page."""

from __future__ import annotations

from leverrier.discovery.examined import Examined
from leverrier.report.page import Section, render
from leverrier.report.words import headline, hidden_lines, verdict


def discovery_page(found: Examined, title: str) -> str:
    """Verdict, hidden variables, what was done, how to repeat it."""
    sections = [Section("Verdict", (headline(found),), verdict(found))]
    sections += [Section(each.name, tuple(hidden_lines(found, each))) for each in found.hidden]
    arcs = "\n".join(f"{parent} → {child}" for parent, child in found.network.edges)
    sections.append(Section("The network", (), arcs))
    return render(title, sections)
