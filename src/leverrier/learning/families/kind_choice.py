"""Which kind says a family's counts best: each pays for its parameters, and for having been chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from leverrier.learning.families.family_counts import FamilyCounts, Price
from leverrier.learning.families.function_fit import (
    functions_of,
    offer_lookups,
    offer_offsets,
    offer_tables,
    offer_trees,
)
from leverrier.learning.families.logit_fit import offer_logits
from leverrier.learning.families.lump_fit import offer_lumps
from leverrier.learning.families.max_fit import offer_maxima
from leverrier.learning.families.offered import Offered

CHOICE = float(np.log(14.0))
"""Tables, lean tables, lookups, trees, trees over functions, lumps, copies, sums, extremes, differences, products,
logits, ordered logits, noisy-max: whoever is not the plain table pays for having been picked among them."""


def best_kind(family: FamilyCounts, price: Price, floor: float) -> Offered | None:
    """The best kind that beats the floor (the plain table's score), price of the choice included; None if none does."""
    found: list[Offered] = []
    for offered in _offers(family, price, lambda: max((each.score for each in found), default=floor + CHOICE)):
        found.append(offered)
    best = max(found, key=lambda each: each.score, default=None)
    return None if best is None else best.less(CHOICE)


def _offers(family: FamilyCounts, price: Price, floor: Callable[[], float]) -> Iterator[Offered]:
    """The floor is asked anew before each kind: what is found first spares fits of the rest."""
    yield from offer_tables(family, price, floor())
    if not family.parents:
        return
    yield from offer_lookups(family, price, floor())
    if family.saturated - family.share_price(price) <= floor():
        return
    functions = functions_of(family)
    yield from offer_offsets(family, price, floor(), functions)
    yield from offer_trees(family, price, floor(), functions)
    yield from offer_lumps(family, price, floor())
    yield from offer_logits(family, price, floor())
    yield from offer_maxima(family, price, floor())
