"""Models of slices in files: trees over lags and memories, with or without hidden chains.

    {"format": "leverrier-slices", "version": 1, "columns": [{"name", "states", "kind", "cuts"}, …],
     "chains": [{"name", "initial", "transition"}, …], "cpds": {"X": {"shape", "parents", "cardinalities", "trees"}, …}}

A parent is {"column", "lag"} or {"column", "memory", "span", "state", "label"}. A shape is "tree", "same", "step", or
"average", which has "parts" instead of trees. A tree has its nodes as lists: root first, children after their parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.slice_features import Feature, Lag, Memory, MemoryKind
from leverrier.data.variable import ColumnKind, Variable
from leverrier.errors import LeverrierError
from leverrier.formats.draft import ROW_TOLERANCE, Source, shown
from leverrier.formats.network_json import plain_label
from leverrier.models.slices.chain_model import Chain, ChainModel
from leverrier.models.slices.code_tree import Tree
from leverrier.models.slices.shaped_cpd import CPD, AveragedCPD, SingleCPD, cpd_of
from leverrier.models.slices.slice_model import SliceModel
from leverrier.models.slices.tree_cpd import SliceShape, TreeCPD

FORMAT, VERSION = "leverrier-slices", 1
_NODES = ("feature", "kind", "value", "left", "right")


def slices_content(model: SliceModel | ChainModel) -> dict[str, Any]:
    """The model as JSON holds it; every digit is kept."""
    columns = [column_content(column) for column in model.variables]
    return {"format": FORMAT, "version": VERSION, "columns": columns, **parts_content(model)}


def parts_content(model: SliceModel | ChainModel) -> dict[str, Any]:
    """The same without the columns, for whoever has them."""
    return {
        "chains": [
            {"name": each.name, "initial": each.initial.tolist(), "transition": each.transition.tolist()}
            for each in model.chains
        ],
        "cpds": {name: _cpd(cpd) for name, cpd in model.cpds.items()},
    }


def column_content(column: Variable) -> dict[str, Any]:
    """A column's name, its states in order, and how they came about."""
    states = [plain_label(column.name, label) for label in column.states]
    return {"name": column.name, "states": states, "kind": column.kind, "cuts": list(column.cuts)}


def read_column(content: Mapping[str, Any]) -> Variable:
    if content["kind"] not in tuple(ColumnKind):
        raise ValueError(f"the kind {shown(content['kind'])} of column {shown(content['name'])}")
    return Variable(str(content["name"]), tuple(content["states"]), content["kind"], tuple(map(float, content["cuts"])))


def _cpd(cpd: CPD) -> dict[str, Any]:
    parts = [_single(part) for part in cpd.singles]
    return {"shape": "average", "parts": parts} if cpd.averaged else parts[0]


def _single(cpd: SingleCPD) -> dict[str, Any]:
    return {
        "shape": cpd.shape,
        "parents": [_feature(parent) for parent in cpd.parents],
        "cardinalities": list(cpd.cardinalities),
        "trees": [
            {
                **{name: getattr(part.tree, name).tolist() for name in _NODES},
                "counts": part.tree.counts.tolist(),
                "probabilities": part.leaf_probabilities.tolist(),
            }
            for part in cpd.trees
        ],
    }


def _feature(feature: Feature) -> dict[str, Any]:
    if isinstance(feature, Lag):
        return {"column": feature.variable, "lag": feature.lag}
    return {
        "column": feature.variable,
        "memory": feature.kind,
        "span": feature.span,
        "state": feature.state,
        "label": feature.label,
    }


