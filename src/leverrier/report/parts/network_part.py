"""The network: the drawing, and for each node its table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from leverrier.arrays import Floats
from leverrier.data.table import Label
from leverrier.discovery.hidden_model import NodeCard
from leverrier.discovery.result import Result
from leverrier.report.charts.network_drawing import Picture, draw, picture
from leverrier.report.parts.page_parts import Block, Card, Drawing, Grid, Part, Words, percent, several, shortened

MOST_LINES, MOST_VALUES = 24, 12
"""Of a table so much is shown."""
LABEL = 28


def network_part(found: Result) -> Part:
    """The drawing with its legend; hidden variables are rounded and orange."""
    shown = picture(found)
    blocks: list[Block] = []
    if shown.left_out:
        near = "the hidden variables and what is near them are" if shown.hidden else "the columns with most arcs are"
        blocks.append(
            Words(f"Of {several(len(shown.graph) + shown.left_out, 'node')} {near} drawn ({len(shown.graph)}).")
        )
    blocks.append(
        Drawing(
            draw(shown),
            _caption(shown),
            tuple(_card(found.model.card(node), node, ident) for node, ident in shown.idents.items()),
        )
    )
    return Part("network", "The network", blocks)


def _caption(shown: Picture) -> str:
    if not shown.hidden:
        return "The best network of the columns alone. Click a node for its table."
    width = (
        "The width of an orange arc is the share of resamples that have it."
        if shown.support
        else "How often the orange arcs come back in resamples was not measured."
    )
    return f"Boxes are columns; rounded and orange: hidden. {width} Click a node for its table."


def _card(card: NodeCard, node: str, ident: str) -> Card:
    grid = table_grid(card.given, card.given_states, card.values, card.cells, card.shares)
    return Card(ident, shortened(node, 120), given_words(card.hidden, card.states, card.given), grid)


def given_words(hidden: bool, states: int | None, given: Sequence[str]) -> str:
    """How many states a node has, and what its table is given."""
    words = f"{'Hidden. ' if hidden else ''}{'Numbers' if states is None else several(states, 'state')}"
    return words + (f", given {'; '.join(shortened(each, LABEL) for each in given)}." if given else ".")


def table_grid(
    parents: Sequence[str],
    parent_states: Sequence[Sequence[Label]],
    values: Sequence[Label],
    cells: Floats,
    shares: bool = True,
) -> Grid:
    """P(node | parents), a line for each combination of the parents' states."""
    table = cells.reshape(-1, len(values))
    lines = []
    for line, states in enumerate(product(*parent_states)):
        if line == MOST_LINES:
            break
        said = [percent(cell) if shares else f"{cell:.4g}" for cell in table[line, :MOST_VALUES]]
        lines.append((*(shortened(state, LABEL) for state in states), *said))
    head = (*(shortened(parent, LABEL) for parent in parents), *(shortened(v, LABEL) for v in values[:MOST_VALUES]))
    notes = []
    if len(table) > MOST_LINES:
        notes.append(f"the first {MOST_LINES} of {len(table):,} combinations")
    if len(values) > MOST_VALUES:
        notes.append(f"the first {MOST_VALUES} of {len(values)} states")
    return Grid(head, tuple(lines), "; ".join(notes), words=tuple(range(len(parents))))
