"""What a network file says, before it is believed.

Every format reads its text into declarations (a variable and its states) and definitions (a child, its parents
and its numbers). They are checked here, once for all formats: sizes before anything is allocated, then names,
then numbers. Whatever is wrong becomes one line with the file and the line in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label
from leverrier.errors import FormatError, NetworkError, TooLargeError
from leverrier.models.graph import Graph
from leverrier.models.network import MOST_CELLS, ROUNDING, Network, normalised

ROW_TOLERANCE = 1e-3
"""Rows further than this from summing to one are refused; nearer ones are divided by their sum."""

MOST_PARENTS = 63
"""An array has at most 64 axes. With two states each the table would be far too large long before."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """The file being read, for the sake of its messages."""

    path: str | None = None

    def error(self, message: str, line: int | None = None) -> FormatError:
        return FormatError(message, path=self.path, line=line)

    def too_large(self, message: str, line: int | None = None) -> TooLargeError:
        return TooLargeError(str(FormatError(message, path=self.path, line=line)))

    def number(self, text: str, line: int | None) -> float:
        """A probability as it may stand in a file."""
        if not _NUMBER.fullmatch(text):
            what = "is not finite" if _NOT_FINITE.fullmatch(text) else "is not a number"
            raise self.error(f"{shown(text)} {what}: a probability was expected", line)
        return self.probability(float(text), line)

    def probability(self, value: float, line: int | None, place: str = "") -> float:
        if not 0 <= value < math.inf:
            what = "is negative" if value < 0 else "is not finite"
            raise self.error(f"{place}{value} {what}: a probability was expected", line)
        return value


@dataclass(frozen=True)
class Declared:
    """A variable and its states, as declared at a line."""

    name: str
    states: tuple[Label, ...]
    line: int | None


class Definition(Protocol):
    """One variable's table, as defined at a line."""

    @property
    def child(self) -> str: ...

    @property
    def parents(self) -> tuple[str, ...]: ...

    @property
    def line(self) -> int | None: ...

    @property
    def hint(self) -> str:
        """What to add when a row does not sum to one."""
        ...

    def rows(self, source: Source, states: Sequence[tuple[Label, ...]]) -> NDArray[np.float64]:
        """One row a configuration of the parents (the last changes fastest); `states` of parents, then child."""
        ...

    def line_of(self, row: int) -> int | None: ...


@dataclass(frozen=True)
class Listed:
    """A definition whose numbers are listed row after row, the child's states changing fastest."""

    child: str
    parents: tuple[str, ...]
    numbers: Sequence[float]
    line: int | None
    hint: str = ""

    def rows(self, source: Source, states: Sequence[tuple[Label, ...]]) -> NDArray[np.float64]:
        shape = [len(labels) for labels in states]
        if len(self.numbers) != math.prod(shape):
            raise source.error(wrong_count(self.child, len(self.numbers), shape), self.line)
        return np.array(self.numbers, dtype=np.float64).reshape(-1, shape[-1])

    def line_of(self, row: int) -> int | None:  # noqa: ARG002  (the protocol's; here all rows have one place)
        return self.line


def assemble(
    source: Source, declared: Sequence[Declared], defined: Sequence[Definition], notes: Mapping[str, Any]
) -> Network:
    """The network a file describes, or the one line that says why there is none."""
    states = _states(source, declared)
    definitions = _definitions(source, declared, defined)
    _check_sizes(source, states, definitions.values())
    for variable in declared:
        if variable.name not in definitions:
            raise source.error(f"{shown(variable.name)} has no table: every variable needs one", variable.line)
    graph = _graph(source, definitions)
    tables: dict[str, NDArray[np.float64]] = {}
    changed, largest = 0, 0.0
    for name, definition in definitions.items():
        scope = [states[other] for other in (*definition.parents, name)]
        rows = definition.rows(source, scope)
        off = _from_one(rows)
        if not off.max() <= ROW_TOLERANCE * (1 + 1e-9):  # the slack lets 0.333 + 0.333 + 0.333 in
            raise _not_one(source, definition, rows, scope)
        changed += int(np.count_nonzero(off > ROUNDING))
        largest = max(largest, float(off.max()))
        tables[name] = normalised(rows, math.inf).reshape([len(labels) for labels in scope])
    said = {"renormalised_rows": changed, "largest_row_error": largest} if changed else {}
    return Network(graph, states, tables, {**notes, **said})


