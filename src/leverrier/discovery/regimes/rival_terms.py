"""The best model of the columns without anything hidden: which of the past, inputs, trend and season each one asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.discovery.regimes.column_roles import Roles
from leverrier.learning.regimes.column_laws import COUNTS, candidates, emission_of, fitted_emission
from leverrier.learning.regimes.regime_em import Designs
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.state_emissions import StateEmission
from leverrier.models.regimes.terms import CLOCK, Term, calendar_part, mean_terms, number_terms

LAGS = 4
MEANS = (24,)
"""A column's mean over so many slices before: a slow memory that a few lags cannot say [Corsi 2009]. Shorter ones stand
in for what is hidden: with one of 8, two states 1 sd apart gained half as much."""
CYCLES = 3
"""A season must be seen so many times."""
SEASONS = 3
SHARPEST = 6
"""Harmonics of a season that is no smooth wave: a week with its end."""
LEAST_LENGTH = 24
MOST_TERMS = 60
PATIENCE = 1
"""So many promising blocks that do not pay once they are fitted end the search."""
CALENDAR = {"month": 12, "weekday": 7, "hour": 24}
LEAST_DAYS = 4.0
"""A month, a weekday or an hour is told from others by so many slices each, on average."""
PEAK = 12.0
"""A wave must have so many times the mean power to be tried as a season."""


class Leads(Enum):
    """What becomes worth asking when a block was of use."""

    NOWHERE = 0
    BEND = 1
    """Of a trend."""
    HARMONICS = 2
    """Of a season."""
    LONGER = 3
    """Of a column's past: one slice more."""


@dataclass(frozen=True, eq=False)
class Block:
    """Terms that are asked together."""

    terms: tuple[Term, ...]
    leads: Leads = Leads.NOWHERE


@dataclass(frozen=True, eq=False)
class ColumnRival:
    """One column without anything hidden."""

    emission: Emission
    log_likelihood: float

    @property
    def dimension(self) -> int:
        return self.emission.dimension


def rival_columns(designs: Designs, roles: Roles, order: Sequence[str] | None = None) -> tuple[ColumnRival, ...]:
    """Every outcome by itself given the past, its inputs, and the outcomes before it in the slice."""
    names = tuple(order or roles.outcomes)
    return tuple(_column(designs, roles, names, place) for place in range(len(names)))


def _column(designs: Designs, roles: Roles, names: tuple[str, ...], place: int) -> ColumnRival:
    panel, name = designs.panel, names[place]
    y = panel.values[name]
    price = 0.5 * np.log(max(int(np.count_nonzero(~np.isnan(y))), 2))
    family = candidates(panel, name)[0]
    blocks = list(_blocks(panel, roles, names, place))
    chosen: tuple[Term, ...] = ()
    refused = 0
    best = _fit(designs, name, family, ())
    worth = best.log_likelihood - price * best.dimension
    while blocks:
        block = _most_promising(designs, best.emission, blocks, price)
        if block is None or len(chosen) + len(block.terms) > MOST_TERMS:
            break
        one = _fit(designs, name, family, (*chosen, *block.terms), best.emission)
        gained = one.log_likelihood - price * one.dimension
        blocks.remove(block)
        if gained <= worth + 1e-9:
            refused += 1
            if refused > PATIENCE:
                break
            continue
        worth, best = gained, one
        chosen += block.terms
        blocks += _after(panel, name, block)
    terms = best.emission.terms
    for other in candidates(panel, name)[1:]:
        own = terms if other in COUNTS else tuple(each for term in terms for each in _unlogged(panel, term))
        one = _fit(designs, name, other, own)
        if one.log_likelihood - price * one.dimension > worth:
            worth, best = one.log_likelihood - price * one.dimension, one
    return best


