"""The network: the drawing, and for each node its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from leverrier.arrays import Floats
from leverrier.data.table import Label
from leverrier.discovery.hidden_model import NodeCard
from leverrier.discovery.result import Result
from leverrier.report.charts.network_drawing import MANY_COLUMNS, Picture, draw, picture
from leverrier.report.parts.page_parts import Block, Card, Drawing, Fold, Grid, Part, Words, percent, several, shortened
from leverrier.report.words.page_words import NO_HEADS

MOST_LINES, MOST_VALUES = 24, 12
"""Of a table so much is shown."""
LABEL = 28


def network_part(found: Result) -> Part:
    """Where it sits: the drawing with its legend; of many columns the surroundings, and the whole graph folded."""
    near = picture(found)
    columns = len(found.model.graph) - len(near.hidden)
    many = columns >= MANY_COLUMNS
    blocks: list[Block] = []
    if near.hidden or not many:
        blocks.append(_drawing(found, near))
        if near.left_out:
            blocks.insert(
                0, Words(f"What is hidden and what stands near it: {len(near.graph)} of the network's nodes.")
            )
    heads = [Words(NO_HEADS)] if near.reversible else []
    if blocks:
        blocks += heads
    if many:
        whole = picture(found, whole=True)
        which = "near it" if near.hidden else "with most arcs"
        some = f" (the {len(whole.graph)} nodes {which})" if whole.left_out else ""
        drawn = whole if near.hidden else replace(whole, prefix="node")
        inside = [] if blocks else heads  # (said beside the drawing that is seen first)
        blocks.append(
            Fold(f"The whole network of {several(columns, 'column')}{some}", (_drawing(found, drawn), *inside))
        )
    return Part("network", "Where it sits" if near.hidden else "How the columns hang together", blocks)


def _drawing(found: Result, shown: Picture) -> Drawing:
    cards = tuple(_card(found.model.card(node), node, ident) for node, ident in shown.idents.items())
    return Drawing(draw(shown), _caption(shown), cards)


def _caption(shown: Picture) -> str:
    if not shown.hidden:
        return "The best network of the columns alone. Choose a node for its table."
    width = " The width of an orange line is the share of resamples that have it." if shown.support else ""
    return f"Boxes are columns; rounded and orange: hidden.{width} Choose a node for its table."


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
