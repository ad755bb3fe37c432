"""The search for one hidden class and one hidden continuum behind the columns, against a rival without any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from leverrier.arrays import Floats
from leverrier.discovery.numbers.number_places import candidate_places
from leverrier.discovery.numbers.number_rival import NumberRival
from leverrier.learning.behind.ascent import Behind, ascend
from leverrier.learning.behind.beginnings import beginnings, halves, residuals
from leverrier.learning.behind.completed import Round, joined_places, split_places
from leverrier.learning.behind.factor_ascent import Factor, ascend_factor, by_itself, score_weights
from leverrier.learning.behind.restructure import first_links, improve, refit
from leverrier.learning.behind.shared_spread import shared_spreads
from leverrier.learning.behind.standing import LEAST_ROWS, Parents, Standing, descendants, stood, with_links
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Link, Mode, classes, continuum
from leverrier.run.run import UNBOUNDED, Run

GLANCE, TRIAL = 3, 12
"""EM iterations of a beginning, and of a trial."""
HOPE = 60.0
"""More states are tried where two come as near to the rival (or to the gain that matters) as this, in nats."""
BEST = 3
VIEWS = 3
"""A class is identified by three columns that depend on each other through it alone."""
MODES = (Mode.SHIFT, Mode.ALL)
MOST_STATES = 6
MOST_THREES = 6
DIRECTIONS = 3
"""Principal components along which a whole search is begun."""
SPREAD_STATES = (2, 3, 4)
WHOLE = 3


@dataclass(frozen=True, eq=False)
class Hunted:
    """The best hidden class and the best continuum, scores of the whole table."""

    of_class: Standing | None
    of_continuum: Standing | None
    tried: int
    bare: Standing | None = None
    """The best class, however few views show it: what arcs between the columns may say as well."""

    def better_of(self) -> Standing | None:
        found = [each for each in (self.of_class, self.of_continuum, self.bare) if each is not None]
        return max(found, key=lambda each: each.score, default=None)


def hunt(
    block: Block,
    outside: NumberRival,
    rival: Parents,
    seed: int,
    barred: frozenset[str] = frozenset(),
    run: Run = UNBOUNDED,
    before: Standing | None = None,
    known: Sequence[Standing] = (),
) -> Hunted:
    """The best class and the best continuum. `barred` columns hang on another hidden variable; `before` is what was
    best beside a worse rival; one more continuum may stand below those that are `known`."""
    of_class, bare, tried = hunt_class(block, outside, rival, seed, barred, run, before=before)
    of_continuum, more = hunt_continuum(block, outside, rival, barred, run, known)
    return Hunted(of_class, of_continuum, tried + more, bare)


def hunt_continuum(
    block: Block,
    outside: NumberRival,
    rival: Parents,
    barred: frozenset[str] = frozenset(),
    run: Run = UNBOUNDED,
    known: Sequence[Standing] = (),
) -> tuple[Standing | None, int]:
    """The best continuum, and how many were tried. With others `known` it may go together with them: then it is told as
    wide as it is by itself, with the score that it has below them."""
    above = [each.behind for each in known if isinstance(each.behind, Factor)]
    weights = [None, np.array([score_weights(block, each)[0] for each in above])] if above else [None]
    places = candidate_places(rival, barred)
    pairs = [pair for pair in product(places, weights) if not run.spent]
    trials = sorted((_continuum_trial(block, outside, rival, *pair) for pair in pairs), key=lambda each: -each.score)
    begun = [each for each in _differing(trials, BEST) if not run.spent]
    found = [improve(block, outside, rival, each, (Mode.SHIFT,), barred) for each in begun]
    best = _best(block, [each for each in found if not _circular(each, above)])
    if best is not None and isinstance(best.behind, Factor):
        best = replace(best, behind=by_itself(block, best.behind))
    return best, len(trials)


def _circular(found: Standing, above: Sequence[Factor]) -> bool:
    """Whether a column that tells of a continuum above hangs on a child of the one below."""
    if not isinstance(found.behind, Factor) or found.behind.above is None:
        return False
    telling = {name for each in above for link in each.links for name in (link.column, *link.parents)}
    return any(descendants(found.parents, child) & telling for child in found.children)


def hunt_class(
    block: Block,
    outside: NumberRival,
    rival: Parents,
    seed: int,
    barred: frozenset[str] = frozenset(),
    run: Run = UNBOUNDED,
    aim: float = 0.0,
    before: Standing | None = None,
    light: bool = False,
) -> tuple[Standing | None, Standing | None, int]:
    """Trials in every candidate place, the best few through structural EM, more states: the best that three views show,
    the best whatever shows it, and how many were tried. `aim` is the gain from which on an answer matters. A `light`
    hunt has no searches of all arcs."""
    if block.rows < 2 * LEAST_ROWS:
        return None, None, 0
    places = candidate_places(rival, barred)
    rng = np.random.default_rng([seed, 59])
    trials = [each for place in places if not run.spent for each in _class_trials(block, outside, rival, place, 2, rng)]
    trials.sort(key=lambda each: -each.score)
    begun = [each for each in _differing(trials, BEST + 1) if not run.spent]
    found = [improve(block, outside, rival, each, MODES, barred) for each in begun]
    first = _best(block, found)
    total = sum(outside.score(name, own) for name, own in rival.items())
    least = total + aim - HOPE
    begun_at = [] if light else _begun_at(block, outside, rival, places, [first, before], rng)
    found += _whole_searches(block, outside, rival, begun_at, barred, run, least)
    best = _best(block, found)
    if best is not None and best.states > 2 and isinstance(best.behind, Behind) and best.score > least and not light:
        found += _whole_searches(block, outside, rival, joined_places(best.behind.posterior), barred, run, least)
        best = _best(block, found)
    for states in range(3 if best is None else best.states + 1, MOST_STATES + 1):
        if run.spent or (best is not None and best.score < least):
            break
        new = _with_states(block, outside, rival, _bases(best, places), states, rng, barred)
        if best is not None and best.states == states - 1 and isinstance(best.behind, Behind) and not light:
            more_places = split_places(best.behind.posterior, _columns(block, rival, best.children))
            new += _whole_searches(block, outside, rival, more_places, barred, run, least)
        more, found = _best(block, new), [*found, *new]
        if more is None or (best is not None and more.score <= best.score):
            break
        best = more
    shown = _best(block, [each for each in found if each.views() >= VIEWS])
    if best is not None and best is not shown and best.score > total + max(aim, 0.0) and not run.spent:
        kept = _kept_apart(block, outside, rival, best, barred)
        shown = _best(block, [*kept, *([shown] if shown is not None else [])])
    return shown, best, len(trials)


def _kept_apart(
    block: Block, outside: NumberRival, rival: Parents, bare: Standing, barred: frozenset[str]
) -> list[Standing]:
    """The same class with three of its columns kept without arcs between them: what arcs there gained is given up for
    a class that can be identified. Threes with the fewest arcs first."""
    threes = sorted(combinations(bare.children, VIEWS), key=lambda some: _arcs_among(bare.parents, some))
    found = []
    for some in threes[:MOST_THREES]:
        views = frozenset(some)
        links = tuple(_without(link, views) for link in bare.behind.links)
        begun = stood(block, outside, refit(block, bare.behind, links, TRIAL), with_links(bare.parents, links))
        found.append(improve(block, outside, rival, begun, MODES, barred, views))
    return [each for each in found if each.views() >= VIEWS]


def _arcs_among(parents: Parents, some: tuple[str, ...]) -> int:
    return sum(p in some for child in some for p in parents[child])


def _without(link: Link, views: frozenset[str]) -> Link:
    if link.column not in views:
        return link
    return replace(link, parents=tuple(p for p in link.parents if p not in views))


def _begun_at(
    block: Block,
    outside: NumberRival,
    rival: Parents,
    places: list[tuple[str, ...]],
    known: list[Standing | None],
    rng: np.random.Generator,
) -> list[Floats]:
    """Where whole searches begin: classes beside a shared spread of all linked columns, cuts along their main
    directions, and as those that are known have it."""
    if not places:
        return []
    linked = [column for column in outside.space.columns if column.name in places[0]]
    spread = shared_spreads(linked, SPREAD_STATES, rng)
    cuts = halves(_columns(block, rival, places[0]), DIRECTIONS)
    own = [each.behind.posterior for each in known if each is not None and isinstance(each.behind, Behind)]
    return [*spread, *cuts, *own]


def _columns(block: Block, rival: Parents, names: tuple[str, ...]) -> Floats:
    """These columns less what the others say of them."""
    return residuals(block, first_links(block, classes(np.full(2, 0.5)), rival, names, Mode.SHIFT))


def _whole_searches(
    block: Block,
    outside: NumberRival,
    rival: Parents,
    begun: list[Floats],
    barred: frozenset[str],
    run: Run,
    least: float,
) -> list[Standing]:
    """Searches of all arcs round each of these beginnings; the best two that come near to what matters go on, and are
    improved."""
    about = Round(block, outside.scores, outside, rival, MODES, barred)
    ends = [about.first(each) for each in begun if not run.spent]
    near = [each for each in ends if each is not None and each.score > least]
    best = sorted(near, key=lambda each: -each.score)[:WHOLE]
    best = sorted((about.again(each) for each in best), key=lambda each: -each.score)
    return [improve(block, outside, rival, each, MODES, barred) for each in best[:2]]


def _bases(best: Standing | None, places: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Where more states are tried: behind what the best has, and behind all linked columns."""
    own = [best.children] if best is not None else []
    return list(dict.fromkeys([*own, *places[:1]]))


