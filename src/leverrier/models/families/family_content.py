"""Families of states read back from the plain values they were saved as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leverrier.errors import NetworkError
from leverrier.models.families.conditional import StateConditional
from leverrier.models.families.state_kind import StateKind
from leverrier.models.families.state_logit import LogitKind
from leverrier.models.families.state_lumps import LumpsKind
from leverrier.models.families.state_max import NoisyMaxKind
from leverrier.models.families.state_offset import OffsetKind
from leverrier.models.families.state_table import LookupKind, TableKind
from leverrier.models.families.state_tree import TreeKind

_KINDS: dict[str, type[StateKind]] = {
    "table": TableKind,
    "lookup": LookupKind,
    "tree": TreeKind,
    "lumps": LumpsKind,
    "logit": LogitKind,
    "ordered logit": LogitKind,
    "noisy-or": NoisyMaxKind,
    "noisy-max": NoisyMaxKind,
    **dict.fromkeys(("copy", "sum", "largest", "smallest", "difference", "product"), OffsetKind),
}


def read_family(content: Mapping[str, Any], shape: Sequence[int]) -> StateConditional:
    """The family that was saved; `shape` is what its table must have."""
    kind = content.get("kind")
    made = _KINDS.get(kind) if isinstance(kind, str) else None
    if made is None:
        raise NetworkError(f"a family of kind {kind!r}; the kinds are {', '.join(_KINDS)}")
    try:
        family = made.of_content(content)
        table = family.table(shape)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise NetworkError(f"a {kind} cannot be read: {problem}") from None
    if not (np.all(table >= 0) and np.all(np.abs(table.sum(axis=-1) - 1) < 1e-6)):
        raise NetworkError(f"a {kind} does not give distributions")
    return family
