"""Message passing on a clique tree, once for three algebras: scaled sums, logarithms of sums, and maxima."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.inference.exact.elimination import require_cells, triangulate
from leverrier.inference.exact.factors import Codes, Scope, aligned, count_cells, log, mixed_radix

TINY = 1e-140
"""A scaled message below this may have lost its largest terms to underflow: such rows are done again in logarithms.
(Terms vanish below 1e-308 of the largest, so above this nothing lost can reach a hundredth digit.)"""


@dataclass(frozen=True, eq=False)
class CliqueTree:
    """Cliques with the separator to their parent as leading axes; parents come before children."""

    cardinalities: tuple[int, ...]
    cliques: tuple[Scope, ...]
    separators: tuple[Scope, ...]
    parents: tuple[int, ...]
    homes: dict[int, tuple[int, int]]
    """For each variable its step in the elimination and the clique it was eliminated in."""

    @classmethod
    def build(
        cls, cardinalities: Sequence[int], variables: Sequence[int], scopes: Sequence[Scope], max_cells: int
    ) -> CliqueTree:
        """A tree over these variables, every scope (of these variables only) within one clique."""
        number = {variable: position for position, variable in enumerate(variables)}
        inner = {tuple(number[variable] for variable in scope) for scope in scopes}
        found = triangulate([cardinalities[variable] for variable in variables], sorted(inner))
        require_cells(found, max_cells)
        cliques, separators = [], []
        for clique, parent in zip(found.cliques, found.parents, strict=True):
            shared = set(clique) & set(found.cliques[parent]) if parent >= 0 else set()
            separator = sorted(shared)
            separators.append(tuple(variables[v] for v in separator))
            cliques.append(tuple(variables[v] for v in (*separator, *sorted(set(clique) - shared))))
        homes = {variables[variable]: (step, found.homes[step]) for step, variable in enumerate(found.order)}
        return cls(tuple(map(int, cardinalities)), tuple(cliques), tuple(separators), found.parents, homes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(count_cells(clique, self.cardinalities) for clique in self.cliques)

    @cached_property
    def cells(self) -> int:
        """Cells of all cliques together: the work and memory of one row."""
        return sum(self.sizes)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.cliques]
        for child, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(child)
        return tuple(map(tuple, below))

    def shape(self, scope: Scope) -> tuple[int, ...]:
        return tuple(self.cardinalities[variable] for variable in scope)

    def find(self, variables: Scope) -> int | None:
        """A clique that holds all of these, if any does: it must be where the first of them is eliminated."""
        if not variables:
            return 0
        home = min(self.homes[variable] for variable in variables)[1]
        return home if set(variables) <= set(self.cliques[home]) else None


class Algebra(NamedTuple):
    """How beliefs are combined. `summed` takes an array and the axes to remove."""

    times: Callable[..., Floats]
    divide: Callable[[Floats, Floats], Floats]
    summed: Callable[[Floats, int | tuple[int, ...]], Floats]


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    """0/0 = 0: what cannot happen stays impossible."""
    result = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)


def _subtract(numerator: Floats, denominator: Floats) -> Floats:
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), -np.inf)
    return np.subtract(numerator, denominator, out=result, where=denominator > -np.inf)


def _log_sum(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    peak = values.max(axis=axis, keepdims=True)
    peak[np.isneginf(peak)] = 0.0
    return log(np.exp(values - peak).sum(axis=axis)) + peak.squeeze(axis)


SCALED = Algebra(np.multiply, _divide, lambda values, axis: values.sum(axis=axis))
LOGS = Algebra(np.add, _subtract, _log_sum)
MAXIMA = Algebra(np.add, _subtract, lambda values, axis: values.max(axis=axis))


@dataclass(eq=False)
class Collected:
    """A tree after the pass to the root: each clique's belief counts everything below it, not yet what is above."""

    tree: CliqueTree
    algebra: Algebra
    beliefs: list[Floats]
    sums: list[Floats]
    """Each belief summed to its separator: the message to the parent before scaling."""
    log_total: Floats
    """For each row the logarithm of the sum (or the largest) over all assignments."""
    doubtful: NDArray[np.bool_]
    """Rows whose scaled messages came near underflow."""
    distributed: bool = False

    def at(self, rows: NDArray[np.bool_]) -> Collected:
        """Only these rows."""
        if rows.all():
            return self

        def some(arrays: list[Floats]) -> list[Floats]:
            return [array[..., rows] if array.shape[-1] > 1 else array for array in arrays]

        return Collected(
            self.tree, self.algebra, some(self.beliefs), some(self.sums), self.log_total[rows], self.doubtful[rows]
        )

    @property
    def marginals(self) -> list[Floats]:
        """Every clique's posterior, after the pass back from the root; all zero where the evidence is impossible."""
        if not self.distributed:
            self._distribute()
        return self.beliefs

    def _distribute(self) -> None:
        """Beliefs are replaced in place: what they say of a clique given its separator stays as it was."""
        tree, algebra = self.tree, self.algebra
        whole = np.zeros(1) if algebra is LOGS else np.ones(1)
        for clique, (separator, parent) in enumerate(zip(tree.separators, tree.parents, strict=True)):
            above = whole if parent < 0 else sum_to(self.beliefs[parent], tree.cliques[parent], separator, algebra)
            ratio = aligned(algebra.divide(above, self.sums[clique]), separator, tree.cliques[clique])
            self.beliefs[clique] = _combine(self.beliefs[clique], ratio, algebra)
        if algebra is LOGS:
            for belief in self.beliefs:
                np.exp(belief, out=belief)
            self.algebra = SCALED
        self.distributed = True


