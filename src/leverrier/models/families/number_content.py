"""Families of numbers, and of states given numbers, read back from what `content()` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leverrier.errors import NetworkError
from leverrier.models.families.conditional import Conditional
from leverrier.models.families.number_count import NEGATIVE_BINOMIAL, POISSON, ZERO_INFLATED, NumberCount
from leverrier.models.families.number_histogram import NumberHistogram
from leverrier.models.families.number_kind import BY_CODES, NumberKind
from leverrier.models.families.number_offset import OFFSET, NumberOffset
from leverrier.models.families.number_regression import NumberRegression
from leverrier.models.families.number_states import NumberLogit, NumberOrderedLogit, NumberTable
from leverrier.models.families.number_tree import NumberTree

_KINDS: Mapping[str, Any] = {
    "linear": NumberRegression,
    "squares": NumberRegression,
    "hinges": NumberRegression,
    "steps": NumberRegression,
    "products": NumberRegression,
    "tree": NumberTree,
    "histogram": NumberHistogram,
    "table": NumberTable,
    "logit": NumberLogit,
    "ordered logit": NumberOrderedLogit,
    POISSON: NumberCount,
    NEGATIVE_BINOMIAL: NumberCount,
    ZERO_INFLATED: NumberCount,
    OFFSET: NumberOffset,
    BY_CODES: NumberKind,
}


def number_family(content: Mapping[str, Any]) -> Conditional:
    """The family that said this of itself."""
    kind = str(content.get("kind"))
    if kind not in _KINDS:
        raise NetworkError(f"a family of kind {kind!r} is not known; known are {', '.join(_KINDS)}")
    try:
        return _KINDS[kind].of_content(content)
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise NetworkError(f"the family of kind {kind!r} is not whole: {problem}") from problem
