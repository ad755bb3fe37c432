"""Yes/no columns that are one category: side by side, begun alike, or anywhere in the table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.quality.row_looking import Table

YES = frozenset({"1", "true", "yes", "y", "x", "on"})
NO = frozenset({"0", "false", "no", "n", "off"})
LEAST_COLUMNS = 3
TOGETHER = 0.002
"""Of the rows: so many may have two yeses, by mistakes."""
ALWAYS = 0.995
"""Of the rows that have any of the columns: in so many exactly one is yes."""
FEW_ROWS = 5
"""Rows in which a column must say yes, to be one of a group that stands nowhere together."""
FEW_MEETINGS = 20
"""Rows in which columns would say yes together by chance: fewer, and that they never do so is no sign."""

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


def one_hot(table: Table, names: tuple[str, ...], codes: Codes) -> Iterator[Noticed]:
    """Groups of yes/no columns of which exactly one is yes in (nearly) every row that has any of them: side by side,
    begun alike, or anywhere; or side by side, begun alike and never yes together, although by chance they would be: a
    category with a level left out."""
    code = [_yes(table, name) for name in names]
    places = [place for place, own in enumerate(code) if own is not None]
    said = {place: codes[place] == code[place] for place in places}
    left = list(places)
    for group in _runs(places, said):
        found = _covering(names, codes, said, group) or _left_out(table, names, codes, said, group)
        if found is not None:
            yield found
            left = [place for place in left if place not in group]
    for group in _begun_alike(names, left):
        found = _covering(names, codes, said, group)
        if found is not None:
            yield found
            left = [place for place in left if place not in group]
    for group in _anywhere(left, said):
        found = _covering(names, codes, said, group)
        if found is not None:
            yield found


def _runs(places: list[int], said: dict[int, Flags]) -> list[list[int]]:
    """Columns side by side, each as far as no two say yes together."""
    groups: list[list[int]] = []
    total: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    for place in places:
        more = total + said[place] if groups else None
        if groups and more is not None and groups[-1][-1] == place - 1 and np.mean(more > 1) <= TOGETHER:
            groups[-1].append(place)
            total = more
        else:
            groups.append([place])
            total = said[place].astype(np.int64)
    return [group for group in groups if len(group) >= LEAST_COLUMNS]


def _begun_alike(names: tuple[str, ...], places: list[int]) -> list[list[int]]:
    """Columns whose names are the same before their last sign of parting."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place in places:
        stem = re.match(r"(.+)[ _\-.:=\[(]", names[place])
        if stem is not None:
            groups[stem[1]].append(place)
    return [group for group in groups.values() if len(group) >= LEAST_COLUMNS]


def _anywhere(places: list[int], said: dict[int, Flags]) -> Iterator[list[int]]:
    """Columns that cover every row once, wherever they stand: from each column on, the first row that none covers yet
    says which may come next; of several the one with most rows."""
    left = [place for place in places if said[place].sum() >= FEW_ROWS]
    meet = {(a, b): float(np.mean(said[a] & said[b])) for a in left for b in left}
    while left:
        group, covered = [left[0]], said[left[0]].copy()
        while not covered.all():
            row = int(np.argmin(covered))
            fits = [p for p in left if said[p][row] and all(meet[p, other] <= TOGETHER for other in group)]
            if not fits:
                break
            best = max(fits, key=lambda p: int(said[p].sum()))
            group.append(best)
            covered |= said[best]
        if len(group) >= LEAST_COLUMNS and covered.mean() >= ALWAYS:
            yield sorted(group)
            left = [place for place in left if place not in group]
        else:
            left = left[1:]


def _covering(names: tuple[str, ...], codes: Codes, said: dict[int, Flags], group: list[int]) -> Noticed | None:
    """A group of which exactly one is yes."""
    total = np.sum([said[place] for place in group], axis=0)
    some = (codes[group] >= 0).any(axis=0)
    share = float(np.mean(total[some] == 1)) if some.mean() >= 0.5 else 0.0
    own = tuple(names[place] for place in group)
    return Noticed(Notice.ONE_HOT, own, share=share, name=_stem(own)) if share >= ALWAYS else None


def _left_out(
    table: Table, names: tuple[str, ...], codes: Codes, said: dict[int, Flags], group: list[int]
) -> Noticed | None:
    """A group of which at most one is yes: side by side alone, for rare signs that begin alike may well never meet."""
    own = tuple(names[place] for place in group)
    flags = np.array([said[place] for place in group])
    if not (codes[group] >= 0).any(axis=0).all() or not _exclusive(own, flags):
        return None
    none = round(float(np.mean(flags.sum(axis=0) == 0)) * table.n_rows)
    return Noticed(Notice.ONE_HOT, own, count=none, name=_stem(own))


def _exclusive(group: tuple[str, ...], said: Flags) -> bool:
    """Whether columns with one stem never say yes together, where columns that know nothing of each other would in
    enough rows."""
    shares = said.mean(axis=1)
    meet = (shares.sum() ** 2 - (shares**2).sum()) / 2 * said.shape[1]
    stem = _stem(group)
    parted = all(name[len(stem) : len(stem) + 1] in tuple(" _-.:=[(") for name in group)
    return bool(parted and stem != "category" and meet >= FEW_MEETINGS and said.sum(axis=0).max() <= 1)


def _yes(table: Table, name: str) -> int | None:
    states = [str(state).strip().lower() for state in table.columns[table.index(name)].states]
    if len(states) != 2 or not (set(states) & YES and set(states) & NO):
        return None
    return next(code for code, state in enumerate(states) if state in YES)


def _stem(names: tuple[str, ...]) -> str:
    """What the names begin with, as the name of the one column."""
    shortest = min(names, key=len)
    size = next((i for i in range(len(shortest)) if len({name[i] for name in names}) > 1), len(shortest))
    return shortest[:size].rstrip(" _-.:=[(") or "category"