def _states(source: Source, declared: Sequence[Declared]) -> dict[str, tuple[Label, ...]]:
    if not declared:
        raise source.error("no variables: the file is empty or not a network")
    first: dict[str, Declared] = {}
    for variable in declared:
        if not variable.name:
            raise source.error("a variable has no name", variable.line)
        if variable.name in first:
            where = first[variable.name].line
            before = f", first at line {where}" if where is not None else ""
            raise source.error(f"the variable {shown(variable.name)} is declared twice{before}", variable.line)
        if not variable.states:
            raise source.error(f"{shown(variable.name)} has no states: at least one is needed", variable.line)
        if len(set(variable.states)) != len(variable.states):
            seen: set[Label] = set()
            twice = next(label for label in variable.states if label in seen or seen.add(label))
            raise source.error(f"{shown(variable.name)} has the state {shown(twice)} twice", variable.line)
        first[variable.name] = variable
    return {name: variable.states for name, variable in first.items()}


def _definitions(source: Source, declared: Sequence[Declared], defined: Sequence[Definition]) -> dict[str, Definition]:
    lines = {variable.name: variable.line for variable in declared}
    found: dict[str, Definition] = {}
    for definition in defined:
        child, parents, line = definition.child, definition.parents, definition.line
        if child not in lines:
            raise source.error(f"a table for {shown(child)}, which is not a variable of the file", line)
        if child in found:
            raise source.error(f"a second table for {shown(child)}, the first at line {found[child].line}", line)
        for parent in parents:
            if parent not in lines:
                raise source.error(
                    f"{shown(child)} has the parent {shown(parent)}, which is not a variable of the file", line
                )
        if len(set(parents)) != len(parents):
            twice = next(parent for parent in parents if parents.count(parent) > 1)
            raise source.error(f"{shown(child)} names its parent {shown(twice)} twice", line)
        found[child] = definition
    return {name: found[name] for name in lines if name in found}


def _check_sizes(source: Source, states: Mapping[str, tuple[Label, ...]], definitions: Iterable[Definition]) -> None:
    """Refuse before allocating: one table, or all together, beyond what can be held."""
    total = 0
    for definition in definitions:
        if len(definition.parents) > MOST_PARENTS:
            raise source.too_large(
                f"{shown(definition.child)} has {len(definition.parents):,} parents; at most {MOST_PARENTS} are read",
                definition.line,
            )
        cells = 1
        for name in (*definition.parents, definition.child):
            cells *= len(states[name])
            if cells > 10**18:
                break
        total += cells
        if total > MOST_CELLS:
            size = f"{cells:,}" if cells <= 10**18 else "more than 10^18"
            what = f"the table of {shown(definition.child)} would have {size} cells"
            if cells <= MOST_CELLS:
                what = f"with {shown(definition.child)} the tables together would have {total:,} cells"
            raise source.too_large(f"{what}; at most {MOST_CELLS:,} are read", definition.line)


def _graph(source: Source, definitions: Mapping[str, Definition]) -> Graph:
    try:
        return Graph.from_parents({name: definition.parents for name, definition in definitions.items()})
    except NetworkError as error:
        import networkx  # (late: only a broken file needs it)

        arrows = networkx.DiGraph((p, child) for child, definition in definitions.items() for p in definition.parents)
        child = networkx.find_cycle(arrows)[0][1]
        raise source.error(str(error), definitions[child].line) from error


def _from_one(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row is from summing to one; infinitely, where the sum is too large for a number."""
    with np.errstate(over="ignore"):
        return np.abs(rows.sum(axis=1) - 1)


def _not_one(
    source: Source, definition: Definition, rows: NDArray[np.float64], scope: Sequence[tuple[Label, ...]]
) -> FormatError:
    row = int(np.argmax(_from_one(rows)))
    places = np.unravel_index(row, [len(labels) for labels in scope[:-1]]) if definition.parents else ()
    given = ", ".join(
        f"{parent}={labels[int(at)]}" for parent, labels, at in zip(definition.parents, scope, places, strict=False)
    )
    return source.error(
        f"the probabilities of {shown(definition.child)}{f' given {shown(given, bare=True)}' if given else ''} "
        f"sum to {sum(rows[row].tolist()):.7g}, expected 1 (within {ROW_TOLERANCE:g}){definition.hint}",
        definition.line_of(row),
    )


def wrong_count(child: str, found: int, shape: Sequence[int]) -> str:
    """The sentence for a table with too few or too many numbers."""
    sizes = " × ".join(str(size) for size in shape)
    return f"the table of {shown(child)} has {found:,} numbers, expected {math.prod(shape):,} ({sizes})"


def shown(value: object, most: int = 80, *, bare: bool = False) -> str:
    """A name or label as it may stand in a one-line message."""
    text = repr(value)[1:-1] if bare else repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
