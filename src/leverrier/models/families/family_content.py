"""Families of states read back from the plain values they were saved as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from leverrier.errors import NetworkError
from leverrier.models.families.conditional import StateConditional
from leverrier.models.families.state_logit import LogitKind
from leverrier.models.families.state_lumps import LumpsKind
from leverrier.models.families.state_max import NoisyMaxKind
from leverrier.models.families.state_offset import OffsetKind
from leverrier.models.families.state_table import LookupKind, TableKind
from leverrier.models.families.state_tree import TreeKind

_READERS: dict[str, Callable[[Mapping[str, Any]], StateConditional]] = {
    "table": TableKind.read,
    "lookup": LookupKind.read,
    "tree": TreeKind.read,
    "lumps": LumpsKind.read,
    "logit": LogitKind.read,
    "ordered logit": LogitKind.read,
    "noisy-or": NoisyMaxKind.read,
    "noisy-max": NoisyMaxKind.read,
    **dict.fromkeys(("copy", "sum", "largest", "smallest", "difference", "product"), OffsetKind.read),
}


def read_family(content: Mapping[str, Any], shape: Sequence[int]) -> StateConditional:
    """The family that was saved; `shape` is what its table must have."""
    kind = content.get("kind")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise NetworkError(f"a family of kind {kind!r}; the kinds are {', '.join(_READERS)}")
    try:
        family = reader(content)
        table = family.table(shape)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise NetworkError(f"a {kind} cannot be read: {problem}") from None
    if not (np.all(table >= 0) and np.all(np.abs(table.sum(axis=-1) - 1) < 1e-6)):
        raise NetworkError(f"a {kind} does not give distributions")
    return family
