"""Formats whose names are identifiers: other names get one for the file, and their own beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from leverrier.formats.draft import Declared, Listed, Source, assemble, shown
from leverrier.models.network import Network


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """For each name itself if it is one, else one made from it; no two the same."""
    wanted = list(names)
    taken = {name for name in wanted if _fits(name)}
    found: dict[str, str] = {}
    for name in wanted:
        made = plain = name if _fits(name) else "_".join(["x", *re.findall("[A-Za-z0-9]+", name)])
        number = 2
        while made in taken and made != name:
            made, number = f"{plain}_{number}", number + 1
        taken.add(made)
        found[name] = made
    return found


def _fits(name: str) -> bool:
    return re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) is not None


def assemble_named(
    source: Source,
    declared: Sequence[Declared],
    defined: Sequence[Listed],
    names: Mapping[str, str],
    notes: Mapping[str, str],
) -> Network:
    """The network, with the names that identifiers stand for."""
    lines: dict[str, int | None] = {}
    for each in declared:
        if each.name in lines:
            words = f"the variable {shown(each.name)} is declared twice, first at line {lines[each.name]}"
            raise source.error(words, each.line)
        lines[each.name] = each.line
    return assemble(
        source,
        [replace(each, name=names.get(each.name, each.name)) for each in declared],
        [
            replace(
                each,
                child=names.get(each.child, each.child),
                parents=tuple(names.get(parent, parent) for parent in each.parents),
            )
            for each in defined
        ],
        notes,
    )
