"""The report of sequences: what is remembered, what is hidden, and how both were judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leverrier.data.slices import Sequences
from leverrier.discovery.time_findings import HiddenChain, TimeFindings
from leverrier.report.page import Section, render, svg

if TYPE_CHECKING:
    import altair

MOST_SLICES = 1500
"""Of the first sequence, for the ribbon."""


def time_page(found: TimeFindings, sequences: Sequences, title: str, repeat: str) -> str:
    """Verdict, states over time, how long they last, the table of bits, notes, how to repeat it."""
    sections = [Section("Verdict", tuple(found.words.splitlines()))]
    for one in found.hidden:
        words = tuple(_profile_words(one, sequences))
        caption = f"{one.name} in the first slices of sequence {sequences.names[0]}: probability of each state."
        sections.append(Section(f"{one.name} over time", words, "", svg(ribbon(one, sequences)), caption))
    caption = "Bits a slice on blocks that were held out: fewer is better."
    sections.append(Section("How it was judged", (), _table(found), svg(bits_chart(found)), caption))
    if found.notes:
        sections.append(Section("What was done with the data", tuple(found.notes)))
    sections.append(Section("To repeat it", (), repeat))
    return render(title, sections)


def ribbon(one: HiddenChain, sequences: Sequences) -> altair.TopLevelMixin:
    """The posterior of a hidden variable along the first sequence, as stacked shares."""
    import altair as alt

    end = int(min(sequences.starts[1], MOST_SLICES))
    rows = [
        {"slice": t, "state": str(k), "probability": float(one.posterior[t, k])}
        for t in range(end)
        for k in range(one.states)
    ]
    return alt.Chart(alt.Data(values=rows)).mark_area(interpolate="step").encode(
        x=alt.X("slice:Q", title="slice"),
        y=alt.Y("probability:Q", stack="zero", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("state:N", title=one.name),
    ).properties(width=640, height=120)  # fmt: skip


def bits_chart(found: TimeFindings) -> altair.TopLevelMixin:
    """Every model that was tried, by what a held-out slice cost it."""
    import altair as alt

    rows = [
        {"model": row.name, "bits": row.bits, "kind": "with hidden variables" if row.hidden else "without"}
        for row in found.table
    ]
    return alt.Chart(alt.Data(values=rows)).mark_circle(size=90, opacity=1).encode(
        x=alt.X("bits:Q", title="bits a held-out slice", scale=alt.Scale(zero=False)),
        y=alt.Y("model:N", sort=[row.name for row in found.table], title=None, axis=alt.Axis(labelLimit=320)),
        color=alt.Color("kind:N", title=None),
    ).properties(width=420, height=alt.Step(16))  # fmt: skip


def _table(found: TimeFindings) -> str:
    width = max(len(row.name) for row in found.table)
    head = f"{'model':{width}}  {'bits':>8}  {'gain':>8}  {'z':>6}  accepted"
    rows = [
        f"{row.name:{width}}  {row.bits:8.4f}  {row.gain:+8.4f}  {row.z:6.1f}  {'yes' if row.accepted else 'no'}"
        for row in found.table
    ]
    return "\n".join([head, *rows])


def _profile_words(one: HiddenChain, sequences: Sequences) -> Any:
    for k in range(one.states):
        marks = []
        for column in one.drives:
            shares = one.profiles[column]
            overall = one.share @ shares
            best = int((shares[k] - overall).argmax())
            if shares[k, best] - overall[best] > 0.02:
                label = sequences.states[column][best]
                marks.append((shares[k, best] - overall[best], f"{column} is {label} in {100 * shares[k, best]:.0f} % "
                                                               f"(overall {100 * overall[best]:.0f} %)"))  # fmt: skip
        marks.sort(reverse=True)
        words = "; ".join(mark for _, mark in marks[:3])
        lasts = f"{one.dwell[k]:.0f}" if one.dwell[k] >= 2 else f"{one.dwell[k]:.1f}"
        yield f"State {k}: {100 * one.share[k]:.0f} % of the slices, lasts {lasts} on average. {words}"
