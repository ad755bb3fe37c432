"""What the states of a hidden variable look like by column, with intervals: the numbers behind the profile plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import State
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import ModelKind
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

    telling: float = 0.0
    """How much the whole column says about the state, in nats."""
    span: tuple[float, float] = (0.0, 1.0)
    """Where a bar begins and ends."""

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
        return "share within the state" if self.shares else "mean within the state"


def profiles(found: Result, each: HiddenVariable, most: int = MOST_ROWS) -> list[Profile]:
    """Of columns of numbers, where there are any, and of the values of the others."""
    states = found.meanings.get(each.name, ())
    if not states:
        return []
    worth = _worth(found, each, states)
    made = share_profiles(states, worth, most)
    lines = _number_lines(found, each, states, worth)
    return [_profile(states, lines, most, shares=False), *made] if lines else made


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
    """The most telling columns, their values together; of a column with many values those that differ most."""
    best = sorted(lines, key=lambda line: (-line.telling, line.column))
    columns = list(dict.fromkeys(line.column for line in best))
    apart = sorted(best, key=lambda line: -line.spread)[:most]
    kept = [line for line in lines if line in apart]
    kept.sort(key=lambda line: columns.index(line.column))
    labels = tuple(f"{state.label}: {state.suggested}" for state in states)
    short = tuple(shortened(state.label, 12) for state in states)
    return Profile(
        tuple(str(state.label) for state in states), short, labels, tuple(kept), len(lines) - len(kept), shares
    )


def _category_lines(states: Sequence[State], worth: Sequence[float]) -> list[Line]:
    """A line for each value of each column; of two values one says it all."""
    weights = np.array([state.prevalence for state in states])
    weights = weights / max(float(weights.sum()), 1e-300)
    lines = []
    names = abbreviated(states[0].profile, 18)
    for column, first in states[0].profile.items():
        values = list(first)
        said = abbreviated(map(str, values), 14)
        shares = np.array([[state.profile[column][value] for value in values] for state in states])
        overall = weights @ shares
        telling = _information(weights, shares)
        for place, value in list(enumerate(values))[1 if len(values) == 2 else 0 :]:
            spans = [wilson(share, rows) for share, rows in zip(shares[:, place].tolist(), worth, strict=True)]
            low, high = zip(*spans, strict=True)
            key = f"{names[column]}: {said[str(value)]}"
            own = tuple(shares[:, place].tolist())
            lines.append(Line(key, column, str(value), own, low, high, float(overall[place]), telling))
    return _told_apart(lines)


def _information(weights: Floats, shares: Floats) -> float:
    """Mutual information of state and column, in nats."""
    ratio = np.where(shares > 0, shares / np.maximum(weights @ shares, 1e-300), 1.0)
    return float(np.sum(weights[:, None] * shares * np.log(ratio)))


def _number_lines(found: Result, each: HiddenVariable, states: Sequence[State], worth: Sequence[float]) -> list[Line]:
    """Means by state in the user's units."""
    known = _means(found, each)
    names = abbreviated(known, 24)
    weights = np.array([state.prevalence for state in states])
    lines = []
    for name, (means, deviations) in known.items():
        if len(means) != len(states):
            continue
        overall = float(weights @ means / max(float(weights.sum()), 1e-300))
        between = float(weights @ (means - overall) ** 2)
        within = float(weights @ deviations**2)
        telling = 0.5 * np.log1p(between / max(within, 1e-300))
        half = Z * deviations / np.sqrt(np.array(worth))
        total = np.sqrt(between + within)
        span = (float(min(means.min(), overall - total)), float(max(means.max(), overall + total)))
        low, high = tuple((means - half).tolist()), tuple((means + half).tolist())
        lines.append(Line(names[name], name, "", tuple(means.tolist()), low, high, overall, telling, span))
    return _told_apart(lines)


def _means(found: Result, each: HiddenVariable) -> dict[str, tuple[Floats, Floats]]:
    """By column of numbers, means and deviations of the states."""
    if found.time is not None:
        return {}
    mixture = found.model.numbers
    if mixture is not None:
        deviations = np.sqrt(np.diagonal(mixture.matrices, axis1=1, axis2=2))
        return {name: (mixture.means[:, j], deviations[:, j]) for j, name in enumerate(mixture.names)}
    cards = {name: found.model.card(name) for name in each.children} if found.kind is ModelKind.NUMBERS else {}
    return {
        name: (card.cells.reshape(-1, 2)[:, 0], card.cells.reshape(-1, 2)[:, 1])
        for name, card in cards.items()
        if not card.shares and card.given == (each.name,)
    }


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
