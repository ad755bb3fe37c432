"""Several correlated continua behind graded items, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats


@dataclass(frozen=True, eq=False)
class Item:
    """P(state ≤ s) = F(τ_s − η), η = slopes · (the traits it hangs on, then terms of its observed parents)."""

    column: str
    on: tuple[int, ...]
    """Traits by number, its own first; none where it hangs on observed columns alone."""
    parents: tuple[str, ...]
    tau: Floats
    slopes: Floats

    @property
    def own(self) -> int | None:
        return self.on[0] if self.on else None

    @property
    def dimension(self) -> int:
        return len(self.tau) + len(self.slopes)


@dataclass(frozen=True, eq=False)
class Traits:
    """Each trait given the columns that drive it has variance one."""

    items: tuple[Item, ...]
    correlation: Floats
    drivers: tuple[tuple[str, ...], ...]
    """By trait, observed columns that move it."""
    effects: tuple[Floats, ...]
    """By trait, a slope for each term of its drivers."""

    @property
    def count(self) -> int:
        return len(self.drivers)

    @property
    def dimension(self) -> int:
        d = self.count
        return sum(each.dimension for each in self.items) + d * (d - 1) // 2 + sum(map(len, self.effects))

    @property
    def loads(self) -> Floats:
        """(items, traits)."""
        found = np.zeros((len(self.items), self.count))
        for row, each in zip(found, self.items, strict=True):
            row[list(each.on)] = each.slopes[: len(each.on)]
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(each.column for each in self.items)

    def children(self, trait: int) -> tuple[str, ...]:
        """Items whose own trait it is."""
        return tuple(each.column for each in self.items if each.own == trait)

    def parents(self) -> dict[str, tuple[str, ...]]:
        """The observed parents of every item."""
        return {each.column: each.parents for each in self.items}

    def scaled(self, sizes: Floats) -> Traits:
        """The same with each trait told in another unit, of which it has `sizes` less."""
        items = tuple(
            replace(each, slopes=each.slopes * np.concatenate([sizes[list(each.on)], np.ones(_beside(each))]))
            for each in self.items
        )
        effects = tuple(own / size for own, size in zip(self.effects, sizes, strict=True))
        return replace(self, items=items, effects=effects)


def _beside(item: Item) -> int:
    return len(item.slopes) - len(item.on)
