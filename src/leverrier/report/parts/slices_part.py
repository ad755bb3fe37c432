"""What a time step depends on, now, before, and remembered, as a drawing; hidden variables in orange."""

from __future__ import annotations

from collections.abc import Iterator

from leverrier.data.sequences.slice_features import Memory
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import STEP, TimeUnit
from leverrier.models.graph import Graph
from leverrier.report.charts.network_drawing import Picture, draw, shown_nodes
from leverrier.report.parts.network_part import given_words, table_grid
from leverrier.report.parts.page_parts import Block, Card, Drawing, Part, Words, several, shortened
from leverrier.report.parts.regime_tables import emission_grid
from leverrier.report.parts.tree_tables import MEANING, node_name, slice_name, tree_grid
from leverrier.report.words.time_words import step_of

CAPTION = (
    "A line leads from what matters to what it matters for; “before” is the {step} before. Boxes are columns; rounded "
    "and orange: hidden. Click a node for its table."
)


def slices_part(found: TimeFindings, unit: TimeUnit = STEP) -> Part:
    """The drawing of two time steps (or more), with a table for each node."""
    parents = _parents(found)
    hidden = {name for one in found.hidden for name in (one.name, slice_name(one.name, 1))} & set(parents)
    whole = Graph.from_parents(parents)
    kept = shown_nodes(whole, frozenset(hidden))
    graph = Graph.from_parents({node: [p for p in whole.parents(node) if p in kept] for node in whole if node in kept})
    shown = Picture(graph, frozenset(hidden), {}, len(whole) - len(kept), resampled=False)
    blocks: list[Block] = []
    if shown.left_out:
        blocks.append(Words(f"Of {several(len(whole), 'node')} {len(graph)} are drawn, those with most arcs."))
    blocks.append(Drawing(draw(shown), CAPTION.format(step=step_of(unit)), tuple(_cards(found, shown))))
    return Part("network", f"What a {step_of(unit)} depends on", blocks)


def _parents(found: TimeFindings) -> dict[str, list[str]]:
    """By node its parents; what lies before has none. A node that nothing asks and that asks nothing is there too."""
    asked = {name: [node_name(feature) for feature in features] for name, features in found.face.asked.items()}
    parents: dict[str, list[str]] = {}
    for name, above in asked.items():
        parents |= {each: parents.get(each, []) for each in above if each not in asked}
        parents[name] = above
    return parents


def _cards(found: TimeFindings, shown: Picture) -> Iterator[Card]:
    face = found.face
    states = dict(face.states)  # (of a network all: a memory of a memory may drive no column, it is no finding)
    states |= {one.name: one.labels or tuple(range(one.states)) for one in found.hidden}
    hidden = {one.name for one in found.hidden}
    asked = [feature for features in face.asked.values() for feature in features]
    memories = {feature.name: MEANING[feature.kind] for feature in asked if isinstance(feature, Memory)}
    for node, ident in shown.idents.items():
        heading = shortened(node, 120)
        if node in face.asked:
            above = face.asked[node]
            if node in face.tables:
                given = [states[feature.variable] for feature in above]
                grid = table_grid([node_name(each) for each in above], given, states[node], face.tables[node])
            elif face.laws is not None:
                grid = emission_grid(face.laws, node)
            else:
                grid = tree_grid(face.trees[node], node, states)
            many = None if face.laws is not None and node in face.laws.numbers else len(states[node])
            yield Card(ident, heading, given_words(node in hidden, many, shown.graph.parents(node)), grid)
        elif node in memories:
            yield Card(ident, heading, f"A memory, computed from what came before: {memories[node]}.")
        else:
            yield Card(ident, heading, f"{shortened(node, 60)}: its earlier value.")
