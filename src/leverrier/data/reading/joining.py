"""Yes/no columns that are one category, joined into one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from leverrier.data.column import Came, Column, Source, listed
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.errors import TableError
from leverrier.hints import option

_YES = frozenset({"1", "true", "yes", "y", "x", "on"})
_NO = frozenset({"0", "false", "no", "n", "off"})


def joined(data: Source, join: Mapping[str, Sequence[str]]) -> Source:
    """The source with each group of columns as one, in the place of its first."""
    if not join:
        return data
    groups = {str(name): tuple(map(str, members)) for name, members in join.items()}
    of = {member: name for name, members in groups.items() for member in members}
    for name, members in groups.items():
        for member in members:
            if member not in data.names:
                raise TableError(f"{option('join')} names the column {member!r}, which is not there")
        if len(members) < 2:
            raise TableError(f"{option('join', {name: list(members)})}: at least two columns are joined")
    names = tuple(dict.fromkeys(of.get(name, name) for name in data.names))
    part = data.part

    def column(name: str) -> Column:
        return _join(name, groups[name], data.column) if name in groups else data.column(name)

    def some(start: int, stop: int, wanted: Sequence[str]) -> Source:
        assert part is not None
        inner = [member for name in wanted for member in groups.get(name, (name,))]
        return joined(part(start, stop, inner), {name: groups[name] for name in wanted if name in groups})

    return replace(data, names=names, column=column, part=None if part is None else some)


def _join(name: str, members: Sequence[str], column: Callable[[str], Column]) -> Column:
    """The member that says yes, row by row; where none does it is "none", where several do, or one is empty, a hole."""
    yes, holes = [], []
    for member in members:
        found = column(member)
        texts = [str(label).strip().lower() for label in found.labels]
        if not set(texts) <= _YES | _NO:
            odd = next(text for text in texts if text not in _YES | _NO)
            raise TableError(f"column {member!r} holds {odd!r}: only yes/no columns are joined")
        codes = found.codes()
        yes.append(np.append([text in _YES for text in texts], False).astype(bool)[codes])
        holes.append(codes < 0)
    said, empty = np.array(yes), np.array(holes)
    count = said.sum(axis=0)
    labels = [*_short(members), "none"]
    codes = np.where(count == 1, said.argmax(axis=0), np.where((count == 0) & ~empty.any(axis=0), len(members), -1))
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    made = listed(name, Came.CATEGORY, labels, counts, len(codes), lambda: codes.astype(np.int32))
    return replace(made, noticed=(Noticed(Notice.JOINED, tuple(members), name=name),))


def _short(members: Sequence[str]) -> list[str]:
    """Names without what all begin with, where that leaves some of each."""
    shortest = min(members, key=len)
    same = next((i for i in range(len(shortest)) if len({name[i] for name in members}) > 1), len(shortest))
    stem = max((shortest[:same].rfind(sign) + 1 for sign in "_-.:= "), default=0)
    return [name[stem:] for name in members] if all(len(name) > stem for name in members) else list(members)
