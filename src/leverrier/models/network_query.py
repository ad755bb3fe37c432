"""What a network says of rows with holes: their probability, posteriors, and most probable completion.

A family whose variables are all observed is looked up. The others fall into parts, cut at what every row observes;
each part is asked once for each distinct evidence on it and its neighbours, whatever the number of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.projection import project
from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Table
from leverrier.errors import OptionError
from leverrier.inference.approximate.loopy import Approximate, loopy
from leverrier.inference.exact.factors import Factor, Scope, log
from leverrier.inference.exact.hole_groups import Families
from leverrier.inference.exact.relevance import Part, needed_families, parts
from leverrier.models.impossible import ImpossibleRows
from leverrier.models.tabled import Method, Tabled
from leverrier.words_of import told

Rows = NDArray[np.int64]

BLOCK = 2**17
"""Rows asked about at a time: the memory needed does not grow with the table."""


@dataclass(frozen=True, eq=False)
class Rest:
    """One part, its variables renumbered 0…, with its distinct evidence: codes with −1 for holes."""

    variables: tuple[int, ...]
    families: Families
    codes: NDArray[np.signedinteger]
    index: Rows
    """Which column of `codes` each row has."""


@dataclass(frozen=True, eq=False)
class Question:
    """A network's tables by number, beside the rows it is asked about."""

    network: Tabled
    codes: NDArray[np.unsignedinteger]

    @cached_property
    def cardinalities(self) -> tuple[int, ...]:
        return tuple(self.network.cardinality(node) for node in self.network.variables)

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        number = {node: position for position, node in enumerate(self.network.variables)}
        return tuple(tuple(number[v] for v in (*self.network.parents(n), n)) for n in self.network.variables)

    @cached_property
    def rank(self) -> list[int]:
        """Each family's place when parents come first."""
        place = {node: position for position, node in enumerate(self.network.graph.order)}
        return [place[node] for node in self.network.variables]

    @cached_property
    def holes(self) -> NDArray[np.bool_]:
        return self.codes == np.iinfo(self.codes.dtype).max

    def among(self, rows: NDArray[np.bool_]) -> Question:
        return Question(self.network, np.ascontiguousarray(self.codes[:, rows]))

    def families(self, asked: Sequence[int] = ()) -> list[int]:
        """Those that matter: what no row observes and nothing observed descends from sums to one."""
        absent = set(np.flatnonzero(self.holes.all(axis=1)).tolist())
        return needed_families(self.scopes, absent, asked)

    def parts(self, families: Sequence[int], asked: Sequence[int] = ()) -> list[Part]:
        return parts(self.scopes, families, {*np.flatnonzero(self.holes.any(axis=1)).tolist(), *asked})

    def look_up(self, families: Sequence[int]) -> Floats:
        """Σ log P(child | parents) over these families, each row's cells being observed."""
        total = np.zeros(self.codes.shape[1])
        for family in families:
            place = np.zeros(len(total), dtype=np.int64)
            for variable in self.scopes[family]:
                place *= self.cardinalities[variable]
                place += self.codes[variable]
            total += log(self.network.tables[self.network.variables[family]]).ravel()[place]
        return total

    def rest(self, several: Sequence[Part]) -> Rest:
        """These parts as a model of their own, with the distinct evidence on it."""
        families = sorted((family for part in several for family in part.families), key=self.rank.__getitem__)
        variables = tuple(sorted({v for family in families for v in self.scopes[family]}))
        number = {variable: position for position, variable in enumerate(variables)}
        cardinalities = tuple(self.cardinalities[variable] for variable in variables)
        seen = project(self.codes, np.array(cardinalities, dtype=np.int64), None, np.array(variables, dtype=np.int64))
        codes = seen.configurations.astype(np.int16 if self.codes.dtype == np.uint8 else np.int32)
        codes[seen.configurations == np.iinfo(self.codes.dtype).max] = -1
        factors = tuple(
            Factor(
                tuple(number[variable] for variable in self.scopes[family]),
                self.network.tables[self.network.variables[family]],
            )
            for family in families
        )
        return Rest(variables, Families(cardinalities, factors), codes, seen.index)


def row_log_likelihood(network: Tabled, data: Any, method: Method = "exact") -> Floats:
    """log P(what is observed of each row), −∞ where the network makes it impossible."""
    _check(method)
    table = as_table(data, network.states)
    result = np.empty(table.n_rows)
    for rows, question in _blocks(network, table.codes):
        holed = np.any(question.holes, axis=0)
        for kind in (np.logical_not(holed), holed):
            if kind.any():
                result[rows][kind] = _log_evidence(question if kind.all() else question.among(kind), method)
    return result