def _with_states(
    block: Block,
    outside: NumberRival,
    rival: Parents,
    places: list[tuple[str, ...]],
    states: int,
    rng: np.random.Generator,
    barred: frozenset[str],
) -> list[Standing]:
    trials = [each for place in places for each in _class_trials(block, outside, rival, place, states, rng)]
    trials.sort(key=lambda each: -each.score)
    return [improve(block, outside, rival, each, MODES, barred) for each in _differing(trials, 2)]


def _class_trials(
    block: Block, outside: NumberRival, rival: Parents, place: tuple[str, ...], states: int, rng: np.random.Generator
) -> Iterator[Standing]:
    """A glance at every beginning, slopes and variances shared or not; the best goes on for a few iterations."""
    latent = classes(np.full(states, 1 / states))
    begun = None
    faces = range(max(len(block.columns[name].faces) for name in place) or 1)
    every = [first_links(block, latent, rival, place, mode, face) for mode, face in product(MODES, faces)]
    for links in dict.fromkeys(every):  # (states alone have one mode)
        begun = begun or beginnings(block, links, states, rng)
        glances = [ascend(block, latent, links, start, most=GLANCE) for start in begun]
        best = max(glances, key=lambda each: each.log_likelihood)
        longer = ascend(block, best.latent, links, best.posterior, most=TRIAL, before=best.fits)
        yield stood(block, outside, longer, with_links(rival, links))


