"""Is one of several hidden variables a continuum or a class? Its own items by themselves, as both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.discovery.numbers.number_rule import CLASS_ROOM
from leverrier.discovery.traits.trait_search import WithTraits
from leverrier.discovery.verdict import HiddenKind
from leverrier.learning.behind.ascent import Behind, ascend
from leverrier.learning.behind.beginnings import beginnings
from leverrier.models.behind.block import Block
from leverrier.models.behind.links import Link, Mode, classes, continuum

STATES = (2, 3, 4, 5)
GLANCE = 10


@dataclass(frozen=True, eq=False)
class Alone:
    """A hidden variable behind its own items alone, of the kind that says them best."""

    behind: Behind
    kind: HiddenKind

    @property
    def states(self) -> int:
        """0 of a continuum."""
        return 0 if self.behind.latent.fixed else self.behind.latent.places


def alone(block: Block, hidden: WithTraits, trait: int, seed: int) -> Alone:
    """A continuum, or the best class, its items with the observed parents that they have beside all traits."""
    own = [each for each in hidden.traits.items if each.own == trait]
    links = tuple(Link(each.column, each.parents, 0, Mode.LOGIT) for each in own)
    latent = continuum()
    mean = hidden.ascended.placed.means[:, trait]
    away = (latent.basis[:, 0] - (mean / max(float(mean.std()), 1e-6))[:, None]) / 0.5
    share = np.exp(-0.5 * away**2)
    one = ascend(block, latent, links, share / share.sum(axis=1, keepdims=True))
    best: Behind | None = None
    for states in STATES:
        rng = np.random.default_rng([seed, 83, states])
        even = classes(np.full(states, 1 / states))
        glances = [ascend(block, even, links, begun, most=GLANCE) for begun in beginnings(block, links, states, rng)]
        first = max(glances, key=lambda each: each.log_likelihood)
        new = ascend(block, first.latent, links, first.posterior, before=first.fits)
        if best is not None and new.score(block) <= best.score(block):
            break
        best = new
    assert best is not None
    ahead = best.score(block) - one.score(block)
    if abs(ahead) <= CLASS_ROOM:
        return Alone(best if ahead > 0 else one, HiddenKind.UNDECIDED)
    return Alone(best, HiddenKind.CLASS) if ahead > 0 else Alone(one, HiddenKind.CONTINUUM)
