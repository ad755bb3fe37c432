"""What a column is regressed on: its own and others' past, what stands beside it in the slice, inputs and clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.panel import Panel

CLOCK = ""
"""The source of a term that is a function of time alone."""


@dataclass(frozen=True)
class Term:
    """One regressor: a column (or the clock), so many slices before, as a number or as one of its states."""

    source: str
    lag: int = 0
    state: int | None = None
    """Of a category: 1 in this state, else 0."""
    power: int = 1
    period: float = 0.0
    """Of a season: how long it lasts, in units of time…"""
    phase: float = 0.0
    """…and which of its two waves this is: 0 the sine, ¼ the cosine."""
    centre: float = 0.0
    scale: float = 1.0
    shrink: float = 0.0
    """Above 0: the person's mean of the column over all slices, drawn towards the overall one as by so many slices."""
    log: bool = False
    """Of counts: ln(1 + count), so that the logarithm of a mean depends on the logarithm of what was."""
    part: str = ""
    """Of dates: which part of the calendar `state` is one of."""
    over: int = 0
    """Above 0: the mean of so many slices, from `lag` slices before on, of those that are known."""

    @property
    def reach(self) -> int:
        """How many slices back it looks."""
        return self.lag + max(self.over - 1, 0)

    def column(self, panel: Panel) -> Floats:
        """By slice; 0, which is the usual value, where it is not known."""
        if self.shrink > 0:
            return _person_means(panel, self)
        raw = panel.times if self.source == CLOCK else panel.values[self.source]
        if self.over:
            return np.nan_to_num((_mean_before(self.shown(raw), panel, self) - self.centre) / self.scale)
        if self.lag:
            moved = np.full(len(raw), np.nan)
            moved[self.lag :] = raw[: -self.lag]
            moved[panel.position < self.lag] = np.nan
            raw = moved
        if self.log:
            raw = np.log1p(np.maximum(raw, 0.0))
        if self.part:
            raw = calendar_part(raw, self.part)
        if self.period:
            return np.sin(2 * np.pi * (raw / self.period + self.phase))
        if self.state is not None:
            seen = np.where(np.isnan(raw), np.nan, raw == self.state)
            return np.nan_to_num((seen - self.centre) / self.scale)
        return np.nan_to_num(((raw - self.centre) / self.scale) ** self.power)

    def shown(self, raw: Floats) -> Floats:
        """Of the column's cells, what means are taken of."""
        if self.state is not None:
            return np.where(np.isnan(raw), np.nan, raw == self.state)
        return np.log1p(np.maximum(raw, 0.0)) if self.log else raw


def calendar_part(days: Floats, part: str) -> Floats:
    """Of dates in days since 1970: the month (0 is January), the day of the week (0 is Monday) or the hour."""
    if part == "month":
        return (np.floor(days).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12).astype(np.float64)
    if part == "weekday":
        return (np.floor(days) + 3) % 7
    return np.floor(days * 24 + 1e-6) % 24


def _person_means(panel: Panel, term: Term) -> Floats:
    raw = panel.values[term.source]
    seen = ~np.isnan(raw)
    who = panel.person[seen]
    values = raw[seen] if term.state is None else (raw[seen] == term.state).astype(np.float64)
    total = np.bincount(who, (values - term.centre) / term.scale, panel.persons)
    count = np.bincount(who, minlength=panel.persons)
    return (total / (count + term.shrink))[panel.person]


def _mean_before(cells: Floats, panel: Panel, term: Term) -> Floats:
    seen = ~np.isnan(cells)
    sums = np.concatenate([[0.0], np.cumsum(np.where(seen, cells, 0.0))])
    counts = np.concatenate([[0], np.cumsum(seen)])
    begun = panel.starts[:-1][panel.person]
    high = np.maximum(np.arange(len(cells)) - term.lag + 1, begun)
    low = np.maximum(high - term.over, begun)
    count = counts[high] - counts[low]
    return np.where(count > 0, (sums[high] - sums[low]) / np.maximum(count, 1), np.nan)


def design(panel: Panel, terms: Sequence[Term]) -> Floats:
    """(slices, 1 + terms), the first column ones."""
    made = np.ones((panel.n_slices, 1 + len(terms)))
    for place, term in enumerate(terms, 1):
        made[:, place] = term.column(panel)
    return made


def mean_terms(panel: Panel, name: str, over: int, log: bool = False) -> tuple[Term, ...]:
    """The mean of a column's last slices as a regressor, or of each of its states but the commonest."""
    return tuple(replace(term, over=over) for term in number_terms(panel, name, 1, log))


def distinct_rows(z: Floats) -> tuple[Floats, Integers]:
    """Each row of a design once, and which of them each slice has. Told apart by one sum with odd weights, which is
    far quicker than to sort rows; in the last bit it may tell equal ones apart, which costs nothing but time."""
    odd = np.sqrt(np.arange(2.0, 2.0 + z.shape[1]))
    _, first, which = np.unique(z @ odd, return_index=True, return_inverse=True)
    rows = z[first]
    if not np.array_equal(rows[which], z):
        rows, which = np.unique(z, axis=0, return_inverse=True)
    return rows, which.ravel()


def number_terms(panel: Panel, name: str, lag: int = 0, log: bool = False) -> tuple[Term, ...]:
    """A column as regressors: itself (or its logarithm), standardised, or each of its states but the commonest."""
    log = log and name not in panel.labels
    values = np.log1p(np.maximum(panel.values[name], 0.0)) if log else panel.values[name]
    seen = values[~np.isnan(values)]
    if name not in panel.labels:
        spread = float(seen.std()) if len(seen) else 1.0
        return (Term(name, lag, centre=float(seen.mean()) if len(seen) else 0.0, scale=spread or 1.0, log=log),)
    counts = np.bincount(seen.astype(np.int64), minlength=len(panel.labels[name]))
    usual = int(counts.argmax())
    shares = counts / max(counts.sum(), 1)
    return tuple(
        Term(name, lag, state=k, centre=float(shares[k])) for k in range(len(counts)) if k != usual and counts[k]
    )
