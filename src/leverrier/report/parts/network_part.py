"""The network: the drawing, and for each node its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label
from leverrier.discovery.examined import Examined
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.models.network import Network
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.report.charts.network_drawing import Picture, draw, picture
from leverrier.report.parts.page_parts import Block, Card, Drawing, Grid, Part, Words, percent, several, shortened

Floats = NDArray[np.float64]
MOST_LINES, MOST_VALUES = 24, 12
"""Of a table so much is shown."""
LABEL = 28


def network_part(found: Examined) -> Part:
    """The drawing with its legend; hidden variables are rounded and orange."""
    shown = picture(found)
    blocks: list[Block] = []
    if shown.left_out:
        near = "the hidden variables and what is near them are" if shown.hidden else "the columns with most arcs are"
        blocks.append(
            Words(f"Of {several(len(shown.graph) + shown.left_out, 'node')} {near} drawn ({len(shown.graph)}).")
        )
    blocks.append(Drawing(draw(shown), _caption(shown), tuple(_cards(found, shown))))
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


def _cards(found: Examined, shown: Picture) -> Iterator[Card]:
    for node, ident in shown.idents.items():
        if isinstance(found.model, HiddenCauses):
            yield _cause_card(found, found.model, node, ident)
        elif isinstance(found.model, MixedClasses):
            yield _class_card(found, found.model, node, ident)
        else:
            yield _node_card(found.network, node, ident, node in shown.hidden)


def _node_card(network: Network, node: str, ident: str, hidden: bool) -> Card:
    parents = network.parents(node)
    words = f"{'Hidden. ' if hidden else ''}{several(network.cardinality(node), 'state')}"
    if parents:
        words += f", given {', '.join(shortened(parent, LABEL) for parent in parents)}"
    return Card(ident, shortened(node, 120), words + ".", _table(network, node))


def _table(network: Network, node: str) -> Grid:
    parents = network.parents(node)
    return table_grid(parents, [network.states[parent] for parent in parents], network.states[node], network.cpt(node))


def table_grid(
    parents: Sequence[str], parent_states: Sequence[Sequence[Label]], values: Sequence[Label], cells: Floats
) -> Grid:
    """P(node | parents), a line for each combination of the parents' states."""
    table = cells.reshape(-1, len(values))
    lines = []
    for line, states in enumerate(product(*parent_states)):
        if line == MOST_LINES:
            break
        shares = [percent(share) for share in table[line, :MOST_VALUES]]
        lines.append((*(shortened(state, LABEL) for state in states), *shares))
    head = (*(shortened(parent, LABEL) for parent in parents), *(shortened(v, LABEL) for v in values[:MOST_VALUES]))
    notes = []
    if len(table) > MOST_LINES:
        notes.append(f"the first {MOST_LINES} of {len(table):,} combinations")
    if len(values) > MOST_VALUES:
        notes.append(f"the first {MOST_VALUES} of {len(values)} states")
    return Grid(head, tuple(lines), "; ".join(notes), words=tuple(range(len(parents))))


def _cause_card(found: Examined, model: HiddenCauses, node: str, ident: str) -> Card:
    names = [each.name for each in found.hidden]
    if node in names:
        k = names.index(node)
        signs = [shortened(sign, LABEL) for sign, linked in zip(model.names, model.links[:, k], strict=True) if linked]
        words = (
            f"Hidden. Active in {percent(float(model.p[k]))} of rows; it then sets each of its signs with "
            f"{percent(float(model.lam[k]))}."
        )
        return Card(ident, node, words, Grid(("signs",), tuple((sign,) for sign in signs)))
    if node not in model.names:
        return Card(ident, shortened(node, 120), "Not a sign.")
    i = model.names.index(node)
    lines = tuple(
        (name, percent(float(1 - (1 - model.epsilon) * (1 - model.lam[k]))))
        for k, name in enumerate(names)
        if model.links[i, k]
    )
    grid = Grid(("with this cause alone", "P(sign)"), (*lines, ("without any", percent(model.epsilon))))
    return Card(ident, shortened(node, 120), f"A sign, reached by {several(len(lines), 'cause')}.", grid)


def _class_card(found: Examined, model: MixedClasses, node: str, ident: str) -> Card:
    profiles = model.profiles()
    labels = [state.label for state in found.meanings.get(found.hidden[0].name, ())] or list(range(len(profiles)))
    if node == found.hidden[0].name:
        rows = tuple((str(label), percent(each["share"])) for label, each in zip(labels, profiles, strict=True))
        return Card(ident, node, f"Hidden. {several(len(rows), 'state')}.", Grid(("state", "share of rows"), rows))
    if node in model.numbers.names:
        rows = tuple(
            (str(label), f"{each[node][0]:.4g}", f"{each[node][1]:.3g}")
            for label, each in zip(labels, profiles, strict=True)
        )
        return Card(ident, shortened(node, 120), "Numbers.", Grid(("state", "mean", "deviation"), rows))
    values = model.states[node][:MOST_VALUES]
    rows = tuple(
        (str(label), *(percent(each[node][value]) for value in values))
        for label, each in zip(labels, profiles, strict=True)
    )
    head = ("state", *(shortened(value, LABEL) for value in values))
    return Card(ident, shortened(node, 120), several(len(model.states[node]), "state") + ".", Grid(head, rows))