def log_likelihood(network: Tabled, data: Any, method: Method = "exact") -> float:
    """The total over rows, each counted with its weight."""
    table = as_table(data, network.states)
    each = row_log_likelihood(network, table, method)
    if table.weights is None:
        return float(each.sum())
    counted = table.weights > 0  # a row of weight zero says nothing, even if it is impossible
    return float(each[counted] @ table.weights[counted])


def posterior(network: Tabled, data: Any, variable: str | Sequence[str], method: Method = "exact") -> Floats:
    """P(variable | the rest of the row), (rows, states); for several variables their joint, an axis each.

    Their own columns are ignored. Where the rest of a row is impossible no state is possible: the row is all zero.
    """
    _check(method)
    names = (variable,) if isinstance(variable, str) else tuple(variable)
    for name in names:
        network.parents(name)  # says so if there is no such variable
    if not names or len(set(names)) < len(names):
        raise OptionError(f"posterior of {', '.join(names) or 'nothing'}: name one variable, or several different ones")
    if method == "approximate" and len(names) > 1:
        raise OptionError('method="approximate" gives the posterior of one variable at a time: ask for them in turn')
    table = as_table(data, network.states)
    asked = [network.variables.index(name) for name in names]
    result = np.empty((table.n_rows, *(network.cardinality(name) for name in names)))
    for rows, question in _blocks(network, table.codes, asked):
        families = question.families(asked)
        rest = question.rest([part for part in question.parts(families, asked) if set(part.inner) & set(asked)])
        local = tuple(rest.variables.index(number) for number in asked)
        if method == "exact":
            result[rows] = rest.families.posterior(rest.codes, local)[rest.index]
        else:
            result[rows] = _approximate(rest).marginals[local[0]][rest.index]
    return result


def complete(network: Tabled, data: Any) -> Table:
    """The rows with every hole and every absent variable filled in, all together as is most probable.

    Holes stay where what surrounds them is impossible under the network; the table's notes say in how many rows.
    """
    table = as_table(data, network.states)
    codes = table.codes.copy()
    stuck = np.zeros(table.n_rows, dtype=np.bool_)
    for rows, question in _blocks(network, table.codes):
        for part in question.parts(range(len(question.scopes))):
            rest = question.rest([part])
            filled, best = rest.families.most_probable(rest.codes)
            filled = np.where(filled < 0, table.missing, filled).astype(codes.dtype)
            for number in part.inner:
                codes[number, rows] = filled[rest.variables.index(number)][rest.index]
            stuck[rows] |= np.isneginf(best)[rest.index]
    notes = table.notes
    if stuck.any():
        notes += told([ImpossibleRows(int(stuck.sum()))])
    raw = {name: values for name, values in table.raw.items() if not np.isnan(values).any()}  # (others were filled in)
    return replace(table, codes=codes, notes=notes, raw=raw, _projections={})


def _blocks(
    network: Tabled, codes: NDArray[np.unsignedinteger], asked: Sequence[int] = ()
) -> Iterator[tuple[slice, Question]]:
    """The rows in turns, the columns of what is asked made holes."""
    for start in range(0, codes.shape[1], BLOCK):
        rows = slice(start, start + BLOCK)
        some = np.array(codes[:, rows], order="C")
        some[list(asked)] = np.iinfo(codes.dtype).max
        yield rows, Question(network, some)


def _log_evidence(question: Question, method: Method) -> Floats:
    families = question.families()
    total = np.zeros(question.codes.shape[1])
    inside: set[int] = set()
    for part in question.parts(families):
        inside.update(part.families)
        rest = question.rest([part])
        each = rest.families.log_evidence(rest.codes) if method == "exact" else _approximate(rest).log_evidence
        total += each[rest.index]
    return total + question.look_up([family for family in families if family not in inside])


def _approximate(rest: Rest) -> Approximate:
    answer = loopy(rest.families.cardinalities, rest.families.factors, rest.codes)
    unsettled = int((~answer.converged[rest.index]).sum())
    if unsettled:
        warnings.warn(
            f'method="approximate": the messages did not settle in {unsettled} of {len(rest.index)} rows; '
            "their answers may be far off",
            stacklevel=4,
        )
    return answer


def _check(method: str) -> None:
    if method not in ("exact", "approximate"):
        raise OptionError(f'method={method!r}: expected "exact" or "approximate"')
