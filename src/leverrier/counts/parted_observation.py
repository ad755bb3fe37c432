"""A graph paired with a table whose rows stay in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from leverrier.counts.observation import Pairing
from leverrier.counts.parted_counts import Parts, projected
from leverrier.counts.parted_expectation import PartedPlan
from leverrier.data.encoded_cells import DistinctRows
from leverrier.data.projection import Projection
from leverrier.data.table import Table
from leverrier.inference.exact.groups import Plan, make_plan
from leverrier.inference.exact.unobserved import Evidence

FEW_ROWS = 2**18
"""Up to this many distinct rows of the columns that EM looks at are brought here: an E-step over them is shorter than a
question to other processes. With one hidden variable among observed ones they are a few dozen, whatever the file."""


@dataclass(frozen=True, eq=False)
class PartedObservation(Pairing):
    """The parts answer for their rows: counts once, expected counts in every E-step."""

    parts: Parts = field(kw_only=True)

    def _find_hidden(self) -> tuple[str, ...]:
        shown = self.parts.full
        if not shown.all():
            shown = np.logical_or.reduce(self.parts.ask("shown"))
        columns = {column.name for column, seen in zip(self.parts.columns, shown, strict=True) if seen}
        return tuple(node for node in self.graph if node not in columns)

    def _find_incomplete(self) -> frozenset[str]:
        full = {column.name for column, whole in zip(self.parts.columns, self.parts.full, strict=True) if whole}
        return frozenset(node for node in self.graph if node not in full)

    def project(self, names: Sequence[str]) -> Projection:
        return projected(self.parts, names)

    @cached_property
    def _plans(self) -> dict[bool, Plan | PartedPlan]:
        return {}

    def plan(self, prune: bool) -> Plan | PartedPlan:
        """The plan of an E-step, kept until `release`. Where nothing was pruned it serves both ways."""
        other = self._plans.get(True)
        if other is not None and (prune or not other.pruned):
            return other
        if prune not in self._plans:
            self._plans[prune] = self._plan_of_few(prune) or self._plan_of_parts(prune)
        return self._plans[prune]

    def release(self) -> None:
        """Whoever holds plans may drop them: they are made again if they are asked for."""
        self._plans.clear()

    def _plan_of_parts(self, prune: bool) -> PartedPlan:
        hidden = set(self.hidden)
        return PartedPlan(self.parts, self.layout, [None if v in hidden else v for v in self.graph], prune)

    def _plan_of_few(self, prune: bool) -> Plan | None:
        rows = self._few_rows
        if rows is None:
            return None
        place = {name: position for position, name in enumerate(rows.variables)}
        elsewhere = dict.fromkeys(self.hidden, -1)  # (other columns are in no open family: any state will do)
        column_of = [place.get(node, elsewhere.get(node, len(place))) for node in self.graph]
        codes = np.concatenate([rows.codes, np.zeros((1, rows.n_rows), rows.codes.dtype)])
        evidence = Evidence(codes, np.array(column_of, dtype=np.int64), rows.weights)
        return make_plan(evidence, self.layout, np.arange(len(self.open_nodes), dtype=np.int64), prune=prune)

    @cached_property
    def _few_rows(self) -> Table | None:
        """The distinct rows of the columns in open families, if they are few."""
        scopes = {v for node in self.open_nodes for v in (node, *self.graph.parents(node))} - set(self.hidden)
        names = tuple(node for node in self.graph if node in scopes) or (self.parts.columns[0].name,)
        if max(self.parts.ask("n_distinct", names)) > FEW_ROWS:
            return None
        known = {column.name: column for column in self.parts.columns}
        rows = DistinctRows([known[name] for name in names])
        for codes, weights in self.parts.each("project", names):
            rows.add(codes, weights)
            if rows.table().n_rows > FEW_ROWS:
                return None
        return rows.table()
