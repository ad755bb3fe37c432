"""The most probable structure among the samples [wood2006 figure 6]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from leverrier.errors import TooLargeError
from leverrier.models.noisy_or.causes_prior import IndianBuffet
from leverrier.models.noisy_or.noisy_or_model import HOLE, HiddenCauses
from leverrier.noisy_or.draws import Draw
from leverrier.noisy_or.observations import Observations

CANDIDATES = 8


def structure_key(draw: Draw) -> tuple[bytes, ...]:
    """The same for the same links in whatever order."""
    return tuple(sorted(row.tobytes() for row in draw.links))


def best_draw(draws: Sequence[Draw], log_joints: Sequence[float], observations: Observations) -> Draw:
    """The draw whose structure has the highest log P(X | Z) + log P(Z), y summed out, among the most frequent ones.

    A structure that has more than half of the draws needs no such comparison. With Y left in, the joint would
    favour few causes: every further y costs as much as it is uncertain.
    """
    keys = [structure_key(draw) for draw in draws]
    frequent = Counter(keys).most_common(CANDIDATES)
    first = {key: max((j for j, k in enumerate(keys) if k == key), key=lambda j: log_joints[j]) for key, _ in frequent}
    if frequent[0][1] * 2 > len(draws):
        return draws[first[frequent[0][0]]]
    chosen = {*first.values(), int(np.argmax(log_joints))}
    try:
        return max((draws[j] for j in sorted(chosen)), key=lambda draw: _score(draw, observations))
    except TooLargeError:
        return draws[first[frequent[0][0]]]


def _score(draw: Draw, observations: Observations) -> float:
    """The buffet stands for the finite prior too: of the causes that reach anything they say nearly the same."""
    cells = observations.cells.T
    model = HiddenCauses(draw.links.T, draw.epsilon, draw.lam, draw.p)
    prior = IndianBuffet(draw.alpha).log_probability(model.links)
    return prior + model.log_likelihood(np.where(cells == HOLE, np.nan, cells.astype(np.float64)))
