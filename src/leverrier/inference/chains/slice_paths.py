"""The most probable completion of sequences: largest terms forward, then slice by slice back to the beginning."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.inference.chains.forward_backward import chain_of
from leverrier.inference.chains.slice_passes import SlicePasses
from leverrier.inference.chains.unrolled_rows import Node, Pattern, Unrolled
from leverrier.inference.exact.factors import Factor
from leverrier.inference.exact.junction import JunctionTree


def most_probable(unrolled: Unrolled, theta: Floats) -> NDArray[np.int32]:
    """Every code, what was unobserved filled in all together as is most probable; −1 stays where nothing is possible.

    All variables must be wanted: what nothing depends on has a most probable state too.
    """
    chain = chain_of(unrolled)
    if chain is not None:
        codes = unrolled.codes.copy()
        codes[list(chain.variables)] = chain.most_probable(theta)
        return most_probable(
            Unrolled(unrolled.cardinalities, unrolled.stages, codes, unrolled.starts, unrolled.wanted), theta
        )
    if not unrolled.patterns:
        return unrolled.codes
    return _Decoder(unrolled, theta).codes


class _Decoder:
    """Goes back through the visits, fixing what each slice passes on before it asks the slice before."""

    def __init__(self, unrolled: Unrolled, theta: Floats) -> None:
        self.unrolled, self.theta = unrolled, theta
        self.codes = unrolled.codes.copy()
        passes = SlicePasses(unrolled, tracked=False, maximise=True)
        slices = np.zeros(unrolled.n_slices)
        plan, messages = passes._forward((0, len(passes.plan)), np.empty(0), theta, slices)
        self.possible = np.isfinite(slices)
        trees: dict[int, JunctionTree] = {}
        for t, number, source, _ in plan[::-1].tolist():
            pattern = unrolled.patterns[number]
            if number not in trees:
                trees[number] = self._tree(pattern)
            shape = [unrolled.cardinalities[v] for v, _ in pattern.before]
            came = messages[source : source + int(np.prod(shape))].reshape(shape) if shape else None
            self._slice(t, pattern, trees[number], came)

    def _tree(self, pattern: Pattern) -> JunctionTree:
        number = {node: place for place, node in enumerate(pattern.nodes)}
        families = self.unrolled.stages[pattern.stage]
        scopes = [tuple(number[n] for n in families[f].nodes if n in number) for f in pattern.families]
        scopes += [tuple(number[node] for node in pattern.before)]
        return JunctionTree.build(
            [self.unrolled.cardinalities[v] for v, _ in pattern.nodes], [scope for scope in scopes if scope]
        )

    def _slice(self, t: int, pattern: Pattern, tree: JunctionTree, came: Floats | None) -> None:
        number = {node: place for place, node in enumerate(pattern.nodes)}
        factors = [self._factor(t, pattern, family, number) for family in pattern.families]
        if came is not None:
            factors.append(Factor(tuple(number[node] for node in pattern.before), came))
        evidence = np.array([[self.codes[v, t - lag]] for v, lag in pattern.nodes])
        filled, _ = tree.calibrate(factors, evidence).most_probable()
        for (variable, lag), code in zip(pattern.nodes, filled[:, 0].tolist(), strict=True):
            self.codes[variable, t - lag] = code

    def _factor(self, t: int, pattern: Pattern, number: int, place: dict[Node, int]) -> Factor:
        family = self.unrolled.stages[pattern.stage][number]
        pairs = [(node, stride) for node, stride in zip(family.nodes, family.strides, strict=True) if node in place]
        shape = [self.unrolled.cardinalities[v] for (v, _), _ in pairs]
        cells = np.zeros(shape, dtype=np.int64) + self.unrolled.offsets[number, t]
        for axis, (_, stride) in enumerate(pairs):
            sizes = [1] * len(shape)
            sizes[axis] = shape[axis]
            cells = cells + (np.arange(shape[axis]) * stride).reshape(sizes)
        return Factor(tuple(place[node] for node, _ in pairs), self.theta[cells])
