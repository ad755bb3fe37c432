"""Where there are many hidden variables: all of them in one table, the highest layer first."""

from __future__ import annotations

from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.report.parts.page_parts import Grid, abbreviated, percent

MANY = 3
"""Up to so many are told in sentences alone."""
SHOWN, LONG = 8, 24
"""Columns of one that are named, and letters of a name."""


def hidden_table(found: Result) -> Grid | None:
    """What drives each, what it drives, its states and how certain it is; None where there are few."""
    if len(found.hidden) <= MANY:
        return None
    layers = layers_of(found.hidden)
    order = sorted(found.hidden, key=lambda each: -layers[each.name])
    rows = tuple(_row(found, each, layers[each.name]) for each in order)
    head = ("hidden", "layer", "driven by", "drives", "states", "their shares", "gain", "p", "came back", "believed")
    caption = "Layer 1 drives columns, layer 2 hidden variables of layer 1, and so on. A dash: none, or not measured."
    return Grid(head, rows, caption, words=(0, 2, 3, 9), stack=True)


def layers_of(hidden: tuple[HiddenVariable, ...]) -> dict[str, int]:
    """By hidden variable, 1 for those next to columns, else one more than the lowest that it drives: links within a
    layer lift none."""
    known = {each.name: each for each in hidden}
    found: dict[str, int] = {}

    def layer(name: str) -> int:
        if name not in found:
            below = [child for child in known[name].children if child in known]
            columns = any(near not in known for near in known[name].neighbours)
            found[name] = 1 if columns or not below else 1 + min(map(layer, below))
        return found[name]

    return {name: layer(name) for name in known}


def _row(found: Result, each: HiddenVariable, layer: int) -> tuple[str, ...]:
    one = each.evidence
    shares = " / ".join(percent(state.prevalence) for state in found.meanings.get(each.name, ()))
    return (
        each.name,
        str(layer),
        _named(each.parents),
        _named(each.children),
        str(each.states),
        shares or "–",
        f"{each.gain:,.1f}",
        "–" if one is None or one.p_value is None else f"{one.p_value:.2g}",
        "–" if one is None or one.support is None else percent(one.support),
        "yes" if each in found.believed else "no",
    )


def _named(names: tuple[str, ...]) -> str:
    short = abbreviated(names, LONG)
    said = [short[name] for name in names[:SHOWN]]
    if len(names) > SHOWN:
        said.append(f"{len(names) - SHOWN} more")
    return ", ".join(said) or "–"
