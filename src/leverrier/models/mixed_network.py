"""A Bayesian network over states and numbers, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.card import card
from leverrier.data.reading.binning import bin_labels
from leverrier.data.table import Table
from leverrier.data.variable import ColumnKind, Label, Variable, code_type
from leverrier.errors import NetworkError, OptionError
from leverrier.models.families.conditional import Cells, Conditional
from leverrier.models.graph import Graph
from leverrier.models.margin import Margin
from leverrier.models.over_graph import OverGraph
from leverrier.words_of import words_of

Units = Literal["scores", "own"]
"""In nats of the normal scores, or of the numbers as the user measures them."""
_BINS = (0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True, eq=False)
class MixedNetwork(OverGraph):
    """Graph, states of the nodes that have them, margins of those that are numbers, and each node's family.

    Families see normal scores of numbers and codes of states; whatever goes in and comes out here is in the user's
    units and labels.
    """

    graph: Graph
    states: Mapping[str, tuple[Label, ...]]
    margins: Mapping[str, Margin]
    families: Mapping[str, Conditional]
    ordered: frozenset[str] = frozenset()
    """The nodes whose states have an order."""
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.graph:
            if (node in self.states) == (node in self.margins):
                raise NetworkError(f"{node!r} needs either states or a margin of numbers")
            if node not in self.families:
                raise NetworkError(f"{node!r} has no family")
        for name in ("states", "margins", "families"):
            given = getattr(self, name)
            object.__setattr__(self, name, MappingProxyType({v: given[v] for v in self.graph if v in given}))
        object.__setattr__(self, "notes", MappingProxyType(dict(self.notes)))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (dict(self.states), dict(self.margins), dict(self.families))
        return MixedNetwork, (self.graph, *parts, self.ordered, dict(self.notes))

    def __eq__(self, other: object) -> bool:
        """Equal graphs, states, margins and families; the notes do not count."""
        if not isinstance(other, MixedNetwork):
            return NotImplemented
        return all(getattr(self, each) == getattr(other, each) for each in ("graph", "ordered")) and all(
            dict(getattr(self, each)) == dict(getattr(other, each)) for each in ("states", "margins", "families")
        )

    def __hash__(self) -> int:
        return hash((self.graph, tuple(self.states.values())))

    def is_number(self, node: str) -> bool:
        self.graph.parents(node)
        return node in self.margins

    def kind(self, node: str) -> str:
        """Which kind of family the node has: "linear", "tree", "logit"…"""
        self.graph.parents(node)
        return self.families[node].kind

    def explain(self, node: str) -> str:
        """How the node follows from its parents, in one sentence."""
        return words_of("family_words.family_words", self.families[node], node, self.parents(node))

    @cached_property
    def dimension(self) -> int:
        """The number of free parameters; margins, which are taken as they are, do not count."""
        return sum(family.dimension for family in self.families.values())

    def draw_cells(self, n_rows: int, rng: np.random.Generator) -> dict[str, Cells]:
        """Cells of the space, parents first."""
        cells: dict[str, Cells] = {}
        for node in self.graph.order:
            drawn = self.families[node].draw([cells[p] for p in self.parents(node)], n_rows, rng)
            cells[node] = self.margins[node].settled(drawn) if node in self.margins else drawn
        return cells

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> Table:
        """Rows drawn from the network, numbers in the user's units."""
        if n_rows < 0:
            raise OptionError(f"{n_rows} rows cannot be drawn: give a number of at least 0")
        return self.as_rows(self.draw_cells(n_rows, np.random.default_rng(seed)))

    def as_rows(self, cells: Mapping[str, Cells]) -> Table:
        """Cells of the space as a table: labels of states, numbers in the user's units; holes stay holes."""
        columns, codes, raw = [], [], {}
        for node in self.graph:
            if node in self.margins:
                raw[node] = self.margins[node].numbers(np.asarray(cells[node], dtype=np.float64))
                variable = _binned(node, self.margins[node])
                places = np.searchsorted(np.array(variable.cuts), raw[node], side="right")
                codes.append(np.where(np.isnan(raw[node]), -1, places))
            else:
                kind = ColumnKind.ORDERED if node in self.ordered else ColumnKind.CATEGORY
                variable = Variable(node, self.states[node], kind)
                codes.append(np.asarray(cells[node], dtype=np.int64))
            columns.append(variable)
        kind = code_type(max((column.cardinality for column in columns), default=1))
        small = np.stack(codes) if codes else np.zeros((0, 0), np.int64)
        return Table(tuple(columns), np.where(small < 0, np.iinfo(kind).max, small).astype(kind), raw=raw)

    def row_log_likelihood(self, data: Any, units: Units = "scores") -> NDArray[np.float64]:
        """log P(what is observed of each row), in nats of the normal scores, or in the user's units.

        Holes are integrated out: exactly where that can be done in closed form, else by weighted draws
        (docs/numbers.md).
        """
        from leverrier.models.mixed_query import row_log_likelihood

        return row_log_likelihood(self, data, units)

    def log_likelihood(self, data: Any, units: Units = "scores") -> float:
        """The total over rows, weights counted."""
        from leverrier.models.mixed_query import total_log_likelihood

        return total_log_likelihood(self, data, units)

    def posterior(self, data: Any, variable: str) -> NDArray[np.float64]:
        """P(variable | the rest of the row), (rows, states), for a node with states."""
        from leverrier.models.mixed_query import posterior

        return posterior(self, data, variable)

    def predict(self, data: Any, variable: str) -> dict[str, NDArray[np.float64]]:
        """A number given the rest of each row: its "mean", "low" and "high" (5 % and 95 %), in the user's units."""
        from leverrier.models.mixed_query import predict

        return predict(self, data, variable)

    def _repr_html_(self) -> str:
        facts = {"variables": len(self.graph), "arcs": len(self.edges), "parameters": f"{self.dimension:,}"}
        rows = [(node, self.kind(node), ", ".join(self.parents(node))) for node in self.graph.order]
        return card("Mixed network", facts, ("variable", "family", "parents"), rows)

    def __repr__(self) -> str:
        return (
            f"MixedNetwork({len(self.margins)} numbers, {len(self.states)} variables with states, "
            f"{len(self.edges)} edges, {self.dimension} parameters)"
        )


def _binned(name: str, margin: Margin) -> Variable:
    """A number as a table's variable: fifths of its margin, for whoever asks for states."""
    from scipy.special import ndtri

    cuts = tuple(np.unique(margin.numbers(ndtri(np.array(_BINS)))).tolist())
    cuts = tuple(cut for cut in cuts if cut > margin.values[0]) or (margin.values[-1],)
    return Variable(name, bin_labels(cuts), ColumnKind.BINNED, cuts)