def _most_promising(designs: Designs, now: Emission, blocks: Sequence[Block], price: float) -> Block | None:
    """The block that would explain most of what is left, its parameters priced: one step of scoring, no fit."""
    y = designs.panel.values[now.name]
    seen = ~np.isnan(y)
    left = _left(now, y[seen], designs.of(now.terms)[seen])
    basis = np.linalg.qr(designs.of(now.terms)[seen])[0]
    best, most = None, 0.0
    for block in blocks:
        z = designs.of(block.terms)[seen, 1:]
        z = z - basis @ (basis.T @ z)
        part, spans, _ = np.linalg.svd(z, full_matrices=False)
        part = part[:, spans > 1e-8 * max(float(spans.max()), 1e-300)]
        gain = 0.5 * float(((part.T @ left) ** 2).sum()) - price * len(block.terms) * left.shape[1]
        if gain > most:
            best, most = block, gain
    return best


def _left(now: Emission, y: Floats, z: Floats) -> Floats:
    """(rows, parts): standardised residuals, of categories one part for each but one, made independent."""
    if isinstance(now, StateEmission):
        chance = now.chances(z, 0)
        shown = np.eye(now.categories)[y.astype(np.int64)] - chance
        values, vectors = np.linalg.eigh(shown.T @ shown / len(y))
        kept = values > 1e-9
        return shown @ (vectors[:, kept] / np.sqrt(values[kept]))
    left = y - now.means(z)[:, 0]
    return (left / max(float(left.std()), 1e-300))[:, None]


def _fit(
    designs: Designs, name: str, family: Family, terms: tuple[Term, ...], near: Emission | None = None
) -> ColumnRival:
    y, z = designs.panel.values[name], designs.of(terms)
    start = emission_of(designs.panel, name, family, terms)
    if near is not None and family is not Family.NORMAL:
        start.coefficients[:, : 1 + len(near.terms)] = near.coefficients
    one = fitted_emission(start, y, z, np.ones((len(y), 1)))
    return ColumnRival(one, float(one.logs(y, z).sum()))


def _blocks(panel: Panel, roles: Roles, names: tuple[str, ...], place: int) -> Iterator[Block]:
    """What may be asked at first; longer lags follow when shorter ones were of use."""
    name = names[place]
    for given in roles.inputs:
        terms = number_terms(panel, given)
        if terms:
            yield Block(terms)
    longest = int(np.diff(panel.starts).max())
    if longest >= 3:
        yield Block(trend_terms(panel, 1), Leads.BEND)
    yield from map(Block, calendar_terms(panel).values())
    for period in season_periods(panel, name):
        yield Block(season_terms(period), Leads.HARMONICS)
    for lag in range(1, 1 + min(2, longest - 1)):
        yield Block(past_terms(panel, name, name, lag), Leads.LONGER)
        for other in names:
            if lag == 1 and other != name:
                yield Block(past_terms(panel, name, other, lag), Leads.LONGER)
    for over in MEANS:
        if longest >= 2 * over:
            yield Block(mean_terms(panel, name, over, log=candidates(panel, name)[0] in COUNTS))
    for other in names[:place]:
        yield Block(number_terms(panel, other))


def _after(panel: Panel, name: str, block: Block) -> Iterator[Block]:
    """What becomes worth asking when this was of use."""
    first = block.terms[0]
    match block.leads:
        case Leads.BEND:
            yield Block(trend_terms(panel, 2))
        case Leads.HARMONICS:
            sharper = season_terms(first.period, 3, int(min(SHARPEST, first.period / _step(panel) / 2 + 0.01)))
            if sharper:
                yield Block(sharper)
        case Leads.LONGER:
            lag = first.lag + 1
            there = lag <= LAGS and int(np.diff(panel.starts).max()) > lag
            if there and not (first.source == name and lag == 2):
                yield Block(past_terms(panel, name, first.source, lag), Leads.LONGER)
        case Leads.NOWHERE:
            pass


def past_terms(panel: Panel, name: str, source: str, lag: int) -> tuple[Term, ...]:
    """Of counts that counts depend on, the logarithm: it is the logarithm of their mean that is added up."""
    counts = all(candidates(panel, each)[0] in COUNTS for each in (name, source))
    return number_terms(panel, source, lag, log=counts)


def _unlogged(panel: Panel, term: Term) -> tuple[Term, ...]:
    if not term.log:
        return (term,)
    own = number_terms(panel, term.source, term.lag)
    return tuple(replace(each, over=term.over) for each in own)


