"""Equal rows of a table said once: a decision tree over the parents and over functions of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.families.column_function import ColumnFunction
from leverrier.models.families.state_kind import Codes, StateKind
from leverrier.models.slices.code_tree import Tree

_PARTS = ("feature", "split", "value", "left", "right")


@dataclass(frozen=True, eq=False)
class TreeKind(StateKind):
    """`features[f]` is what the tree's feature f asks; its codes are ranks of the function's levels."""

    features: tuple[ColumnFunction, ...]
    tree: Tree
    probabilities: Floats
    """(nodes, states); only the rows of leaves are asked."""

    @property
    def kind(self) -> str:
        return "tree"

    @property
    def states(self) -> int:
        return int(self.probabilities.shape[1])

    @property
    def dimension(self) -> int:
        return self.tree.n_leaves * (self.states - 1)

    def rows(self, codes: Codes) -> Floats:
        if not self.features:
            return np.repeat(self.probabilities[:1], codes.shape[1], axis=0)
        asked = np.stack([feature.ranks(codes) for feature in self.features]).astype(np.uint16)
        return self.probabilities[self.tree.leaves(asked)]

    def content(self) -> Mapping[str, Any]:
        tree = self.tree
        parts = (tree.feature, tree.kind, tree.value, tree.left, tree.right)
        return {
            "kind": self.kind,
            "features": [feature.content() for feature in self.features],
            **{name: part.tolist() for name, part in zip(_PARTS, parts, strict=True)},
            "counts": tree.counts.tolist(),
            "probabilities": self.probabilities.tolist(),
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> TreeKind:
        parts = [np.array(content[name], dtype=np.int64) for name in _PARTS]
        counts = np.array(content["counts"], dtype=np.float64)
        features = tuple(ColumnFunction.of_content(each) for each in content["features"])
        tree = Tree(parts[0], parts[1], parts[2], parts[3], parts[4], counts)
        nodes = np.arange(tree.n_nodes)
        inner = tree.feature >= 0
        below = np.concatenate([tree.left[inner], tree.right[inner]])
        ordered = np.all(tree.left[inner] > nodes[inner]) and np.all(tree.right[inner] > nodes[inner])
        if tree.feature.max(initial=-1) >= len(features) or not ordered or below.max(initial=0) >= tree.n_nodes:
            raise ValueError("the tree's nodes do not fit together")
        return cls(features, tree, np.array(content["probabilities"], dtype=np.float64))
