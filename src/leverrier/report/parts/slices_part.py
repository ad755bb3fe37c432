"""The network of slices: what this slice depends on, now, before, and remembered; hidden variables in orange."""

from __future__ import annotations

from collections.abc import Iterator

from leverrier.data.sequences.slice_features import Memory
from leverrier.data.table import Label
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.graph import Graph
from leverrier.models.slices.chain_model import ChainModel
from leverrier.report.charts.network_drawing import Picture, draw, shown_nodes
from leverrier.report.parts.network_part import LABEL, table_grid
from leverrier.report.parts.page_parts import Block, Card, Drawing, Part, Words, several, shortened
from leverrier.report.parts.tree_tables import MEANING, node_name, slice_name, tree_grid

CAPTION = (
    "What a slice depends on: “before” is the slice before. Boxes are columns; rounded and orange: hidden. "
    "Click a node for its table."
)


def network_part(found: TimeFindings) -> Part:
    """The drawing of two slices (or more), with a table for each node."""
    parents = _parents(found)
    hidden = {name for one in found.hidden for name in (one.name, slice_name(one.name, 1))} & set(parents)
    whole = Graph.from_parents(parents)
    kept = shown_nodes(whole, frozenset(hidden))
    graph = Graph.from_parents({node: [p for p in whole.parents(node) if p in kept] for node in whole if node in kept})
    shown = Picture(graph, frozenset(hidden), {}, len(whole) - len(kept), resampled=False)
    blocks: list[Block] = []
    if shown.left_out:
        blocks.append(Words(f"Of {several(len(whole), 'node')} {len(graph)} are drawn, those with most arcs."))
    blocks.append(Drawing(draw(shown), CAPTION, tuple(_cards(found, shown))))
    return Part("network", "The network of slices", blocks)


def _parents(found: TimeFindings) -> dict[str, list[str]]:
    """By node its parents; what lies before has none. A node that nothing asks and that asks nothing is there too."""
    model = found.model
    parents: dict[str, list[str]] = {}
    if isinstance(model, DynamicNetwork):
        asked = {name: [slice_name(*node) for node in model.parents(name)] for name in model.variables}
    else:
        asked = {name: [node_name(feature) for feature in model.asked(name)] for name in model.cpds}
        chains = model.chains if isinstance(model, ChainModel) else ()
        asked |= {chain.name: [slice_name(chain.name, 1)] for chain in chains}
    for name, above in asked.items():
        parents |= {each: parents.get(each, []) for each in above if each not in asked}
        parents[name] = above
    return parents


def _cards(found: TimeFindings, shown: Picture) -> Iterator[Card]:
    model = found.model
    states: dict[str, tuple[Label, ...]] = {variable.name: variable.states for variable in found.variables}
    states |= {one.name: one.labels or tuple(range(one.states)) for one in found.hidden}
    chains = {one.name: one for one in found.hidden}
    memories = {} if isinstance(model, DynamicNetwork) else _memories(found)
    for node, ident in shown.idents.items():
        heading = shortened(node, 120)
        if isinstance(model, DynamicNetwork) and node in model.variables:
            above = model.parents(node)
            grid = table_grid(
                [slice_name(*each) for each in above],
                [model.states[name] for name, _ in above],
                model.states[node],
                model.transition[node].table(),
            )
            yield Card(ident, heading, _given(node in chains, model.cardinality(node), shown.graph.parents(node)), grid)
        elif not isinstance(model, DynamicNetwork) and node in model.cpds:
            words = _given(False, len(states[node]), shown.graph.parents(node))
            yield Card(ident, heading, words, tree_grid(model.cpds[node], node, states))
        elif node in chains:
            one = chains[node]
            grid = table_grid([slice_name(node, 1)], [states[node]], states[node], one.transition)
            yield Card(ident, heading, _given(True, one.states, shown.graph.parents(node)), grid)
        elif node in memories:
            yield Card(ident, heading, f"A memory, computed from the slices before: {memories[node]}.")
        else:
            yield Card(ident, heading, f"{shortened(node, 60)}: its value in an earlier slice.")


def _memories(found: TimeFindings) -> dict[str, str]:
    """By node, what a memory is."""
    model = found.model
    assert not isinstance(model, DynamicNetwork)
    asked = [feature for name in model.cpds for feature in model.asked(name)]
    return {feature.name: MEANING[feature.kind] for feature in asked if isinstance(feature, Memory)}


def _given(hidden: bool, states: int, parents: tuple[str, ...]) -> str:
    words = f"{'Hidden. ' if hidden else ''}{several(states, 'state')}"
    return words + (f", given {'; '.join(shortened(each, LABEL) for each in parents)}." if parents else ".")
