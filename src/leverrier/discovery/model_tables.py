"""A model as tables: what a page needs to answer questions by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Label
from leverrier.models.network import Network
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses

MOST_REACHING = 10
"""Causes of one sign; with more its table would be large."""


@dataclass(frozen=True, eq=False)
class ModelTables:
    """Parents, states and P(node | parents), axes as parents in order, then the node."""

    parents: Mapping[str, tuple[str, ...]]
    states: Mapping[str, tuple[Label, ...]]
    cells: Mapping[str, Floats]


def of_network(network: Network) -> ModelTables:
    nodes = network.variables
    parents = {node: network.parents(node) for node in nodes}
    return ModelTables(parents, {n: network.states[n] for n in nodes}, {node: network.cpt(node) for node in nodes})


def of_causes(
    own: HiddenCauses, names: tuple[str, ...], yes: Mapping[str, Label], known: Mapping[str, tuple[Label, ...]]
) -> ModelTables | None:
    """Signs as tables over their causes; None where so many reach one sign that its table is large."""
    causes = [*names, *(f"(unnamed cause {k + 1})" for k in range(len(names), own.n_causes))]
    if int(own.links.sum(axis=1).max(initial=0)) > MOST_REACHING:
        return None
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(causes, ())
    states: dict[str, tuple[Label, ...]] = dict.fromkeys(causes, ("absent", "present"))
    cells: dict[str, Floats] = {name: np.array([1 - own.p[k], own.p[k]]) for k, name in enumerate(causes)}
    for place, sign in enumerate(own.names):
        above = [k for k in range(own.n_causes) if own.links[place, k]]
        absent = np.array(1 - own.epsilon)
        for k in above:
            absent = absent[..., None] * np.array([1.0, 1 - own.lam[k]])
        pair = (1 - absent, absent) if known[sign].index(yes[sign]) == 0 else (absent, 1 - absent)
        parents[sign], states[sign] = tuple(causes[k] for k in above), known[sign]
        cells[sign] = np.stack(pair, axis=-1)
    return ModelTables(parents, states, cells)
