"""Who the states are: columns by states, each cell with a share, a bar and an interval; the most telling first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import State
from leverrier.discovery.result import Result
from leverrier.report.charts.palette import symbol
from leverrier.report.parts.page_parts import Block, Fold, Heat, HeatCell, HeatRow, percent, several, shortened
from leverrier.report.parts.profiles import Line, Profile, profiles

BAR_STATES = 6
"""With more states cells are shades with a number: bars would have no room."""
MOST_STATES = 24
SEVERAL, FIRST_LINES = 3, 10
"""From so many hidden variables on, so many lines of each are open."""
INTERVALS = "Thin lines and brackets: 95 % intervals from the rows that each state is worth."
SLICES = "Thin lines and brackets: 95 % intervals as if time steps were independent; the truth is wider."


def heat_maps(found: Result, each: HiddenVariable) -> list[Block]:
    """Of numbers, and of shares of values: whichever the columns next to the variable have. Where several variables
    have much to say, the lines that tell less are folded away."""
    states = found.meanings.get(each.name, ())
    order = sorted(range(len(states)), key=lambda k: -states[k].prevalence)[:MOST_STATES]
    order = order if len(states) > MOST_STATES else list(range(len(states)))
    why = SLICES if found.time is not None else INTERVALS
    made: list[Block] = []
    for profile in profiles(found, each):
        whole = heat_of(profile, states, order, why)
        if len(found.hidden) < SEVERAL or len(whole.rows) <= FIRST_LINES + 2:
            made.append(whole)
            continue
        first, rest = replace(whole, rows=whole.rows[:FIRST_LINES]), replace(whole, rows=whole.rows[FIRST_LINES:])
        made += [first, Fold(f"{len(rest.rows)} more lines, which tell less of {each.name}", (rest,))]
    return made


def heat_of(profile: Profile, states: Sequence[State], order: Sequence[int], why: str) -> Heat:
    """A profile as a table of cells, its states in this order."""
    head = tuple((symbol(k), shortened(states[k].label, 24), percent(states[k].prevalence), k % 10) for k in order)
    bars = len(order) <= BAR_STATES
    rows, last = [], ""
    for line in profile.rows:
        name = shortened(line.column, 40) if line.column != last else ""
        cells = tuple(_cell(line, k, profile.shares, bars) for k in order)
        everywhere = (
            "" if line.overall is None else (percent(line.overall) if profile.shares else f"{line.overall:.4g}")
        )
        rows.append(HeatRow(name, line.column, shortened(line.value, 28), cells, everywhere))
        last = line.column
    what = "Share of rows with the value" if profile.shares else "Mean of the numbers"
    rest = f" {several(profile.left_out, 'other line')} that tell less are left out." if profile.left_out else ""
    kept = f" The {len(order)} largest of {len(states)} states." if len(order) < len(states) else ""
    return Heat(
        head, tuple(rows), f"{what} in each state; the column that tells most comes first. {why}{rest}{kept}", bars
    )


def _cell(line: Line, k: int, shares: bool, bars: bool) -> HeatCell:
    value, low, high = line.values[k], line.low[k], line.high[k]
    if shares:
        said, span = percent(value), f"{100 * low:.0f}–{100 * high:.0f}"
        return HeatCell(said, span if bars else "", value, low, high, value)
    floor, top = line.span
    place = [(each - floor) / max(top - floor, 1e-300) for each in (value, low, high)]
    inside = [min(max(each, 0.0), 1.0) if math.isfinite(each) else 0.0 for each in place]
    span = f"{low:.4g}–{high:.4g}" if bars else ""
    return HeatCell(f"{value:.4g}", span, inside[0], inside[1], inside[2], inside[0])
