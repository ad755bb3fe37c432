"""Binary splits on codes, with what was seen at each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.search.tree_growth import AT_MOST, find_leaves

Codes = NDArray[np.unsignedinteger]


@dataclass(frozen=True, eq=False)
class Tree:
    """Binary splits on codes. Node 0 is the root; a leaf has feature −1; left is "at most" or "equal" the value."""

    feature: NDArray[np.int64]
    kind: NDArray[np.int64]
    value: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    counts: Floats
    """(nodes, states): what was seen at each node, inner nodes too."""

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    @property
    def used(self) -> tuple[int, ...]:
        """The features that some split asks, ascending."""
        return tuple(int(f) for f in np.unique(self.feature[self.feature >= 0]))

    def leaves(self, features: Codes) -> NDArray[np.int64]:
        """The leaf of each column of (features, rows)."""
        out = np.zeros(features.shape[1], dtype=np.int64)
        if self.n_nodes > 1:
            find_leaves(features, self.feature, self.kind, self.value, self.left, self.right, out)
        return out

    def distributions(self, strength: float | Floats, floor: float | Floats, base: Floats | None = None) -> Floats:
        """P(state) at each node: its counts, `strength` more spread mostly as at the node above, a share evenly.

        So a leaf with few rows leans on the wider group it was split from. `floor` is the share that is spread evenly:
        without it what was never seen would shrink with every split on the way down. `base` is what the root leans on
        (without it, all states alike). Several strengths and floors give an axis in front.
        """
        states = self.counts.shape[1]
        more, even = (np.asarray(part, dtype=np.float64)[..., None] for part in (strength, floor))
        out = np.empty((*more.shape[:-1], *self.counts.shape))
        totals = self.counts.sum(axis=1)
        above = np.full(states, 1.0 / states) if base is None else base
        out[..., 0, :] = (self.counts[0] + more * above) / (totals[0] + more)
        for node in range(self.n_nodes):
            if self.feature[node] >= 0:
                above = more * ((1.0 - even) * out[..., node, :] + even / states)
                for below in (self.left[node], self.right[node]):
                    out[..., below, :] = (self.counts[below] + above) / (totals[below] + more)
        return out

    def with_counts(self, counts: Floats) -> Tree:
        """The same splits over other counts, given at the leaves: inner nodes hold the sum of what is below them."""
        total = counts.copy()
        for node in range(self.n_nodes - 1, -1, -1):  # children come after their parents
            if self.feature[node] >= 0:
                total[node] = total[self.left[node]] + total[self.right[node]]
        return replace(self, counts=total)

    def restricted(self, known: Mapping[int, int]) -> Tree:
        """The tree that is left when these features have these codes."""
        order: list[int] = []
        place: dict[int, int] = {}
        stack = [0]
        while stack:
            node = self._passed(stack.pop(), known)
            place[node] = len(order)
            order.append(node)
            if self.feature[node] >= 0:
                stack += [int(self.right[node]), int(self.left[node])]

        def below(child: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.array([place[self._passed(int(child[n]), known)] if self.feature[n] >= 0 else -1 for n in order])

        return Tree(
            self.feature[order],
            self.kind[order],
            self.value[order],
            below(self.left),
            below(self.right),
            self.counts[order],
        )

    def _passed(self, node: int, known: Mapping[int, int]) -> int:
        while int(self.feature[node]) in known:
            code = known[int(self.feature[node])]
            left = code <= self.value[node] if self.kind[node] == AT_MOST else code == self.value[node]
            node = int(self.left[node] if left else self.right[node])
        return node