def read_slices(content: Mapping[str, Any], path: str | None = None) -> SliceModel | ChainModel:
    """The model that this content stands for; anything damaged is refused in one line."""
    source = Source(path)
    if content.get("version") != VERSION:
        raise source.error(f"version {shown(content.get('version'))} of the format; this Leverrier reads {VERSION}")
    try:
        return read_parts(content, tuple(read_column(each) for each in content["columns"]))
    except LeverrierError as error:
        raise source.error(f"a model of slices that is damaged: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise source.error(f"a model of slices with a part missing or damaged ({error})") from None


def read_parts(content: Mapping[str, Any], columns: tuple[Variable, ...]) -> SliceModel | ChainModel:
    """What `parts_content` wrote, over these columns."""
    return read_chained(content, columns) if content["chains"] else SliceModel(columns, _cpds(content, columns, ()))


def read_chained(content: Mapping[str, Any], columns: tuple[Variable, ...]) -> ChainModel:
    """The same of a model that has hidden chains."""
    chains = tuple(_read_chain(each) for each in content["chains"])
    cpds = _cpds(content, columns, chains)
    single = {name: cpd.singles[0] for name, cpd in cpds.items() if not cpd.averaged}
    if len(single) < len(cpds) or not chains:
        raise ValueError("averages stand beside hidden chains" if chains else "no hidden chain")
    return ChainModel(columns, single, chains)


def _cpds(content: Mapping[str, Any], columns: tuple[Variable, ...], chains: tuple[Chain, ...]) -> dict[str, CPD]:
    sizes = {column.name: column.cardinality for column in columns} | {each.name: each.states for each in chains}
    if len(sizes) != len(columns) + len(chains) or set(content["cpds"]) != {column.name for column in columns}:
        raise ValueError("columns and chains need names of their own, and every column one distribution")
    return {column.name: _read_cpd(content["cpds"][column.name], column, sizes) for column in columns}


def _read_chain(content: Mapping[str, Any]) -> Chain:
    initial, transition = _shares(content["initial"], 1), _shares(content["transition"], 2)
    if transition.shape != (len(initial), len(initial)):
        raise ValueError(f"a transition of shape {transition.shape} for {len(initial)} states")
    return Chain(str(content["name"]), initial, transition)


def _read_cpd(content: Mapping[str, Any], column: Variable, sizes: Mapping[str, int]) -> CPD:
    if content["shape"] == "average":
        parts = [_read_single(part, column, sizes) for part in content["parts"]]
        if not parts or any(part.parents != parts[0].parents for part in parts):
            raise ValueError(f"the parts of {shown(column.name)} need the same parents")
        return AveragedCPD(tuple(parts))
    return _read_single(content, column, sizes)


def _read_single(content: Mapping[str, Any], column: Variable, sizes: Mapping[str, int]) -> SingleCPD:
    parents = tuple(_read_feature(each, sizes) for each in content["parents"])
    cards = tuple(int(each) for each in content["cardinalities"])
    for parent, card in zip(parents, cards, strict=True):
        if isinstance(parent, Lag) and card != sizes[parent.variable] + 1:
            raise ValueError(f"{shown(parent.name)} has {sizes[parent.variable]} states, not {card - 1}")
    shape = SliceShape(content["shape"])
    own_past = shape is not SliceShape.TREE
    read = [_read_tree(each, parents, cards) for each in content["trees"]]
    if len(read) != 1 + own_past or read[-1].states != column.cardinality:
        raise ValueError(f"the trees of {shown(column.name)} do not fit its {column.cardinality} states")
    if own_past and (parents[:1] != (Lag(column.name, 1),) or (shape is SliceShape.SAME and read[0].states != 2)):
        raise ValueError(f"the trees of {shown(column.name)} need its own past first")
    return cpd_of(shape, read)


def _read_feature(content: Mapping[str, Any], sizes: Mapping[str, int]) -> Feature:
    name = content["column"]
    if name not in sizes:
        raise ValueError(f"the parent {shown(name)} is no column")
    if "lag" in content:
        return Lag(name, _whole(content["lag"]))
    if content["memory"] not in tuple(MemoryKind):
        raise ValueError(f"the memory {shown(content['memory'])} is not known")
    return Memory(name, content["memory"], _whole(content["span"]), _whole(content["state"]), str(content["label"]))


def _read_tree(content: Mapping[str, Any], parents: tuple[Feature, ...], cards: tuple[int, ...]) -> TreeCPD:
    feature, kind, value, left, right = (np.array(content[name], dtype=np.int64) for name in _NODES)
    counts, probabilities = np.array(content["counts"], dtype=np.float64), _shares(content["probabilities"], 2)
    nodes = np.arange(len(feature))
    inner = feature >= 0
    below = np.stack([left[inner], right[inner]]) if inner.any() else np.zeros((2, 0), dtype=np.int64)
    if (
        len({len(each) for each in (feature, kind, value, left, right, counts, probabilities)}) != 1
        or not len(feature)
        or np.any(feature >= len(parents))
        or np.any(below <= nodes[inner])
        or np.any(below >= len(nodes))
        or counts.shape != probabilities.shape
        or not (np.isfinite(counts).all() and np.all(counts >= 0))
    ):
        raise ValueError("a tree's nodes do not fit together")
    return TreeCPD(parents, cards, Tree(feature, kind, value, left, right, counts), probabilities)


def _shares(values: Sequence[Any], axes: int) -> NDArray[np.float64]:
    """Numbers as they were written, if they are distributions."""
    found = np.array(values, dtype=np.float64)
    if found.ndim != axes or not np.all(found >= 0) or np.any(np.abs(found.sum(axis=-1) - 1) > ROW_TOLERANCE):
        raise ValueError("probabilities must be at least 0 and sum to 1")
    return found


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{shown(value)} where a whole number was expected")
    return value
