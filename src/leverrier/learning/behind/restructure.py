"""Structural EM: given where rows stand, which columns hang on the hidden variable, with which observed parents."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.ascent import Behind, ascend
from leverrier.learning.behind.factor_ascent import Factor, ascend_factor, row_scores, score_weights
from leverrier.learning.behind.place_moments import Moments, best_number, factor_moments, moments_of, number_score
from leverrier.learning.behind.standing import (
    Outside,
    Parents,
    Standing,
    allowed_parents,
    descendants,
    stood,
    with_links,
)
from leverrier.learning.behind.state_links import expected_score, state_links
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Latent, Link, Mode, continuum

ROUNDS = 8
WORTH = 0.5
"""Nats of expected score from which a column is linked or let go."""
MOST_PARENTS = 4
MOST_CELLS = 48
SHORT = 30


def first_links(
    block: Block, latent: Latent | None, parents: Parents, children: tuple[str, ...], mode: Mode, face: int = 0
) -> tuple[Link, ...]:
    """Every child with its observed parents outside the children: what drove them inside may now be the hidden one."""
    found = []
    for child in children:
        own = tuple(p for p in parents[child] if p not in children)
        seen = block.columns[child]
        if seen.codes is None:
            found.append(Link(child, own, min(face, len(seen.faces) - 1), Mode.ALL if mode == Mode.ALL else Mode.SHIFT))
        else:
            found.append(state_links(block, latent is None or latent.fixed, child, own)[0])
    return tuple(found)


def improve(
    block: Block,
    outside: Outside,
    rival: Parents,
    begun: Standing,
    modes: tuple[Mode, ...],
    barred: frozenset[str] = frozenset(),
    views: frozenset[str] = frozenset(),
) -> Standing:
    """Structural steps and EM in turn, as long as the score of the whole table rises. No arc joins two of `views`."""
    now = begun
    for _ in range(ROUNDS):
        links, parents = restructured(block, outside, rival, now, modes, barred, views)
        if len(links) < 2 or (links == now.behind.links and parents == now.parents):
            break
        behind = refit(block, now.behind, links, SHORT)
        new = stood(block, outside, behind, parents)
        if new.score <= now.score + 0.05:
            break
        now = new
    behind = refit(block, now.behind, now.behind.links, 3 * SHORT)
    last = stood(block, outside, behind, now.parents)
    return last if last.score >= now.score else now


def refit(block: Block, before: Behind | Factor, links: tuple[Link, ...], most: int) -> Behind | Factor:
    """The same hidden variable with other links, from where rows stood."""
    states = any(block.columns[link.column].codes is not None for link in links)
    if isinstance(before, Factor):
        if not states:
            return ascend_factor(block, links, _old_loadings(before, links), most=4 * most, above=before.above)
        latent = continuum()
        return ascend(block, latent, links, _on_nodes(block, before, latent), most=most)
    if before.latent.fixed and not states:
        return ascend_factor(block, links, most=4 * most)
    return ascend(block, before.latent, links, before.posterior, most=most)


def _old_loadings(before: Factor, links: tuple[Link, ...]) -> Floats | None:
    known = dict(zip(before.children, before.loadings, strict=True))
    faces = {link.column: link.face for link in before.links}
    same = all(faces.get(link.column) == link.face for link in links)
    return np.array([known[link.column] for link in links]) if same else None


def _on_nodes(block: Block, before: Factor, latent: Latent) -> Floats:
    """P(node | row) of a continuum behind numbers."""
    mean, deviation = row_scores(block, before)
    logs = -0.5 * ((latent.basis[:, 0] - mean[:, None]) / max(deviation, 0.1)) ** 2
    share = np.exp(logs - logs.max(axis=1, keepdims=True))
    return share / share.sum(axis=1, keepdims=True)


def _known(block: Block, now: Standing) -> tuple[Moments, Latent, Floats]:
    """Moments, places and the posterior, of whatever kind."""
    behind = now.behind
    if isinstance(behind, Factor):
        latent = continuum()
        a, spread = score_weights(block, behind)
        any_states = any(seen.codes is not None for seen in block.columns.values())
        posterior = _on_nodes(block, behind, latent) if any_states else np.empty((0, 0))
        return factor_moments(block, a, spread), latent, posterior
    moments = moments_of(block, behind.posterior, behind.latent.basis, not behind.latent.fixed)
    return moments, behind.latent, behind.posterior


def restructured(
    block: Block,
    outside: Outside,
    rival: Parents,
    now: Standing,
    modes: tuple[Mode, ...],
    barred: frozenset[str],
    views: frozenset[str] = frozenset(),
) -> tuple[tuple[Link, ...], dict[str, tuple[str, ...]]]:
    """The links and the observed parents that the expected score prefers, one column after another."""
    moments, latent, posterior = _known(block, now)
    share = np.ascontiguousarray(posterior.T)
    modes = (Mode.SHIFT,) if latent.fixed else modes
    old = {link.column: link for link in now.behind.links}
    parents = dict(now.parents)
    links: list[Link] = []
    for name, seen in block.columns.items():
        own = _alone(outside, rival, parents, name)
        if name in barred:
            parents[name] = own[1]
            continue
        if seen.codes is None:
            may = tuple(p for p in allowed_parents(parents, name) if not {p, name} <= views)
            better = best_number(block, moments, name, parents[name], may, modes, MOST_PARENTS)
            score, link = better.score, Link(name, better.parents, better.face, better.mode)
        else:
            score, link = _best_states(block, latent, share, old.get(name), name, parents[name])
        if name in views or score - own[0] > (-WORTH if name in old else WORTH):
            links.append(link)
            parents[name] = link.parents
        else:
            parents[name] = own[1]
    return _turned(block, outside, moments, tuple(links), parents, modes)


def _turned(
    block: Block,
    outside: Outside,
    moments: Moments,
    links: tuple[Link, ...],
    parents: dict[str, tuple[str, ...]],
    modes: tuple[Mode, ...],
) -> tuple[tuple[Link, ...], dict[str, tuple[str, ...]]]:
    """Arcs between two children turned round where the one above then needs the hidden variable no more."""
    known = {link.column: link for link in links}
    for upper, lower in [(p, link.column) for link in links for p in link.parents if p in known]:
        if upper not in known or lower not in known or block.columns[upper].codes is not None:
            continue
        low, up = known[lower], known[upper]
        if upper not in low.parents or block.columns[lower].codes is not None:
            continue
        rest = tuple(p for p in low.parents if p != upper)
        turned = {**parents, lower: rest}
        if descendants(turned, upper).intersection({lower}):
            continue
        before = sum(number_score(block, moments, e.column, e.parents, e.face, e.mode) for e in (low, up))
        above = (*up.parents, lower)
        alone = outside.score(upper, above)
        better = best_number(block, moments, lower, rest, (), modes, MOST_PARENTS)
        if alone + better.score > before:
            del known[upper]
            parents = {**turned, upper: above, lower: better.parents}
            known[lower] = Link(lower, better.parents, better.face, better.mode)
    kept = tuple(known.values())
    return kept, with_links(parents, kept)


def _alone(outside: Outside, rival: Parents, parents: Parents, name: str) -> tuple[float, tuple[str, ...]]:
    """The best score without the hidden variable: with the parents it has now, or those of the rival."""
    found = (outside.score(name, parents[name]), parents[name])
    if rival[name] != parents[name] and not descendants(parents, name).intersection(rival[name]):
        return max(found, (outside.score(name, rival[name]), rival[name]), key=lambda pair: pair[0])
    return found


def _best_states(
    block: Block, latent: Latent, share: Floats, old: Link | None, name: str, own: tuple[str, ...]
) -> tuple[float, Link]:
    """A column of states with its parents, or with one fewer; a continuum's has none."""
    sets = [own, *(tuple(p for p in own if p != gone) for gone in own)]
    tried = [link for some in sets for link in state_links(block, latent.fixed, name, some)]
    tried = list(dict.fromkeys(tried if old is None or old in tried else [*tried, old]))
    scores = [expected_score(block, latent, share, link) for link in tried]
    best = int(np.argmax(scores))
    return scores[best], tried[best]