def sum_to(belief: Floats, clique: Scope, scope: Scope, algebra: Algebra = SCALED) -> Floats:
    """Sum out all but `scope`; axes in the order of `scope`."""
    if clique[: len(scope)] == scope:  # the axes to remove lie together: one long axis is quicker to sum
        shape = belief.shape[: len(scope)]
        cells = int(np.prod(shape, dtype=np.int64))
        return algebra.summed(belief.reshape(cells, -1, belief.shape[-1]), 1).reshape(*shape, -1)
    kept = [variable for variable in clique if variable in scope]
    gone = tuple(axis for axis, variable in enumerate(clique) if variable not in scope)
    return aligned(algebra.summed(belief, gone) if gone else belief, tuple(kept), scope)


def potentials(tree: CliqueTree, terms: Iterable[tuple[Scope, Floats]]) -> list[Floats]:
    """Each clique's sum of the log factors that live in it, added up as they come."""
    result: list[Floats] = [np.zeros((*tree.shape(clique), 1)) for clique in tree.cliques]
    for scope, values in terms:
        home = tree.find(scope)
        assert home is not None, f"no clique holds {scope}"
        spread = aligned(values, scope, tree.cliques[home])
        in_place = result[home].shape[-1] >= values.shape[-1]
        result[home] = np.add(result[home], spread, out=result[home] if in_place else None)
    return result


def collect(tree: CliqueTree, logs: list[Floats], algebra: Algebra, rows: int) -> Collected:
    """The pass to the root. Every message is divided by its largest entry, whose logarithm is kept aside.

    The potentials become the beliefs, in place: they may be the largest arrays there are.
    """
    sums: list[Floats] = [np.empty(0)] * len(logs)
    messages = list(sums)
    log_total = np.zeros(rows)
    doubtful = np.zeros(rows, dtype=np.bool_)
    for clique in reversed(range(len(logs))):
        belief = logs[clique]
        if algebra is SCALED:
            peak = _peak(belief)
            log_total += peak
            belief -= np.where(np.isneginf(peak), 0.0, peak)
            np.exp(belief, out=belief)
        for child in tree.children[clique]:
            belief = _combine(belief, aligned(messages[child], tree.separators[child], tree.cliques[clique]), algebra)
        logs[clique] = belief
        sums[clique] = sum_to(belief, tree.cliques[clique], tree.separators[clique], algebra)
        scale = _peak(sums[clique])
        if algebra is SCALED:
            doubtful |= scale < TINY
            log_total += log(scale)
        else:
            log_total += scale
        messages[clique] = algebra.divide(sums[clique], scale)
    return Collected(tree, algebra, logs, sums, log_total, doubtful)


def _peak(values: Floats) -> Floats:
    return values.max(axis=tuple(range(values.ndim - 1)))


def _combine(belief: Floats, message: Floats, algebra: Algebra) -> Floats:
    """Multiply a message in; in place when the belief has a column for each row of it."""
    return algebra.times(belief, message, out=belief if belief.shape[-1] >= message.shape[-1] else None)


def descend(
    collected: Collected, pick: Callable[[Floats], NDArray[np.int64]], columns: NDArray[np.int64], codes: Codes
) -> None:
    """Fill in codes from the root down: `pick` chooses among a clique's new states given those already chosen.

    Row i of `codes` takes its beliefs from column `columns[i]`; `pick` sees (states, rows).
    """
    tree = collected.tree
    for clique, separator, belief in zip(tree.cliques, tree.separators, collected.beliefs, strict=True):
        rest = clique[len(separator) :]
        if not rest:
            continue
        shape = tree.shape(separator)
        flat = belief.reshape(int(np.prod(shape, dtype=np.int64)), -1, belief.shape[-1])
        key = mixed_radix([codes[variable] for variable in separator] or np.zeros((0, len(columns)), int), shape)
        chosen = pick(flat[key, :, columns if flat.shape[-1] > 1 else 0].T)
        for variable, state in zip(rest, np.unravel_index(chosen, tree.shape(rest)), strict=True):
            codes[variable] = state