def _continuum_trial(
    block: Block, outside: NumberRival, rival: Parents, place: tuple[str, ...], above: Floats | None = None
) -> Standing:
    links = first_links(block, None, rival, place, Mode.SHIFT)
    parents = with_links(rival, links)
    if all(block.columns[name].codes is None for name in place):
        return stood(block, outside, ascend_factor(block, links, most=60, above=above), parents)
    latent = continuum()
    cut = beginnings(block, links, 4, np.random.default_rng(0))[0]
    first = cut @ np.array([-1.3, -0.4, 0.4, 1.3])
    logs = -0.5 * ((latent.basis[:, 0] - first[:, None]) / 0.5) ** 2
    share = np.exp(logs)
    begun = share / share.sum(axis=1, keepdims=True)
    return stood(block, outside, ascend(block, latent, links, begun, most=2 * TRIAL), parents)


def _differing(trials: list[Standing], most: int) -> list[Standing]:
    """The best of each place and shape, best first: others of the same would end where it ends."""
    found: dict[tuple[frozenset[str], Mode | None], Standing] = {}
    for each in trials:
        found.setdefault((frozenset(each.children), each.behind.links[0].mode if each.behind.links else None), each)
    return sorted(found.values(), key=lambda each: -each.score)[:most]


def _best(block: Block, found: list[Standing]) -> Standing | None:
    whole = [each for each in found if np.isfinite(each.score) and each.large(block.rows) and each.apart()]
    return max(whole, key=lambda each: each.score, default=None)