def trend_terms(panel: Panel, power: int) -> tuple[Term, ...]:
    centre, scale = float(panel.times.mean()), float(panel.times.std()) or 1.0
    return (Term(CLOCK, power=power, centre=centre, scale=scale),)


def calendar_terms(panel: Panel) -> dict[str, tuple[Term, ...]]:
    """Of dates: months, days of the week and hours, where slices tell them apart."""
    found: dict[str, tuple[Term, ...]] = {}
    for part in CALENDAR if panel.dated else ():
        where = calendar_part(panel.times, part).astype(np.int64)
        counts = np.bincount(where, minlength=CALENDAR[part])
        seen = np.flatnonzero(counts)
        if len(seen) < 2 or counts[seen].mean() < LEAST_DAYS:
            continue
        usual, shares = int(counts.argmax()), counts / counts.sum()
        made = (Term(CLOCK, state=int(k), centre=float(shares[k]), part=part) for k in seen.tolist() if k != usual)
        found[part] = tuple(made)
    return found


def season_terms(period: float, first: int = 1, last: int = 2) -> tuple[Term, ...]:
    """Two harmonics, or those asked for."""
    waves = range(first, last + 1)
    return tuple(Term(CLOCK, period=period / each, phase=phase) for each in waves for phase in (0.0, 0.25))


def _step(panel: Panel) -> float:
    """What usually lies between two slices."""
    inside = panel.position > 0
    steps = np.diff(panel.times, prepend=0.0)[inside]
    usual = float(np.median(steps)) if len(steps) else 1.0
    return usual if usual > 0 else 1.0


def season_periods(panel: Panel, name: str) -> list[float]:
    """Where the column's spectrum has clear peaks, in units of time; of the longest sequence, its trend removed."""
    longest = int(np.diff(panel.starts).argmax())
    low, high = int(panel.starts[longest]), int(panel.starts[longest + 1])
    if high - low < LEAST_LENGTH:
        return []
    y, t = panel.values[name][low:high], panel.times[low:high]
    y = np.where(np.isnan(y), np.nanmean(y) if np.any(~np.isnan(y)) else 0.0, y)
    step = float(np.median(np.diff(t)))
    if not np.isfinite(step) or step <= 0:
        return []
    x = np.arange(len(y)) - (len(y) - 1) / 2
    y = y - y.mean() - x * float(x @ y) / float(x @ x)
    found: list[float] = []
    while len(found) < SEASONS:
        cycles = _peak(y)
        if cycles is None:
            break
        found.append(len(y) / cycles * step)
        waves = 2 * np.pi * cycles * np.outer(np.arange(len(y)), (1, 2)) / len(y)
        known = np.column_stack([np.sin(waves), np.cos(waves)])
        y = y - known @ np.linalg.lstsq(known, y, rcond=None)[0]
    return found


def _peak(y: Floats) -> float | None:
    """How many cycles the clearest wave makes; None where none stands out."""
    power = np.abs(np.fft.rfft(y)) ** 2
    power[:CYCLES] = 0.0
    near = _smoothed(power)
    peak = int(np.argmax(power / near))
    if power[peak] < PEAK * near[peak]:
        return None
    # (between two frequencies of the grid the peak is looked for more finely)
    grid = np.linspace(max(peak - 1, CYCLES), peak + 1, 41)
    waves = np.exp(-2j * np.pi * np.outer(grid, np.arange(len(y))) / len(y))
    return float(grid[int(np.abs(waves @ y).argmax())])


def _smoothed(power: Floats) -> Floats:
    """The spectrum's own neighbourhood without the peak: medians over a window."""
    width = max(len(power) // 12, 6)
    made = np.empty_like(power)
    windows = np.lib.stride_tricks.sliding_window_view(power, 2 * width + 1) if len(power) > 2 * width else None
    if windows is not None:
        made[width : len(power) - width] = np.median(windows, axis=1)
    for i in range(len(power)):
        if windows is None or i < width or i >= len(power) - width:
            made[i] = np.median(power[max(0, i - width) : i + width + 1])
    return np.maximum(made / np.log(2), 1e-300)
