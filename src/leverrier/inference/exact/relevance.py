"""What a question needs of a network: families that sum to one go, and always-observed variables cut the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leverrier.inference.exact.factors import Scope


@dataclass(frozen=True)
class Part:
    """Variables that hang together through cells some row lacks, and the families that touch them."""

    inner: tuple[int, ...]
    families: tuple[int, ...]


def needed_families(scopes: Sequence[Scope], unobserved: Collection[int], asked: Collection[int] = ()) -> list[int]:
    """Families (parents, then the child) that can matter: an unobserved variable without observed or asked descendants
    sums to one and is left out, with its family."""
    above = {scope[-1]: scope[:-1] for scope in scopes}
    kept = {scope[-1] for scope in scopes if scope[-1] not in unobserved or scope[-1] in asked}
    waiting = list(kept)
    while waiting:
        fresh = [parent for parent in above[waiting.pop()] if parent not in kept]
        kept.update(fresh)
        waiting += fresh
    return [number for number, scope in enumerate(scopes) if scope[-1] in kept]


def parts(scopes: Sequence[Scope], families: Sequence[int], incomplete: Collection[int]) -> list[Part]:
    """Cut at the variables that every row observes. Families of observed variables alone are in no part."""
    part_of: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    for number in families:
        inside = [variable for variable in scopes[number] if variable in incomplete]
        for variable in inside:
            if variable not in part_of:
                part_of[variable] = variable
                members[variable] = [variable]
            first, here = part_of[inside[0]], part_of[variable]
            if first != here:
                for moved in members[here]:
                    part_of[moved] = first
                members[first] += members.pop(here)
    touching: dict[int, list[int]] = {part: [] for part in members}
    for number in families:
        for variable in scopes[number]:
            if variable in part_of:
                touching[part_of[variable]].append(number)
                break
    return [Part(tuple(sorted(members[part])), tuple(touching[part])) for part in sorted(members)]
