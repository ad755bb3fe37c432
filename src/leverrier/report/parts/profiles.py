"""What the states of a hidden variable look like by column, with intervals: the numbers behind the profile plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import State
from leverrier.discovery.result import Result
from leverrier.models.mixture import Mixture
from leverrier.report.parts.page_parts import abbreviated, shortened

MOST_ROWS = 24
Z = float(ndtri(0.975))


@dataclass(frozen=True)
class Line:
    """A column's value (or a column of numbers) over the states."""

    key: str
    column: str
    value: str
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    overall: float | None

    @property
    def spread(self) -> float:
        return max(self.values) - min(self.values)


@dataclass(frozen=True)
class Profile:
    """Lines, most telling first."""

    states: tuple[str, ...]
    short: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[Line, ...]
    left_out: int
    shares: bool
    """Whether the values are shares of rows; else means of numbers, in standard deviations."""

    @property
    def title(self) -> str:
        return "share within the state" if self.shares else "mean within the state (deviations from all rows)"


def profiles(found: Result, each: HiddenVariable, most: int = MOST_ROWS) -> list[Profile]:
    """Of categories, and where classes have columns of numbers, of those."""
    states = found.meanings.get(each.name, ())
    if not states:
        return []
    worth = _worth(found, each, states)
    made = share_profiles(states, worth, most)
    numbers = None if found.other is None else found.other.numbers
    if numbers is not None:
        made.insert(0, _profile(states, _number_lines(numbers, worth), most, shares=False))
    return made


def share_profiles(states: Sequence[State], worth: Sequence[float], most: int = MOST_ROWS) -> list[Profile]:
    """Of categories: none where no column has values to show."""
    lines = _category_lines(states, worth)
    return [_profile(states, lines, most, shares=True)] if lines else []


def _worth(found: Result, each: HiddenVariable, states: Sequence[State]) -> list[float]:
    """How many rows each state's shares rest on."""
    known = None if found.rows is None else found.rows.certainty.get(each.name)
    if known is not None:
        return [max(value, 1.0) for value in known.worth]
    return [max(state.prevalence * found.shape.rows, 1.0) for state in states]


def _profile(states: Sequence[State], lines: list[Line], most: int, shares: bool) -> Profile:
    kept = sorted(lines, key=lambda line: -line.spread)[:most]
    columns = list(dict.fromkeys(line.column for line in kept))  # a column's values stay together
    kept.sort(key=lambda line: columns.index(line.column))
    labels = tuple(f"{state.label}: {state.suggested}" for state in states)
    short = tuple(shortened(state.label, 12) for state in states)
    return Profile(
        tuple(str(state.label) for state in states), short, labels, tuple(kept), len(lines) - len(kept), shares
    )


def _category_lines(states: Sequence[State], worth: Sequence[float]) -> list[Line]:
    """A line for each value of each column; of two values one says it all."""
    total = sum(state.prevalence for state in states)
    lines = []
    names = abbreviated(states[0].profile, 18)
    for column, first in states[0].profile.items():
        values = list(first)
        said = abbreviated(map(str, values), 14)
        for value in values[1:] if len(values) == 2 else values:
            shares = [state.profile[column][value] for state in states]
            spans = [wilson(share, rows) for share, rows in zip(shares, worth, strict=True)]
            overall = sum(s.prevalence * share for s, share in zip(states, shares, strict=True)) / max(total, 1e-300)
            key = f"{names[column]}: {said[str(value)]}"
            lines.append(
                Line(
                    key,
                    column,
                    str(value),
                    tuple(shares),
                    tuple(s[0] for s in spans),
                    tuple(s[1] for s in spans),
                    overall,
                )
            )
    return _told_apart(lines)


def _number_lines(mixture: Mixture, worth: Sequence[float]) -> list[Line]:
    mean = mixture.weights @ mixture.means
    inner = np.diagonal(mixture.matrices, axis1=1, axis2=2)
    deviation = np.sqrt(mixture.weights @ (inner + (mixture.means - mean) ** 2))
    lines = []
    names = abbreviated(mixture.names, 24)
    for j, name in enumerate(mixture.names):
        scale = max(float(deviation[j]), 1e-300)
        centres = (mixture.means[:, j] - mean[j]) / scale
        half = Z * np.sqrt(inner[:, j]) / scale / np.sqrt(np.array(worth))
        lines.append(
            Line(
                names[name],
                name,
                "",
                tuple(centres.tolist()),
                tuple((centres - half).tolist()),
                tuple((centres + half).tolist()),
                None,
            )
        )
    return _told_apart(lines)


def _told_apart(lines: list[Line]) -> list[Line]:
    """Keys that differ, also where shortened labels are the same."""
    seen: dict[str, int] = {}
    made = []
    for line in lines:
        seen[line.key] = number = seen.get(line.key, 0) + 1
        made.append(line if number == 1 else replace(line, key=f"{line.key} ({number})"))
    return made


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share seen in so many rows."""
    share = min(max(share, 0.0), 1.0)
    middle = (share + Z**2 / (2 * rows)) / (1 + Z**2 / rows)
    half = Z * np.sqrt(share * (1 - share) / rows + Z**2 / (4 * rows**2)) / (1 + Z**2 / rows)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)
