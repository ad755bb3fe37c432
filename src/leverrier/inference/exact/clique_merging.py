"""Posteriors of variables that share no clique: the cliques between them are merged along the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.errors import TooLargeError
from leverrier.inference.exact.elimination import in_words
from leverrier.inference.exact.factors import Scope, aligned, count_cells
from leverrier.inference.exact.propagation import SCALED, CliqueTree, Collected, sum_to

MERGED_CELLS = 2**22
"""Cells of a merged table computed at a time (32 MiB): beyond, rows are taken in turns."""


@dataclass(frozen=True)
class Step:
    """One clique of the merge: start from `start`, then for each child multiply to `product` and sum to `kept`."""

    clique: int
    start: Scope
    separator: Scope
    turns: tuple[tuple[int, Scope, Scope], ...]

    @property
    def result(self) -> Scope:
        return self.turns[-1][2] if self.turns else self.start


def joint(collected: Collected, variables: Scope, max_cells: int) -> Floats:
    """P(variables | evidence) with rows last, wherever in the tree the variables are."""
    tree = collected.tree
    clique = tree.find(variables)
    if clique is not None:
        return sum_to(collected.marginals[clique], tree.cliques[clique], variables)
    steps = _plan(tree, variables)
    cells = max(count_cells(scope, tree.cardinalities) for scope in _scopes(steps))
    if cells > max_cells:
        raise TooLargeError(
            f"the posterior of variables {variables} needs a table of {in_words(cells)} cells a row, at most "
            f"{in_words(max_cells)} are allowed: ask for fewer at a time, or force them into one cluster of the tree"
        )
    rows = max(marginal.shape[-1] for marginal in collected.marginals)
    turn = max(1, MERGED_CELLS // cells)
    parts = [_merge(collected, steps, slice(start, start + turn)) for start in range(0, rows, turn)]
    return aligned(np.concatenate(parts, axis=-1), steps[-1].result, variables)


def _scopes(steps: Sequence[Step]) -> list[Scope]:
    return [scope for step in steps for scope in (step.start, *(product for _, product, _ in step.turns))]


def _plan(tree: CliqueTree, variables: Scope) -> list[Step]:
    """The cliques on the way between the variables, children first, with the scope of every product."""
    wanted = set(variables)
    carried: list[set[int]] = [set() for _ in tree.cliques]  # wanted variables below, and not in, the separator
    for clique in reversed(range(len(tree.cliques))):
        below = set().union(*(carried[child] for child in tree.children[clique]))
        carried[clique] = below | (wanted & set(tree.cliques[clique])) - set(tree.separators[clique])
    used = [[child for child in below if carried[child]] for below in tree.children]
    top = 0
    while len(used[top]) == 1 and wanted & set(tree.cliques[top]) <= set(tree.separators[used[top][0]]):
        top = used[top][0]
    path = [top]
    for clique in path:  # grows while we walk it
        path += used[clique]
    steps = []
    for clique in reversed(path):
        separator = () if clique == top else tree.separators[clique]
        steps.append(_step(tree, clique, separator, used[clique], carried, wanted))
    return steps


def _step(
    tree: CliqueTree, clique: int, separator: Scope, used: list[int], carried: list[set[int]], wanted: set[int]
) -> Step:
    def needed(scope: Sequence[int], later: Sequence[int]) -> Scope:
        ahead = {variable for child in later for variable in tree.separators[child]}
        return tuple(v for v in scope if v in separator or v in wanted or v in ahead)

    scope = start = needed(tree.cliques[clique], used)
    turns = []
    for position, child in enumerate(used):
        product = (*scope, *sorted(carried[child]))
        scope = needed(product, used[position + 1 :])
        turns.append((child, product, scope))
    return Step(clique, start, separator, tuple(turns))


def _merge(collected: Collected, steps: Sequence[Step], rows: slice) -> Floats:
    """Carry P(clique | separator) up to the top of the merge, where the whole posterior stands."""
    tree = collected.tree
    carried: dict[int, tuple[Scope, Floats]] = {}
    for step in steps:
        belief = collected.marginals[step.clique]
        belief = belief[..., rows] if belief.shape[-1] > 1 else belief
        belief = sum_to(belief, tree.cliques[step.clique], step.start)
        if step.separator:
            given = sum_to(belief, step.start, step.separator)
            belief = SCALED.divide(belief, aligned(given, step.separator, step.start))
        scope = step.start
        for child, product, kept in step.turns:
            below_scope, below = carried.pop(child)
            belief = aligned(belief, scope, product) * aligned(below, below_scope, product)
            belief = sum_to(belief, product, kept)
            scope = kept
        carried[step.clique] = scope, belief
    return carried[steps[-1].clique][1]
