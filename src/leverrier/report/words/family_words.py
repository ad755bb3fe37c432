"""How a column follows from its parents, in one sentence: one for every kind of family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leverrier.kernels.search.tree_growth import AT_MOST
from leverrier.models.families.column_function import ColumnFunction, FunctionName
from leverrier.models.families.number_count import NumberCount
from leverrier.models.families.number_histogram import NumberHistogram
from leverrier.models.families.number_kind import NumberKind
from leverrier.models.families.number_offset import NumberOffset
from leverrier.models.families.number_regression import NumberRegression
from leverrier.models.families.number_states import NumberLogit, NumberOrderedLogit, NumberTable
from leverrier.models.families.number_terms import Term, TermShape
from leverrier.models.families.number_tree import NumberTree
from leverrier.models.families.state_logit import LogitKind
from leverrier.models.families.state_lumps import LumpsKind
from leverrier.models.families.state_max import NoisyMaxKind
from leverrier.models.families.state_offset import OffsetKind
from leverrier.models.families.state_table import LookupKind, TableKind
from leverrier.models.families.state_tree import TreeKind

Names = Sequence[str]
OFTEN = 0.01
"""Rarer steps are not named."""


def family_words(family: Any, child: str, parents: Names) -> str:
    """The sentence of a family whose child and parents have these names."""
    for kind, said in _SENTENCES.items():
        if isinstance(family, kind):
            return said(family, child, parents)
    raise TypeError(f"no words for {type(family).__name__}")


def _lumps(own: LumpsKind, child: str, parents: Names) -> str:
    said = [
        f"{int(lumps.max()) + 1} groups of the {len(lumps)} states of {name}" if lumps.max() + 1 < len(lumps) else name
        for lumps, name in zip(own.groups, parents, strict=True)
    ]
    return f"{child} depends on {' and on '.join(said)}"


def _table(own: TableKind, child: str, parents: Names) -> str:  # noqa: ARG001
    if not parents:
        return f"{child} depends on nothing else"
    return f"{child} has a distribution of its own for each combination of {' and '.join(parents)}"


def _lookup(own: LookupKind, child: str, parents: Names) -> str:
    return f"{child} is a function of {' and '.join(parents)} in {100 * (1 - own.error):.3g} % of the rows"


def _tree(own: TreeKind, child: str, parents: Names) -> str:
    asked = list(dict.fromkeys(_question(own, node, parents) for node in range(own.tree.n_nodes)))
    questions = ", ".join(each for each in asked if each)
    return f"{child} has {own.tree.n_leaves} distributions, told apart by {questions or 'nothing'}"


def _question(own: TreeKind, node: int, parents: Names) -> str:
    """What a node of the tree asks; nothing of a leaf."""
    asked = int(own.tree.feature[node])
    if asked < 0:
        return ""
    function, at = own.features[asked], int(own.tree.value[node])
    sign = "≤" if own.tree.kind[node] == AT_MOST else "="
    return f"{function_words(function, parents)} {sign} {function.levels[at]:g}"


def _logit(own: LogitKind, child: str, parents: Names) -> str:
    strength = np.abs(own.theta[own.states - 1 :].reshape(-1, own.basis.shape[1])).sum(axis=1)
    weights, at = [], 0
    for term in own.terms:
        weights.append(float(strength[at : at + term.shape[1]].sum()))
        at += term.shape[1]
    order = [parents[i] for i in sorted(range(len(weights)), key=lambda i: -weights[i])]
    what = "The log-odds of" if not own.ordered else "The log-odds of neighbouring states of"
    also = " and of products of two of them" if own.pairs else ""
    return f"{what} {child} are a sum of effects of {', '.join(order)}{also} (strongest first)"


def _noisy_max(own: NoisyMaxKind, child: str, parents: Names) -> str:  # noqa: ARG001
    return f"{child} is the most extreme of what each of {', '.join(parents)} brings on its own"


def _offset(own: OffsetKind, child: str, parents: Names) -> str:
    top = int(own.shares.argmax())
    off = f"{own.offsets[top]:+g}" if own.offsets[top] else ""
    share = f"in {100 * own.shares[top]:.0f} % of the rows"
    return f"{child} is {function_words(own.function, parents)}{off} {share}, else it lies beside it"


def _histogram(own: NumberHistogram, child: str, parents: Names) -> str:  # noqa: ARG001
    return f"{child}: the shares of its quarters change with {' and '.join(parents)}, in no simple shape"


def _regression(own: NumberRegression, child: str, parents: Names) -> str:
    if not own.terms:
        return _alone(child)
    sides = _sides(own.terms, own.coefficients[1:], parents)
    where = "ranks" if own.curve is None else "own units"
    text = f"{child} in its {where}: {', '.join(sides)}; {100 * own.explained:.0f} % of its variance"
    if own.spread.follows is not None:
        by = "the prediction" if own.spread.follows < 0 else parents[own.spread.follows]
        by += "" if own.spread.beside is None else f" and {parents[own.spread.beside]} together"
        text += f"; its scatter changes with {by}"
    return text + ("; the scatter is not Gaussian" if own.noise.dimension else "")


def _number_table(own: NumberTable, child: str, parents: Names) -> str:  # noqa: ARG001
    return f"{child}: shares for each combination of {', '.join(parents)}" if parents else _alone(child)


def _number_logit(own: NumberLogit, child: str, parents: Names) -> str:
    return f"{child}: the odds of its states change with {', '.join(term_words(t, parents) for t in own.terms)}"


def _ordered(own: NumberOrderedLogit, child: str, parents: Names) -> str:
    return f"{child} is higher in its order with {', '.join(_sides(own.terms, own.coefficients, parents))}"


def _count(own: NumberCount, child: str, parents: Names) -> str:
    law = "a Poisson count"
    if own.law.size is not None:
        law = f"a count with more spread than Poisson's (negative binomial, size {own.law.size:.2g})"
    if own.law.zeros:
        law = f"0 in {100 * own.law.zeros:.0f} % of the rows whatever else they have, and {law} in the others"
    return f"{child} is {law}; the log of its mean: {', '.join(_sides(own.terms, own.coefficients[1:], parents))}"


def _number_offset(own: NumberOffset, child: str, parents: Names) -> str:
    first, *rest = zip(own.signs, parents, strict=True)
    sides = [f"−{first[1]}" if first[0] < 0 else first[1], *(f"{'+' if s > 0 else '−'} {name}" for s, name in rest)]
    law = own.law
    likely = [law.first + k for k, share in enumerate(law.shares) if share > OFTEN]
    steps = f"{min(likely)} to {max(likely)}" if likely else f"{law.first} to {law.first + len(law.shares) - 1}"
    return f"{child} is {' '.join(sides)} and a step, mostly {steps}"


def _number_tree(own: NumberTree, child: str, parents: Names) -> str:
    by = list(dict.fromkeys(parents[split.parent] for split in own.splits))
    inside = f", a line in {', '.join(term_words(t, parents) for t in own.terms)} in each" if own.terms else ""
    return f"{child} differs between {len(own.lines)} groups of rows parted by {', '.join(by)}{inside}"


def _by_codes(own: NumberKind, child: str, parents: Names) -> str:
    return family_words(own.said, child, parents)


def _alone(child: str) -> str:
    return f"{child} stands alone: nothing in the table predicts it"


def _sides(terms: Sequence[Term], coefficients: Any, parents: Names) -> list[str]:
    return [f"{'+' if c >= 0 else '−'}{term_words(t, parents)}" for t, c in zip(terms, coefficients, strict=True)]


def function_words(function: ColumnFunction, parents: Names) -> str:
    """A function of columns, as one writes it."""
    own = [parents[p] for p in function.parents]
    match function.name:
        case FunctionName.VALUE:
            return own[0]
        case FunctionName.DIFFERENCE:
            return " − ".join(own)
        case FunctionName.SUM:
            return " + ".join(own)
    return f"the {function.name} of {', '.join(own)}"


def term_words(term: Term, names: Names) -> str:
    """A regressor in the user's words, briefly."""
    first = names[term.parents[0]]
    match term.shape:
        case TermShape.SQUARE | TermShape.CURVE_SQUARE:
            return f"{first} squared"
        case TermShape.HINGE:
            return f"{first} above its {_percent(term.low)} quantile"
        case TermShape.CODE:
            return f"{first} in one range or state"
        case TermShape.STEP:
            return f"whether {first} is above its {_percent(term.low)} quantile"
        case TermShape.PRODUCT | TermShape.CURVE_PRODUCT:
            return f"{first} × {names[term.parents[1]]}"
        case TermShape.SLOPE:
            return f"{names[term.parents[1]]} where {first} is in one range or state"
        case TermShape.ABOVE:
            return f"{first} as far as it exceeds {names[term.parents[1]]}"
        case TermShape.TOGETHER:
            return f"{first} and {names[term.parents[1]]} together above their middle"
        case TermShape.BOTH:
            return f"{first} and {names[term.parents[1]]} both in one state"
    return first


def _percent(score: float) -> str:
    from scipy.special import ndtr

    return f"{100 * float(ndtr(score)):.0f} %"


_SENTENCES: dict[type, Any] = {
    LumpsKind: _lumps,  # (before the table, which it is one of)
    TableKind: _table,
    LookupKind: _lookup,
    TreeKind: _tree,
    LogitKind: _logit,
    NoisyMaxKind: _noisy_max,
    OffsetKind: _offset,
    NumberHistogram: _histogram,
    NumberRegression: _regression,
    NumberTable: _number_table,
    NumberLogit: _number_logit,
    NumberOrderedLogit: _ordered,
    NumberTree: _number_tree,
    NumberCount: _count,
    NumberOffset: _number_offset,
    NumberKind: _by_codes,
}
